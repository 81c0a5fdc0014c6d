package org.apache.spark.sql.hive.thriftserver.chronicle

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis._
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

/** An argument that is no constant, even where it is one: the function that takes it is evaluated in a task, which ends with its statement.
  * Spark evaluates what is constant while it analyses and optimises a statement, in threads that nothing ends.
  */
case class InTask(child: Expression) extends Wrapper {
  override def foldable: Boolean = false

  /** Where only a constant can stand, Spark evaluates expressions without a row, and without asking whether they are constant. */
  override def eval(row: InternalRow): Any = {
    if (row == null && TaskContext.get() == null)
      throw new TooMuch(TooMuch.Complex, s"a function that this server evaluates for rows alone stands where a constant is needed: ${child.sql.take(80)}")
    child.eval(row)
  }

  override def doGenCode(context: CodegenContext, code: ExprCode): ExprCode = child.genCode(context)
  override protected def withNewChildInternal(newChild: Expression): InTask = copy(child = newChild)
}

/** Rewrites what a client wrote, so that a function is evaluated while Spark plans only if `functions.yml` says so (`while_planning`). */
class InTasks(functions: Functions) {
  def apply(plan: LogicalPlan): LogicalPlan = {
    val within = plan.mapChildren(apply) match {
      case queries: UnresolvedWith =>
        queries.copy(cteRelations = queries.cteRelations.map { case (name, query, depth) => (name, query.copy(child = apply(query.child)), depth) })
      case windows: WithWindowDefinition =>
        windows.copy(windowDefinitions = windows.windowDefinitions.map { case (name, window) =>
          name -> apply(window).asInstanceOf[WindowSpecDefinition]
        })
      case table: UnresolvedInlineTable => spelledOut(table)
      case other => other
    }
    within.mapExpressions(apply)
  }

  private def apply(expression: Expression): Expression = expression.transformUp {
    case query: SubqueryExpression => query.withNewPlan(apply(query.plan))
    case function: UnresolvedFunction if function.arguments.nonEmpty && functions.isInTasks(function.nameParts) =>
      function.copy(arguments = inTask(function.arguments.head) +: function.arguments.tail)
    case LikeAny(text, patterns) => like(text, patterns).reduce[Expression](Or)
    case NotLikeAny(text, patterns) => like(text, patterns).map(Not(_)).reduce[Expression](Or)
    case LikeAll(text, patterns) => like(text, patterns).reduce[Expression](And)
    case NotLikeAll(text, patterns) => like(text, patterns).map(Not(_)).reduce[Expression](And)
    case found @ Like(text, _, _) => found.copy(left = inTask(text))
    case found @ RLike(text, _) => found.copy(left = inTask(text))
    case Concat(parts) if parts.nonEmpty => Concat(inTask(parts.head) +: parts.tail)
  }

  private def like(text: Expression, patterns: Seq[UTF8String]): Seq[Expression] =
    patterns.map(pattern => Like(inTask(text), Literal(pattern, StringType), '\\'))

  private def inTask(argument: Expression): Expression = argument match {
    case named: NamedArgumentExpression => named.copy(value = inTask(named.value))
    case _: Star | _: InTask => argument
    case _ => InTask(argument)
  }

  /** Spark evaluates the rows of VALUES while it analyses them: rows with functions become queries. */
  private def spelledOut(table: UnresolvedInlineTable): LogicalPlan = {
    val isPlain = table.rows.flatten.forall(!_.exists {
      case _: UnresolvedFunction | _: StringRegexExpression | _: MultiLikeBase | _: Concat => true
      case _ => false
    })
    if (isPlain || table.rows.exists(_.length != table.names.length)) table
    else {
      val queries = table.rows.map(row => Project(row.zip(table.names).map { case (value, name) => Alias(value, name)() }, OneRowRelation()))
      if (queries.length == 1) queries.head else Union(queries)
    }
  }
}

/** Lets loops be cancelled: each turn of a lambda function checks whether its task was. */
object CancellableLoops extends Wrapping {
  override protected def isWrapper(expression: Expression): Boolean = expression match {
    case LambdaFunction(_: Heeding, _, _) => true
    case _ => false
  }

  override protected def wrapped: PartialFunction[Expression, Expression] = {
    case lambda @ LambdaFunction(function, arguments, _) if arguments.nonEmpty => lambda.copy(function = Heeding(function))
  }
}

/** A value, unless the statement was cancelled. */
case class Heeding(child: Expression) extends Wrapper {
  override def eval(row: InternalRow): Any = {
    Heeding.heed()
    child.eval(row)
  }
  override protected def withNewChildInternal(newChild: Expression): Heeding = copy(child = newChild)
}

object Heeding {
  /** Throws where the statement that this thread works for was cancelled. */
  def heed(): Unit = {
    Option(TaskContext.get()).foreach(_.killTaskIfInterrupted())
    if (Thread.currentThread.isInterrupted) throw new RuntimeException("the statement was cancelled")
  }
}
