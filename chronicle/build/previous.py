"""What the previous build left, for a partial build of some clusters: tables as they were, and the rows that are carried over into new ones."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable

from chronicle.build import compiled
from chronicle.build.compiled import Model, Part
from chronicle.build.file_lists import FileLists
from chronicle.build.publish import LITTLE_AHEAD, both, of_clusters
from chronicle.build.steps import Carried, carry, kept_step
from ingestion.warehouse import Warehouse

# Rows that are carried over lie in files of their own if they are of so long before what is rebuilt: the next builds begin there, too.
RECENT = dt.timedelta(days=7)


@dataclass
class Previous:
    """The tables of the previous build; they do not change until all models are built.  `clusters`: those that are built now."""

    place: Warehouse
    clusters: Sequence[str]
    lists: FileLists
    _tables: dict[str, ds.Dataset | None] = field(default_factory=dict)

    def table(self, model: Model) -> ds.Dataset | None:
        """A table, of all clusters; None if there is none."""
        if model.name not in self._tables:
            self._tables[model.name] = self._open(model)
        return self._tables[model.name]

    def has(self, model: Model, column: str) -> bool:
        """Whether there is a table with a column."""
        rows = self.table(model)
        return rows is not None and column in rows.schema.names

    def folder(self, model: Model) -> Path:
        return Path(self.place.table(model.schema, model.alias)) if model.is_published else kept_step(self.place, model)

    def _open(self, model: Model) -> ds.Dataset | None:
        folder = self.folder(model)
        if model.is_published:
            return DeltaTable(folder).to_pyarrow_dataset() if DeltaTable.is_deltatable(str(folder)) else None
        return ds.dataset(folder, format="parquet") if folder.is_dir() else None

    def of_built(self, model: Model) -> pc.Expression | None:
        """The condition that a row is of the clusters that are built; None where rows have no cluster_id."""
        return of_clusters(self.clusters) if self.has(model, "cluster_id") else None

    def count(self, model: Model) -> int:
        """How many rows of the clusters that are built a table has."""
        rows = self.table(model)
        return rows.count_rows(filter=self.of_built(model)) if rows is not None else 0

    def show(self, model: Model) -> str:
        """Register a table under a name of its own.  Returns that."""
        if model.is_published:
            return self.lists.show(model.schema, model.alias, before(model))
        return self.lists.show_folder(model.schema, before(model), self.folder(model), model.columns_in_sql)

    def query(self, model: Model) -> str:
        """A query of a table's rows of the clusters that are built."""
        name = self.show(model)
        if not self.count(model):
            return f"select * from {name} where false"
        where = f" where {compiled.of_clusters(self.clusters)}" if self.has(model, "cluster_id") else ""
        return f"select * from {name}{where}"

    def query_for(self, model: Model, since: dt.datetime) -> str:
        """A query of a table's rows that are needed to rebuild the part from a time on."""
        return self._query_of_last(model, since) if model.carried else self.query(model)

    def _query_of_last(self, model: Model, since: dt.datetime) -> str:
        """A query of the last rows before the part, which are written as a table of their own: a query of a part has several uses for them, and
        Spark reads a table for each."""
        rows = self.table(model)
        assert rows is not None
        earlier = both(self.of_built(model), ~from_time(model, since, rows.schema))
        near = from_time(model, since - dt.timedelta(**model.back), rows.schema)
        last = pc.field(model.at).isin(last_times(rows, model.carried, str(model.at), earlier))
        found = rows.to_table(filter=both(earlier, near | last), **LITTLE_AHEAD)
        return f"select * from {self.lists.show_rows(model.schema, before(model), found, model.columns_in_sql)}"

    def carry(self, model: Model, part: Part, folder: Path) -> int:
        """Add a table's rows that are not in a part to the rebuilt table, in a folder; returns how many."""
        rows, made = self.table(model), in_part(model, part, self.schema(model))
        assert rows is not None and made is not None
        since, recent = (from_time(model, time, rows.schema) for time in (part.since, part.since - RECENT)) if part.since else (True, None)

        def dropped(clusters: set[str | None]) -> pc.Expression | bool:
            return since if part.clusters is None or not clusters.isdisjoint(part.clusters) else False

        kept = both(self.of_built(model), ~made)
        # Readers filter by the known column: rows with the same value are put together.
        order = [name for name in (model.known, model.at) if name] if model.known else []
        return carry(Carried(rows, self.folder(model), kept, self.clusters.__contains__, dropped, recent), folder, "before", order)

    def schema(self, model: Model) -> pa.Schema:
        rows = self.table(model)
        assert rows is not None
        return rows.schema

    def has_undated(self, model: Model) -> bool:
        """Whether a table has rows without a time: these may belong before a part or into it."""
        rows = self.table(model)
        return rows is not None and bool(rows.count_rows(filter=both(self.of_built(model), pc.field(model.at).is_null())))


def before(model: Model) -> str:
    """Name of the previous build's table, beside the new one."""
    return f"before__{model.alias}"


def in_part(model: Model, part: Part, schema: pa.Schema) -> pc.Expression | None:
    """The condition that a row belongs to a part."""
    of_due = of_clusters(part.clusters) if part.clusters is not None else None
    return both(of_due, from_time(model, part.since, schema) if part.since else None)


def from_time(model: Model, since: dt.datetime, schema: pa.Schema) -> pc.Expression:
    """The condition that a row is not before a time, or has none: the previous build has no such rows where a part is rebuilt, but the new one
    may, and its readers must see them."""
    kind = schema.field(model.at).type
    return pc.field(model.at).is_null() | (pc.field(model.at) >= pa.scalar(since.date() if pa.types.is_date(kind) else since, kind))


def last_times(rows: ds.Dataset, key: Sequence[str], at: str, some: pc.Expression) -> pa.Array:
    """The times of the last rows of each key, of the rows for which a condition holds; each time once."""
    found = rows.schema.empty_table().select([*key, at])
    for batch in rows.scanner(columns=[*key, at], filter=some, **LITTLE_AHEAD).to_batches():
        lasts = pa.concat_tables([found, pa.Table.from_batches([batch])]).group_by(list(key)).aggregate([(at, "max")])
        found = lasts.select([*key, f"{at}_max"]).rename_columns([*key, at])
    return pc.unique(found[at])
