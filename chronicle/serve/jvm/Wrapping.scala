package org.apache.spark.sql.hive.thriftserver.chronicle

import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.types.DataType

/** Puts a `Wrapper` around functions of a client's query, once around each, also where Spark has put the same object into several places. */
abstract class Wrapping extends Rule[LogicalPlan] {
  /** The functions to wrap, and their wrappers. */
  protected def wrapped: PartialFunction[Expression, Expression]

  /** Whether an expression is a wrapper of this rule, whose function is not to be wrapped again. */
  protected def isWrapper(expression: Expression): Boolean

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.exists(_.isInstanceOf[Answer])) plan
    else plan.transformWithSubqueries { case node => node.mapExpressions(wrap) }

  private def wrap(expression: Expression): Expression =
    if (isWrapper(expression)) within(expression)
    else if (expression.resolved && wrapped.isDefinedAt(expression)) within(wrapped(expression))
    else expression.mapChildren(wrap)

  private def within(wrapper: Expression): Expression = wrapper.mapChildren(_.mapChildren(wrap))
}

/** Evaluates a function in another way, and looks like the function itself. */
abstract class Wrapper extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable
  override def prettyName: String = child.prettyName
  override def sql: String = child.sql
  override def toString: String = child.toString
}
