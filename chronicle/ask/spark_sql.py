"""`chronicle sql --engine spark`: a query in Spark's dialect, over all schemas."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from chronicle.ask.mistakes import WrongQuestion, known_tables, unknown_table
from chronicle.spark.catalog import kept_views, named_in, register, register_views, tables
from chronicle.spark.internals.statements import parsed
from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession


def ask(spark: SparkSession, warehouse: str, question: str) -> pa.Table:
    """Answer a question as an Arrow table.  A name without a schema is looked for in `marts`.

    Raises WrongQuestion where Spark cannot answer.
    """
    from pyspark.errors import PySparkException

    place = Warehouse.at(warehouse)
    question = question.strip().rstrip(";")
    try:
        looks = only_asks(spark, question)
        # A `show` or `describe` may be about any table; a query names what it reads.
        names = None if looks else question
        register(spark, place, only=None if looks else named_in(question, tables(place)))
        views = [(schema, name) for schema, name, _ in kept_views(place)]
        if re.search(r"\b(staging|intermediate)\b", question, re.IGNORECASE) or named_in(question, views):
            register_views(spark, place, only=names)
        spark.sql("use marts")
        return spark.sql(question).toArrow()
    except PySparkException as error:
        raise WrongQuestion(explained(spark, place, error)) from error


def only_asks(spark: SparkSession, question: str) -> bool:
    """False for a query, True for another statement that only looks.  Raises WrongQuestion for one that changes something."""
    statement = parsed(spark, question)
    if statement.changes:
        changes = "only queries are allowed (select, show, describe, explain)"
        raise WrongQuestion(f"{changes}, and this would change something: {' '.join(question.split()[:6])} …")
    return statement.looks


def explained(spark: SparkSession, place: Warehouse, error: Exception) -> str:
    """Spark's message on one line, with the position, and with similar names where one is unknown."""
    text = str(error).split("\nJVM stacktrace")[0]
    position = re.search(r"line (\d+),? pos (\d+)", text)
    said = re.split(r"\n\s*\n|\n== SQL|;\s*line \d+ pos \d+;?|;\n", text)[0]
    said = " ".join(re.sub(r"\s*SQLSTATE: \w+\.?|\(line \d+, pos \d+\)", "", said).split())
    unknown = re.search(r"\[TABLE_OR_VIEW_NOT_FOUND\].*?view (\S+) cannot", text)
    if unknown:
        name = unknown[1].replace("`", "").removeprefix("spark_catalog.")
        said = unknown_table(name, [f"{schema}.{table}" for schema, table in known_tables(place)])
    # Spark counts columns from 0, people and editors from 1.
    return said.rstrip(".;") + (f" (line {position[1]}, column {int(position[2]) + 1})" if position else "")
