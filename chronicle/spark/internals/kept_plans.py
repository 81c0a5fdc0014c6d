"""Creates views and tables of a build from plans that an earlier build of this process has made: analysed ones of views, optimised ones of tables.

Relies on: our own class `KeptPlans` and what it uses of Spark: temporary views that keep their plan, the command that writes a query as Parquet
files, the catalog and its cache of tables, `setAnalyzed`, strategies and functions that a session adds, the optimiser's rule for days that are
compared with times; and that the optimiser puts nothing into a plan that it finds in Parquet files or their lists.  Read in: Spark 4.2.0.
Breaks: builds in a process that stays become slower, or fail where a class is gone; rows are those of an earlier build where the optimiser learns
to look into files.  Without our own classes all is done in SQL.
Brings: half of what a small build takes in such a process, and a tenth of a first one, whose queries Spark analysed twice; a table takes one
execution instead of two, and dropping one takes one call instead of a statement of 6 ms; the columns of views without analysing them once more,
which takes 14 to 20 s in the first session after a build.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chronicle.output.sql_text import spark_literal
from chronicle.spark import own_classes
from chronicle.spark.internals.executions import analysis_of
from chronicle.spark.internals.java_objects import has_java, java_of, session_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True)
class Planned:
    """Seconds to parse and analyse a statement, and to optimise and plan it; `rows`: how many Spark's tasks say they wrote (None: not known)."""

    analysis: float
    planning: float = 0.0
    rows: int | None = None


class KeptPlans:
    """Creates views and tables.  `key`: the cache key of a plan; equal keys mean equal texts, over equal views, and over tables of which as much
    is known."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._java = java_of(spark).org.apache.spark.sql.catalyst.chronicle.KeptPlans if own_classes.are_in(spark) else None

    def view(self, key: str, name: str, rows: str) -> None:
        """Create a temporary view."""
        if self._java:
            self._java.view(session_of(self._spark), key, name, rows)
        else:
            self._spark.sql(f"create or replace temporary view {name} as {rows}")

    def columns(self, name: str) -> str | None:
        """The columns of such a view, as JSON in Spark's form; None where Java cannot be asked."""
        return self._java.columns(session_of(self._spark), name) if self._java else None

    @property
    def are_kept(self) -> bool:
        """Whether plans are kept.  Then a table can be made for some clusters alone, and from a time on that its query leaves open."""
        return self._java is not None

    def table(
        self,
        key: str | None,
        definition: str,
        place: str,
        rows: str,
        clusters: Sequence[str] | None = None,
        since: dt.datetime | None = None,
    ) -> Planned:
        """Create a table from a query, in a folder.  `key`: None for a query that does not come again; `definition`: what comes before the
        folder; `clusters`: of all tables that the query reads, and that have a column cluster_id, only their rows (None: all rows);
        `since`: the time that the query calls `chronicle_since('2 hours')`, two hours before it, or `chronicle_since_day()`."""
        definition = f"{definition} location {spark_literal(place)}"
        if self._java:
            only = None if clusters is None else list(clusters)
            micros = (since - EPOCH) // dt.timedelta(microseconds=1) if since else 0
            analysis, planning, written = self._java.table(session_of(self._spark), key, definition, place, rows, only, micros)
            return Planned(analysis / 1000, planning / 1000, written)
        assert clusters is None and since is None
        made = self._spark.sql(f"{definition} as {rows}")
        # The statement that writes the table plans its query by itself. A server of Spark Connect does not say what its statements took.
        return Planned(analysis_of(made) if has_java(self._spark) else 0)

    def forget(self, schema: str, name: str) -> None:
        """Drop a table, or a view with a schema, from the catalog; files stay."""
        if self._java:
            self._java.forget(session_of(self._spark), schema, name)
        elif self._spark.catalog.tableExists(table := f"{schema}.`{name}`"):
            kind = "view" if self._spark.catalog.getTable(table).tableType == "VIEW" else "table"
            self._spark.sql(f"drop {kind} {table}")
