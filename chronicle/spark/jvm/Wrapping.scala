package org.apache.spark.sql.hive.thriftserver.chronicle

import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.types.DataType

/** Puts a `Wrapper` around functions of a client's query, once around each. `name`: of the rule, unique among rules. */
abstract class Wrapping(name: String) extends Rule[LogicalPlan] {
  private val Seen = TreeNodeTag[Unit](s"chronicle.$name")

  /** The functions to wrap, and their wrappers. */
  protected def wrapped: PartialFunction[Expression, Expression]

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.exists(_.isInstanceOf[Answer])) plan
    else plan.transformWithSubqueries { case node => node.transformExpressions {
      case found if found.resolved && found.getTagValue(Seen).isEmpty && wrapped.isDefinedAt(found) =>
        found.setTagValue(Seen, ())
        wrapped(found)
    } }
}

/** Evaluates a function in another way, and looks like the function itself. */
abstract class Wrapper extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable
  override def prettyName: String = child.prettyName
  override def sql: String = child.sql
  override def toString: String = child.toString
}
