package org.apache.spark.sql.chronicle

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.Literal.FalseLiteral
import org.apache.spark.sql.catalyst.optimizer.PropagateEmptyRelationBase
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.unsafe.types.UTF8String

/** Adds `KnownRows` to a session (`spark.sql.extensions`). */
class KnownRowsExtension extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit = extensions.injectPostHocResolutionRule(_ => KnownRows)
}

/** Drops the parts of a plan that cannot have rows as soon as the plan is analysed. Spark's optimizer does so too, but late, when most
  * of the work on the plan is done, and again for each plan that reads the same view.
  *
  * A setting per table, `chronicle.rows.<schema>.<table>`, says what is known of it: `none` if it has no rows, or
  * `<column>=<value>,<value>…` if the column holds no value but these, and no null.
  */
object KnownRows extends PropagateEmptyRelationBase {
  private val Prefix = "chronicle.rows."
  private type Held = Map[ExprId, Set[UTF8String]]

  override def apply(plan: LogicalPlan): LogicalPlan = {
    val held: Held = plan.collect { case leaf: LogicalRelation => valuesOf(leaf) }.flatten.toMap
    plan.transformUp(withoutRows(held).orElse(commonApplyFunc))
  }

  override protected def applyInternal(plan: LogicalPlan): LogicalPlan = apply(plan)

  private def withoutRows(held: Held): PartialFunction[LogicalPlan, LogicalPlan] = {
    case leaf: LogicalRelation if known(leaf).contains("none") => empty(leaf)
    case filter @ Filter(condition, _) if isNever(condition, held) => empty(filter)
    case join: Join if join.condition.exists(condition => condition != FalseLiteral && isNever(condition, held)) =>
      commonApplyFunc.applyOrElse(join.copy(condition = Some(FalseLiteral)), identity[LogicalPlan])
    // Not in the optimizer's rule, because these are removed or replaced before it.
    case node @ (_: SubqueryAlias | _: View | _: Distinct) if node.children.forall(isEmpty) => empty(node)
  }

  /** Whether a condition holds for no row. Nothing is known of columns that are not resolved, such as those of a missing table. */
  private def isNever(condition: Expression, held: Held): Boolean = {
    def misses(column: AttributeReference, wanted: Expression) = (held.get(column.exprId), wanted) match {
      case (Some(values), Literal(value: UTF8String, _)) => !values.contains(value)
      case _ => false
    }
    condition match {
      case FalseLiteral => true
      case And(left, right) => isNever(left, held) || isNever(right, held)
      case Or(left, right) => isNever(left, held) && isNever(right, held)
      case EqualTo(column: AttributeReference, wanted) => misses(column, wanted)
      case In(column: AttributeReference, wanted) => wanted.forall(misses(column, _))
      case _ => false
    }
  }

  private def valuesOf(leaf: LogicalRelation): Option[(ExprId, Set[UTF8String])] = for {
    text <- known(leaf)
    Array(name, values) <- Some(text.split("=", 2)).filter(_.length == 2)
    column <- leaf.output.find(_.name == name)
  } yield column.exprId -> values.split(',').map(UTF8String.fromString).toSet

  private def known(leaf: LogicalRelation): Option[String] = for {
    table <- leaf.catalogTable
    schema <- table.identifier.database
    text <- Option(conf.getConfString(s"$Prefix$schema.${table.identifier.table}", null))
  } yield text
}
