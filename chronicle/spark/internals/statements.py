"""What a statement does, from Spark's own parser.

Relies on: `sessionState().sqlParser().parsePlan`, the simple class names of the plans of `show`, `describe` and `explain`, and that each
plan that changes something is a `Command` or a `ParsedStatement`.  Read in: Spark 4.2.0.
Breaks: `chronicle sql` refuses what only looks, or lets through what changes the warehouse.
Brings: a test that no comment, `with` or `from … insert` gets around, unlike patterns on the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chronicle.spark.internals.java_objects import is_instance, session_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Statements that only look, by the beginning of their plan's name.
LOOKING = ("Show", "Describe", "Explain")
CHANGING = ("org.apache.spark.sql.catalyst.plans.logical.Command", "org.apache.spark.sql.catalyst.plans.logical.ParsedStatement")


@dataclass(frozen=True)
class Statement:
    """A parsed statement.  `looks`: it is a `show`, `describe` or `explain`; `changes`: it is neither that nor a query."""

    looks: bool
    changes: bool


def parsed(spark: SparkSession, text: str) -> Statement:
    """A statement as Spark reads it.  Raises PySparkException where it cannot be read."""
    plan = session_of(spark).sessionState().sqlParser().parsePlan(text)
    if plan.getClass().getSimpleName().startswith(LOOKING):
        return Statement(looks=True, changes=False)
    due = [plan]
    while due:
        # An insert may stand below a `with` or a `from`.
        plan = due.pop()
        if any(is_instance(spark, plan, kind) for kind in CHANGING):
            return Statement(looks=False, changes=True)
        children = plan.children()
        due += [children.apply(number) for number in range(children.size())]
    return Statement(looks=False, changes=False)
