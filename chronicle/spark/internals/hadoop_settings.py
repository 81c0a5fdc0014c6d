"""Hadoop's settings without the defaults that are in its jars.

Relies on: Spark copies `SparkContext.hadoopConfiguration`, which is public, for each scan and each write; Hadoop's code works without these defaults.
Read in: Spark 4.2.0, Hadoop 3.5.0.
Breaks: builds become slower if the defaults are read again; code that needs one of them fails.
Brings: measured in `docs/upgrading.md`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chronicle.spark import own_classes
from chronicle.spark.internals.java_objects import java_of, session_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def drop_defaults(spark: SparkSession) -> None:
    """Drop what Hadoop reads from files in its jars, for all sessions of this JVM; nothing without our own classes.  Call it when the session has
    settings: with the first of them, Spark loads classes that add files of defaults."""
    if own_classes.are_in(spark):
        settings = session_of(spark).sparkContext().hadoopConfiguration()
        java_of(spark).org.apache.spark.sql.chronicle.HadoopSettings.dropDefaults(settings)
