"""What Spark records of the statements it executes: how many, their plans, the rows that they read, the time of their jobs.

Relies on: the stores of Spark's web interface, which are filled even where it is off: `SharedState.statusStore`, `SparkContext.statusStore`,
the names in what they return, the heading of the analysed plan; phases of `QueryExecution.tracker`.  Read in: Spark 4.2.0.
Breaks: `chronicle build --profile`; `make bench` reports no rows read and no plan nodes.
Brings: these numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chronicle.spark.internals.java_objects import java_of, session_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

# The setting for how much of a plan Spark records, and the value for all of it, including the analysed plan.
EXPLAIN_MODE, ALL_PLANS = "spark.sql.ui.explainMode", "extended"
ANALYSED, NEXT = "== Analyzed Logical Plan ==", "== Optimized Logical Plan =="


@dataclass(frozen=True)
class Noted:
    """What has run in a session until now; a statement that writes a table takes several executions.  `plan_nodes`: of the plans that
    Spark calls analysed, where `EXPLAIN_MODE` has all plans recorded; those of a build's tables are optimised before (`kept_plans.py`)."""

    executions: int = 0
    plan_nodes: int = 0
    rows_read: int = 0
    bytes_read: int = 0

    def since(self, before: Noted) -> Noted:
        return Noted(
            self.executions - before.executions,
            self.plan_nodes - before.plan_nodes,
            self.rows_read - before.rows_read,
            self.bytes_read - before.bytes_read,
        )


def noted(spark: SparkSession) -> Noted:
    """What the session has run; Spark keeps the last thousand executions and stages unless it is set to keep more."""
    jvm = java_of(spark)
    context = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    plans = [execution.physicalPlanDescription() for execution in _each(session_of(spark).sharedState().statusStore().executionsList())]
    gateway: Any = spark.sparkContext._gateway
    quantiles = gateway.new_array(jvm.double, 0)
    stages = list(_each(context.statusStore().stageList(None, False, False, quantiles, jvm.java.util.ArrayList())))
    return Noted(
        len(plans),
        sum(nodes_of(plan) for plan in plans),
        sum(stage.inputRecords() for stage in stages),
        sum(stage.inputBytes() for stage in stages),
    )


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


def analysis_of(frame: DataFrame) -> float:
    """Seconds in which the statement of a frame was parsed and analysed."""
    phases = frame._jdf.queryExecution().tracker().phases()
    found = [phases.get(name) for name in ("parsing", "analysis")]
    return float(sum(phase.get().durationMs() for phase in found if phase.isDefined())) / 1000


def nodes_of(description: str) -> int:
    """The nodes of the analysed plan in a description, a line each below the line of its columns; none if it is not there."""
    if ANALYSED not in description:
        return 0
    plan = description.split(ANALYSED, 1)[1].split(NEXT, 1)[0]
    return max(0, len([line for line in plan.splitlines() if line.strip()]) - 1)


def _each(sequence: Any) -> Iterator[Any]:
    """The elements of a Scala sequence."""
    for number in range(sequence.size()):
        yield sequence.apply(number)
