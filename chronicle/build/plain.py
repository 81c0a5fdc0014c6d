"""The plain engine: dbt builds the project in the running session, which may be any Spark's, in place.

Every table is one of Delta.  dbt decides in SQL which clusters a build is of (`macros/internals/builds.sql`).  Readers see the tables of the previous
build until the record of the new versions is written (`chronicle/build/versions.py`), also after a build that was killed; the next build makes the same
clusters again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa

from chronicle.build import company, unfinished, versions
from chronicle.build.changes import built_from, table_that_lost_rows
from chronicle.build.compiled import Model, Project, seed_rows
from chronicle.build.dbt_runs import options, results_of, teller
from chronicle.build.made_by import changed
from chronicle.build.outcome import Outcome, Progress, Result, Wanted
from chronicle.build.parsed import parse
from chronicle.output.sql_text import spark_literal
from chronicle.spark.catalog import forget_earlier, register, register_views, save_views, sweep
from chronicle.spark.internals.java_objects import has_java
from chronicle.spark.internals.settings import TEXT_OF_COMMITS
from ingestion.warehouse import Warehouse, rows_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# What makes the tables, for the macro `made_by`: an environment variable, because dbt reads the whole project again for other values of `--vars`.
MADE_BY = "CHRONICLE_MADE_BY"
MOST_LANES = 8


def build_plain(
    spark: SparkSession, place: Warehouse, project: Project, wanted: Wanted, progress: Progress | None
) -> tuple[Outcome, list[str]]:
    """Let dbt build what is wanted.  Returns the outcome, and a line for each failure."""
    state, record = built_from(place, project.folder), versions.before(place)
    seeds = seeds_of_company(place, project)
    reasons = why_anew(place, record, state)
    is_anew = wanted.full_refresh or reasons is not None
    forget_local(place)
    forget_earlier(spark, place)
    if is_anew:
        sweep(spark, place)
    register(spark, place)
    if wanted.selection:
        # Views that are left out are not made this time, but may be read.
        register_views(spark, place)
    for seed, rows in seeds:
        spark.sql(view_of(seed, rows))
    build, outcome = uuid4().hex, Outcome(anew=reasons or [])
    with named_in_commits(spark, build), made_by(state):
        failed = run(spark, place, project, wanted, progress, outcome, is_anew=is_anew, without=[seed.name for seed, _ in seeds])
    save_views(place, project.views(), project.documented_views())
    if not failed:
        clusters = {row.cluster_id for row in spark.sql("select cluster_id from intermediate.touched_clusters").collect()}
        outcome.clusters = None if None in clusters else sorted(clusters)
        made = [result.model for result in outcome.results if result.model.schema in versions.PUBLISHED]
        versions.after(place, record, build, [(model.schema, model.alias) for model in made], record.state if wanted.selection else state)
        outcome.rows = {model.name: rows_of(place.table(model.schema, model.alias)) for model in made}
    return outcome, failed


def run(
    spark: SparkSession,
    place: Warehouse,
    project: Project,
    wanted: Wanted,
    progress: Progress | None,
    outcome: Outcome,
    *,
    is_anew: bool,
    without: Sequence[str],
) -> list[str]:
    """Run `dbt build`, and note in the outcome what it did.  `without`: seeds that are there already.  Returns a line for each failure."""
    from dbt.cli.main import dbtRunner

    command = ["build", *options(place, project.folder), "--threads", str(lanes(spark)), *wanted.selection]
    command += [option for name in without for option in ("--exclude", name)]
    command += ["--full-refresh"] if is_anew else []
    command += [] if wanted.tests else ["--exclude-resource-type", "test", "--exclude-resource-type", "unit_test"]
    done = dbtRunner(manifest=parse(place, project.folder), callbacks=[teller(progress)] if progress else []).invoke(command)
    for result in results_of(done):
        model = project.models.get(result.node.name)
        if result.status == "success" and model and not model.is_view:
            outcome.models[model.name] = seconds = round(result.execution_time, 2)
            outcome.results.append(Result(model, seconds))
    return outcome.note_tests(done)


def lanes(spark: SparkSession) -> int:
    """Models that are built at once: Spark divides its executors among them."""
    if not has_java(spark):
        return MOST_LANES // 2
    return max(2, min(MOST_LANES, spark.sparkContext.defaultParallelism // 2))


def why_anew(place: Warehouse, record: versions.Record, state: str) -> list[str] | None:
    """Why all rows have to be made again, also of days that nothing new falls on, in words (nothing: on the first build); None if they need not.
    `state`: what `built_from` returns."""
    if record.state is None:
        return []
    before, now = json.loads(record.state), json.loads(state)
    if before["made_by"] != now["made_by"]:
        return changed(before["made_by"], now["made_by"])
    lost = table_that_lost_rows(place, before["bronze"])
    return [f"bronze.{lost} has lost rows"] if lost else None


def seeds_of_company(place: Warehouse, project: Project) -> list[tuple[Model, pa.Table]]:
    """The seeds that a file of the company takes the place of, with its rows.  Raises BuildFailed for a file that cannot be used."""
    found = company.given(place)
    return [(seed, company.rows(place, seed, seed_rows(seed, project.folder))) for seed in project.of_kind("seed") if seed.name in found]


def view_of(seed: Model, rows: pa.Table) -> str:
    """A statement that makes a seed a view of these rows."""
    kinds = {name: seed.types.get(name, "string") for name in rows.column_names}
    columns = ", ".join(f"cast(`{name}` as {kind}) as `{name}`" for name, kind in kinds.items())
    values = ", ".join(
        f"({', '.join('null' if cell is None else spark_literal(str(cell)) for cell in row.values())})" for row in rows.to_pylist()
    )
    names = ", ".join(f"`{name}`" for name in kinds)
    source = (
        f"values {values} as given ({names})" if values else f"values ({', '.join('null' for _ in kinds)}) as given ({names}) where false"
    )
    return f"create or replace view {seed.table} as select {columns} from {source}"


def forget_local(place: Warehouse) -> None:
    """Let the local engine build everything if it comes next: it would not know what this one has changed."""
    place.built.unlink(missing_ok=True)
    place.incremental.unlink(missing_ok=True)
    unfinished.forget(place)


@contextmanager
def named_in_commits(spark: SparkSession, build: str) -> Iterator[None]:
    """Name the build in each commit that Spark makes meanwhile (`versions.build_of`)."""
    spark.conf.set(TEXT_OF_COMMITS, f"{versions.BUILD}={build}")
    try:
        yield
    finally:
        spark.conf.unset(TEXT_OF_COMMITS)


@contextmanager
def made_by(state: str) -> Iterator[None]:
    """Tell dbt what makes the tables besides its own files: our code, and what the company says."""
    known = json.loads(state)
    os.environ[MADE_BY] = hashlib.sha256(json.dumps([known["made_by"], known["company"]]).encode()).hexdigest()
    try:
        yield
    finally:
        del os.environ[MADE_BY]
