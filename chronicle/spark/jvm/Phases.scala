package org.apache.spark.sql.chronicle

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.catalyst.QueryPlanningTracker.{OPTIMIZATION, PLANNING}
import org.apache.spark.sql.execution.QueryExecution
import org.apache.spark.sql.execution.datasources.InsertIntoHadoopFsRelationCommand
import org.apache.spark.sql.util.QueryExecutionListener

/** How long Spark optimised and planned what it wrote into a folder. A statement that creates a table writes it in an execution of its own, which
  * the caller of the statement does not see.
  */
class Phases extends QueryExecutionListener {
  private val planned = new ConcurrentHashMap[String, java.lang.Long]

  /** Milliseconds; 0 where nothing was written. */
  def planning(folder: String): Long = planned.getOrDefault(folder, 0L)

  override def onSuccess(name: String, execution: QueryExecution, nanoseconds: Long): Unit = execution.analyzed match {
    case write: InsertIntoHadoopFsRelationCommand =>
      val phases = execution.tracker.phases
      val found = Seq(OPTIMIZATION, PLANNING).flatMap(phases.get).map(_.durationMs).sum
      planned.merge(write.outputPath.toUri.getPath, found, (one, other) => one + other)
    case _ =>
  }

  override def onFailure(name: String, execution: QueryExecution, error: Exception): Unit = ()
}
