"""The local engine: what a build makes in this process, with the models that dbt has compiled.

It makes a plan, which changes nothing, and takes five steps: it prepares the tables, runs the models, lets dbt test the result,
publishes the marts, and keeps what the next build and other sessions need.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chronicle.build import company, unfinished
from chronicle.build.changes import Arrivals, arrivals, built_from, has_lost_rows, loses_others
from chronicle.build.compiled import Model, Project, seed_rows
from chronicle.build.dbt_runs import WHILE_BUILDING, one_line, options, results_of, selected, teller
from chronicle.build.made_by import fingerprint, made_alike, why_anew
from chronicle.build.outcome import Outcome, Wanted
from chronicle.build.parsed import parse
from chronicle.build.publish import BrokenContract, LostRows, forget, publish
from chronicle.build.runner import Progress, Result, Runner
from chronicle.build.steps import carry_over, keep_steps
from chronicle.build.unchanged import Unchanged
from chronicle.spark.catalog import forget_earlier, keep_columns, register, register_views, save_views, sweep
from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    from dbt.cli.main import dbtRunnerResult
    from pyspark.sql import SparkSession

    from chronicle.build.internals import Manifest


@dataclass(frozen=True)
class Plan:
    """What a build will do.  `project`: the models; `taken`: names of those to build; `arrived`: the new rows that a partial build is for
    (None: full build); `is_anew`: incremental tables are rebuilt whole; `anew`: as in `Outcome`; `state`: what the marts are built from, as `built_from` returns it;
    `manifest`: dbt's, where dbt has something to do."""

    wanted: Wanted
    project: Project
    taken: set[str]
    arrived: Arrivals | None
    is_anew: bool
    anew: list[str]
    state: str
    manifest: Manifest | None

    @property
    def clusters(self) -> list[str] | None:
        """The clusters that are built; None: all."""
        return self.arrived.clusters if self.arrived else None

    @property
    def is_of_all(self) -> bool:
        """Whether all models are built."""
        return self.taken == self.project.stored()

    @property
    def marts(self) -> list[Model]:
        return self.project.of_kind("stable_table")

    @property
    def steps(self) -> list[Model]:
        return self.project.of_kind("table")


def build_local(
    spark: SparkSession, place: Warehouse, project: Project, wanted: Wanted, progress: Progress | None, *, is_profiled: bool = False
) -> tuple[Outcome, list[str]]:
    """Build what is wanted.  Returns the outcome, and a line for each failure."""
    if place.unfinished.exists():
        unfinished.take_back(place, fingerprint(project.folder))
    plan = planned(place, project, wanted)
    make_ready(spark, place, plan)
    outcome, failed = run(spark, place, plan, progress, is_profiled=is_profiled)
    save_views(place, plan.project.views(), plan.project.documented_views())
    if plan.wanted.tests and not failed:
        failed += test(spark, place, plan, outcome, progress)
    failed += publish_made(spark, place, plan, outcome, is_whole=not failed)
    if not failed:
        keep(place, plan)
        if outcome.view_columns:
            keep_columns(place, outcome.view_columns)
    unfinished.forget(place)
    return outcome, failed


def planned(place: Warehouse, project: Project, wanted: Wanted) -> Plan:
    """Decide what to build."""
    for seed in project.of_kind("seed"):
        # A file that cannot be used is said before any table is touched.
        if seed.name in company.SEEDS:
            company.rows(place, seed, seed_rows(seed, project.folder))
    state = built_from(place, project.folder)
    manifest = parse(place, project.folder) if wanted.tests or wanted.selection else None
    arrived = arrivals(place, state) if wanted.is_all else None
    if arrived and loses_others(place, project):
        arrived = None
    taken = project.stored()
    if manifest and wanted.selection:
        taken &= selected(manifest, place, project.folder, wanted.selection)
    by_days = {model.name for model in project.of_kind("incremental")}
    is_other = not made_alike(place, project.folder) or (arrived is None and has_lost_rows(place))
    is_anew = bool(by_days & taken) and (wanted.full_refresh or is_other)
    anew = why_anew(place, project.folder) if is_anew or (wanted.is_all and arrived is None) else []
    return Plan(wanted, project, taken, arrived, is_anew, anew, state, manifest)


def make_ready(spark: SparkSession, place: Warehouse, plan: Plan) -> None:
    """Delete the tables that will be rebuilt, and register those that will be read."""
    for key, value in WHILE_BUILDING.items():
        spark.conf.set(key, value)
    forget_earlier(spark, place)
    if plan.is_anew:
        place.incremental.unlink(missing_ok=True)
    shutil.rmtree(place.building, ignore_errors=True)
    place.clusters_built.unlink(missing_ok=True)
    if not plan.is_of_all:
        # Models that are left out are not built this time, but may be read.
        register(spark, place)
        return
    # From here on the next build cannot continue from these tables, until this build is done or rolled back.
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
    """Run the models.  Returns the outcome, and a line for each failure."""
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
    outcome = Outcome(clusters=plan.clusters, results=results, view_columns=runner.view_columns, anew=plan.anew)
    for result in results:
        if result.is_made:
            outcome.models[result.model.name] = result.seconds
            if result.model.is_incremental:
                outcome.days[result.model.name] = result.days
    # A view that cannot be created fails once for each model that reads it.
    return outcome, list(dict.fromkeys(failure(result) for result in results if result.failure))


def failure(result: Result) -> str:
    """The line that reports a model that failed."""
    kind = "seed" if result.model.kind == "seed" else "model"
    return f"{kind} {result.model.name}: {result.failure} ({result.model.path})"


def test(spark: SparkSession, place: Warehouse, plan: Plan, outcome: Outcome, progress: Progress | None) -> list[str]:
    """Let dbt run its data tests on the new tables, and its unit tests.  Returns a line for each failure."""
    from dbt.cli.main import dbtRunner

    register_views(spark, place, known=outcome.view_columns)
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
    """Commit the marts that were built, if nothing failed (`is_whole`).  Returns a line for broken contracts and lost rows."""
    made = [model for model in plan.marts if model.name in outcome.models]
    if not is_whole:
        forget(spark, made)
        return []
    try:
        since = {result.model.name: result.since.date() for result in outcome.results if result.since}
        due = {result.model.name: result.clusters for result in outcome.results if result.clusters is not None}
        as_before = {result.model.name for result in outcome.results if result.is_as_before}
        rows = {result.model.name: result.rows for result in outcome.results if result.rows is not None}
        published = publish(spark, place, made, plan.clusters, since, due, as_before, rows)
    except (BrokenContract, LostRows) as error:
        forget(spark, made)
        return [f"model {error}"]
    outcome.rows = {name: mart.rows for name, mart in published.items()}
    outcome.days |= {name: mart.days for name, mart in published.items() if mart.days is not None}
    if plan.clusters is not None:
        carry_over(spark, place, plan.steps, plan.clusters)
    return []


def keep(place: Warehouse, plan: Plan) -> None:
    """Note what the tables were built from, if all models were built."""
    if plan.is_of_all:
        place.incremental.write_text(fingerprint(plan.project.folder))
        place.clusters_built.write_text(json.dumps(plan.clusters))
        place.built.write_text(plan.state)
