package org.apache.spark.sql.hive.thriftserver.chronicle

import org.apache.spark.SparkThrowable
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, ReturnAnswer, UnaryNode}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy, UnaryExecNode}

/** An answer with more rows than the server gives: SQLSTATE 54000, a limit of the program is exceeded. */
class TooManyRows(limit: Int)
    extends RuntimeException(
      s"[CHRONICLE_TOO_MANY_ROWS] the answer has more than $limit rows, the most that this server gives; add a WHERE, a GROUP BY or a LIMIT"
    )
    with SparkThrowable {
  override def getCondition: String = "CHRONICLE_TOO_MANY_ROWS"
  override def getSqlState: String = "54000"
}

/** The whole of a client's query: its answer has at most `limit` rows, or none at all. */
case class MaxRows(limit: Int, child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override def maxRows: Option[Long] = child.maxRows
  override protected def withNewChildInternal(newChild: LogicalPlan): MaxRows = copy(child = newChild)
}

object MaxRows {
  val Setting = "spark.chronicle.maxRows"
}

object MaxRowsStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    // What is limited by itself is left to Spark, which then reads no more than it needs.
    case ReturnAnswer(MaxRows(limit, child)) if child.maxRows.exists(_ <= limit) => planLater(ReturnAnswer(child)) :: Nil
    case ReturnAnswer(MaxRows(limit, child)) => MaxRowsExec(limit, planLater(child)) :: Nil
    case MaxRows(_, child) => planLater(child) :: Nil
    case _ => Nil
  }
}

/** Each partition stops behind the first row too many, so that no answer fills the memory before it is refused. */
case class MaxRowsExec(limit: Int, child: SparkPlan) extends UnaryExecNode {
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override protected def doExecute(): RDD[InternalRow] = {
    val most = limit + 1
    child.execute().mapPartitionsInternal(_.take(most))
  }

  override def executeCollect(): Array[InternalRow] = {
    val rows = super.executeCollect()
    if (rows.length > limit) throw new TooManyRows(limit)
    rows
  }

  override def executeToIterator(): Iterator[InternalRow] =
    super.executeToIterator().zipWithIndex.map { case (row, number) => if (number >= limit) throw new TooManyRows(limit) else row }

  override protected def withNewChildInternal(newChild: SparkPlan): MaxRowsExec = copy(child = newChild)
}
