"""dbt in this process: its project read, its options, and the session's settings while it runs."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from chronicle.build import internals
from chronicle.spark.internals import settings
from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    from dbt.cli.main import dbtRunnerResult
    from pyspark.sql import SparkSession

    from chronicle.build.internals import Manifest


# dbt-spark sets these for its own statements and leaves them so.
CHANGED_BY_DBT = ("spark.sql.ansi.enabled", "spark.sql.shuffle.partitions", "spark.sql.sources.partitionOverwriteMode")


# Parquet row group size in rows: the unit in which a filtered read skips rows.
ROW_GROUP = 65_536
# Rows per file of a table that is not laid out by cluster, as readers open every file; and rows that are held in memory at once.
FILE = 8 * ROW_GROUP
# A table whose readers filter by a column is divided into about so many row groups, of no fewer rows than these.
GROUPS_CHOSEN_FROM, SMALLEST_GROUP = 64, 1024
# Models built at once, as many as dbt would (profiles.yml): one plans while the other reads.
THREADS = 2

# The target of profiles.yml whose session is ours.
PRODUCTION = "prod"

# Setting: plans that read at most so many bytes run in one task (`chronicle/spark/jvm/OneTask.scala`).
ONE_TASK = "chronicle.one_task_bytes"

WHILE_BUILDING = {
    # Measured on three weeks of a real cluster: 61 s a build without, 71 s with. There is one shuffle partition to adapt.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    ONE_TASK: str(64 << 20),
    # The hashed side of a broadcast join has to fit into memory, where our files take many times their size: with Spark's 10 MB a year of 135
    # clusters failed. Larger sides are sorted, which may spill to disk.
    "spark.sql.autoBroadcastJoinThreshold": "2m",
    # A year of 135 clusters in one row group is read whole for one cluster: 3.4 GB of memory for a file of 43 MB.
    "parquet.block.row.count.limit": str(ROW_GROUP),
    # Files with no rebuilt row are hard-linked into the next table (`chronicle/build/steps.py`).
    "spark.sql.files.maxRecordsPerFile": str(ROW_GROUP),
    # Beyond ten clusters Spark would filter by the range from the first to the last, and skip no row group.
    "spark.sql.parquet.pushdown.inFilterThreshold": "10000",
    # Its first step drops rows before a shuffle to other partitions. There is only one.
    "spark.sql.optimizer.windowGroupLimitThreshold": "-1",
    **settings.WHILE_BUILDING,
}


class BuildFailed(RuntimeError):
    """A model, test or the project itself failed; the text names it and gives the database's own words."""


def selected(manifest: Manifest, place: Warehouse, project: Path, selection: list[str]) -> set[str]:
    """Names of the models and seeds that a selection takes; `selection`: as options of dbt."""
    from dbt.cli.main import dbtRunner

    wanted = ["list", *options(place, project), *selection, "--resource-types", "model", "seed", "--output", "name"]
    done = dbtRunner(manifest=manifest).invoke(wanted)
    if not done.success:
        raise BuildFailed(f"dbt: {one_line(str(done.exception))}")
    return set(done.result) if isinstance(done.result, list) else set()


def options(place: Warehouse, project: Path) -> list[str]:
    """Options of every call of dbt: paths, quiet output, no network."""
    return given(project, place.work / "target", place.work / "logs")


def given(project: Path, target: Path, logs: Path, **variables: object) -> list[str]:
    """Options of dbt, with the folders that it writes to and values of `var`."""
    return [
        # dbt reads YAML, to which JSON's surrogate pair for a character beyond U+FFFF is two characters.
        *("--vars", yaml.safe_dump(variables, default_flow_style=True, width=1 << 30)),
        *("--project-dir", str(project), "--profiles-dir", str(project), "--target", PRODUCTION),
        *("--target-path", str(target), "--log-path", str(logs)),
        *("--quiet", "--no-print", "--no-version-check", "--no-send-anonymous-usage-stats", "--no-use-colors", "--no-write-json"),
        *("--log-level", "none", "--log-level-file", "debug", "--no-populate-cache"),
    ]


def prepare() -> None:
    """Import dbt without its telemetry and with the database's checks on."""
    os.environ["DBT_SEND_ANONYMOUS_USAGE_STATS"] = "0"
    internals.keep_ansi()


@contextlib.contextmanager
def settings_kept(spark: SparkSession) -> Iterator[None]:
    """Restore the settings that dbt and builds change at the end."""
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
    text = re.split(r"\n\s*== SQL|;\n\s*'|\n\s*JVM stacktrace|\n\s+at |\n\s*>? in macro|\n\s*\n", text.strip())[0]
    return " ".join(text.split())


def teller(progress: Callable[[int, int, str], None]) -> Callable[[Any], None]:
    """A listener for dbt's events that passes on the start of each model and test."""

    def listen(event: Any) -> None:
        for started in internals.starts(event):
            progress(*started)

    return listen


def results_of(done: dbtRunnerResult) -> list[Any]:
    """The result of each node of a command.  Raises BuildFailed where dbt stopped before it did anything."""
    results = getattr(done.result, "results", None)
    if results is None:
        raise BuildFailed(f"dbt: {one_line(str(done.exception) if done.exception else 'stopped without saying why')}")
    return list(results)
