"""Spark generates code only for statements that read many rows: compiling each of a hundred small plans costs more than their rows do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A statement that reads more rows than these is worth compiling. Bytes would not tell: 330,000 hours of partitions that nobody writes to are 700 KB.
MANY_ROWS = 50_000
CODE = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    # With a hundred thousand groups the objects that each of them gets cost more than sorting the rows: 15 s and 8.5 s.
    "spark.sql.execution.useObjectHashAggregateExec": "false",
}


class GeneratedCode:
    """Switches code generation on and off in a session that runs statements concurrently.  While one runs that reads many rows,
    others planned meanwhile are compiled, too; their rows are the same."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark, self._lock, self._running = spark, Lock(), 0
        self._otherwise = {key: spark.conf.get(key) for key in CODE}

    @contextmanager
    def where_worth_it(self, rows_read: int) -> Iterator[None]:
        """Generate code for a statement that reads so many rows, if they are many."""
        if rows_read <= MANY_ROWS:
            yield
            return
        self._switch(1, CODE)
        try:
            yield
        finally:
            self._switch(-1, self._otherwise)

    def _switch(self, more: int, settings: Mapping[str, str | None]) -> None:
        with self._lock:
            self._running += more
            if self._running == max(more, 0):
                for key, value in settings.items():
                    if value is not None:
                        self._spark.conf.set(key, value)
