"""Builds the models of a compiled project in a session, each when all that it reads is built, two at a time.

A view is a view of the session, which keeps its analysed plan; a step is a Parquet table in its place; a mart is written aside, for `publish`.
An incremental table replaces the days that new rows fall on, the first of them only from its first new row on, if rows have a time.  A partial
build rebuilds some tables only from the time on from which their input differs (`macros/since.sql`), and large ones only for the clusters in
which it does; it carries over the other rows of the previous build.  Where a table has no rows, or a column only some values, Spark is told, and
drops the parts of downstream plans that cannot have rows (`chronicle/spark/jvm/KnownRows.scala`).  A model that can have no rows at all (`chronicle/build/needs.py`) is written
empty, with the columns of its contract, without a query.

A door that breaks its contract counts as a failed model: nothing reads it.  `publish` checks the contracts of marts.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import shutil
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from deltalake import DeltaTable

from chronicle.build import company
from chronicle.build.changes import TIMES, first_time, has_others
from chronicle.build.compiled import OF_ALL, VIEW, Model, Part, Project, query, seed_rows, source_of_days
from chronicle.build.dbt_runs import FILE, THREADS, one_line
from chronicle.build.file_lists import FileLists
from chronicle.build.generated_code import GeneratedCode
from chronicle.build.memory import Turns, is_short, step_by_step
from chronicle.build.needs import is_met
from chronicle.build.publish import BrokenContract, LostRows, columns_of, faults, must_be_all, replace_days
from chronicle.build.schedule import Schedule
from chronicle.build.steps import group_chosen_from, kept_step, largest, values_in
from chronicle.build.unchanged import KNOWN, NO_ROWS, Unchanged, before, setting
from chronicle.output.sql_text import spark_literal
from chronicle.spark.internals.executions import Jobs, jobs_of
from chronicle.spark.internals.java_objects import has_java
from chronicle.spark.internals.kept_plans import KeptPlans, Planned
from ingestion.warehouse import Warehouse, rows_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Progress = Callable[[int, int, str], None]

# A model that reads more rows is built for those clusters alone in which they differ; with fewer it takes longer to carry the others over.
LARGE = 50_000
# Spark is not told the values of a column that has more than these.
MOST_VALUES = 5000


@dataclass(frozen=True)
class Took:
    """What a model's statement took: seconds to analyse it, seconds to optimise and plan it, and its jobs."""

    analysis: float
    planning: float
    jobs: Jobs


@dataclass(frozen=True)
class Result:
    """What became of a model.  `seconds`: in all; `view_seconds`: of these for views that it was the first to read; `rows`: those it has (None:
    days were replaced); `days`: how many of an incremental table were replaced (None: all); `failure`: why it could not be built; `because`:
    what it reads that has changed (None: everything is built); `since`: the time from which on its rows were built (None: all were);
    `clusters`: of which they were built (None: of all that the build is of); `is_as_before`: its rows are known to be those of the previous
    build; `took`: what its statement took (None: not profiled)."""

    model: Model
    seconds: float = 0.0
    view_seconds: float = 0.0
    rows: int | None = None
    days: int | None = None
    failure: str | None = None
    because: list[str] | None = None
    since: dt.datetime | None = None
    clusters: list[str] | None = None
    is_as_before: bool = False
    took: Took | None = None

    @property
    def is_made(self) -> bool:
        return not self.failure and self.because != []


class ViewFailed(RuntimeError):
    """A view that a model reads cannot be created; the text says why."""

    def __init__(self, model: Model, why: str) -> None:
        super().__init__(why)
        self.model = model


class Runner:
    """Builds models.  `clusters`: only of these (None: of all); `unchanged`: what the previous build left of them (None: everything is built);
    `is_anew`: incremental tables are rebuilt whole; `is_profiled`: results say what statements took; `progress(number, all, what)` is called
    when a stored model is started."""

    def __init__(
        self,
        spark: SparkSession,
        place: Warehouse,
        project: Project,
        *,
        clusters: Sequence[str] | None = None,
        unchanged: Unchanged | None = None,
        is_anew: bool = False,
        is_profiled: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self.spark, self.place, self.project = spark, place, project
        self.clusters, self.unchanged, self.is_anew, self.progress = clusters, unchanged, is_anew, progress
        self.is_profiled = is_profiled
        # What it took to plan each model's statement.
        self._planned: dict[str, Planned] = {}
        self._numbers, self._stored = count(1), 0
        # Models whose tables stay as they were; and those of them, and views, that are registered: they are when something first reads them.
        self._left: set[str] = set()
        self._at_hand: set[str] = set()
        self._rows: dict[str, int] = {}
        # Values of the known column of tables that have one.
        self._values: dict[str, set[str]] = {}
        # Rows by folder of all tables that a model reads, including those that were left and those of bronze.
        self._rows_in: dict[str, int] = {}
        self._code = GeneratedCode(spark)
        self._plans = KeptPlans(spark)
        # The clusters whose rows plans that are kept read, if there are others.
        self._chosen = list(clusters) if clusters is not None and self._plans.are_kept and has_others(place, clusters) else None
        self._turns = Turns()
        # What a plan depends on besides its own text, by name: the key of a view, what is known of a table's rows, the query of a table left.
        self._texts: dict[str, str] = {}
        # The columns of views, as `known_columns.ViewColumns` has them; none in a partial build, in which they are as before.
        self.view_columns: dict[str, str] = {}
        self.lists = FileLists(spark, place)
        if unchanged:
            unchanged.lists = self.lists
        self._locks = {name: Lock() for name in project.models}

    def run(self, wanted: set[str]) -> list[Result]:
        """Build the models of these names.  Those downstream of a failed one are not tried.  One result per stored model that was looked at,
        in the order of the project; where a view cannot be created, the result is the view's."""
        due = self.project.with_views(wanted)
        self._numbers, self._stored = count(1), sum(not self.project.models[name].is_view for name in due)
        schedule = Schedule(
            {name: due.intersection(self.project.models[name].parents) for name in due},
            self.project.readers_beneath(),
            {name for name in due if self.project.models[name].is_view},
        )
        results: dict[str, Result] = {}
        running: dict[Future[Result], str] = {}
        try:
            self._show_tables()
            with ThreadPoolExecutor(THREADS) as threads:
                try:
                    while schedule.is_active:
                        while len(running) < THREADS and (name := schedule.next()):
                            running[threads.submit(self._result, self.project.models[name])] = name
                        for future in wait(running, return_when=FIRST_COMPLETED).done if running else ():
                            name = running.pop(future)
                            results[name] = future.result()
                            schedule.done(name, failed=bool(results[name].failure))
                except BaseException:
                    threads.shutdown(wait=False, cancel_futures=True)
                    cancel_all(self.spark)
                    raise
        finally:
            self._forget()
        return [results[name] for name in self.project.models if name in results]

    def _show_tables(self) -> None:
        """Register bronze and the incremental tables, and tell Spark which tables of bronze are empty: most clusters have neither captures nor
        metrics."""
        for name in self.project.sources():
            self.lists.show("bronze", name)
            if not rows_of(self.place.table("bronze", name)):
                self._tell(f"bronze.{name}", f"bronze.{name}", NO_ROWS)
        for model in self.project.of_kind("incremental"):
            if DeltaTable.is_deltatable(self.place.table(model.schema, model.alias)):
                self.lists.show(model.schema, model.alias)

    def _forget(self) -> None:
        """Remove from the session what is of no use after the build."""
        for name in self.project.sources():
            self.spark.conf.unset(f"{KNOWN}bronze.{name}")
        for model in self.project.models.values():
            self.spark.conf.unset(setting(model))
            if model.name in self._at_hand:
                if model.is_view:
                    self.spark.catalog.dropTempView(VIEW + model.name)
                else:
                    self._plans.forget(model.schema, model.alias)
        self.lists.forget()

    def _result(self, model: Model) -> Result:
        """Build a model, if it has to be."""
        began = viewed = time.monotonic()
        days, failure, because, took, group = None, None, None, None, None
        part: Part | None = None
        try:
            # A partial build follows one of the same project, so only what the company says can differ of the seeds; they are built because their
            # tables are not kept.
            if self.unchanged and not model.is_view and model.kind != "seed":
                because = self.unchanged.reasons(model)
                self.unchanged.differs[model.name] = bool(because)
            if because == [] and (model.is_step or model.is_published):
                self._left.add(model.name)
            elif not model.is_view and because != []:
                if self.progress:
                    self.progress(next(self._numbers), self._stored, model.full_name)
                if self.can_be_written_empty(model):
                    self._write_empty(model)
                    return Result(
                        model, round(time.monotonic() - began, 2), rows=0, because=because, is_as_before=self._is_as_before(model)
                    )
                with self._turns.beside_others():
                    for parent in model.parents:
                        self._bring(self.project.models[parent])
                viewed = time.monotonic()
                if self.is_profiled:
                    # A session that stays has built the model before, and Spark forgets what those jobs took.
                    group = f"{model.name} {uuid4()}"
                    self.spark.sparkContext.setJobGroup(group, model.table)
                rows_read = self._rows_read(model)
                if self.unchanged and because:
                    part = self.unchanged.part(
                        model, because, is_large=self._plans.are_kept and rows_read > LARGE, is_open=self._plans.are_kept
                    )
                    if part and part.clusters is not None:
                        rows_read = rows_read * len(part.clusters) // len(self.unchanged.clusters)
                with self._code.where_worth_it(rows_read):
                    days = self._make_in_turn(model, part)
                if group:
                    planned = self._planned.get(model.name, Planned(0))
                    took = Took(planned.analysis, planned.planning, jobs_of(self.spark, group))
        except ViewFailed as failed:
            return Result(failed.model, failure=str(failed))
        except Exception as error:
            failure = told(error)
        seconds, view_seconds = round(time.monotonic() - began, 2), round(max(viewed - began, 0), 2)
        since, clusters = (part.since, part.clusters) if part else (None, None)
        is_as_before = self._is_as_before(model)
        return Result(model, seconds, view_seconds, self._rows.get(model.name), days, failure, because, since, clusters, is_as_before, took)

    def _is_as_before(self, model: Model) -> bool:
        """Whether a model's rows are known to be those of the previous build."""
        return self.unchanged is not None and not self.unchanged.differs.get(model.name, True)

    def can_be_written_empty(self, model: Model) -> bool:
        """Whether a stored model cannot have rows in this build, so that its query need not run."""
        return (model.is_step or model.is_published) and model.has_contract and not is_met(model.needs, self._may_have_rows)

    def _may_have_rows(self, name: str, values: list[str] | None = None) -> bool:
        """Whether a model or a table of bronze may have rows in this build, with one of these values in its known column if any are given."""
        if name.startswith("bronze."):
            return rows_of(self.place.table("bronze", name.removeprefix("bronze."))) > 0
        model = self.project.models[name]
        if model.is_view:
            return is_met(model.needs, self._may_have_rows)
        if values and name in self._values:
            return bool(self._values[name].intersection(values))
        if name in self._left and name not in self._rows:
            assert self.unchanged is not None
            self._rows[name] = self.unchanged.count(model)
        return self._rows.get(name) != 0

    def _bring(self, model: Model) -> None:
        """Register what a model reads: a view, after those it reads, or a table that the previous build left."""
        if not model.is_view and model.name not in self._left:
            return
        for parent in model.parents if model.is_view else ():
            self._bring(self.project.models[parent])
        with self._locks[model.name]:
            if model.name in self._at_hand:
                return
            if model.is_view:
                try:
                    self.make_view(model)
                    if not self.unchanged:
                        self._note_columns(model)
                    self._hold_to_contract(model)
                except Exception as error:
                    raise ViewFailed(model, told(error)) from error
            else:
                assert self.unchanged is not None
                # The table of all clusters, if the session knows it.
                self._plans.forget(model.schema, model.alias)
                if self._plans.are_kept:
                    self.unchanged.show(model)
                    self._note_left(model)
                else:
                    self._texts[model.name] = self.unchanged.query(model)
                    self.spark.sql(f"create view {model.table} as {self._texts[model.name]}")
            self._at_hand.add(model.name)

    def _rows_read(self, model: Model) -> int:
        """Rows of the tables that a model reads, directly or through views."""
        readers = [self.project.models[name] for name in self.project.with_views([model.name])]
        parents = [self.project.models[name] for reader in readers for name in reader.parents]
        folders = {self._folder(parent) for parent in parents if not parent.is_view and parent.kind != "seed"}
        folders |= {self.place.table("bronze", name) for reader in readers for name in reader.sources}
        for folder in folders - self._rows_in.keys():
            self._rows_in[folder] = rows_of(folder)
        return sum(self._rows_in[folder] for folder in folders)

    def _folder(self, model: Model) -> str:
        """Folder of the table that this build reads."""
        if model.is_published and model.name not in self._left:
            return str(self.place.building / model.schema / model.alias)
        if model.is_step and model.name in self._left:
            return str(kept_step(self.place, model))
        return self.place.table(model.schema, model.alias)

    def _written(self, model: Model) -> Path:
        """Folder into which Spark writes a model."""
        return self.place.building / model.schema / model.alias if model.is_incremental else Path(self._folder(model))

    def _create(self, model: Model, table: str, parts: str, rows: str, *, comes_again: bool, part: Part | None = None) -> int | None:
        """Create a table from a query, in the folder into which the model is written; returns how many rows Spark says it wrote.  `comes_again`: later builds may have the same query;
        `part`: what it gives of the table (None: all)."""
        files = ""
        if model.known:
            group = group_chosen_from(self._rows_read(model))
            files = f"options (maxRecordsPerFile '{FILE}', `parquet.block.row.count.limit` '{group}')"
        definition = f"create table {table} using parquet {files} {parts}"
        key = self._key(model, f"{definition} {rows}") if comes_again else None
        clusters = part.clusters if part and part.clusters is not None else self._read_of(model)
        since = part.since if part and part.is_open else None
        self._planned[model.name] = made = self._plans.table(key, definition, str(self._written(model)), rows, clusters, since)
        return made.rows

    def make_view(self, model: Model) -> None:
        """Create a view of the session."""
        rows = self.asked(model)
        self._texts[model.name] = self._key(model, rows)
        self._plans.view(self._texts[model.name], VIEW + model.name, rows)

    def _note_columns(self, model: Model) -> None:
        """Note the columns of a view, unless it reads Delta tables: here these have no comments, which other sessions show."""
        parents = [self.project.models[name] for name in model.parents]
        has_no_delta = not model.sources and all(one.is_step or one.kind == "seed" or one.full_name in self.view_columns for one in parents)
        if has_no_delta and (columns := self._plans.columns(VIEW + model.name)):
            self.view_columns[model.full_name] = columns

    def _key(self, model: Model, rows: str) -> str:
        """The key by which an analysed plan of a model is kept; `rows`: its query."""
        tables = (*model.parents, *(f"bronze.{name}" for name in model.sources))
        return hashlib.sha256(repr((model.name, rows, [(name, self._known(model, name)) for name in tables])).encode()).hexdigest()

    def _known(self, model: Model, name: str) -> str | list[str] | None:
        """What is known of a table or view that a model reads; of a known column only which of the values that the model filters for exist."""
        chosen = model.reads.get(name)
        if name in self._values and chosen is not None:
            return sorted(self._values[name].intersection(chosen))
        return self._texts.get(name)

    def _tell(self, table: str, name: str, known: str) -> None:
        """Tell Spark what is known of the rows of a table; `name`: as readers know it."""
        self.spark.conf.set(f"{KNOWN}{table}", known)
        self._texts[name] = known

    def _make_in_turn(self, model: Model, part: Part | None) -> int | None:
        """Build a stored model beside others; retry it alone, if there was not enough memory for both.  One whose statements before it change the
        session's settings is built alone from the start: with them others would be planned, and views kept, in another way."""
        turn = self._turns.alone if model.before else self._turns.beside_others
        try:
            with turn():
                return self._make(model, part)
        except Exception as error:
            if not is_short(error):
                raise
        with self._turns.alone(), step_by_step(self.spark):
            return self._make(model, part)

    def _make(self, model: Model, part: Part | None) -> int | None:
        """Build a stored model, or a part of it.  Returns how many days of an incremental table were replaced (None: all)."""
        for statement in model.before:
            self.spark.sql(statement)
        try:
            if model.is_incremental:
                return self._replace_days(model)
            if model.kind == "seed":
                self._seed(model)
            else:
                self._write(model, part)
            self._hold_to_contract(model)
        finally:
            for statement in model.after:
                self.spark.sql(statement)
        return None

    def _hold_to_contract(self, model: Model) -> None:
        """Raises BrokenContract where a view or step breaks its contract."""
        if model.has_contract and not model.is_published:
            made = self.spark.table(f"{VIEW}{model.name}" if model.is_view else model.table)
            broken = [f"{model.name}.{fault}" for fault in faults(model, made.schema)]
            if broken:
                raise BrokenContract("; ".join(broken))

    def asked(self, model: Model, days: Sequence[str] | None = None, part: Part | None = None) -> str:
        """A model's query in this build."""
        return query(model, None if self._is_of_any(model) else self.clusters, days, self._of_all_clusters, part)

    def _is_of_any(self, model: Model) -> bool:
        """Whether a model's query names no clusters, so that its plan is kept for any: it is executed on the rows of those that are built."""
        return self._plans.are_kept and not model.is_incremental and OF_ALL not in model.sql

    def _read_of(self, model: Model) -> list[str] | None:
        """The clusters whose rows the plan of a model's query reads; None: all rows.  A mart that names no clusters is of all of them, as the
        calendar is."""
        is_of_all = model.is_published and "cluster_id" not in model.columns
        return self._chosen if self._is_of_any(model) and not is_of_all else None

    def _of_all_clusters(self, name: str) -> str:
        """A mart's rows of all clusters: new ones of the clusters that are built, published ones of the others."""
        mart = self.project.models[name]
        if self.clusters is None:
            return mart.table
        held, built = self.lists.show(mart.schema, mart.alias, before(mart)), f"in ({', '.join(map(spark_literal, self.clusters))})"
        return f"(select * from {mart.table} where cluster_id {built} union all select * from {held} where cluster_id not {built})"

    def _write(self, model: Model, part: Part | None) -> None:
        """Write a Parquet table: a mart aside, a step in its place."""
        folder = Path(self._folder(model))
        rows = self.asked(model, part=part)
        if model.has_contract:
            rows = f"select {', '.join(f'`{name}`' for name in model.columns)} from ({rows})"
        self._clear(model, folder)
        # Where plans are not kept, the query of a part from a time on names that.
        written = self._create(model, model.table, "", rows, comes_again=part is None or part.since is None or part.is_open, part=part)
        if self.unchanged and part:
            carried = self.unchanged.carry(model, part, folder)
            written = None if written is None else written + carried
            self.spark.sql(f"refresh table {model.table}")
        self._note(model, folder, written)
        if self.unchanged:
            self.unchanged.compare(model, folder, part)

    def _write_empty(self, model: Model) -> None:
        """Write an empty table, with the columns of its contract."""
        folder = Path(self._folder(model))
        self._clear(model, folder)
        folder.mkdir(parents=True)
        self.spark.sql(f"create table {model.table} ({model.columns_in_sql}) using parquet location {spark_literal(str(folder))}")
        columns = pa.schema(columns_of(model, self.spark.table(model.table).schema).to_arrow())
        pq.write_table(columns.empty_table(), folder / "none.parquet")
        self._note(model, folder, 0)
        if self.unchanged:
            self.unchanged.compare(model, folder)

    def _seed(self, model: Model) -> None:
        """Write the rows of a seed's file, as a Parquet table in its place."""
        folder = Path(self.place.table(model.schema, model.alias))
        self._clear(model, folder)
        folder.mkdir(parents=True)
        rows = company.rows(self.place, model, seed_rows(model, self.project.folder))
        pq.write_table(rows, folder / "rows.parquet")
        self._rows[model.name] = rows.num_rows
        columns = ", ".join(f"`{name}` {model.types.get(name, 'string')}" for name in rows.column_names)
        self.spark.sql(f"create table {model.table} ({columns}) using parquet location {spark_literal(str(folder))}")

    def _clear(self, model: Model, folder: Path) -> None:
        self._plans.forget(model.schema, model.alias)
        shutil.rmtree(folder, ignore_errors=True)

    def _note(self, model: Model, folder: Path, written: int | None) -> None:
        """Tell Spark what is known of the rows of a table.  `written`: how many were written; None where nobody has said so.

        Raises LostRows if other rows are found: a listing of a folder that is not complete would leave out what reads the table.
        """
        self._rows_in[str(folder)] = rows = ds.dataset(folder, format="parquet").count_rows()
        if written is None and not rows and not self.spark.table(model.table).isEmpty():
            raise LostRows(f"Spark finds rows in {folder}, and none are found there from here")
        must_be_all(rows, written, folder)
        self._tell_of(model, rows, folder)

    def _note_left(self, model: Model) -> None:
        """Tell Spark the same of a table that the previous build left, so that the plans of its readers are those of a build that makes it."""
        assert self.unchanged is not None
        self._tell_of(model, self.unchanged.count(model), Path(self._folder(model)))

    def _tell_of(self, model: Model, rows: int, folder: Path) -> None:
        """Tell Spark whether a table, whose files are in a folder, has rows, and which values of its known column."""
        self._rows[model.name] = rows
        if not rows:
            self._tell(model.full_name, model.name, NO_ROWS)
        elif model.known:
            # A null matches no value.
            texts = [value for value in values_in(folder, model.known) if value is not None]
            self._values[model.name] = set(texts)
            if len(texts) <= MOST_VALUES and not any("," in text for text in texts):
                self._tell(model.full_name, model.name, f"{model.known}={','.join(sorted(texts))}")

    def _replace_days(self, model: Model) -> int | None:
        """Rebuild the days of an incremental table that new rows fall on, or all of it.  Returns how many days (None: all)."""
        table = self.place.table(model.schema, model.alias)
        is_whole = self.is_anew or not DeltaTable.is_deltatable(table)
        days, part = (None, None) if is_whole else self._touched(model)
        if days != []:
            aside, name = self._written(model), f"{model.schema}.`{before(model)}`"
            shutil.rmtree(aside, ignore_errors=True)
            self._plans.forget(model.schema, before(model))
            rows = self.asked(model, days, part)
            written = self._create(model, name, f"partitioned by ({', '.join(model.partition_by)})", rows, comes_again=days is None)
            replace_days(table, aside, model, columns_of(model, self.spark.table(name).schema), days, written)
            self._plans.forget(model.schema, before(model))
            self.lists.show(model.schema, model.alias)
        if self.unchanged and days is not None:
            self.unchanged.differs[model.name] = bool(days)
            if days:
                self.unchanged.begins[model.name] = dt.datetime.fromisoformat(f"{days[0]}T00:00:00+00:00")
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
        begin = first_time(rows)
        part = Part(begin, f"select * from {model.table}", newest) if begin and newest is not None else None
        return sorted(str(day) for day in pc.unique(rows["event_date"]).to_pylist()), part


def cancel_all(spark: SparkSession) -> None:
    """Cancel all that a session runs."""
    if has_java(spark):
        # `interruptAll` only knows jobs of statements.
        spark.sparkContext.cancelAllJobs()
    else:
        spark.interruptAll()


def told(error: Exception) -> str:
    """What went wrong, on one line."""
    return one_line(str(error)) or type(error).__name__
