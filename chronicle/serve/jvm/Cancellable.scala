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

/** Lets cross joins be cancelled, and makes operators that keep their rows check the memory. In a cross join Spark checks once per batch of rows
  * whether it was cancelled, and each of its thousands of rows meets all rows of the other side before the next check: minutes in which the
  * cancelled statement holds the processor.
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

/** Passes rows on, and checks at each whether the task was cancelled; and now and then the memory, where rows are kept (`isKept`). */
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
