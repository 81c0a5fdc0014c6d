"""What Spark records of the statements it executes: how many, their plans, the rows that they read, the time of their jobs.

Relies on: the stores of Spark's web interface, which are filled even where it is off: `SharedState.statusStore`, `SparkContext.statusStore`,
the names in what they return.  Read in: Spark 4.2.0.
Breaks: `chronicle build --profile`; `make bench` reports no rows read.
Brings: these numbers.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chronicle.spark.internals.java_objects import java_of, session_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession


@dataclass
class Noted:
    """What has run in a session."""

    executions: int = 0
    rows_read: int = 0


@contextmanager
def noting(spark: SparkSession) -> Iterator[Noted]:
    """What the session runs within, filled in at its end.

    Spark keeps the last thousand stages unless it is set to keep more; the rows of those that it has dropped are missing.
    """
    noted = Noted()
    execution, stages = _last_execution(spark), {stage.stageId() for stage in _stages(spark)}
    yield noted
    noted.executions = _last_execution(spark) - execution
    noted.rows_read = sum(stage.inputRecords() for stage in _stages(spark) if stage.stageId() not in stages)


def _last_execution(spark: SparkSession) -> int:
    """The number of the last execution, -1 without one.  Spark numbers them one by one; how many it has kept falls when it drops old ones."""
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    last = session_of(spark).sharedState().statusStore().executionsList().lastOption()
    return int(last.get().executionId()) if last.isDefined() else -1


def _stages(spark: SparkSession) -> list[Any]:
    """The stages that Spark has kept."""
    context = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    gateway: Any = spark.sparkContext._gateway
    jvm = java_of(spark)
    return list(_each(context.statusStore().stageList(None, False, False, gateway.new_array(jvm.double, 0), jvm.java.util.ArrayList())))


@dataclass(frozen=True)
class Jobs:
    """What the jobs of a group took and read; the times of jobs that ran side by side add up."""

    seconds: float
    rows_read: int
    bytes_read: int


def jobs_of(spark: SparkSession, group: str) -> Jobs:
    """What has run under the name of a group (`SparkContext.setJobGroup`)."""
    context = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    store = context.statusStore()
    jobs = [store.job(number) for number in spark.sparkContext.statusTracker().getJobIdsForGroup(group)]
    stages = [store.lastStageAttempt(number) for job in jobs for number in _each(job.stageIds())]
    return Jobs(
        sum(job.completionTime().get().getTime() - job.submissionTime().get().getTime() for job in jobs) / 1000,
        sum(stage.inputRecords() for stage in stages),
        sum(stage.inputBytes() for stage in stages),
    )


def _each(sequence: Any) -> Iterator[Any]:
    """The elements of a Scala sequence."""
    for number in range(sequence.size()):
        yield sequence.apply(number)
