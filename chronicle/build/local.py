"""The local engine: what a build makes in this process, with the models that dbt has compiled.

It makes a plan, which changes nothing, and goes through its stages (`stages.py`).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chronicle.build import company, unfinished
from chronicle.build.change_tracker import ChangeTracker
from chronicle.build.changes import Arrivals, arrivals, built_from, has_lost_rows, loses_others
from chronicle.build.compiled import Model, Project, seed_rows
from chronicle.build.dbt_runs import WHILE_BUILDING, options, selected, teller
from chronicle.build.file_lists import FileLists
from chronicle.build.made_by import fingerprint, made_alike, why_anew
from chronicle.build.outcome import Outcome, Progress, Result, Wanted
from chronicle.build.parsed import parse
from chronicle.build.previous import Previous
from chronicle.build.publish import BrokenContract, LostRows, Mart, columns_of, commit_all
from chronicle.build.runner import Runner
from chronicle.build.session_tables import SessionTables
from chronicle.build.stages import BuildModels, Keep, Prepare, Publish, RunTests, Stage, build_models, explained
from chronicle.build.steps import carry_over, keep_steps
from chronicle.build.tables import Tables
from chronicle.build.writer import Writer
from chronicle.spark.catalog import forget_earlier, keep_columns, register, register_views, save_views, sweep
from chronicle.spark.internals.hadoop_settings import drop_defaults
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


def stages(plan: Plan) -> list[Stage]:
    """What a build does, in order."""
    clusters = tuple(plan.clusters) if plan.clusters is not None else None
    models = build_models(plan.project, plan.taken, plan.arrived)
    marts = tuple(one.model for one in models.models if one.model.is_published)
    found: list[Stage] = [Prepare(clusters, plan.is_anew, plan.is_of_all), models]
    found += [RunTests(tuple(plan.wanted.selection))] if plan.wanted.tests else []
    found += [Publish(marts, clusters)]
    return found + ([Keep()] if plan.is_of_all else [])


def build_local(
    spark: SparkSession,
    place: Warehouse,
    project: Project,
    wanted: Wanted,
    progress: Progress | None,
    *,
    is_profiled: bool = False,
    explain: Callable[[str], None] | None = None,
) -> tuple[Outcome, list[str]]:
    """Build what is wanted.  `explain` is called with a line for each stage before any is begun.  Returns the outcome, and a line for each failure."""
    if place.unfinished.exists():
        unfinished.take_back(place, fingerprint(project.folder))
    plan = planned(place, project, wanted)
    build, due = LocalBuild(spark, place, plan, progress, is_profiled=is_profiled), stages(plan)
    if explain:
        for line in explained(due):
            explain(line)
    failed = build.run(due)
    unfinished.forget(place)
    return build.outcome, failed


class LocalBuild:
    """Goes through the stages of a build, up to the first that fails."""

    def __init__(self, spark: SparkSession, place: Warehouse, plan: Plan, progress: Progress | None, *, is_profiled: bool = False) -> None:
        self.spark, self.place, self.plan, self.progress, self.is_profiled = spark, place, plan, progress, is_profiled
        self.session: SessionTables | None = None
        self.outcome = Outcome(clusters=plan.clusters, anew=plan.anew)
        self._do: dict[type[Stage], Callable[[Any], list[str]]] = {
            Prepare: self.prepare,
            BuildModels: self.build_models,
            RunTests: self.test,
            Publish: self.publish,
            Keep: self.keep,
        }

    def run(self, stages: Sequence[Stage]) -> list[str]:
        """Returns a line for each failure of the stage that failed."""
        try:
            return next((failed for stage in stages if (failed := self._do[type(stage)](stage))), [])
        finally:
            if self.session:
                # They are elsewhere now, or have the rows of other clusters, too.
                for model in (*self.plan.marts, *self.plan.steps):
                    self.session.drop(model.schema, model.alias)

    def prepare(self, stage: Prepare) -> list[str]:
        """Delete the tables that will be rebuilt, and register those that will be read."""
        spark, place, plan = self.spark, self.place, self.plan
        for key, value in WHILE_BUILDING.items():
            spark.conf.set(key, value)
        drop_defaults(spark)
        forget_earlier(spark, place)
        if stage.is_anew:
            place.incremental.unlink(missing_ok=True)
        shutil.rmtree(place.building, ignore_errors=True)
        place.clusters_built.unlink(missing_ok=True)
        if not stage.is_of_all:
            # Models that are left out are not built this time, but may be read.
            register(spark, place)
            return []
        by_days = plan.project.of_kind("incremental")
        # From here on the next build cannot continue from these tables, until this build is done or rolled back.
        if stage.clusters is not None:
            unfinished.note(place, [(model.schema, model.alias) for model in by_days + plan.marts])
        place.built.unlink(missing_ok=True)
        if stage.clusters is not None:
            keep_steps(place, plan.steps)
        sweep(spark, place, by_days={(model.schema, model.alias) for model in by_days})
        register(spark, place, only=[])
        return []

    def build_models(self, stage: BuildModels) -> list[str]:
        """Run the models, those that stay too: views and tables are registered when something reads them."""
        plan, outcome = self.plan, self.outcome
        self.session = session = SessionTables(self.spark)
        lists, tables = FileLists(self.spark, self.place, session), Tables(self.place, plan.project)
        tracker = (
            ChangeTracker(plan.project, plan.arrived, Previous(self.place, plan.arrived.clusters, lists), tables) if plan.arrived else None
        )
        writer = Writer(self.spark, self.place, plan.project, tables, session, lists, plan.clusters, plan.is_anew, tracker)
        runner = Runner(writer, is_profiled=self.is_profiled, progress=self.progress)
        outcome.results = runner.run(plan.taken)
        if not tracker:
            outcome.view_columns = runner.view_columns()
        for result in outcome.results:
            if result.is_made:
                outcome.models[result.model.name] = result.seconds
                if result.model.is_incremental:
                    outcome.days[result.model.name] = result.days
        save_views(self.place, plan.project.views(), plan.project.documented_views())
        # A view that cannot be created fails once for each model that reads it.
        return list(dict.fromkeys(failure(result) for result in outcome.results if result.failure))

    def test(self, stage: RunTests) -> list[str]:
        """Let dbt run its data tests on the new tables, and its unit tests.  Returns a line for each failure."""
        from dbt.cli.main import dbtRunner

        place, outcome = self.place, self.outcome
        register_views(self.spark, place, known=outcome.view_columns)
        listeners = [teller(self.progress)] if self.progress else []
        given = options(place, self.plan.project.folder)
        done: dbtRunnerResult = dbtRunner(manifest=self.plan.manifest, callbacks=listeners).invoke(["test", *given, *stage.selection])
        return outcome.note_tests(done)

    def publish(self, stage: Publish) -> list[str]:
        """Commit the marts that were built.  Returns a line for lost rows."""
        made = [result for result in self.outcome.results if result.model.is_published and result.is_made]
        try:
            published = commit_all(self.place, [mart(self.place, result, self.plan.clusters) for result in made])
        except (BrokenContract, LostRows) as error:
            return [f"model {error}"]
        for result, one in zip(made, published, strict=True):
            self.outcome.rows[result.model.name] = one.rows
            if one.days is not None:
                self.outcome.days[result.model.name] = one.days
        if stage.clusters is not None:
            carry_over(self.place, self.plan.steps, stage.clusters)
        return []

    def keep(self, stage: Keep) -> list[str]:
        """Note what the tables were built from."""
        self.place.incremental.write_text(fingerprint(self.plan.project.folder))
        self.place.clusters_built.write_text(json.dumps(self.plan.clusters))
        self.place.built.write_text(self.plan.state)
        if self.outcome.view_columns:
            keep_columns(self.place, self.outcome.view_columns)
        return []


def failure(result: Result) -> str:
    """The line that reports a model that failed."""
    kind = "seed" if result.model.kind == "seed" else "model"
    return f"{kind} {result.model.name}: {result.failure} ({result.model.path})"


def mart(place: Warehouse, result: Result, clusters: list[str] | None) -> Mart:
    """What a build of some clusters (None: of all) has made of a mart, to be published."""
    model = result.model
    assert result.columns is not None
    if clusters is not None and "cluster_id" in model.columns:
        clusters = result.clusters if result.clusters is not None else clusters
    else:
        clusters = None
    return Mart(
        model.schema,
        model.alias,
        place.building / model.schema / model.alias,
        place.table(model.schema, model.alias),
        columns_of(model, result.columns),
        model.description,
        clusters,
        result.since.date() if result.since else None,
        result.is_as_before,
        result.rows,
    )
