"""The views and tables that a build makes in a session, by statements and calls that Spark documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from chronicle.output.sql_text import spark_literal
from chronicle.spark.catalog import schemas_of
from chronicle.spark.internals.catalog_entries import CatalogEntries
from ingestion.warehouse import SCHEMAS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType


class SessionTables:
    """Makes and drops them; knows which tables and views with a schema the session has, so that a statement only drops what is there."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark, self._entries = spark, CatalogEntries(spark)
        # `table` or `view`, by schema and name.
        self._kinds: dict[tuple[str, str], str] = {}
        for schema in schemas_of(spark).intersection(SCHEMAS):
            names = [row.tableName for row in spark.sql(f"show tables in {schema}").collect() if not row.isTemporary]
            views = {row.viewName for row in spark.sql(f"show views in {schema}").collect()} if names else set()
            self._kinds |= {(schema, name): "view" if name in views else "table" for name in names}

    def temporary_view(self, name: str, query: str) -> StructType:
        """Create a temporary view, which keeps its analysed plan; returns its columns.  With `create temporary view`, Spark would analyse the query
        again for each reader."""
        rows = self._spark.sql(query)
        rows.createOrReplaceTempView(name)
        return rows.schema

    def view(self, schema: str, name: str, query: str) -> None:
        """Create a view, or replace the table or view of its name."""
        self.drop(schema, name)
        self._spark.sql(f"create view {schema}.`{name}` as {query}")
        self._kinds[schema, name] = "view"

    def table(self, schema: str, name: str, folder: Path, columns: str) -> None:
        """Register a folder of Parquet files as a table, or replace the table or view of its name.  `columns`: as in `create table`; empty: Spark
        finds them."""
        if not (columns and self._entries.can_be_told):
            self.define(schema, name, f"{f'({columns}) ' if columns else ''}using parquet location {spark_literal(str(folder))}")
            return
        self.drop(schema, name)
        self._entries.table(schema, name, "parquet", str(folder), columns)
        self._kinds[schema, name] = "table"

    def define(self, schema: str, name: str, definition: str) -> None:
        """Register a table by what comes after its name in `create table`, or replace the table or view of its name."""
        self.drop(schema, name)
        self._spark.sql(f"create table {schema}.`{name}` {definition}")
        self._kinds[schema, name] = "table"

    def drop(self, schema: str, name: str) -> None:
        """Drop a table or view, if the session has it; files stay."""
        if kind := self._kinds.pop((schema, name), None):
            self._spark.sql(f"drop {kind} if exists {schema}.`{name}`")


def in_sql(columns: StructType) -> str:
    """Columns and their types, as in `create table`."""
    return ", ".join(f"`{column.name}` {column.dataType.simpleString()}" for column in columns.fields)
