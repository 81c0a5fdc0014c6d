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

from chronicle.build import internals
from chronicle.project import PROJECT
from chronicle.spark.internals import settings
from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    from dbt.cli.main import dbtRunnerResult
    from pyspark.sql import SparkSession

    from chronicle.build.internals import Manifest, Model


# dbt-spark sets these for its own statements and leaves them so.
CHANGED_BY_DBT = ("spark.sql.ansi.enabled", "spark.sql.shuffle.partitions", "spark.sql.sources.partitionOverwriteMode")


# Measured on three weeks of a real cluster: 61 s a build without, 71 s with. There is one shuffle partition to adapt.
WHILE_BUILDING = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    **settings.WHILE_BUILDING,
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
    return internals.places_of(manifest, names)


def is_incremental(node: Model) -> bool:
    """Whether a model is a table of which builds replace the days that arrivals touch."""
    return node.config.materialized == "incremental"


def is_step(node: Model) -> bool:
    """Whether a model is a table between staging and marts, rebuilt in each build."""
    return node.config.materialized == "table"


def is_published(node: Model) -> bool:
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
    internals.keep_ansi()


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
        for started in internals.starts(event):
            progress(*started)

    return listen


def results_of(done: dbtRunnerResult) -> list[Any]:
    """What became of each node of a command.  Raises BuildFailed where dbt stopped before it did anything."""
    results = getattr(done.result, "results", None)
    if results is None:
        raise BuildFailed(f"dbt: {one_line(str(done.exception) if done.exception else 'stopped without saying why')}")
    return list(results)
