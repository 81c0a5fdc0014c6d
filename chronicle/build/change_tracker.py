"""Decides which models a partial build can skip because nothing they read has changed.

A model is rebuilt if something that it reads has changed: new rows in bronze, or a table whose rows of these clusters were rebuilt and differ.
Views are looked through.  A table may name the column by which others filter it (`known_values` in its `meta`: the type of an event, the kind of
a captured row, the metric); then a reader is rebuilt only if it reads a value whose rows differ, as the text of its query says
(`chronicle/build/needs.py`).  For other tables it is rebuilt only if they differ in columns that it reads (`chronicle/build/columns.py`).

A table may also name the column with the time of its rows (`at` in its `meta`).  Then it is known from which time on its rows differ, and a
reader that can be rebuilt in part (`macros/since.sql`) is rebuilt from that time on.

A reader of many rows is rebuilt for those clusters alone in which what it reads differs, where its rows and all that it reads have a cluster_id:
of 35 clusters with new lines, two may have changed the in-sync set of a partition.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from chronicle.build import template
from chronicle.build.changes import Arrivals
from chronicle.build.comparison import Compared, are_alike
from chronicle.build.compiled import Model, Part, Project
from chronicle.build.previous import Previous, in_part
from chronicle.build.publish import both
from chronicle.build.stages import NO_CLUSTER
from chronicle.build.tables import BRONZE, Tables
from ingestion.freed import give_back

# Tables of more rows are not compared by the sets of columns that readers use.
MOST_COMPARED = 65_536
# The fields of a timestamp that are zeroed when it is truncated to a unit.
BELOW: dict[str, Any] = {"minute": {"second": 0, "microsecond": 0}, "hour": {"minute": 0, "second": 0, "microsecond": 0}}


@dataclass
class ChangeTracker:
    """Tells what differs from the previous build.  `arrived`: the clusters that are built, and tables of bronze with new rows; `tables`: where
    what is found is noted."""

    project: Project
    arrived: Arrivals
    previous: Previous
    tables: Tables

    def __post_init__(self) -> None:
        self._fed = self.project.fed()
        self._read = self.project.columns_asked()
        for name, clusters in self.arrived.tables.items():
            state = self.tables[BRONZE + name]
            state.changed, state.changed_since, state.changed_clusters = True, self.arrived.begins.get(name), {"": {*clusters}}
        for name in self.arrived.seeds:
            self.tables[name].changed = True
        self.tables.count_left = self.previous.count

    def reasons(self, model: Model) -> list[str]:
        """What a model reads that has changed; nothing if the model need not be built."""
        if not self._can_be_left(model):
            return [NO_CLUSTER]
        found, chosen = [], []
        for name, columns in sorted(model.columns_read.items(), key=lambda read: not read[0].startswith(BRONZE)):
            state = self.tables[name]
            if state.changed and state.changed_values is not None:
                chosen.append(name)
            elif state.changed and columns not in state.unchanged_columns:
                found.append(name)
        if found or not chosen:
            return found + chosen
        read = self.project.values_read(model)
        return [name for name in chosen if self._are_read(name, read.get(name))]

    def _are_read(self, name: str, read: list[str] | None) -> bool:
        """Whether any of the values that are read has rows that differ."""
        differ = self.tables[name].changed_values
        return read is None or differ is None or not differ.isdisjoint(read)

    def changed_since(self, reasons: Iterable[str]) -> dt.datetime | None:
        """From which time on what a model is rebuilt for differs; None if that is not known."""
        found = [self.tables[name].changed_since for name in reasons]
        return min((time for time in found if time), default=None) if None not in found else None

    def part(self, model: Model, reasons: Sequence[str], *, is_large: bool) -> Part | None:
        """The part of a model's table that has to be rebuilt; None: all of it.  `is_large`: it reads so many rows that clusters are told
        apart."""
        since = self._since(model, reasons)
        clusters = self._clusters(model, reasons) if is_large else None
        if since is None and clusters is None:
            return None
        return Part(since, self.previous.query_for(model, since) if since else "", clusters=clusters)

    def _since(self, model: Model, reasons: Iterable[str]) -> dt.datetime | None:
        """The time from which on a model's rows have to be rebuilt; None: all of them."""
        begin = self.changed_since(reasons) if model.is_made_in_part else None
        if begin is None or any(model.whole_for & values for values in self.tables.changed_values()):
            return None
        since = begin - dt.timedelta(**model.ahead)
        if model.unit:
            since = since.replace(**BELOW[model.unit])
        if not self.previous.has(model, str(model.at)) or not self._can_be_left(model):
            return None
        if pa.types.is_date(self.previous.schema(model).field(model.at).type):
            since = dt.datetime.combine(since.date(), dt.time(), dt.UTC)
        return None if self.previous.has_undated(model) else since

    def _clusters(self, model: Model, reasons: Iterable[str]) -> list[str] | None:
        """Of the clusters that are built, those in which anything differs that a model is rebuilt for; None: all of them."""
        if not self._is_by_cluster(model):
            return None
        read, found = self.project.values_read(model), set[str | None]()
        for name in reasons:
            differ = self.tables[name].changed_clusters
            if differ is None:
                return None
            values = read.get(name)
            found |= set[str | None]().union(*(differ[value] for value in differ if "" in differ or values is None or value in values))
        due = [cluster for cluster in self.arrived.clusters if cluster in found]
        return due if len(due) < len(self.arrived.clusters) else None

    def _is_by_cluster(self, model: Model) -> bool:
        """Whether a model's rows of a cluster only depend on rows of that cluster, in tables that say so, and all of that can be told apart."""
        readers = [self.project.models[name] for name in self.project.with_views([model.name])]
        if len(self.arrived.clusters) == 1 or any(reader.template.has(template.ALL_CLUSTERS) for reader in readers):
            return False
        tables = [self.project.models[name] for name in model.columns_read if not name.startswith(BRONZE) and name in self._fed]
        return all(self.previous.has(table, "cluster_id") for table in (model, *tables))

    def _can_be_left(self, model: Model) -> bool:
        """Whether the previous build's rows of these clusters can be told from those of others: without a cluster_id they may all be of others,
        unless that build was of the same clusters.  A model that is not downstream of bronze is the same for all."""
        is_same = model.is_view or model.is_incremental or model.name not in self._fed or self.arrived.is_same
        return is_same or self.previous.has(model, "cluster_id")

    def compare(self, model: Model, folder: Path, part: Part | None = None) -> None:
        """Compare a rebuilt table, whose rows are in a folder, with the previous one, if anything reads it.  `part`: what was rebuilt."""
        state = self.tables[model.name]
        state.changed = True
        if model.name not in self._read or not self._can_be_left(model):
            return
        old, new = self.previous.table(model), ds.dataset(folder, format="parquet")
        if old is None or set(old.schema.names) != set(new.schema.names):
            return
        scope = both(self.previous.of_built(model), in_part(model, part, new.schema) if part else None)
        is_by_cluster = len(self.arrived.clusters) > 1 and "cluster_id" in new.schema.names
        rows = Compared(old, new, scope, is_by_cluster)
        found = rows.difference(model)
        if max(rows.count) > MOST_COMPARED:
            give_back()
        state.changed = bool(found.clusters) if model.known else found.is_one
        state.changed_values = frozenset(found.clusters) if model.known else None
        if state.changed:
            state.changed_since = part.since if part and model.known else found.begin
        if is_by_cluster:
            state.changed_clusters = found.clusters
        if state.changed and not model.known and max(rows.count) <= MOST_COMPARED:
            state.unchanged_columns = [
                columns for columns in self._read[model.name] if are_alike(*(side.to_table(columns, scope) for side in (old, new)))
            ]

    def replaced_days(self, model: Model, days: Sequence[str]) -> None:
        """Note which days of an incremental table were replaced."""
        state = self.tables[model.name]
        state.changed = bool(days)
        if days:
            state.changed_since = dt.datetime.fromisoformat(f"{days[0]}T00:00:00+00:00")
