"""Concurrent statements share Spark's memory.  One that runs short of it is retried while nothing else runs.  A long build gives memory back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition
from typing import TYPE_CHECKING

from chronicle.build.dbt_runs import ONE_TASK
from chronicle.spark.internals.java_objects import has_java, java_of
from ingestion.freed import give_back

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A build of so many seconds has filled Java's heap; to collect that takes half a second.
LONG_SECONDS = 60
# Spark's error class, which appears in the text of any error that wraps it.
NOT_ENOUGH = "SparkOutOfMemoryError"
# Spark's words, without an error class, where a task has as many pages as it can number: it has filled its memory in pages that are too small.
NO_MORE_PAGES = "Have already allocated a maximum of"


def is_short(error: Exception) -> bool:
    """Whether a statement failed for lack of memory."""
    return NOT_ENOUGH in str(error) or NO_MORE_PAGES in str(error)


def give_back_after(spark: SparkSession, seconds: float) -> None:
    """Give the memory that a build does not need any more back to the system, if it took long: the process may stay."""
    if seconds >= LONG_SECONDS and has_java(spark):
        java_of(spark).java.lang.System.gc()
        give_back()


@contextmanager
def step_by_step(spark: SparkSession) -> Iterator[None]:
    """Run each step of a statement as a task of its own, which frees its memory before the next one begins."""
    before = spark.conf.get(ONE_TASK, "0")
    spark.conf.set(ONE_TASK, "0")
    try:
        yield
    finally:
        spark.conf.set(ONE_TASK, str(before))


class Turns:
    """Lets statements run side by side, or one alone."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._running = 0
        self._is_alone = False

    @contextmanager
    def beside_others(self) -> Iterator[None]:
        """For a statement that may run beside others; waits for one that runs alone."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_alone)
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """For a statement that runs alone; waits until all others have ended."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_alone)
            self._is_alone = True
            self._changed.wait_for(lambda: not self._running)
        try:
            yield
        finally:
            with self._changed:
                self._is_alone = False
                self._changed.notify_all()
