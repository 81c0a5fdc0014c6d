"""Runs work on Spark's executors, each share of it in a task of its own: on classic Spark and on Spark Connect alike.

The shares are the rows of a DataFrame, and `mapInArrow` returns what was made of each.  Both shares and results are pickled, by the driver
and by its own workers.
"""

from __future__ import annotations

import contextlib
import pickle
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Called while the executors work: how much of it is done (0 to 1), and for how many seconds they have worked.
Progress = Callable[[float, float], None]
Share = TypeVar("Share")
Made = TypeVar("Made")

DONE = pa.schema([("done", pa.binary())])
# Settings for one row in each task: partitions of data that lies on the driver, and rows in an Arrow batch for Python.
ONE_EACH = ("spark.sql.leafNodeDefaultParallelism", "spark.sql.execution.arrow.maxRecordsPerBatch")
EVERY_SECONDS = 0.3


def on_executors(
    spark: SparkSession, work: Callable[[Share], Made], shares: Sequence[Share], progress: Progress | None = None
) -> list[Made]:
    """What `work` makes of each share, in order.  If an executor is killed, Spark works on its shares again: side effects of
    `work` must not count before its answer has come."""
    if not shares:
        return []
    rows = pa.table({"share": pa.array([pickle.dumps(share, pickle.HIGHEST_PROTOCOL) for share in shares], pa.binary())})
    with one_each(spark, len(shares)), watched(spark, progress):
        done = spark.createDataFrame(rows).mapInArrow(partial(each, work), "done binary").toArrow()
    return [pickle.loads(made) for made in done["done"].to_pylist()]


def each(work: Callable[[Any], Any], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Work on the rows of one task."""
    for batch in batches:
        for share in batch.column(0):
            made = pickle.dumps(work(pickle.loads(share.as_py())), pickle.HIGHEST_PROTOCOL)
            yield pa.RecordBatch.from_arrays([pa.array([made], pa.binary())], schema=DONE)


def tasks_at_once(spark: SparkSession) -> int:
    """The number of tasks that Spark means to run at a time."""
    if (context := context_of(spark)) is None:
        # A range has as many partitions.
        from pyspark.sql import functions

        return spark.range(0, 1 << 16).select(functions.spark_partition_id().alias("part")).distinct().count()
    return int(context.defaultParallelism)


def context_of(spark: SparkSession) -> Any:
    """The context of a session; None on Spark Connect, which has none."""
    return getattr(spark, "sparkContext", None)


def is_elsewhere(spark: SparkSession) -> bool:
    """Whether tasks may run on other machines."""
    context = context_of(spark)
    return context is None or not str(context.master).startswith("local")


@contextlib.contextmanager
def one_each(spark: SparkSession, count: int) -> Iterator[None]:
    """Have one row in each task, for as long as the context lasts."""
    before = [spark.conf.get(name, None) for name in ONE_EACH]
    for name, number in zip(ONE_EACH, (count, 1), strict=True):
        spark.conf.set(name, str(number))
    try:
        yield
    finally:
        for name, value in zip(ONE_EACH, before, strict=True):
            if value is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, value)


@contextlib.contextmanager
def watched(spark: SparkSession, progress: Progress | None) -> Iterator[None]:
    """Call `progress` again and again while tasks run."""
    if progress is None:
        yield
        return
    began, parts, stopped = time.monotonic(), Parts(spark), threading.Event()

    def watch() -> None:
        while not stopped.wait(EVERY_SECONDS):
            progress(parts.done(), time.monotonic() - began)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
        stopped.set()
        thread.join()
        progress(1.0, time.monotonic() - began)
    finally:
        stopped.set()
        parts.close()


class Parts:
    """How much of a job is done: of a group of jobs on classic Spark, of a query on Spark Connect."""

    GROUP, NAME = "chronicle-ingest", "spark.jobGroup.id"

    def __init__(self, spark: SparkSession) -> None:
        self.spark, self.context = spark, context_of(spark)
        self.counts: tuple[int, int] = (0, 0)
        if self.context is None:
            spark.registerProgressHandler(self._take)
        else:
            self.context.setJobGroup(self.GROUP, "reads logs")

    def _take(self, stages: Any = None, **_: Any) -> None:
        stages = stages or []
        self.counts = sum(stage.num_completed_tasks for stage in stages), sum(stage.num_tasks for stage in stages)

    def done(self) -> float:
        """The share of tasks that are done, from 0 to 1."""
        if self.context is not None:
            tracker = self.context.statusTracker()
            jobs = [job for number in tracker.getJobIdsForGroup(self.GROUP)[-1:] if (job := tracker.getJobInfo(number))]
            stages = [stage for job in jobs for number in job.stageIds if (stage := tracker.getStageInfo(number))]
            self.counts = sum(stage.numCompletedTasks for stage in stages), sum(stage.numTasks for stage in stages)
        done, all_of_them = self.counts
        return done / all_of_them if all_of_them else 0.0

    def close(self) -> None:
        if self.context is None:
            self.spark.removeProgressHandler(self._take)
        else:
            self.context.setLocalProperty(self.NAME, None)
