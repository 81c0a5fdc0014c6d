package org.apache.spark.sql.hive.thriftserver.chronicle

import org.apache.spark.{InterruptibleIterator, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan, TakeOrderedAndProjectExec, UnaryExecNode}
import org.apache.spark.sql.execution.aggregate.{ObjectHashAggregateExec, SortAggregateExec}
import org.apache.spark.sql.execution.joins.BroadcastNestedLoopJoinExec

/** Makes cross joins heed that they were cancelled, and what keeps its rows heed the memory. In a cross join Spark looks once in a batch of rows, and each of its thousands meets all rows of
  * the other side before the next look: minutes, in which the cancelled statement holds the processor.
  */
object Cancellable extends ColumnarRule {
  override def preColumnarTransitions: Rule[SparkPlan] = new Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = plan.transform {
      case join: BroadcastNestedLoopJoinExec if join.buildSide == BuildLeft && !join.right.isInstanceOf[CancellableExec] =>
        join.copy(right = CancellableExec(join.right))
      case join: BroadcastNestedLoopJoinExec if join.buildSide == BuildRight && !join.left.isInstanceOf[CancellableExec] =>
        join.copy(left = CancellableExec(join.left))
      // These hold what they have read in Java's own memory, which Spark neither counts nor spills.
      case keeper @ (_: ObjectHashAggregateExec | _: SortAggregateExec | _: TakeOrderedAndProjectExec) if !keeper.children.head.isInstanceOf[CancellableExec] =>
        keeper.withNewChildren(Seq(CancellableExec(keeper.children.head, isKept = true)))
    }
  }
}

/** Rows as they come, with a look at each whether the task is to end; and where they are kept (`isKept`), now and then at the memory. */
case class CancellableExec(child: SparkPlan, isKept: Boolean = false) extends UnaryExecNode {
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering
  override protected def doExecute(): RDD[InternalRow] = {
    val kept = isKept
    child.execute().mapPartitionsInternal { rows =>
      val cancellable = new InterruptibleIterator(TaskContext.get(), rows)
      if (kept) Memory.bounded(cancellable) else cancellable
    }
  }
  override protected def withNewChildInternal(newChild: SparkPlan): CancellableExec = copy(child = newChild)
}
