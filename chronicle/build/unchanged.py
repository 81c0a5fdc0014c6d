"""Which models a build of some clusters can leave as the build before left them.

A model is made again if something that it reads is not as it was: rows of bronze that arrived, or a table whose rows of these clusters
were made again and differ.  A table may name the column by which others choose their rows from it (`known_values` in its `meta`: the type
of an event, the kind of a captured row, the metric); then a reader is made again only if it chooses a value whose rows differ.  Spark answers
that: where the table is said to hold those values alone, its filters leave nothing of it in the analysed query (`KnownRows`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable

from chronicle.build.compiled import Model, Project, query
from chronicle.build.publish import ordered, same
from chronicle.build.steps import kept_step
from chronicle.output.sql_text import spark_literal
from chronicle.spark.internals.plans import analysed
from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Settings that `KnownRows` reads: what is known of a table, and whether only the filters of tables count.
KNOWN = "chronicle.rows."
NO_ROWS = "none"
FILTERS_ALONE = "chronicle.rows_of_filters"


@dataclass
class Unchanged:
    """What the build before left, and what of it differs now.  `clusters`: those that are built; `arrived`: tables of bronze with new rows;
    `differs`: by model that was looked at whether its rows differ, or the values of its column of which rows differ."""

    spark: SparkSession
    place: Warehouse
    project: Project
    clusters: Sequence[str]
    arrived: frozenset[str]
    differs: dict[str, bool | set[str]] = field(default_factory=dict)
    _probing: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._fed = self.project.fed()
        self._read = {parent for model in self.project.models.values() for parent in model.parents}
        # The same catalog with settings of its own.
        self._probe = self.spark.newSession()
        self._probe.conf.set(FILTERS_ALONE, "true")

    def reasons(self, model: Model) -> list[str]:
        """What a model reads that is not as it was; nothing if it need not be made."""
        if not self._can_be_left(model):
            return ["rows of no cluster"]
        found = [f"bronze.{name}" for name in model.sources if name in self.arrived]
        parents = [self.project.models[name] for name in model.parents if self.differs[name]]
        chosen = [parent for parent in parents if isinstance(self.differs[parent.name], set)]
        found += [parent.name for parent in parents if parent not in chosen]
        return found + [parent.name for parent in chosen if found or self._chooses(model, parent)]

    def compare(self, model: Model, folder: Path) -> None:
        """Compare a table that was made again, whose rows are in a folder, with what it was, if anything reads it."""
        if model.name not in self._read or not self._can_be_left(model):
            self.differs[model.name] = True
            return
        old, new = self.before(model), ds.dataset(folder, format="parquet").to_table()
        if old is None or set(old.column_names) != set(new.column_names) or (not model.known and old.num_rows != new.num_rows):
            self.differs[model.name] = True
        elif model.known:
            self.differs[model.name] = values_that_differ(old, new, model.known)
        else:
            self.differs[model.name] = not same(ordered(old.select(new.column_names)), ordered(new))

    def _can_be_left(self, model: Model) -> bool:
        """Whether its rows of these clusters can be told from those of others: without their name, the build before may have left those of
        others alone.  What nothing feeds is the same for all."""
        if model.is_view or model.is_incremental or model.name not in self._fed:
            return True
        rows = self._stored(model)
        return rows is not None and "cluster_id" in rows.schema.names

    def _stored(self, model: Model) -> ds.Dataset | None:
        """The table that the build before left, of all clusters; None if there is none."""
        if model.is_published:
            table = self.place.table(model.schema, model.alias)
            return DeltaTable(table).to_pyarrow_dataset() if DeltaTable.is_deltatable(table) else None
        folder = kept_step(self.place, model)
        return ds.dataset(folder, format="parquet") if folder.is_dir() else None

    def before(self, model: Model) -> pa.Table | None:
        """The rows of the clusters that the build before left; None if there is no such table."""
        rows = self._stored(model)
        if rows is None:
            return None
        return rows.to_table(filter=pc.field("cluster_id").isin(list(self.clusters)) if "cluster_id" in rows.schema.names else None)

    def query(self, model: Model) -> str:
        """The rows of the clusters that the build before left of a table, as a query."""
        folder = self.place.table(model.schema, model.alias) if model.is_published else str(kept_step(self.place, model))
        place = f"{'delta' if model.is_published else 'parquet'}.`{folder.replace('`', '``')}`"
        rows = self.before(model)
        if rows is None or not rows.num_rows:
            return f"select * from {place} where false"
        where = f" where cluster_id in ({', '.join(map(spark_literal, self.clusters))})" if "cluster_id" in rows.column_names else ""
        return f"select * from {place}{where}"

    def _chooses(self, model: Model, parent: Model) -> bool:
        """Whether a query may have rows of the values that differ."""
        from pyspark.errors import AnalysisException

        values = self.differs[parent.name]
        assert isinstance(values, set)
        if any("," in value for value in values):
            return True
        with self._probing:
            self._probe.conf.set(setting(parent), f"{parent.known}={','.join(sorted(values))}")
            try:
                plan = analysed(self._probe.sql(query(model, self.clusters)))
            except AnalysisException:
                # It reads views of the session, too.
                return True
        return f"{parent.schema}.{parent.alias}" in plan


def setting(model: Model) -> str:
    """The setting that says what is known of a model's rows."""
    return f"{KNOWN}{model.schema}.{model.alias}"


def values_that_differ(old: pa.Table, new: pa.Table, column: str) -> set[str]:
    """The values of a column of which two tables do not have the same rows.  A null counts as the text null."""
    found = set()
    for value in {*pc.unique(old[column]).to_pylist(), *pc.unique(new[column]).to_pylist()}:
        parts = [rows.filter(pc.is_null(rows[column]) if value is None else pc.equal(rows[column], value)) for rows in (old, new)]
        if parts[0].num_rows != parts[1].num_rows or not same(*(ordered(part.select(new.column_names)) for part in parts)):
            found.add("null" if value is None else str(value))
    return found
