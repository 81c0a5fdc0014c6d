"""Registers the published tables in a permanent catalog that others use: a Hive metastore, Unity Catalog, whatever the Spark session writes to.

The catalog gets names and locations; columns, comments and rows stay in the Delta tables, so that nothing has to be done after a build that adds no
table.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from chronicle.output.sql_text import spark_literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import SparkSession


class CannotRegister(ValueError):
    """A table cannot be registered; the text says which and what to do."""


def register(spark: SparkSession, names: Iterable[tuple[str, str]], root: str, schema: str) -> tuple[list[str], list[str]]:
    """Register tables in a schema of the session's catalog, or of another catalog that is named before it (`prod.kafka`).

    `names`: (schema, name) of the warehouse's tables that are to be there; `root`: folder or URI under which Spark finds the warehouse.  Tables
    registered before stay; those of this warehouse that no longer exist are dropped.  Returns the names of both: registered, and dropped.
    Raises CannotRegister where another table has a name, or there is no such schema: where its own tables would lie, and who may see them, is for
    the catalog's owner to decide.
    """
    quoted = ".".join(f"`{part}`" for part in schema.split("."))
    wanted = {name: f"{root}/{of}/{name}" for of, name in names}
    if not spark.catalog.databaseExists(quoted):
        raise CannotRegister(f"the catalog has no schema {schema}; make it there (create schema {schema}), then register again")
    there = {
        row.tableName: place_of(spark, f"{quoted}.`{row.tableName}`")
        for row in spark.sql(f"show tables in {quoted}").collect()
        if not row.isTemporary
    }
    for name, place in wanted.items():
        if name not in there:
            spark.sql(f"create table {quoted}.`{name}` using delta location {spark_literal(place)}")
        elif not is_same(there[name], place):
            raise CannotRegister(
                f"{schema}.{name} is a table at {there[name] or 'an unknown place'}, not {place}; drop it, or use another schema"
            )
    gone = sorted(name for name, place in there.items() if name not in wanted and is_below(place, root))
    for name in gone:
        spark.sql(f"drop table {quoted}.`{name}`")
    return [f"{schema}.{name}" for name in sorted(wanted)], [f"{schema}.{name}" for name in gone]


def place_of(spark: SparkSession, table: str) -> str:
    """The location of a table; empty for a view."""
    rows = spark.sql(f"describe table extended {table}").collect()
    return next((str(row.data_type) for row in rows if row.col_name == "Location"), "")


def is_same(one: str, other: str) -> bool:
    """Whether two places are the same: file:/a, file:///a and /a are, s3://a and s3a://a too."""
    return parts(one) == parts(other)


def is_below(place: str, root: str) -> bool:
    """Whether a place is in the warehouse."""
    (bucket, path), (of_root, folder) = parts(place), parts(root)
    return bucket == of_root and path.startswith(f"{folder}/")


def parts(place: str) -> tuple[str, str]:
    """Bucket (nothing for a folder of this machine) and path."""
    found = urlsplit(place)
    return ("", os.path.normpath(found.path)) if found.scheme in ("", "file") else (found.netloc, os.path.normpath(found.path))
