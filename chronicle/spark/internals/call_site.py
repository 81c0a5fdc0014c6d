"""Where in a program Spark is called from.

Relies on: the local properties `callSite.short` and `callSite.long`; where a thread has both, Spark does not look at its stack.
Read in: Spark 4.2.0.
Breaks: nothing visibly; builds become slower.
Brings: a twentieth of a build's CPU, because Spark looks at the stack for each operator of each plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chronicle.spark.internals.java_objects import has_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROPERTIES = ("callSite.short", "callSite.long")


def name_call_site(spark: SparkSession, name: str = "build") -> None:
    """Say where the statements of this thread come from.  A server of Spark Connect looks for itself."""
    for key in PROPERTIES if has_java(spark) else ():
        spark.sparkContext.setLocalProperty(key, name)
