"""The plan of a query when Spark has analysed it, before it is optimised.

Relies on: `DataFrame._jdf.queryExecution().analyzed()`, and that it names the tables it reads.  Read in: PySpark 4.2.0.
Breaks: a build of some clusters leaves out models that it has to make, or makes all of them.
Brings: `explain extended` optimises and plans the query too, which takes ten times as long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def analysed(rows: DataFrame) -> str:
    """The analysed plan as text, a line per node."""
    return str(rows._jdf.queryExecution().analyzed().toString())
