"""Statements that run side by side share Spark's memory.  One that does not get what it needs is run again while nothing else runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition
from typing import TYPE_CHECKING

from chronicle.build.dbt_runs import ONE_TASK

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Spark's class of errors, in the text of whatever one is wrapped in.
NOT_ENOUGH = "SparkOutOfMemoryError"


def is_short(error: Exception) -> bool:
    """Whether a statement failed because it did not get the memory that it needed."""
    return NOT_ENOUGH in str(error)


@contextmanager
def step_by_step(spark: SparkSession) -> Iterator[None]:
    """Each step of a statement is a task of its own, which gives its memory back before the next one begins."""
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
        """Around a statement beside which others may run; waits for one that runs alone."""
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
        """Around a statement that runs alone; waits until those that run have ended."""
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
