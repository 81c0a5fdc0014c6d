"""The SQL catalog of a session, made from the tables on disk.

It lives in memory and is filled by `register` in every process, above all before dbt runs: `create or replace` over a folder that the
catalog does not know silently replaces its content.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chronicle.output.sql_text import spark_literal
from chronicle.spark import known_columns, s3a
from chronicle.spark.internals.catalog_entries import CatalogEntries
from chronicle.spark.internals.java_objects import has_java
from chronicle.spark.known_columns import ViewColumns
from chronicle.spark.outer_catalog import is_same
from ingestion.warehouse import SCHEMAS, STEPS, Warehouse, put

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def folders(warehouse: Warehouse) -> list[tuple[str, str, bool]]:
    """(schema, name, whether it is a Delta table) of every folder below a schema's, in order."""
    return [(schema, name, is_delta) for schema in sorted(SCHEMAS) for name, is_delta in warehouse.folders(schema)]


def tables(warehouse: Warehouse) -> list[tuple[str, str]]:
    """(schema, name) of every table on disk, in order: Delta everywhere, and the Parquet steps between staging and marts."""
    return [(schema, name) for schema, name, _ in folders_of_tables(warehouse)]


def folders_of_tables(warehouse: Warehouse) -> list[tuple[str, str, bool]]:
    """Those of the folders that are tables."""
    return [(schema, name, is_delta) for schema, name, is_delta in folders(warehouse) if is_delta or is_step(warehouse, schema, name)]


def is_step(warehouse: Warehouse, schema: str, name: str) -> bool:
    """Whether a folder is a step's table: where a build was killed or failed while writing it, it has no file yet."""
    return schema in STEPS and warehouse.is_local and any(Path(warehouse.table(schema, name)).glob("*.parquet"))


def sweep(
    spark: SparkSession,
    warehouse: Warehouse,
    *,
    only: set[tuple[str, str]] | None = None,
    by_days: set[tuple[str, str]] | None = None,
) -> None:
    """Delete the tables that each build rebuilds, and what a killed build has left: both are in the way of the next.

    Deletes the Parquet steps, and folders of dbt's schemas that are not Delta tables; bronze is never touched.  `only`: of these tables;
    `by_days`: the Delta tables that the project has in the schemas of steps; any other there was left by an older release, and is deleted, too.
    """
    for schema, name, is_delta in folders(warehouse):
        is_old = is_delta and schema in STEPS and by_days is not None and (schema, name) not in by_days
        if schema == "bronze" or (is_delta and not is_old) or (only is not None and (schema, name) not in only):
            continue
        spark.sql(f"drop table if exists {schema}.`{name}`")
        warehouse.delete(schema, name)


def must_be_of(spark: SparkSession, warehouse: Warehouse, schemas: Iterable[str]) -> None:
    """Raises ValueError in a session that was started for another warehouse, or whose catalog has our schemas elsewhere.
    `schemas`: those it knows."""
    if has_java(spark):
        here = str(spark.conf.get("spark.sql.warehouse.dir")).removeprefix("file:")
        if here not in (warehouse.root, s3a.uri(warehouse.root)):
            raise ValueError(f"the session was started for {here}, not for {warehouse.root}; start one with session.start")
        return
    for schema in set(SCHEMAS).intersection(schemas):
        told = {row[0]: row[1] for row in spark.sql(f"describe schema {schema}").collect()}
        if not is_same(told["Location"], f"{warehouse.root}/{schema}"):
            raise ValueError(
                f"the server of Spark Connect has a schema {schema} in {told['Location']}; it has to have a catalog of its own for {warehouse.root}"
            )


def forget_earlier(spark: SparkSession, warehouse: Warehouse) -> None:
    """Drop what an earlier session has left in the catalog of a server of Spark Connect; our own begin empty.  Files stay: each table has a
    location of its own.  Raises ValueError as `must_be_of` does."""
    if has_java(spark):
        return
    must_be_of(spark, warehouse, schemas_of(spark))
    forget_all(spark)


def forget_all(spark: SparkSession) -> None:
    """Drop all our tables and views from a session's catalog, but never the schemas: that would delete their folders."""
    for schema in schemas_of(spark).intersection(SCHEMAS):
        views = {row.viewName for row in spark.sql(f"show views in {schema}").collect()}
        for row in spark.sql(f"show tables in {schema}").collect():
            if not row.isTemporary:
                spark.sql(f"drop {'view' if row.tableName in views else 'table'} {schema}.`{row.tableName}`")


def schemas_of(spark: SparkSession) -> set[str]:
    """The schemas that a session's catalog knows."""
    return {row[0] for row in spark.sql("show schemas").collect()}


def register(spark: SparkSession, warehouse: Warehouse, *, only: Iterable[tuple[str, str]] | None = None) -> list[str]:
    """Register schemas and tables with the session's catalog; those that it knows stay.  Returns the tables' names.

    `only`: (schema, name) of those that are wanted.
    Raises ValueError as `must_be_of` does.
    """
    known = schemas_of(spark)
    must_be_of(spark, warehouse, known)
    for schema in SCHEMAS:
        if schema not in known:
            spark.sql(f"create schema if not exists {schema} location {spark_literal(s3a.uri(f'{warehouse.root}/{schema}'))}")
    names = []
    wanted = None if only is None else set(only)
    # A few tables are looked up one by one, all of them by listing the schemas.
    if wanted is None:
        shown = [
            (schema, row.tableName) for schema in SCHEMAS if schema in known for row in spark.sql(f"show tables in {schema}").collect()
        ]
    else:
        shown = [(schema, name) for schema, name in wanted if spark.catalog.tableExists(f"{schema}.`{name}`")]
    registered, entries = set(shown), CatalogEntries(spark)
    for schema, name, is_delta in folders_of_tables(warehouse):
        if wanted is None or (schema, name) in wanted:
            if (schema, name) not in registered:
                place = warehouse.table(schema, name)
                columns = known_columns.of_table(place, is_delta=is_delta) if entries.can_be_told else None
                entries.table(schema, name, "delta" if is_delta else "parquet", s3a.uri(place), columns)
            names.append(f"{schema}.{name}")
    return names


def named_in(text: str, tables: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those of the tables (schema, name) whose name occurs in a query."""
    return [(schema, name) for schema, name in tables if name.lower() in text.lower()]


def save_views(
    warehouse: Warehouse, views: Iterable[tuple[str, str, str]], documented: Mapping[str, tuple[str, str]] | None = None
) -> None:
    """Keep (schema, name, SQL) of views, each after those it reads, for sessions that run no dbt.  `documented`: by full name, columns and comment."""
    kept = [
        {"schema": schema, "name": name, "sql": sql, "documented": (documented or {}).get(f"{schema}.{name}")}
        for schema, name, sql in views
    ]
    text = json.dumps(kept, indent=1, ensure_ascii=False)
    warehouse.views.parent.mkdir(parents=True, exist_ok=True)
    put(warehouse.views, text + "\n")


def kept_views(warehouse: Warehouse) -> list[tuple[str, str, str]]:
    """(schema, name, SQL) that `save_views` kept; nothing before the first build."""
    return [(view["schema"], view["name"], view["sql"]) for view in _kept(warehouse)]


def shown_views(warehouse: Warehouse) -> dict[tuple[str, str], tuple[str, str, str]]:
    """By (schema, name), the SQL, columns as in `create table`, and comment of the views that people read."""
    return {(view["schema"], view["name"]): (view["sql"], *view["documented"]) for view in _kept(warehouse) if view.get("documented")}


def _kept(warehouse: Warehouse) -> list[dict[str, Any]]:
    kept: list[dict[str, Any]] = json.loads(warehouse.views.read_text(encoding="utf-8")) if warehouse.views.exists() else []
    return kept


def register_views(
    spark: SparkSession, warehouse: Warehouse, *, only: str | None = None, known: Mapping[str, str] | None = None
) -> list[str]:
    """Register the views of the last build, with the tables they read.  A view of a table that was never built is left out.  Returns the names of
    the others.

    `only`: a query; then only the views it names and those beneath them are registered; `known`: columns of views, as in `ViewColumns`.
    """
    views = kept_views(warehouse)
    wanted = {f"{schema}.{name}" for schema, name, _ in views}
    if only is not None:
        texts = [only.lower()]
        wanted = set()
        for schema, name, sql in reversed(views):
            if any(name.lower() in text for text in texts):
                wanted.add(f"{schema}.{name}")
                texts.append(sql.lower())
        register(spark, warehouse, only=named_in("\n".join(texts), tables(warehouse)))
    else:
        register(spark, warehouse)
    entries = CatalogEntries(spark)
    columns = ViewColumns(views, columns_of_tables(warehouse) if entries.can_be_told else {}, known)
    made = []
    for schema, name, sql in views:
        view = f"{schema}.{name}"
        if view in wanted and entries.view(schema, name, sql, columns.of(view)):
            if columns.of(view) is None and (found := entries.columns(schema, name)):
                columns.found(view, found)
            made.append(view)
    columns.save()
    return made


def keep_columns(warehouse: Warehouse, known: Mapping[str, str]) -> None:
    """Keep the columns of views that a build has analysed, for `register_views` of later sessions."""
    ViewColumns(kept_views(warehouse), columns_of_tables(warehouse), known).save()


def columns_of_tables(warehouse: Warehouse) -> dict[str, str | None]:
    """The columns of each table, as its files state them."""
    return {
        f"{schema}.{name}": known_columns.of_table(warehouse.table(schema, name), is_delta=is_delta)
        for schema, name, is_delta in folders_of_tables(warehouse)
    }
