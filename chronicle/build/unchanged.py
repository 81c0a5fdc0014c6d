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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable

from chronicle.build.changes import Arrivals
from chronicle.build.comparison import Compared, are_alike
from chronicle.build.compiled import OF_ALL, Model, Part, Project
from chronicle.build.file_lists import FileLists
from chronicle.build.publish import LITTLE_AHEAD, both, of_clusters
from chronicle.build.steps import Carried, carry, kept_step
from chronicle.output.sql_text import spark_literal
from ingestion.freed import give_back
from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Prefix of the settings that tell `KnownRows` what is known of a table.
KNOWN = "chronicle.rows."
NO_ROWS = "none"
# Tables of more rows are not compared by the sets of columns that readers use.
MOST_COMPARED = 65_536
# Rows that are carried over lie in files of their own if they are of so long before what is rebuilt: the next builds begin there, too.
RECENT = dt.timedelta(days=7)
# The fields of a timestamp that are zeroed when it is truncated to a unit.
BELOW: dict[str, Any] = {"minute": {"second": 0, "microsecond": 0}, "hour": {"minute": 0, "second": 0, "microsecond": 0}}


@dataclass
class Unchanged:
    """What the previous build left, and what of it differs now.  `arrived`: the clusters that are built, and tables of bronze with new rows;
    `differs`: by stored model that was looked at, whether its rows differ, or the values of its known column whose rows do; `alike`: by model
    that differs, the sets of columns that readers use in which it does not; `begins`: from which time on it differs, where that is known;
    `where`: in which clusters it differs, for each value of its known column (an empty text where it has none), where that is known."""

    spark: SparkSession
    place: Warehouse
    project: Project
    arrived: Arrivals
    differs: dict[str, bool | set[str]] = field(default_factory=dict)
    alike: dict[str, list[list[str]]] = field(default_factory=dict)
    begins: dict[str, dt.datetime] = field(default_factory=dict)
    where: dict[str, Mapping[str, set[str | None]]] = field(default_factory=dict)
    lists: FileLists = field(init=False)
    _tables: dict[str, ds.Dataset | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._fed = self.project.fed()
        self._read = self.project.columns_asked()
        self.begins |= {f"bronze.{name}": begin for name, begin in self.arrived.begins.items()}
        self.differs |= dict.fromkeys(self.arrived.seeds, True)
        self.where |= {f"bronze.{name}": {"": {*clusters}} for name, clusters in self.arrived.tables.items()}

    @property
    def clusters(self) -> list[str]:
        """The clusters that are built."""
        return self.arrived.clusters

    def reasons(self, model: Model) -> list[str]:
        """What a model reads that has changed; nothing if the model need not be built."""
        if not self._can_be_left(model):
            return ["rows of no cluster"]
        found = [f"bronze.{name}" for name in self.arrived.tables if f"bronze.{name}" in model.columns_read]
        differ = [(name, columns) for name, columns in model.columns_read.items() if self.differs.get(name)]
        chosen = [name for name, _ in differ if isinstance(self.differs[name], set)]
        found += [name for name, columns in differ if name not in chosen and columns not in self.alike.get(name, ())]
        if found or not chosen:
            return found + chosen
        read = self.project.values_read(model)
        return [name for name in chosen if not self._are_disjoint(name, read.get(name))]

    def begin(self, reasons: Iterable[str]) -> dt.datetime | None:
        """From which time on what a model is rebuilt for differs; None if that is not known."""
        found = [self.begins.get(name) for name in reasons]
        return min((time for time in found if time), default=None) if None not in found else None

    def part(self, model: Model, reasons: Sequence[str], *, is_large: bool, is_open: bool) -> Part | None:
        """The part of a model's table that has to be rebuilt; None: all of it.  `is_large`: it reads so many rows that clusters are told apart;
        `is_open`: as in `Part`."""
        since = self._since(model, reasons)
        clusters = self._due(model, reasons) if is_large else None
        if since is None and clusters is None:
            return None
        held = self._held(model, since, is_open=is_open) if since else ""
        return Part(since, held, clusters=clusters, is_open=is_open)

    def _held(self, model: Model, since: dt.datetime, *, is_open: bool) -> str:
        """A query of the previous build's rows for a part from a time on.  That of an open part names no clusters."""
        if model.carried:
            return self._carried_in(model, since)
        return f"select * from {self.show(model, before(model))}" if is_open else self.query(model)

    def _since(self, model: Model, reasons: Iterable[str]) -> dt.datetime | None:
        """The time from which on a model's rows have to be rebuilt; None: all of them."""
        begin = self.begin(reasons) if model.is_made_in_part else None
        if begin is None or any(model.whole_for & values for values in self.differs.values() if isinstance(values, set)):
            return None
        since = begin - dt.timedelta(**model.ahead)
        if model.unit:
            since = since.replace(**BELOW[model.unit])
        rows = self._stored(model)
        if rows is None or model.at not in rows.schema.names or not self._can_be_left(model):
            return None
        if pa.types.is_date(rows.schema.field(model.at).type):
            since = dt.datetime.combine(since.date(), dt.time(), dt.UTC)
        # A row without a time may belong before the part or into it.
        if rows.count_rows(filter=both(self._of_clusters_in(rows), pc.field(model.at).is_null())):
            return None
        return since

    def _due(self, model: Model, reasons: Iterable[str]) -> list[str] | None:
        """Of the clusters that are built, those in which anything differs that a model is rebuilt for; None: all of them."""
        if not self._is_by_cluster(model):
            return None
        read, found = self.project.values_read(model), set[str | None]()
        for name in reasons:
            where = self.where.get(name)
            if where is None:
                return None
            values = read.get(name)
            found |= set[str | None]().union(*(where[value] for value in where if "" in where or values is None or value in values))
        due = [cluster for cluster in self.clusters if cluster in found]
        return due if len(due) < len(self.clusters) else None

    def _is_by_cluster(self, model: Model) -> bool:
        """Whether a model's rows of a cluster only depend on rows of that cluster, in tables that say so, and all of that can be told apart."""
        if len(self.clusters) == 1 or any(OF_ALL in self.project.models[name].sql for name in self.project.with_views([model.name])):
            return False
        tables = [self.project.models[name] for name in model.columns_read if not name.startswith("bronze.") and name in self._fed]
        held = [self._stored(table) for table in (model, *tables)]
        return all(rows is not None and "cluster_id" in rows.schema.names for rows in held)

    def _carried_in(self, model: Model, since: dt.datetime) -> str:
        """A query of what a part of a model reads of the previous build's rows, which are written as a table of their own: a query of a part has
        several uses for them, and Spark reads a table for each."""
        rows = self._stored(model)
        assert rows is not None
        earlier = both(self._of_clusters_in(rows), ~self._in(model, since, rows.schema))
        near = self._in(model, since - dt.timedelta(**model.back), rows.schema)
        last = pc.field(model.at).isin(last_times(rows, model.carried, str(model.at), earlier))
        found = rows.to_table(filter=both(earlier, near | last), **LITTLE_AHEAD)
        return f"select * from {self.lists.show_rows(model.schema, before(model), found, model.columns_in_sql)}"

    def carry(self, model: Model, part: Part, folder: Path) -> int:
        """Add those of the previous build's rows that are not in a part to the rebuilt table, in a folder; returns how many."""
        rows = self._stored(model)
        assert rows is not None
        made = self._in_part(model, part, rows.schema)
        since, recent = (self._in(model, time, rows.schema) for time in (part.since, part.since - RECENT)) if part.since else (True, None)
        assert made is not None

        def dropped(clusters: set[str | None]) -> pc.Expression | bool:
            return since if part.clusters is None or not clusters.isdisjoint(part.clusters) else False

        kept = both(self._of_clusters_in(rows), ~made)
        # Readers filter by the known column: rows with the same value are put together.
        order = [name for name in (model.known, model.at) if name] if model.known else []
        return carry(Carried(rows, self._folder(model), kept, self.clusters.__contains__, dropped, recent), folder, "before", order)

    def _in_part(self, model: Model, part: Part, schema: pa.Schema) -> pc.Expression | None:
        """The condition that a row belongs to a part."""
        of_due = of_clusters(part.clusters) if part.clusters is not None else None
        return both(of_due, self._in(model, part.since, schema) if part.since else None)

    def _in(self, model: Model, since: dt.datetime, schema: pa.Schema) -> pc.Expression:
        """The condition that a row is not before a time, or has none: the previous build has no such rows where a part is rebuilt (`_since`), but
        the new one may, and its readers must see them."""
        kind = schema.field(model.at).type
        return pc.field(model.at).is_null() | (pc.field(model.at) >= pa.scalar(since.date() if pa.types.is_date(kind) else since, kind))

    def _of_clusters_in(self, rows: ds.Dataset) -> pc.Expression | None:
        """The condition that a row is of the clusters that are built; None where rows have no cluster_id."""
        return of_clusters(self.clusters) if "cluster_id" in rows.schema.names else None

    def compare(self, model: Model, folder: Path, part: Part | None = None) -> None:
        """Compare a rebuilt table, whose rows are in a folder, with the previous one, if anything reads it.  `part`: what was rebuilt."""
        if model.name not in self._read or not self._can_be_left(model):
            self.differs[model.name] = True
            return
        old, new = self._stored(model), ds.dataset(folder, format="parquet")
        if old is None or set(old.schema.names) != set(new.schema.names):
            self.differs[model.name] = True
            return
        scope = both(self._of_clusters_in(old), self._in_part(model, part, new.schema) if part else None)
        is_by_cluster = len(self.clusters) > 1 and "cluster_id" in new.schema.names
        rows = Compared(old, new, scope, is_by_cluster)
        found = rows.difference(model)
        if max(rows.count) > MOST_COMPARED:
            give_back()
        self.differs[model.name] = set(found.clusters) if model.known else found.is_one
        begin = part.since if part and model.known else found.begin
        if begin and self.differs[model.name]:
            self.begins[model.name] = begin
        if is_by_cluster:
            self.where[model.name] = found.clusters
        if self.differs[model.name] is True and max(rows.count) <= MOST_COMPARED:
            self.alike[model.name] = [
                columns for columns in self._read[model.name] if are_alike(*(side.to_table(columns, scope) for side in (old, new)))
            ]

    def _can_be_left(self, model: Model) -> bool:
        """Whether the previous build's rows of these clusters can be told from those of others: without a cluster_id they may all be of others,
        unless that build was of the same clusters.  A model that is not downstream of bronze is the same for all."""
        if model.is_view or model.is_incremental or model.name not in self._fed or self.arrived.is_same:
            return True
        rows = self._stored(model)
        return rows is not None and "cluster_id" in rows.schema.names

    def _stored(self, model: Model) -> ds.Dataset | None:
        """The table that the previous build left, of all clusters; None if there is none.  It does not change until all models are built."""
        if model.name not in self._tables:
            self._tables[model.name] = self._open(model)
        return self._tables[model.name]

    def _folder(self, model: Model) -> Path:
        """Folder of the table that the previous build left."""
        return Path(self.place.table(model.schema, model.alias)) if model.is_published else kept_step(self.place, model)

    def _open(self, model: Model) -> ds.Dataset | None:
        folder = self._folder(model)
        if model.is_published:
            return DeltaTable(folder).to_pyarrow_dataset() if DeltaTable.is_deltatable(str(folder)) else None
        return ds.dataset(folder, format="parquet") if folder.is_dir() else None

    def count(self, model: Model) -> int:
        """How many rows of the clusters the previous build left in a table."""
        rows = self._stored(model)
        return rows.count_rows(filter=self._of_clusters_in(rows)) if rows is not None else 0

    def show(self, model: Model, known_as: str | None = None) -> str:
        """Register the table that the previous build left.  `known_as`: under another name.  Returns its name in SQL."""
        if model.is_published:
            return self.lists.show(model.schema, model.alias, known_as)
        return self.lists.show_folder(model.schema, known_as or model.alias, kept_step(self.place, model), model.columns_in_sql)

    def query(self, model: Model) -> str:
        """A query of the rows of the clusters that the previous build left in a table."""
        place = self.show(model, before(model))
        if not self.count(model):
            return f"select * from {place} where false"
        rows = self._stored(model)
        assert rows is not None
        where = f" where cluster_id in ({', '.join(map(spark_literal, self.clusters))})" if "cluster_id" in rows.schema.names else ""
        return f"select * from {place}{where}"

    def _are_disjoint(self, name: str, read: list[str] | None) -> bool:
        """Whether none of the values that are read has rows that differ."""
        differ = self.differs[name]
        assert isinstance(differ, set)
        return read is not None and differ.isdisjoint(read)


def setting(model: Model) -> str:
    """The setting that says what is known of a model's rows."""
    return f"{KNOWN}{model.full_name}"


def before(model: Model) -> str:
    """Name of the previous build's table, beside the new one."""
    return f"before__{model.alias}"


def last_times(rows: ds.Dataset, key: Sequence[str], at: str, some: pc.Expression) -> pa.Array:
    """The times of the last rows of each key, of the rows for which a condition holds; each time once."""
    found = rows.schema.empty_table().select([*key, at])
    for batch in rows.scanner(columns=[*key, at], filter=some, **LITTLE_AHEAD).to_batches():
        lasts = pa.concat_tables([found, pa.Table.from_batches([batch])]).group_by(list(key)).aggregate([(at, "max")])
        found = lasts.select([*key, f"{at}_max"]).rename_columns([*key, at])
    return pc.unique(found[at])
