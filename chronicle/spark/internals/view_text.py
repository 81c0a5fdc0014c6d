"""The SQL of a view, as it was created.

Relies on: `sessionState().catalog().getTableMetadata(TableIdentifier)` and the `viewText` of what it gives.  Read in: Spark 4.2.0.
Breaks: a build ends with an error when it keeps its views, after its marts are published.
Brings: `describe extended` cuts long texts, and `show create table` writes the columns with the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chronicle.spark.internals.java_objects import java_of, session_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def view_text(spark: SparkSession, schema: str, name: str) -> str:
    """What stands behind `create view … as`."""
    java = java_of(spark)
    view = java.org.apache.spark.sql.catalyst.TableIdentifier(name, java.scala.Option.apply(schema))
    return str(session_of(spark).sessionState().catalog().getTableMetadata(view).viewText().get())
