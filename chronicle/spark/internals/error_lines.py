"""Suppresses the line of JSON on standard error for each query that fails.

Relies on: the name of the logger to which pyspark prints every error of a query before it raises it.  Read in: PySpark 4.2.0.
Breaks: an error appears twice, first as JSON.
Brings: one line for one error.
"""

from __future__ import annotations

LOGGER = "SQLQueryContextLogger"


def silence() -> None:
    """Have errors only raised, not printed."""
    from pyspark.logger import PySparkLogger

    PySparkLogger.getLogger(LOGGER).disabled = True
