"""dbt in this process: its project read, its options, and the session's settings while it runs."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, cast

import yaml

from chronicle.project import PROJECT
from ingestion.warehouse import Warehouse

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


class BuildFailed(RuntimeError):
    """A model, test or the project itself failed; the text names it and gives the database's own words."""


def selected(manifest: Manifest, place: Warehouse, project: Path, select: str) -> set[tuple[str, str]]:
    """(schema, name) of the models that a selection takes."""
    from dbt.cli.main import dbtRunner

    wanted = ["list", *options(place, project), "--select", *select.split(), "--resource-types", "model", "--output", "name"]
    done = dbtRunner(manifest=manifest).invoke(wanted)
    if not done.success:
        raise BuildFailed(f"dbt: {one_line(str(done.exception))}")
    names = set(done.result) if isinstance(done.result, list) else set()
    return {(node.schema, node.alias) for node in manifest.nodes.values() if node.name in names}


def is_incremental(node: ModelNode) -> bool:
    """Whether a model is a table of which builds replace the days that arrivals touch."""
    return node.config.materialized == "incremental"


def is_step(node: ModelNode) -> bool:
    """Whether a model is a table between staging and marts, rebuilt in each build."""
    return node.config.materialized == "table"


def is_published(node: ModelNode) -> bool:
    """Whether a model is written aside and committed by `publish`."""
    return node.config.materialized == "stable_table"


def options(place: Warehouse, project: Path, *, inline: bool = True, clusters: list[str] | None = None) -> list[str]:
    """Options of every call of dbt: paths, quiet output, no network.

    `inline`: views are compiled into what reads them.  Of 252 statements 167 make views, each of which analyses all that lies
    beneath it; dbt's unit tests need them, a build does not.  `clusters`: those that are built; the tables of others stay.
    """
    vars = {"inline": inline, **({"building": str(place.building)} if place.is_local else {})}
    if clusters is not None:
        vars |= {"clusters": clusters, "warehouse": place.root}
    return [
        # dbt reads YAML, to which JSON's two halves of a sign beyond U+FFFF are two signs.
        *("--vars", yaml.safe_dump(vars, default_flow_style=True, width=1 << 30)),
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
    return cast("Manifest", done.result)


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
    SparkCredentials.__post_init__ = with_ansi  # type: ignore[assignment]


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


def one_line(text: str) -> str:
    """A message of dbt or Spark without headings, plans and line breaks."""
    text = re.sub(r"(Runtime|Database|Compilation|Parsing) Error( in [^\n]*)?\n|\x1b\[[0-9;]*m", "", text)
    text = re.split(r"\n\s*== SQL|;\n\s*'|\n\s*JVM stacktrace|\n\s*>? in macro|\n\s*\n", text.strip())[0]
    return " ".join(text.split())


def teller(progress: Callable[[int, int, str], None]) -> Callable[[Any], None]:
    """A listener for dbt's events that passes on the start of each model and test."""

    def listen(event: Any) -> None:
        if event.info.name == "LogStartLine":
            progress(event.data.index, event.data.total, event.data.description)

    return listen


def models_of(manifest: Manifest) -> list[ModelNode]:
    """The models of a project."""
    return [cast("ModelNode", node) for node in manifest.nodes.values() if str(node.resource_type) == "model"]


def results_of(done: dbtRunnerResult) -> list[Any]:
    """What became of each node of a command.  Raises BuildFailed where dbt stopped before it did anything."""
    results = getattr(done.result, "results", None)
    if results is None:
        raise BuildFailed(f"dbt: {one_line(str(done.exception) if done.exception else 'stopped without saying why')}")
    return list(results)
