"""`chronicle build`: builds the marts from bronze, with the models that dbt has compiled, in the running session."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING

from chronicle.build.compiled import Project, compiled
from chronicle.build.dbt_runs import BuildFailed, settings_kept
from chronicle.build.local import build_local
from chronicle.build.memory import give_back_after
from chronicle.build.outcome import Outcome, Progress, Wanted
from chronicle.build.plain import build_plain
from chronicle.project import PROJECT
from chronicle.spark.engine import PLAIN, chosen
from chronicle.spark.internals.java_objects import has_java
from ingestion.warehouse import Warehouse, only_writer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def build(
    spark: SparkSession,
    warehouse: str,
    *,
    select: str | None = None,
    exclude: str | None = None,
    full_refresh: bool = False,
    tests: bool = False,
    is_profiled: bool = False,
    explain: Callable[[str], None] | None = None,
    project: Path = PROJECT,
    ahead: Future[Project] | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Build seeds and models, with `tests` also run data and unit tests, and save the views for other sessions.

    `select`, `exclude`, `full_refresh`, `tests`: as in `Wanted`; `is_profiled`: results say how long jobs took and how much they read;
    `explain` is called with a line for each stage before anything is done;
    `ahead`: the future that `compiled_ahead` returned;
    `progress(number, all, what)` is called when a model or test starts.
    Raises BuildFailed, or Busy where another process writes; the session's settings are restored in any case.
    """
    began = time.monotonic()
    if is_profiled and not has_java(spark):
        raise ValueError("--profile asks Spark in this process; a server of Spark Connect does not say what its statements took")
    place, wanted = Warehouse.at(warehouse), Wanted(select, exclude, full_refresh, tests)
    with only_writer(place), settings_kept(spark):
        models = ahead.result() if ahead else compiled(project)
        if chosen() is PLAIN:
            outcome, failed = build_plain(spark, place, models, wanted, progress)
        else:
            outcome, failed = build_local(spark, place, models, wanted, progress, is_profiled=is_profiled, explain=explain)
    outcome.seconds = time.monotonic() - began
    give_back_after(spark, outcome.seconds)
    if failed:
        more = f" (and {len(failed) - 1} more: {', '.join(text.split(':')[0] for text in failed[1:])})" if len(failed) > 1 else ""
        raise BuildFailed(failed[0] + more)
    return outcome
