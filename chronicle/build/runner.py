"""Builds the models of a compiled project, each when all that it reads is built, two at a time.

A partial build rebuilds some tables only from the time on from which their input differs (`macros/since.sql`), and large ones only for the clusters in
which it does; it carries over the other rows of the previous build.  A model that can have no rows at all (`chronicle/build/needs.py`) is written
empty, without a query.

A model that breaks its contract has failed: nothing reads it.
"""

from __future__ import annotations

import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING
from uuid import uuid4

from chronicle.build.compiled import Model, Part
from chronicle.build.dbt_runs import THREADS, one_line
from chronicle.build.generated_code import GeneratedCode
from chronicle.build.memory import Turns, is_short, step_by_step
from chronicle.build.needs import is_met
from chronicle.build.outcome import Progress, Result, Statement, Took
from chronicle.build.schedule import Schedule
from chronicle.build.writer import Writer
from chronicle.spark.internals.executions import jobs_of
from chronicle.spark.internals.java_objects import has_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A model that reads more rows is built for those clusters alone in which they differ; with fewer it takes longer to carry the others over.
LARGE = 50_000


class ViewFailed(RuntimeError):
    """A view that a model reads cannot be created; the text says why."""

    def __init__(self, model: Model, why: str) -> None:
        super().__init__(why)
        self.model = model


class Runner:
    """Decides which models are built, and has the writer make them.  `is_profiled`: results say what statements took;
    `progress(number, all, what)` is called when a stored model is started."""

    def __init__(self, writer: Writer, *, is_profiled: bool = False, progress: Progress | None = None) -> None:
        self.writer, self.is_profiled, self.progress = writer, is_profiled, progress
        self.spark, self.project = writer.spark, writer.project
        self.tables, self.tracker = writer.tables, writer.tracker
        self._code, self._turns = GeneratedCode(self.spark), Turns()
        self._locks = {name: Lock() for name in self.project.models}
        self._numbers, self._stored = count(1), 0

    def run(self, wanted: set[str]) -> list[Result]:
        """Build the models of these names.  Those downstream of a failed one are not tried.  One result per stored model that was looked at,
        in the order of the project; where a view cannot be created, the result is the view's."""
        due = self.project.with_views(wanted)
        self._stored = sum(not self.project.models[name].is_view for name in due)
        schedule = Schedule(
            {name: due.intersection(self.project.models[name].parents) for name in due},
            self.project.readers_beneath(),
            {name for name in due if self.project.models[name].is_view},
        )
        results: dict[str, Result] = {}
        running: dict[Future[Result], str] = {}
        try:
            self.writer.show_tables()
            with ThreadPoolExecutor(THREADS) as threads:
                try:
                    while schedule.is_active:
                        while len(running) < THREADS and (name := schedule.next()):
                            running[threads.submit(self.result, self.project.models[name])] = name
                        for future in wait(running, return_when=FIRST_COMPLETED).done if running else ():
                            name = running.pop(future)
                            results[name] = future.result()
                            schedule.done(name, failed=bool(results[name].failure))
                except BaseException:
                    threads.shutdown(wait=False, cancel_futures=True)
                    cancel_all(self.spark)
                    raise
        finally:
            self.writer.forget()
        return [results[name] for name in self.project.models if name in results]

    def result(self, model: Model) -> Result:
        """Build a model, if it has to be."""
        began, result = time.monotonic(), Result(model)
        try:
            # A partial build follows one of the same project, so only what the company says can differ of the seeds; they are built because their
            # tables are not kept.
            if self.tracker and not model.is_view and model.kind != "seed":
                result = replace(result, because=self.tracker.reasons(model))
                # What is built counts as changed until it is compared.
                self.tables[model.name].changed = bool(result.because)
            if result.because == []:
                self.tables[model.name].is_left = model.is_step or model.is_published
            elif not model.is_view:
                result = self._made(result)
        except ViewFailed as failed:
            return Result(failed.model, failure=str(failed))
        except Exception as error:
            result = replace(result, failure=told(error))
        state = self.tables[model.name]
        return replace(
            result, seconds=round(time.monotonic() - began, 2), rows=state.rows, columns=state.columns, is_as_before=state.is_as_before
        )

    def _made(self, result: Result) -> Result:
        """Build a stored model."""
        model, began, part, group = result.model, time.monotonic(), None, None
        if self.progress:
            self.progress(next(self._numbers), self._stored, model.full_name)
        if self.can_be_written_empty(model):
            self.writer.write_empty(model)
            return result
        with self._turns.beside_others():
            for parent in model.parents:
                self._bring(self.project.models[parent])
        view_seconds = round(time.monotonic() - began, 2)
        if self.is_profiled:
            # A session that stays has built the model before, and Spark forgets what those jobs took.
            group = f"{model.name} {uuid4()}"
            self.spark.sparkContext.setJobGroup(group, model.table)
        rows_read = self.tables.rows_read(model)
        if self.tracker and result.because:
            part = self.tracker.part(model, result.because, is_large=rows_read > LARGE)
            if part and part.clusters is not None:
                rows_read = rows_read * len(part.clusters) // len(self.tracker.arrived.clusters)
        with self._code.where_worth_it(rows_read):
            days = self._make_in_turn(model, part)
        took = Took(self.writer.statements.get(model.name, Statement(0, 0)), jobs_of(self.spark, group)) if group else None
        return replace(result, view_seconds=view_seconds, days=days, part=part, took=took)

    def can_be_written_empty(self, model: Model) -> bool:
        """Whether a stored model cannot have rows in this build, so that its query need not run."""
        return (model.is_step or model.is_published) and model.has_contract and not is_met(model.needs, self.tables.may_have_rows)

    def _bring(self, model: Model) -> None:
        """Register what a model reads: a view, after those it reads, or a table that the previous build left."""
        state = self.tables[model.name]
        if not model.is_view and not state.is_left:
            return
        for parent in model.parents if model.is_view else ():
            self._bring(self.project.models[parent])
        with self._locks[model.name]:
            if state.is_registered:
                return
            if model.is_view:
                try:
                    self.writer.make_view(model)
                except Exception as error:
                    raise ViewFailed(model, told(error)) from error
            else:
                self.writer.bring(model)
            state.is_registered = True

    def _make_in_turn(self, model: Model, part: Part | None) -> int | None:
        """Build a stored model beside others; retry it alone, if there was not enough memory for both.  One whose statements before it change the
        session's settings is built alone from the start: with them others would be planned, and views kept, in another way."""
        turn = self._turns.alone if model.before else self._turns.beside_others
        try:
            with turn():
                return self.writer.make(model, part)
        except Exception as error:
            if not is_short(error):
                raise
        with self._turns.alone(), step_by_step(self.spark):
            return self.writer.make(model, part)

    def view_columns(self) -> dict[str, str]:
        """The columns of the views that models read, as `known_columns.ViewColumns` has them; without those of views that read Delta tables: here
        these have no comments, which other sessions show."""
        found: dict[str, str] = {}
        for model in self.project.models.values():
            parents = [self.project.models[name] for name in model.parents]
            has_no_delta = not model.sources and all(one.is_step or one.kind == "seed" or one.full_name in found for one in parents)
            columns = self.tables[model.name].columns
            if model.is_view and has_no_delta and columns is not None:
                found[model.full_name] = columns.json()
        return found


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
