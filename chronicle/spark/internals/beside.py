"""A second session in the same JVM, with a catalog and rules of its own: its tables are apart from those that a build creates and drops.

Relies on: the constructor `classic.SparkSession(SparkContext, Map)`, which makes a state of its own and takes its rules from the context's
configuration; `SparkContext.conf()`.  Read in: Spark 4.2.0.
Breaks: `chronicle follow --serve`.
Brings: clients never see a table that is being built, and their rules do not hold for builds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from chronicle.spark.internals.java_objects import java_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXTENSIONS = "spark.sql.extensions"


def session_beside(spark: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    """A session of the same JVM that shares no catalog or rules with the first.  `settings`: added to the first's, or overriding them."""
    from pyspark.sql import SparkSession

    java = java_of(spark)
    context = spark.sparkContext._jsc.sc()
    configuration = context.conf()
    before = configuration.get(EXTENSIONS, "")
    given = java.java.util.HashMap()
    for key, value in settings.items():
        given.put(key, value)
    configuration.set(EXTENSIONS, settings.get(EXTENSIONS, before))
    try:
        beside = java.org.apache.spark.sql.classic.SparkSession(context, given)
        # Now, while the configuration is set for it: Java creates them when they are first asked for.
        beside.sharedState().externalCatalog()
        beside.sessionState().catalog()
    finally:
        configuration.set(EXTENSIONS, before)
    return SparkSession(spark.sparkContext, beside)
