"""Spark reads no column of a table besides those found in the text of a model's query (`chronicle/build/columns.py`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from chronicle.build.compiled import VIEW, Model, Project, compiled, query, seed_rows
from ingestion.bronze import write
from ingestion.ingest import TABLES
from tests.lab import set_to_build

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def empty(spark: SparkSession, tmp_path: Path) -> Iterator[Project]:
    """The project with all of its tables, empty, and its views."""
    project = compiled()
    with set_to_build(spark):
        for name, (columns, comment) in TABLES.items():
            write.create(str(tmp_path / "bronze" / name), columns, comment)
            spark.sql(f"create table if not exists bronze.{name} using delta location '{tmp_path}/bronze/{name}'")
        for model in project.models.values():
            for statement in model.before:
                spark.sql(statement)
            folder = f"{tmp_path}/{model.schema}/{model.alias}"
            place = f"using parquet location '{folder}'"
            if model.is_view:
                spark.sql(f"create or replace temporary view {VIEW}{model.name} as {asked(project, model)}")
            elif model.kind == "seed":
                types = (f"`{name}` {model.types.get(name, 'string')}" for name in seed_rows(model).column_names)
                spark.sql(f"create table {model.table} ({', '.join(types)}) {place}")
            elif model.has_contract:
                spark.sql(f"create table {model.table} ({model.columns_in_sql}) {place}")
            else:
                rows = spark.sql(asked(project, model))
                spark.catalog.createTable(model.table, folder, "parquet", rows.schema)
            for statement in model.after:
                spark.sql(statement)
        yield project
        for model in project.models.values():
            if model.is_view:
                spark.catalog.dropTempView(VIEW + model.name)
            else:
                spark.sql(f"drop table if exists {model.table}")
        for name in TABLES:
            spark.sql(f"drop table if exists bronze.{name}")


def asked(project: Project, model: Model) -> str:
    return query(model, None, None, lambda name: project.models[name].table)


def read_by(spark: SparkSession, rows: str) -> Iterator[tuple[str, set[str]]]:
    """(folder, columns) of each table that a query reads, as Spark would."""
    leaves: Any = spark.sql(rows)._jdf.queryExecution().sparkPlan().collectLeaves()
    for number in range(leaves.size()):
        leaf = leaves.apply(number)
        if leaf.getClass().getSimpleName() == "FileSourceScanExec":
            columns = leaf.output()
            yield leaf.relation().location().rootPaths().head().toString(), {columns.apply(at).name() for at in range(columns.size())}


def test_spark_reads_the_columns_that_the_text_names(spark: SparkSession, empty: Project) -> None:
    names = {(model.schema, model.alias): model.name for model in empty.models.values()}
    names |= {("bronze", name): f"bronze.{name}" for name in TABLES}
    others, found = [], 0
    for model in empty.models.values():
        if model.is_view or model.kind == "seed":
            continue
        for statement in model.before:
            spark.sql(statement)
        columns = ", ".join(f"`{name}`" for name in model.columns)
        for folder, read in read_by(spark, f"select {columns} from ({asked(empty, model)})"):
            name = names[tuple(folder.split("/")[-2:])]
            said = model.columns_read.get(name, [])
            found += 1
            if name != model.name and said is not None and not read <= set(said):
                others.append((model.name, name, sorted(read - set(said))))
        for statement in model.after:
            spark.sql(statement)
    assert others == [] and found > 400
