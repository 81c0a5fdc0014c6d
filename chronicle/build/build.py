"""`chronicle build`: bronze to marts, with dbt in this process and on the session that is running.

A build is a plan, which changes nothing, and four steps: the tables are made ready, dbt runs, what it made is published, and what the next
build and other sessions need is kept.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from chronicle.build.changes import built_from, loses_others, made_alike, project_hash, touched_clusters
from chronicle.build.dbt_runs import (
    WHILE_BUILDING,
    BuildFailed,
    is_incremental,
    is_published,
    is_step,
    one_line,
    options,
    parse,
    results_of,
    selected,
    settings_kept,
    teller,
)
from chronicle.build.internals import EPHEMERAL, models_of, places_of
from chronicle.build.publish import BrokenContract, carry_over, forget, publish
from chronicle.build.views import keep_steps, keep_views, make_views
from chronicle.project import PROJECT
from chronicle.spark.catalog import register, register_views, sweep, tables
from ingestion.warehouse import Warehouse, only_writer

if TYPE_CHECKING:
    from dbt.cli.main import dbtRunnerResult
    from pyspark.sql import SparkSession

    from chronicle.build.internals import Manifest, Model

# What `touched_days` writes into a model: the days that it was asked to build, and the one that means none.
TOUCHED = re.compile(r"/\* touched \*/ (.*?) /\* days \*/")
DAY = re.compile(r"date'(?!0001-01-01)")

Progress = Callable[[int, int, str], None]


@dataclass
class Outcome:
    """What a build did: seconds by model, in order; rows by mart; days by model that have become others than
    they were (None: all); the clusters that were built (None: all); tests that passed; names of what warned."""

    models: dict[str, float] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    days: dict[str, int | None] = field(default_factory=dict)
    clusters: list[str] | None = None
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


@dataclass(frozen=True)
class Plan:
    """What a build makes.  `clusters`: of these alone (None: of all); `taken`: (schema, name) of the models that are selected;
    `is_anew`: tables by day were made by other rules, and are made again whole; `state`: what the marts are made from."""

    wanted: Wanted
    manifest: Manifest
    marts: list[Model]
    steps: list[Model]
    clusters: list[str] | None
    taken: set[tuple[str, str]]
    is_anew: bool
    state: str


def build(
    spark: SparkSession,
    warehouse: str,
    *,
    select: str | None = None,
    exclude: str | None = None,
    full_refresh: bool = False,
    tests: bool = False,
    project: Path = PROJECT,
    parsed: Future[Manifest] | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Run seeds and models, with `tests` also data and unit tests, and keep the views for sessions without dbt.

    `select`, `exclude`, `full_refresh`, `tests`: as `Wanted` has them; `parsed`: what `parse_ahead` gave;
    `progress(number, all, what)` is called when a model or test starts.
    Raises BuildFailed, or Busy where another process writes; the session's settings are restored in any case.
    """
    began = time.monotonic()
    place, wanted = Warehouse.at(warehouse), Wanted(select, exclude, full_refresh, tests)
    with only_writer(place), settings_kept(spark):
        plan = planned(place, project, wanted, parsed)
        make_ready(spark, place, project, plan)
        done = run(spark, place, project, plan, progress)
        outcome, failed = _told(done)
        failed += publish_made(spark, place, plan, outcome, is_whole=not failed)
        keep(spark, place, project, plan, is_done=not (failed or done.exception))
    outcome.seconds = time.monotonic() - began
    if failed:
        more = f" (and {len(failed) - 1} more: {', '.join(text.split(':')[0] for text in failed[1:])})" if len(failed) > 1 else ""
        raise BuildFailed(failed[0] + more)
    if done.exception:
        raise BuildFailed(f"dbt: {one_line(str(done.exception))}")
    return outcome


def planned(place: Warehouse, project: Path, wanted: Wanted, parsed: Future[Manifest] | None) -> Plan:
    """What is to be built."""
    state = built_from(place, project)
    manifest = parsed.result() if parsed and not wanted.tests else parse(place, project, inline=not wanted.tests)
    models = models_of(manifest)
    marts = [model for model in models if place.is_local and is_published(model)]
    steps = [model for model in models if is_step(model)]
    clusters = touched_clusters(place, state) if wanted.is_all else None
    if clusters is not None and loses_others(place, marts, steps):
        clusters = None
    everything = places_of(manifest)
    taken = selected(manifest, place, project, wanted.select) if wanted.select else everything
    by_days = {(model.schema, model.alias) for model in models if is_incremental(model)}
    is_anew = bool(by_days & taken) and not made_alike(place, project)
    return Plan(wanted, manifest, marts, steps, clusters, taken, is_anew, state)


def make_ready(spark: SparkSession, place: Warehouse, project: Path, plan: Plan) -> None:
    """Clear away what dbt makes, and make known to the catalog what it reads."""
    if plan.is_anew:
        place.incremental.unlink(missing_ok=True)
    shutil.rmtree(place.building, ignore_errors=True)
    if plan.wanted.select:
        # What is not selected is not made by dbt this time, but may be read.
        if plan.wanted.tests:
            make_views(spark, place, project)
        register_views(spark, place)
        sweep(spark, place, only=plan.taken)
        return
    # From here on the tables are nothing that the next build can continue from, until this one is done.
    place.built.unlink(missing_ok=True)
    if plan.clusters is not None:
        keep_steps(spark, place, plan.steps)
    sweep(spark, place)
    made_anew = {(model.schema, model.alias) for model in plan.marts}
    register(spark, place, only=[table for table in tables(spark, place) if table not in made_anew])


def run(spark: SparkSession, place: Warehouse, project: Path, plan: Plan, progress: Progress | None) -> dbtRunnerResult:
    """Let dbt make what is planned."""
    from dbt.cli.main import dbtRunner

    given = options(place, project, inline=not plan.wanted.tests, clusters=plan.clusters)
    for key, value in WHILE_BUILDING.items():
        spark.conf.set(key, value)
    return dbtRunner(manifest=plan.manifest, callbacks=[teller(progress)] if progress else []).invoke(["build", *given, *_wanted(plan)])


def publish_made(spark: SparkSession, place: Warehouse, plan: Plan, outcome: Outcome, *, is_whole: bool) -> list[str]:
    """Commit the marts that dbt made, if it made all (`is_whole`).  Returns what is not as its contract says."""
    made = [model for model in plan.marts if model.name in outcome.models]
    if not is_whole:
        forget(spark, made)
        return []
    try:
        published = publish(spark, place, made, plan.clusters)
    except BrokenContract as error:
        forget(spark, made)
        return [f"model {error}"]
    outcome.rows = {name: mart.rows for name, mart in published.items()}
    outcome.days |= {name: mart.days for name, mart in published.items() if mart.days is not None}
    outcome.clusters = plan.clusters
    if plan.clusters is not None:
        carry_over(spark, place, plan.steps, plan.clusters)
    return []


def keep(spark: SparkSession, place: Warehouse, project: Path, plan: Plan, *, is_done: bool) -> None:
    """Keep the views' SQL, and what the tables were made from where the build of all models is done."""
    keep_views(spark, place, plan.manifest)
    for view in spark.sql("show views").collect():
        if view.isTemporary and view.viewName.startswith(EPHEMERAL):
            spark.catalog.dropTempView(view.viewName)
    if is_done and not plan.wanted.select:
        place.incremental.write_text(project_hash(project))
        place.built.write_text(plan.state)


def _wanted(plan: Plan) -> list[str]:
    """What dbt is asked to build, as its options."""
    wanted = plan.wanted
    found = ["--select", *wanted.select.split()] if wanted.select else []
    found += ["--exclude", *wanted.exclude.split()] if wanted.exclude else []
    found += ["--full-refresh"] if wanted.full_refresh or plan.is_anew else []
    return found if wanted.tests else [*found, "--exclude-resource-type", "test", "unit_test"]


def _told(done: dbtRunnerResult) -> tuple[Outcome, list[str]]:
    """What dbt says it did, and what failed.  Raises BuildFailed where it stopped before it did anything."""
    outcome, failed = Outcome(), []
    for result in results_of(done):
        name, kind = result.node.name, str(result.node.resource_type)
        if result.status in ("error", "fail", "runtime error"):
            failed.append(f"{kind} {name}: {one_line(result.message or 'failed')} ({result.node.original_file_path})")
        elif result.status == "warn":
            outcome.warnings.append(f"{kind} {name}: {one_line(result.message or '')}")
        elif result.status in ("pass", "success") and kind in ("test", "unit_test"):
            outcome.tests += 1
        elif result.status == "success":
            outcome.models[name] = round(result.execution_time, 2)
            if getattr(result.node.config, "materialized", "") == "incremental":
                touched = TOUCHED.search(result.node.compiled_code or "")
                outcome.days[name] = len(DAY.findall(touched[1])) if touched else None
    return outcome, failed
