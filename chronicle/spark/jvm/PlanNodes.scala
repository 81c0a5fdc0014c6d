package org.apache.spark.sql.chronicle

import java.util.concurrent.atomic.AtomicLong

import org.apache.spark.sql.catalyst.trees.TreeNode
import org.apache.spark.sql.execution.QueryExecution
import org.apache.spark.sql.util.QueryExecutionListener

/** Counts the nodes of the plans that Spark calls analysed, of all that a session executes; a plan within a node of another counts, too. */
class PlanNodes extends QueryExecutionListener {
  private val found = new AtomicLong

  def count: Long = found.get

  override def onSuccess(name: String, execution: QueryExecution, nanoseconds: Long): Unit = found.addAndGet(nodes(execution.analyzed))

  override def onFailure(name: String, execution: QueryExecution, error: Exception): Unit = ()

  private def nodes(plan: TreeNode[_]): Long =
    1 + (plan.children ++ plan.innerChildren).map { case within: TreeNode[_] => nodes(within) }.sum
}
