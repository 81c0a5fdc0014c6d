"""`chronicle build`: bronze to marts, from the models that dbt has compiled, on the session that is running.

A build is a plan, which changes nothing, and five steps: the tables are made ready, the models are run, dbt tests what they made, it is
published, and what the next build and other sessions need is kept.
"""

from __future__ import annotations

import json
import shutil
import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from chronicle.build import unfinished
from chronicle.build.changes import Arrivals, arrivals, built_from, has_lost_rows, loses_others, made_alike
from chronicle.build.compiled import Model, Project, compiled, project_hash
from chronicle.build.dbt_runs import WHILE_BUILDING, BuildFailed, one_line, options, parse, results_of, selected, settings_kept, teller
from chronicle.build.publish import BrokenContract, forget, publish
from chronicle.build.runner import Progress, Result, Runner
from chronicle.build.steps import carry_over, keep_steps
from chronicle.build.unchanged import Unchanged
from chronicle.project import PROJECT
from chronicle.spark.catalog import forget_earlier, register, register_views, save_views, sweep
from chronicle.spark.internals.java_objects import has_java
from ingestion.warehouse import Warehouse, only_writer

if TYPE_CHECKING:
    from dbt.cli.main import dbtRunnerResult
    from pyspark.sql import SparkSession

    from chronicle.build.internals import Manifest


@dataclass
class Outcome:
    """What a build did: seconds by model, in order; rows by mart; days by model that have become others than
    they were (None: all); the clusters that were built (None: all); what became of each stored model; tests that passed; names of what warned."""

    models: dict[str, float] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    days: dict[str, int | None] = field(default_factory=dict)
    clusters: list[str] | None = None
    results: list[Result] = field(default_factory=list)
    tests: int = 0
    warnings: list[str] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True)
class Wanted:
    """What a build was asked for.  `select`, `exclude`: dbt's selection syntax, several separated by blanks; `tests`: also data and unit
    tests."""

    select: str | None = None
    exclude: str | None = None
    full_refresh: bool = False
    tests: bool = False

    @property
    def is_all(self) -> bool:
        """Whether nothing was asked for but what is new."""
        return not (self.select or self.exclude or self.full_refresh or self.tests)

    @property
    def selection(self) -> list[str]:
        """As options of dbt."""
        selected = ["--select", *self.select.split()] if self.select else []
        return selected + (["--exclude", *self.exclude.split()] if self.exclude else [])


@dataclass(frozen=True)
class Plan:
    """What a build makes.  `project`: the models; `taken`: names of those that are made; `arrived`: what they are made of (None: of all);
    `is_anew`: tables by day are made again whole; `state`: what the marts are made from; `manifest`: dbt's, where dbt has something to do."""

    wanted: Wanted
    project: Project
    taken: set[str]
    arrived: Arrivals | None
    is_anew: bool
    state: str
    manifest: Manifest | None

    @property
    def clusters(self) -> list[str] | None:
        """Those that are built; None: all."""
        return self.arrived.clusters if self.arrived else None

    @property
    def marts(self) -> list[Model]:
        return self.project.of_kind("stable_table")

    @property
    def steps(self) -> list[Model]:
        return self.project.of_kind("table")


def build(
    spark: SparkSession,
    warehouse: str,
    *,
    select: str | None = None,
    exclude: str | None = None,
    full_refresh: bool = False,
    tests: bool = False,
    is_profiled: bool = False,
    project: Path = PROJECT,
    ahead: Future[Project] | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Make seeds and models, with `tests` also run data and unit tests, and keep the views for other sessions.

    `select`, `exclude`, `full_refresh`, `tests`: as `Wanted` has them; `is_profiled`: results say what their jobs took and read;
    `ahead`: what `compiled_ahead` gave;
    `progress(number, all, what)` is called when a model or test starts.
    Raises BuildFailed, or Busy where another process writes; the session's settings are restored in any case.
    """
    began = time.monotonic()
    if is_profiled and not has_java(spark):
        raise ValueError("--profile asks Spark in this process; a server of Spark Connect does not say what its statements took")
    place, wanted = Warehouse.at(warehouse), Wanted(select, exclude, full_refresh, tests)
    with only_writer(place), settings_kept(spark):
        if place.unfinished.exists():
            unfinished.take_back(place, project_hash(project))
        plan = planned(place, ahead.result() if ahead else compiled(project), wanted)
        make_ready(spark, place, plan)
        outcome, failed = run(spark, place, plan, progress, is_profiled=is_profiled)
        save_views(place, plan.project.views())
        if tests and not failed:
            failed += test(spark, place, plan, outcome, progress)
        failed += publish_made(spark, place, plan, outcome, is_whole=not failed)
        if not failed:
            keep(place, plan)
        unfinished.forget(place)
    outcome.seconds = time.monotonic() - began
    if failed:
        more = f" (and {len(failed) - 1} more: {', '.join(text.split(':')[0] for text in failed[1:])})" if len(failed) > 1 else ""
        raise BuildFailed(failed[0] + more)
    return outcome


def planned(place: Warehouse, project: Project, wanted: Wanted) -> Plan:
    """What is to be built."""
    state = built_from(place, project.folder)
    manifest = parse(place, project.folder) if wanted.tests or wanted.select or wanted.exclude else None
    arrived = arrivals(place, state) if wanted.is_all else None
    if arrived and loses_others(place, project):
        arrived = None
    stored = {model.name for model in project.models.values() if not model.is_view}
    if manifest and (wanted.select or wanted.exclude):
        stored &= selected(manifest, place, project.folder, wanted.selection)
    by_days = {model.name for model in project.of_kind("incremental")}
    is_other = not made_alike(place, project.folder) or (arrived is None and has_lost_rows(place))
    is_anew = bool(by_days & stored) and (wanted.full_refresh or is_other)
    return Plan(wanted, project, stored, arrived, is_anew, state, manifest)


def make_ready(spark: SparkSession, place: Warehouse, plan: Plan) -> None:
    """Clear away what is made again, and make known to the catalog what is read."""
    for key, value in WHILE_BUILDING.items():
        spark.conf.set(key, value)
    forget_earlier(spark, place)
    if plan.is_anew:
        place.incremental.unlink(missing_ok=True)
    shutil.rmtree(place.building, ignore_errors=True)
    place.clusters_built.unlink(missing_ok=True)
    if plan.wanted.select:
        # What is not selected is not made this time, but may be read.
        register(spark, place)
        return
    # From here on the tables are nothing that the next build can continue from, until this one is done or taken back.
    if plan.clusters is not None:
        unfinished.note(place, [(model.schema, model.alias) for model in plan.project.of_kind("incremental") + plan.marts])
    place.built.unlink(missing_ok=True)
    if plan.clusters is not None:
        keep_steps(spark, place, plan.steps)
    sweep(spark, place, by_days={(model.schema, model.alias) for model in plan.project.of_kind("incremental")})
    register(spark, place, only=[])


def run(
    spark: SparkSession, place: Warehouse, plan: Plan, progress: Progress | None, *, is_profiled: bool = False
) -> tuple[Outcome, list[str]]:
    """Make the models.  Returns what was done, and what failed."""
    unchanged = Unchanged(spark, place, plan.project, plan.arrived) if plan.arrived else None
    runner = Runner(
        spark,
        place,
        plan.project,
        clusters=plan.clusters,
        unchanged=unchanged,
        is_anew=plan.is_anew,
        is_profiled=is_profiled,
        progress=progress,
    )
    results = runner.run(plan.taken)
    outcome = Outcome(clusters=plan.clusters, results=results)
    for result in results:
        if result.is_made:
            outcome.models[result.model.name] = result.seconds
            if result.model.is_incremental:
                outcome.days[result.model.name] = result.days
    # A view that cannot be made fails for each of its readers.
    return outcome, list(dict.fromkeys(failure(result) for result in results if result.failure))


def failure(result: Result) -> str:
    """What is told of a model that could not be made."""
    kind = "seed" if result.model.kind == "seed" else "model"
    return f"{kind} {result.model.name}: {result.failure} ({result.model.path})"


def test(spark: SparkSession, place: Warehouse, plan: Plan, outcome: Outcome, progress: Progress | None) -> list[str]:
    """Let dbt test the data that were made, and run its unit tests.  Returns what failed."""
    from dbt.cli.main import dbtRunner

    register_views(spark, place)
    listeners = [teller(progress)] if progress else []
    given = options(place, plan.project.folder)
    done: dbtRunnerResult = dbtRunner(manifest=plan.manifest, callbacks=listeners).invoke(["test", *given, *plan.wanted.selection])
    failed = []
    for result in results_of(done):
        name, kind = result.node.name, str(result.node.resource_type)
        if result.status in ("error", "fail", "runtime error"):
            failed.append(f"{kind} {name}: {one_line(result.message or 'failed')} ({result.node.original_file_path})")
        elif result.status == "warn":
            outcome.warnings.append(f"{kind} {name}: {one_line(result.message or '')}")
        elif result.status == "pass":
            outcome.tests += 1
    if done.exception and not failed:
        failed.append(f"dbt: {one_line(str(done.exception))}")
    return failed


def publish_made(spark: SparkSession, place: Warehouse, plan: Plan, outcome: Outcome, *, is_whole: bool) -> list[str]:
    """Commit the marts that were made, if all were (`is_whole`).  Returns what is not as its contract says."""
    made = [model for model in plan.marts if model.name in outcome.models]
    if not is_whole:
        forget(spark, made)
        return []
    try:
        since = {result.model.name: result.since.date() for result in outcome.results if result.since}
        published = publish(spark, place, made, plan.clusters, since)
    except BrokenContract as error:
        forget(spark, made)
        return [f"model {error}"]
    outcome.rows = {name: mart.rows for name, mart in published.items()}
    outcome.days |= {name: mart.days for name, mart in published.items() if mart.days is not None}
    if plan.clusters is not None:
        carry_over(spark, place, plan.steps, plan.clusters)
    return []


def keep(place: Warehouse, plan: Plan) -> None:
    """Keep what the tables were made from, if all models were built."""
    if not plan.wanted.select:
        place.incremental.write_text(project_hash(plan.project.folder))
        place.clusters_built.write_text(json.dumps(plan.clusters))
        place.built.write_text(plan.state)
