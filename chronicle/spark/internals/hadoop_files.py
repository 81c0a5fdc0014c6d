"""Hadoop's file systems, for a warehouse behind a URI.

Relies on: `sessionState().newHadoopConf()`, which has the session's keys and endpoints; Hadoop's `Path` and `FileSystem` are documented.
Read in: Spark 4.2.0.
Breaks: every command on a warehouse that is no local folder.
Brings: the same credentials for listing as for reading, without a second library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chronicle.spark.internals.java_objects import java_of, session_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def located(spark: SparkSession, path: str) -> tuple[Any, Any]:
    """The file system of a path, and the path as Hadoop names it."""
    folder = java_of(spark).org.apache.hadoop.fs.Path(path)
    return folder.getFileSystem(session_of(spark).sessionState().newHadoopConf()), folder


def delta_tables(spark: SparkSession, path: str) -> list[tuple[str, bool]]:
    """(name, whether it is a Delta table) of what lies in a folder; nothing where there is none."""
    files, folder = located(spark, path)
    if not files.exists(folder):
        return []
    log = java_of(spark).org.apache.hadoop.fs.Path
    return [(one.getPath().getName(), files.exists(log(one.getPath(), "_delta_log"))) for one in files.listStatus(folder)]


def delete(spark: SparkSession, path: str) -> None:
    """Delete a folder with all that is in it."""
    files, folder = located(spark, path)
    files.delete(folder, True)
