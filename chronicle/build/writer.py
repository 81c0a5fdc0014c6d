"""Makes the view or table of a model in a session.

A view is a view of the session, which keeps its analysed plan; a step is a Parquet table in its place; a mart is written aside, for `publish`.
An incremental table replaces the days that new rows fall on, the first of them only from its first new row on, if rows have a time.  Where a table
has no rows, or a column only some values, Spark is told, and drops the parts of downstream plans that cannot have rows
(`chronicle/spark/jvm/KnownRows.scala`).
"""

from __future__ import annotations

import datetime as dt
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from deltalake import DeltaTable

from chronicle.build import company
from chronicle.build.change_tracker import ChangeTracker
from chronicle.build.changes import TIMES, first_time
from chronicle.build.compiled import VIEW, Model, Part, Project, of_clusters, query, seed_rows, source_of_days
from chronicle.build.dbt_runs import FILE
from chronicle.build.file_lists import FileLists
from chronicle.build.outcome import Statement
from chronicle.build.previous import before
from chronicle.build.publish import BrokenContract, columns_of, faults, must_be_all, replace_days
from chronicle.build.session_tables import SessionTables, in_sql
from chronicle.build.steps import group_chosen_from, largest, values_in
from chronicle.build.tables import BRONZE, Tables
from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

# Prefix of the settings that tell `KnownRows` what is known of a table.
KNOWN = "chronicle.rows."
NO_ROWS = "none"
# Spark is not told the values of a column that has more than these.
MOST_VALUES = 5000


@dataclass
class Writer:
    """Makes views and tables.  `clusters`: the rows of these (None: of all); `is_anew`: incremental tables are rebuilt whole; `tracker`: what the
    previous build left (None: everything is built)."""

    spark: SparkSession
    place: Warehouse
    project: Project
    tables: Tables
    session: SessionTables
    lists: FileLists
    clusters: Sequence[str] | None = None
    is_anew: bool = False
    tracker: ChangeTracker | None = None

    def __post_init__(self) -> None:
        # What the statements of models took.
        self.statements: dict[str, Statement] = {}
        self._told: set[str] = set()

    def show_tables(self) -> None:
        """Register bronze and the incremental tables, and tell Spark which tables of bronze are empty: most clusters have neither captures nor
        metrics."""
        for name in self.project.sources():
            self.lists.show("bronze", name)
            if not self.tables.may_have_rows(BRONZE + name):
                self._tell(BRONZE + name, NO_ROWS)
        for model in self.project.of_kind("incremental"):
            if DeltaTable.is_deltatable(self.place.table(model.schema, model.alias)):
                self.lists.show(model.schema, model.alias)

    def forget(self) -> None:
        """Remove from the session what is of no use after the build."""
        for table in self._told:
            self.spark.conf.unset(KNOWN + table)
        for model in self.project.models.values():
            if self.tables[model.name].is_registered:
                if model.is_view:
                    self.spark.catalog.dropTempView(VIEW + model.name)
                else:
                    self.session.drop(model.schema, model.alias)
        self.lists.forget()

    def make_view(self, model: Model) -> None:
        """Create a view of the session."""
        columns = self.session.temporary_view(VIEW + model.name, self.asked(model))
        hold_to_contract(model, columns)
        self.tables[model.name].columns = columns

    def bring(self, model: Model) -> None:
        """Register a table that the previous build left, with the rows of the clusters that are built."""
        assert self.tracker is not None
        self.tables[model.name].rows = self.tracker.previous.count(model)
        self.session.view(model.schema, model.alias, self.tracker.previous.query(model))
        # Of rows that it does not have others may read those of other clusters: the view says that there are none.
        self._tell_values(model, f"{model.schema}.{before(model)}", self.tables.folder(model))

    def make(self, model: Model, part: Part | None) -> int | None:
        """Build a stored model, or a part of it.  Returns how many days of an incremental table were replaced (None: all)."""
        for statement in model.before:
            self.spark.sql(statement)
        try:
            if model.is_incremental:
                return self._replace_days(model)
            if model.kind == "seed":
                self._seed(model)
            else:
                self.write(model, part)
        finally:
            for statement in model.after:
                self.spark.sql(statement)
        return None

    def asked(self, model: Model, days: Sequence[str] | None = None, part: Part | None = None) -> str:
        """A model's query in this build."""
        return query(model, self.clusters, days, self._of_all_clusters, part)

    def _of_all_clusters(self, name: str) -> str:
        """A mart's rows of all clusters: new ones of the clusters that are built, published ones of the others."""
        mart = self.project.models[name]
        if self.clusters is None:
            return mart.table
        held, built = self.lists.show(mart.schema, mart.alias, before(mart)), of_clusters(self.clusters)
        return f"(select * from {mart.table} where {built} union all select * from {held} where not {built})"

    def write(self, model: Model, part: Part | None) -> None:
        """Write a Parquet table: a mart aside, a step in its place."""
        folder = self.tables.folder(model)
        rows = self.asked(model, part=part)
        if model.has_contract:
            rows = f"select {', '.join(f'`{name}`' for name in model.columns)} from ({rows})"
        self.session.drop(model.schema, model.alias)
        shutil.rmtree(folder, ignore_errors=True)
        columns, written = self._save(model, rows, folder)
        if self.tracker and part:
            written += self.tracker.previous.carry(model, part, folder)
        self.session.table(model.schema, model.alias, folder, in_sql(columns))
        self._note(model, folder, columns, written)
        if self.tracker:
            self.tracker.compare(model, folder, part)

    def _save(self, model: Model, query: str, folder: Path) -> tuple[StructType, int]:
        """Write the rows of a query into a folder.  Returns their columns, and how many Spark says it wrote."""
        from pyspark.sql import Observation
        from pyspark.sql import functions as f

        began, seen = time.monotonic(), Observation(f"{model.name} {uuid4().hex}")
        asked = self.spark.sql(query)
        columns = asked.schema
        hold_to_contract(model, columns)
        analysed = time.monotonic()
        writer = asked.observe(seen, f.count(f.lit(1)).alias("rows")).write.mode("overwrite")
        if model.known:
            group = group_chosen_from(self.tables.rows_read(model))
            writer = writer.option("maxRecordsPerFile", FILE).option("parquet.block.row.count.limit", group)
        (writer.partitionBy(*model.partition_by) if model.partition_by else writer).parquet(str(folder))
        self.statements[model.name] = Statement(analysed - began, time.monotonic() - began)
        return columns, seen.get["rows"]

    def write_empty(self, model: Model) -> None:
        """Write an empty table, with the columns of its contract, without a query."""
        from pyspark.sql.types import StructType

        folder, columns = self.tables.folder(model), StructType.fromDDL(model.columns_in_sql)
        assert isinstance(columns, StructType)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        pq.write_table(pa.schema(columns_of(model, columns).to_arrow()).empty_table(), folder / "none.parquet")
        self.session.table(model.schema, model.alias, folder, in_sql(columns))
        self._note(model, folder, columns, 0)
        if self.tracker:
            self.tracker.compare(model, folder)

    def _seed(self, model: Model) -> None:
        """Write the rows of a seed's file, as a Parquet table in its place."""
        folder = Path(self.place.table(model.schema, model.alias))
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        rows = company.rows(self.place, model, seed_rows(model, self.project.folder))
        pq.write_table(rows, folder / "rows.parquet")
        self.tables.count(model, rows.num_rows)
        columns = ", ".join(f"`{name}` {model.types.get(name, 'string')}" for name in rows.column_names)
        self.session.table(model.schema, model.alias, folder, columns)

    def _note(self, model: Model, folder: Path, columns: StructType, written: int) -> None:
        """Note, and tell Spark, what is known of a table that was written.

        Raises LostRows if other rows are found: a listing of a folder that is not complete would leave out what reads the table.
        """
        rows = ds.dataset(folder, format="parquet").count_rows()
        must_be_all(rows, written, folder)
        self.tables.count(model, rows)
        self.tables[model.name].columns = columns
        if not rows:
            self._tell(model.full_name, NO_ROWS)
        self._tell_values(model, model.full_name, folder)

    def _tell_values(self, model: Model, table: str, folder: Path) -> None:
        """Tell Spark which values the known column of a table has, whose files are in a folder.  `table`: its name in plans."""
        state = self.tables[model.name]
        if model.known and state.rows:
            # A null matches no value.
            state.values = frozenset(value for value in values_in(folder, model.known) if value is not None)
            if len(state.values) <= MOST_VALUES and not any("," in text for text in state.values):
                self._tell(table, f"{model.known}={','.join(sorted(state.values))}")

    def _tell(self, table: str, known: str) -> None:
        """Tell Spark what is known of the rows of a table."""
        self.spark.conf.set(KNOWN + table, known)
        self._told.add(table)

    def _replace_days(self, model: Model) -> int | None:
        """Rebuild the days of an incremental table that new rows fall on, or all of it.  Returns how many days (None: all)."""
        table = self.place.table(model.schema, model.alias)
        is_whole = self.is_anew or not DeltaTable.is_deltatable(table)
        days, part = (None, None) if is_whole else self._touched(model)
        if days != []:
            aside = self.place.building / model.schema / model.alias
            shutil.rmtree(aside, ignore_errors=True)
            columns, written = self._save(model, self.asked(model, days, part), aside)
            replace_days(table, aside, model, columns_of(model, columns), days, written)
            self.lists.show(model.schema, model.alias)
        if self.tracker and days is not None:
            self.tracker.replaced_days(model, days)
        return None if days is None else len(days)

    def _touched(self, model: Model) -> tuple[list[str], Part | None]:
        """Event days of rows in later batches than the table has seen, and the part of them that is rebuilt: the clock of a new row may have
        been set back."""
        seen = DeltaTable(self.place.table(model.schema, model.alias)).to_pyarrow_dataset()
        newest = largest(seen, "batch_id")
        later = pc.field("event_date").is_valid()
        if newest is not None:
            later &= pc.field("batch_id") > newest
        arrived = DeltaTable(self.place.table("bronze", source_of_days(model))).to_pyarrow_dataset()
        rows = arrived.to_table([name for name in TIMES if name in arrived.schema.names], filter=later)
        begin: dt.datetime | None = first_time(rows)
        part = Part(begin, f"select * from {model.table}", newest) if begin and newest is not None else None
        return sorted(str(day) for day in pc.unique(rows["event_date"]).to_pylist()), part


def hold_to_contract(model: Model, columns: StructType) -> None:
    """Raises BrokenContract where the columns of a model's query break its contract."""
    if broken := [f"{model.name}.{fault}" for fault in faults(model, columns)]:
        raise BrokenContract("; ".join(broken))
