"""`chronicle build`: bronze to marts, with dbt in this process and on the session that is running."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from chronicle.build.publish import BrokenContract, carry_over, fits, forget, publish
from chronicle.project import PROJECT
from chronicle.spark.catalog import register, register_views, save_views, sweep, tables
from ingestion.warehouse import Warehouse, only_writer, opened

if TYPE_CHECKING:
    from dbt.cli.main import dbtRunnerResult
    from dbt.contracts.graph.manifest import Manifest
    from dbt.contracts.graph.nodes import ModelNode
    from pyspark.sql import SparkSession

# dbt-spark sets these for its own statements and leaves them so.
CHANGED_BY_DBT = ("spark.sql.ansi.enabled", "spark.sql.shuffle.partitions", "spark.sql.sources.partitionOverwriteMode")


# Measured on three weeks of a real cluster: 61 s a build without, 71 s with. There is one shuffle partition to adapt.
# Code for each of hundreds of small plans costs more to generate and compile than the rows do; `generate_code` is for the few
# models that read many.
WHILE_BUILDING = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # Marts are a file each, and those by day are chosen by their folders: there is nothing that bounds could skip.
    "spark.databricks.delta.stats.collect": "false",
    # Views of the session keep their plan (`from_session_views`): what is analysed once need not be analysed by each reader.
    "spark.sql.legacy.storeAnalyzedPlanForView": "true",
    # Names given by `with` become part of the plan where they are read; otherwise they are carried along, and every plan that
    # holds them is checked and renewed for each of them.
    "spark.sql.legacy.inlineCTEInCommands": "true",
}

# What `touched_days` writes into a model: the days that it was asked to build, and the one that stands for none.
TOUCHED = re.compile(r"/\* touched \*/ (.*?) /\* days \*/")
DAY = re.compile(r"date'(?!0001-01-01)")


# How dbt names what it compiles into its readers, and `from_session_views` the views of the session.
SESSION_VIEWS = "__dbt__cte__"


class BuildFailed(RuntimeError):
    """A model, test or the project itself failed; the text names it and gives the database's own words."""


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
    progress: Callable[[int, int, str], None] | None = None,
) -> Outcome:
    """Run seeds and models, with `tests` also data and unit tests, and keep the views for sessions without dbt.

    `select`, `exclude`: dbt's selection syntax, several separated by blanks; `parsed`: what `parse_ahead` gave;
    `progress(number, all, what)` is called when a model or test starts.
    Raises BuildFailed, or Busy where another process writes; the session's settings are restored in any case.
    """
    began = time.monotonic()
    place = Warehouse.at(warehouse)
    with only_writer(place), settings_kept(spark):
        from dbt.cli.main import dbtRunner

        state = built_from(place, project)
        manifest = parsed.result() if parsed and not tests else parse(place, project, inline=not tests)
        marts = {key: node for key, node in manifest.nodes.items() if place.is_local and is_published(node)}
        steps = [node for node in manifest.nodes.values() if is_step(node)]
        clusters = None if select or exclude or full_refresh or tests else touched_clusters(place, state)
        if clusters is not None and loses_others(place, [*marts.values()], steps):
            clusters = None
        taken = selected(manifest, place, project, select) if select else {(node.schema, node.alias) for node in manifest.nodes.values()}
        by_days = {(node.schema, node.alias) for node in manifest.nodes.values() if is_incremental(node)}
        if by_days & taken and not made_alike(place, project):
            full_refresh = True
            place.incremental.unlink(missing_ok=True)
        arguments = ["build", *options(place, project, inline=not tests, clusters=clusters), *_wanted(select, exclude, full_refresh, tests)]
        shutil.rmtree(place.building, ignore_errors=True)
        if not select:
            # From here on the tables are nothing that the next build can go on from, until this one is done.
            place.built.unlink(missing_ok=True)
        if clusters is not None:
            keep_steps(spark, place, steps)
        if select:
            # What is not selected is not made by dbt this time, but may be read.
            if tests:
                make_views(spark, place, project)
            register_views(spark, place)
            sweep(spark, place, only=taken)
        else:
            sweep(spark, place)
            made_anew = {(node.schema, node.alias) for node in marts.values()}
            register(spark, place, only=[table for table in tables(spark, place) if table not in made_anew])
        for key, value in WHILE_BUILDING.items():
            spark.conf.set(key, value)
        done = dbtRunner(manifest=manifest, callbacks=[_teller(progress)] if progress else []).invoke(arguments)
        outcome, failed = _told(done)
        made = [node for node in marts.values() if node.name in outcome.models]
        if failed:
            forget(spark, made)
        else:
            try:
                published = publish(spark, place, made, clusters)
                outcome.rows = {name: mart.rows for name, mart in published.items()}
                outcome.days |= {name: mart.days for name, mart in published.items() if mart.days is not None}
                outcome.clusters = clusters
                if clusters is not None:
                    carry_over(spark, place, steps, clusters)
            except BrokenContract as error:
                forget(spark, made)
                failed.append(f"model {error}")
        keep_views(spark, place, manifest)
        for view in spark.sql("show views").collect():
            if view.isTemporary and view.viewName.startswith(SESSION_VIEWS):
                spark.catalog.dropTempView(view.viewName)
        if not (select or failed or done.exception):
            place.incremental.write_text(project_hash(project))
            place.built.write_text(state)
    outcome.seconds = time.monotonic() - began
    if failed:
        more = f" (and {len(failed) - 1} more: {', '.join(text.split(':')[0] for text in failed[1:])})" if len(failed) > 1 else ""
        raise BuildFailed(failed[0] + more)
    if done.exception:
        raise BuildFailed(f"dbt: {one_line(str(done.exception))}")
    return outcome


def _wanted(select: str | None, exclude: str | None, full_refresh: bool, tests: bool) -> list[str]:
    """What dbt is asked to build, as its options."""
    found = ["--select", *select.split()] if select else []
    found += ["--exclude", *exclude.split()] if exclude else []
    found += ["--full-refresh"] if full_refresh else []
    return found if tests else [*found, "--exclude-resource-type", "test", "unit_test"]


def _told(done: dbtRunnerResult) -> tuple[Outcome, list[str]]:
    """What dbt says it did, and what failed.  Raises BuildFailed where it stopped before it did anything."""
    if done.result is None or not hasattr(done.result, "results"):
        raise BuildFailed(f"dbt: {one_line(str(done.exception) if done.exception else 'stopped without saying why')}")
    outcome, failed = Outcome(), []
    for result in done.result.results:
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


def selected(manifest: Manifest, place: Warehouse, project: Path, select: str) -> set[tuple[str, str]]:
    """(schema, name) of the models that a selection takes."""
    from dbt.cli.main import dbtRunner

    wanted = ["list", *options(place, project), "--select", *select.split(), "--resource-types", "model", "--output", "name"]
    done = dbtRunner(manifest=manifest).invoke(wanted)
    if not done.success:
        raise BuildFailed(f"dbt: {one_line(str(done.exception))}")
    return {(node.schema, node.alias) for node in manifest.nodes.values() if node.name in done.result}


def touched_clusters(place: Warehouse, state: str) -> list[str] | None:
    """Clusters of what has arrived in bronze since the last build of all models; None where all must be built.

    All: before the first build, after a change of the project, and where bronze lost files (its history is another then).
    `state`: what `built_from` says now.
    """
    if not place.is_local or not place.built.exists():
        return None
    before, now = json.loads(place.built.read_text()), json.loads(state)
    if before["project"] != now["project"] or set(before["bronze"]) - set(now["bronze"]):
        return None
    clusters: set[str] = set()
    for name, version in now["bronze"].items():
        table = place.table("bronze", name)
        if version == before["bronze"].get(name):
            continue
        held = set(opened(table).file_uris())
        known = set(opened(table, before["bronze"][name]).file_uris()) if name in before["bronze"] else set()
        if known - held:
            return None
        for file in held - known:
            clusters |= set(pq.read_table(file, columns=["cluster_id"], partitioning=None)["cluster_id"].unique().to_pylist())
    # No cluster has an empty name: where files came without rows, nothing is built anew.
    return None if None in clusters else sorted(clusters) or [""]


def loses_others(place: Warehouse, marts: Sequence[ModelNode], steps: Sequence[ModelNode]) -> bool:
    """Whether a build of some clusters would have nothing of the others: a table is missing, or is not as its contract says."""
    return any(not fits(mart, place.table(mart.schema, mart.alias)) for mart in marts) or any(
        not Path(place.table(step.schema, step.alias)).is_dir() for step in steps
    )


def made_alike(place: Warehouse, project: Path = PROJECT) -> bool:
    """Whether all days of the incremental tables were made by the project as it stands: else a new day would stand beside old ones that
    were made by other rules, or with other columns.
    """
    return place.incremental.exists() and place.incremental.read_text() == project_hash(project)


def is_incremental(node: ModelNode) -> bool:
    """Whether a model is a table of which builds replace the days that arrivals touch."""
    return str(node.resource_type) == "model" and node.config.materialized == "incremental"


def is_step(node: ModelNode) -> bool:
    """Whether a model is a table between staging and marts, made anew in each build."""
    return str(node.resource_type) == "model" and node.config.materialized == "table"


def keep_steps(spark: SparkSession, place: Warehouse, steps: list[ModelNode]) -> None:
    """Put the tables of steps aside, for what they hold of the clusters that are not built."""
    shutil.rmtree(place.kept_steps, ignore_errors=True)
    for step in steps:
        folder = Path(place.table(step.schema, step.alias))
        if folder.is_dir():
            (place.kept_steps / step.schema).mkdir(parents=True, exist_ok=True)
            folder.rename(place.kept_steps / step.schema / step.alias)
            spark.sql(f"drop table if exists {step.schema}.`{step.alias}`")


def is_published(node: ModelNode) -> bool:
    """Whether a model is written aside and committed by `publish`."""
    return str(node.resource_type) == "model" and node.config.materialized == "stable_table"


def built_from(place: Warehouse, project: Path = PROJECT) -> str:
    """What the marts are made from, as text: the project's files and the versions of bronze's tables."""
    found = sorted(Path(place.root, "bronze").glob("*/_delta_log")) if place.is_local else []
    versions = {log.parent.name: opened(log.parent).version() for log in found}
    return json.dumps({"project": project_hash(project), "bronze": versions})


def project_hash(project: Path = PROJECT) -> str:
    """SHA-256 of everything that the marts are made from, beside the data."""
    digest = hashlib.sha256((project / "dbt_project.yml").read_bytes())
    for folder in ("models", "macros", "dbt_project"):
        for path in sorted((project / folder).rglob("*")):
            if path.is_file():
                digest.update(path.read_bytes())
    return digest.hexdigest()


def is_current(warehouse: str, project: Path = PROJECT) -> bool:
    """Whether the last build of all models was made from the project and from bronze as they stand."""
    place = Warehouse.at(warehouse)
    return place.is_local and place.built.exists() and place.built.read_text() == built_from(place, project)


def options(place: Warehouse, project: Path, *, inline: bool = True, clusters: list[str] | None = None) -> list[str]:
    """What every call of dbt is given: where things are, and that it keeps quiet and off the network.

    `inline`: views are compiled into what reads them.  Of 252 statements 167 make views, each of which analyses all that lies
    beneath it; dbt's unit tests need them, a build does not.  `clusters`: those that are built; the tables of others stay.
    """
    vars = {"inline": inline, **({"building": str(place.building)} if place.is_local else {})}
    if clusters is not None:
        vars |= {"clusters": clusters, "warehouse": place.root}
    return [
        *("--vars", json.dumps(vars)),
        *("--project-dir", str(project), "--profiles-dir", str(project / "dbt_project")),
        *("--target-path", str(place.work / "target"), "--log-path", str(place.work / "logs")),
        *("--quiet", "--no-print", "--no-version-check", "--no-send-anonymous-usage-stats", "--no-use-colors", "--no-write-json"),
        *("--log-level", "none", "--log-level-file", "info", "--no-populate-cache"),
    ]


def parse(place: Warehouse, project: Path = PROJECT, *, inline: bool = True) -> Manifest:
    """Read the project.  Raises BuildFailed with what dbt says about it."""
    prepare()
    from dbt.cli.main import dbtRunner

    done = dbtRunner().invoke(["parse", *options(place, project, inline=inline)])
    if not done.success or done.result is None:
        raise BuildFailed(f"dbt: {one_line(str(done.exception))}")
    return done.result


def parse_ahead(warehouse: str, project: Path = PROJECT) -> Future[Manifest]:
    """Read the project in a thread, while Spark starts: import and parsing are seconds that need no session."""
    future: Future[Manifest] = Future()

    def work() -> None:
        try:
            future.set_result(parse(Warehouse.at(warehouse), project))
        except BaseException as error:
            future.set_exception(error)

    Thread(target=work, name="parse", daemon=True).start()
    return future


def prepare() -> None:
    """Import dbt without its telemetry and with the database's checks on."""
    os.environ["DBT_SEND_ANONYMOUS_USAGE_STATS"] = "0"
    from dbt.adapters.spark.connections import SparkCredentials

    if getattr(SparkCredentials.__post_init__, "keeps_ansi", False):
        return
    original = SparkCredentials.__post_init__

    def with_ansi(credentials: SparkCredentials) -> None:
        original(credentials)
        # The adapter turns it off for sessions, not for servers: overflow would wrap in silence here and fail there.
        credentials.server_side_parameters["spark.sql.ansi.enabled"] = "true"

    with_ansi.keeps_ansi = True  # type: ignore[attr-defined]
    SparkCredentials.__post_init__ = with_ansi  # type: ignore[method-assign]


@contextlib.contextmanager
def settings_kept(spark: SparkSession) -> Iterator[None]:
    """Give the session back with the settings that dbt changes as they were."""
    before = {key: spark.conf.get(key, None) for key in (*CHANGED_BY_DBT, *WHILE_BUILDING)}
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, value)


def keep_views(spark: SparkSession, place: Warehouse, manifest: Manifest, texts: dict[tuple[str, str], str] | None = None) -> None:
    """Keep the SQL of the catalog's views, or of those given beside them, in the order of their dependencies."""
    catalog = spark._jsparkSession.sessionState().catalog()
    identifier, option = spark._jvm.org.apache.spark.sql.catalyst.TableIdentifier, spark._jvm.scala.Option
    texts = dict(texts or {})
    for schema in ("staging", "intermediate"):
        for row in spark.sql(f"show views in {schema}").collect():
            if not row.isTemporary:
                table = catalog.getTableMetadata(identifier(row.viewName, option.apply(schema)))
                texts.setdefault((schema, row.viewName), table.viewText().get())
    nodes = {key: node for key, node in manifest.nodes.items() if str(node.resource_type) in ("model", "seed")}
    ordered: list[str] = []

    def visit(key: str) -> None:
        if key in nodes and key not in ordered:
            for before in getattr(nodes[key].depends_on, "nodes", []):
                visit(before)
            ordered.append(key)

    for key in sorted(nodes):
        visit(key)
    places = [(nodes[key].schema, nodes[key].alias) for key in ordered]
    save_views(place, [(schema, name, texts[schema, name]) for schema, name in places if (schema, name) in texts])


def make_views(spark: SparkSession, place: Warehouse, project: Path = PROJECT) -> None:
    """Compile the models that builds take into the SQL of those that read them, so that each can be asked as a view."""
    made_for = place.work / "views-of"
    if not place.views.exists() or (made_for.exists() and made_for.read_text() == project_hash(project)):
        return
    from dbt.cli.main import dbtRunner

    register_views(spark, place)
    manifest = parse(place, project, inline=False)
    wanted = ["compile", *options(place, project, inline=False), "--select", "config.materialized:view"]
    done = dbtRunner(manifest=manifest).invoke(wanted)
    if not done.success or done.result is None:
        raise BuildFailed(f"dbt: {one_line(str(done.exception))}")
    compiled = {(result.node.schema, result.node.alias): result.node.compiled_code for result in done.result.results}
    keep_views(spark, place, manifest, compiled)
    made_for.write_text(project_hash(project))


def one_line(text: str) -> str:
    """A message of dbt or Spark without headings, plans and line breaks."""
    text = re.sub(r"(Runtime|Database|Compilation|Parsing) Error( in [^\n]*)?\n|\x1b\[[0-9;]*m", "", text)
    text = re.split(r"\n\s*== SQL|;\n\s*'|\n\s*JVM stacktrace|\n\s*>? in macro|\n\s*\n", text.strip())[0]
    return " ".join(text.split())


def _teller(progress: Callable[[int, int, str], None]) -> Callable[[Any], None]:
    """A listener for dbt's events that passes on the start of each model and test."""

    def listen(event: Any) -> None:
        if event.info.name == "LogStartLine":
            progress(event.data.index, event.data.total, event.data.description)

    return listen
