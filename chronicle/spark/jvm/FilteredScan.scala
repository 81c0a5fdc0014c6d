package org.apache.spark.sql.chronicle

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, PlanExpression, Predicate, SortOrder, UnsafeProjection}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution._

/** Adds `FilteredScan` to a session (`spark.sql.extensions`). */
class FilteredScanExtension extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit = extensions.injectColumnar(_ => new ColumnarRule {
    override def postColumnarTransitions: Rule[SparkPlan] = FilteredScan
  })
}

/** Looks at the condition of a filter before it copies a row. Without generated code Spark copies each row that it reads from a file, with all of its
  * columns, also those that the filter then leaves out.
  */
object FilteredScan extends Rule[SparkPlan] {
  override def apply(plan: SparkPlan): SparkPlan =
    if (conf.wholeStageEnabled) plan
    else plan.transformUp {
      case filter @ FilterExec(condition, scan: FileSourceScanExec) if !scan.supportsColumnar && !hasQuery(condition +: scan.partitionFilters) =>
        FilteredScan(condition, filter.output, scan)
    }

  /** Spark runs a query in a filter before it executes that filter, but not before another operator reads the same files. */
  private def hasQuery(filters: Seq[Expression]): Boolean = filters.exists(_.exists(_.isInstanceOf[PlanExpression[_]]))
}

/** The rows of files for which a condition holds. */
case class FilteredScan(condition: Expression, output: Seq[Attribute], child: SparkPlan) extends UnaryExecNode {
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override protected def doExecute(): RDD[InternalRow] = {
    val (holds, columns, files) = (condition, child.output, child.asInstanceOf[FileSourceScanExec])
    files.inputRDD.mapPartitionsWithIndexInternal { (number, rows) =>
      val (meets, copied) = (Predicate.create(holds, columns), UnsafeProjection.create(columns, columns))
      meets.initialize(number)
      copied.initialize(number)
      rows.filter(meets.eval).map(copied)
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): FilteredScan = copy(child = newChild)
}
