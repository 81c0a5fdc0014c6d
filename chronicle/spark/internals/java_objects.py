"""The classes and the session on the other side of py4j.

Relies on: `SparkSession._jvm` and `SparkSession._jsparkSession`; a session of Spark Connect has neither.  Read in: PySpark 4.2.0.
Breaks: whatever asks Java: warehouses behind a URI, kept views, `chronicle sql`, `chronicle serve`.
Brings: what Python has no call for; each user says what.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def has_java(spark: SparkSession) -> bool:
    """Whether this process can talk to the session's JVM; that of Spark Connect belongs to the server."""
    return hasattr(spark, "_jsparkSession")


def java_of(spark: SparkSession) -> Any:
    """The classes of the session's JVM."""
    assert spark._jvm is not None
    return spark._jvm


def session_of(spark: SparkSession) -> Any:
    """The session as Java knows it."""
    return spark._jsparkSession


def is_instance(spark: SparkSession, thing: Any, kind: str) -> bool:
    """Whether a Java object is of a class, named in full, or of one below it."""
    from py4j.java_gateway import is_instance_of

    return bool(is_instance_of(spark.sparkContext._gateway, thing, kind))
