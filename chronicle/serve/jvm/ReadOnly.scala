package org.apache.spark.sql.hive.thriftserver.chronicle

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.{FunctionIdentifier, TableIdentifier}
import org.apache.spark.sql.catalyst.analysis._
import org.apache.spark.sql.catalyst.expressions.{Expression, SubqueryExpression, UserDefinedExpression}
import org.apache.spark.sql.catalyst.parser.{ParameterContext, ParserInterface}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.command.{DescribeQueryCommand, ExplainCommand, SetCatalogCommand, SetCommand}
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.types.{DataType, StructType}

/** The rule that makes a server read-only: what is not listed here is refused.
  *
  * It checks twice. The parser's result is what a client wrote: its statement, names and functions. The analysed plan is
  * what that became: relations and expressions, by whatever name they came in. A query is marked with `Answer` from the first check
  * to the second, because Delta analyses plans of its own in the same session.
  */
class ReadOnly extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    extensions.injectParser((session, parser) => new ReadOnlyParser(parser, Limits.of(session.sparkContext.conf), Functions.of(session)))
    extensions.injectPostHocResolutionRule(session => new BoundedValues(Limits.of(session.sparkContext.conf)))
    extensions.injectPostHocResolutionRule(session => new CancellableMatches(Limits.of(session.sparkContext.conf)))
    extensions.injectPostHocResolutionRule(_ => CancellableLoops)
    extensions.injectCheckRule(session => {
      val functions = Functions.of(session)
      plan => ReadOnly.checkAnalysed(plan, functions)
    })
    // What the optimiser puts in the place of others, as for regexp_substr, has not been there before.
    extensions.injectOptimizerRule(session => new BoundedValues(Limits.of(session.sparkContext.conf)))
    extensions.injectOptimizerRule(session => new CancellableMatches(Limits.of(session.sparkContext.conf)))
    extensions.injectOptimizerRule(_ => HeldFiles)
    extensions.injectPlannerStrategy(_ => AnswerStrategy)
    extensions.injectColumnar(_ => Cancellable)
  }
}

/** A statement that is refused: SQLSTATE 42501, insufficient privilege. */
class Refused(what: String)
    extends RuntimeException(s"[CHRONICLE_READ_ONLY] $what; this server answers SELECT, SHOW, DESCRIBE, EXPLAIN and USE")
    with SparkThrowable {
  override def getCondition: String = "CHRONICLE_READ_ONLY"
  override def getSqlState: String = "42501"
}

object ReadOnly {
  val Schemas: Set[String] = Set("bronze", "marts", "reports")
  val Catalog = "spark_catalog"
  val MostCharacters: Int = 1 << 20
  val MostBrackets = 200
  /** Settings that tools may set without harm, and to which values. */
  val Settings: Map[String, String => Boolean] = Map(
    "spark.sql.ansi.enabled" -> (value => Set("true", "false")(value.toLowerCase)),
    "spark.sql.session.timeZone" -> (value => value.length < 64)
  )
  private val Commands = Set(
    "DescribeColumn", "DescribeColumnCommand", "DescribeDatabaseCommand", "DescribeDeltaDetailCommand", "DescribeDeltaHistory",
    "DescribeDeltaHistoryCommand", "DescribeFunction", "DescribeFunctionCommand", "DescribeNamespace", "DescribeQueryCommand",
    "DescribeRelation", "DescribeRelationJsonCommand", "DescribeTableCommand", "DescribeTablePartition", "ExplainCommand",
    "SetCatalogAndNamespace", "SetCatalogCommand", "SetCommand", "SetNamespaceCommand", "ShowCatalogsCommand", "ShowCollationsCommand",
    "ShowColumns", "ShowColumnsCommand", "ShowCreateTable", "ShowCreateTableCommand", "ShowCurrentNamespaceCommand", "ShowFunctions",
    "ShowFunctionsCommand", "ShowNamespacesCommand", "ShowPartitions", "ShowPartitionsCommand", "ShowTableProperties",
    "ShowTablePropertiesCommand", "ShowDeltaTableColumnsCommand", "ShowTables", "ShowTablesCommand", "ShowTablesExtended", "ShowTablePartition", "ShowViews",
    "ShowViewsCommand"
  )
  /** Nodes that a query may consist of, as it is written and as it is analysed. */
  private val Parts = Set(
    "Aggregate", "AsOfJoin", "CTERelationDef", "CTERelationRef", "Deduplicate", "Distinct", "EmptyRelation", "Except", "Expand",
    "Filter", "Generate", "GlobalLimit", "Intersect", "Join", "LateralJoin", "LimitAll", "LocalLimit", "LocalRelation",
    "Answer", "LogicalRelation", "Offset", "OneRowRelation", "Pivot", "Project", "Range", "RebalancePartitions", "Repartition",
    "RepartitionByExpression", "ResolvedHint", "ResolvedInlineTable", "Sample", "Sort", "SubqueryAlias", "Tail", "Transpose", "Union",
    "UnionLoop", "UnionLoopRef", "Unpivot", "View", "Window", "WithCTE", "WithWindowDefinition",
    "RelationTimeTravel", "UnresolvedHaving", "UnresolvedHint", "UnresolvedInlineTable", "UnresolvedQualify", "UnresolvedRelation",
    "UnresolvedSubqueryColumnAliases", "UnresolvedTVFAliases", "UnresolvedTableValuedFunction", "UnresolvedTranspose", "UnresolvedWith"
  )
  /** Nodes that commands may be about. */
  private val Targets = Set(
    "ResolvedNamespace", "ResolvedNonPersistentFunc", "ResolvedPersistentFunc", "ResolvedPersistentView", "ResolvedTable",
    "ResolvedTempView", "UnresolvedFunctionName", "UnresolvedNamespace", "UnresolvedTable", "UnresolvedTableOrView",
    "CurrentNamespace", "UnresolvedPathBasedDeltaTable", "ResolvedPathBasedNonDeltaTable"
  )

  /** Refuses what a client may not write. Returns the plan, with the limits of an answer around a query. */
  def checkWritten(plan: LogicalPlan, limits: Limits, functions: Functions): LogicalPlan = plan match {
    case ExplainCommand(asked, mode) => ExplainCommand(checkWritten(asked, limits, functions), mode)
    case DescribeQueryCommand(text, asked) => checkParts(asked, functions); DescribeQueryCommand(text, new InTasks(functions)(asked))
    case SetCommand(Some((key, value))) if Settings.get(key).exists(fits => value.forall(fits)) => plan
    case SetCommand(setting) =>
      throw new Refused(s"SET ${setting.fold("")(_._1)} is refused, only ${Settings.keys.toSeq.sorted.mkString(" and ")} can be set")
    case SetCatalogCommand(_) => throw new Refused("SET CATALOG is refused, there is one catalog")
    case SetCatalogAndNamespace(UnresolvedNamespace(Seq(name), fetch)) if name.equalsIgnoreCase("default") =>
      // Hive's tools begin with `use default`, wherever they are.
      SetCatalogAndNamespace(UnresolvedNamespace(Seq("marts"), fetch))
    case _ if Commands(kind(plan)) => checkTargets(plan, functions); checkPattern(plan); plan
    case _ => checkParts(plan, functions); Answer(limits, new InTasks(functions)(plan))
  }

  /** Spark takes the pattern of SHOW as a regular expression of Java's, and matches it outside of any task. */
  private def checkPattern(plan: LogicalPlan): Unit = plan.productIterator.foreach {
    case Some(pattern: String) => NamePattern.check(pattern)
    case pattern: String => NamePattern.check(pattern)
    case _ =>
  }

  private def checkParts(plan: LogicalPlan, functions: Functions): Unit = everything(plan).foreach {
    case node: LogicalPlan if !Parts(kind(node)) => refuseKind(node)
    case relation: UnresolvedRelation =>
      checkName(relation.multipartIdentifier)
      if (relation.isStreaming || !relation.options.isEmpty) throw new Refused("a table with options, or as a stream, is refused")
    case function: UnresolvedTableValuedFunction => functions.checkName(function.name)
    case expression: Expression => checkExpression(expression, functions)
    case _ =>
  }

  private def checkTargets(plan: LogicalPlan, functions: Functions): Unit = everything(plan).foreach {
    case node: LogicalPlan if (node ne plan) && !Targets(kind(node)) => refuseKind(node)
    case UnresolvedTable(name, _, _) => checkName(name)
    case UnresolvedTableOrView(name, _, _, _) => checkName(name)
    case node: LogicalPlan if kind(node) == "UnresolvedPathBasedDeltaTable" => throw new Refused("a table by its path is refused")
    case expression: Expression => checkExpression(expression, functions)
    case _ =>
  }

  /** Refuses what a client's query may not have become by analysis, and commands in whichever way they came. */
  def checkAnalysed(plan: LogicalPlan, functions: Functions): Unit = plan match {
    case _: Command => if (!Commands(kind(plan))) refuseKind(plan)
    case _ if plan.exists(_.isInstanceOf[Answer]) => everything(plan).foreach {
      case relation: LogicalRelation if !relation.catalogTable.exists(table => table.identifier.database.exists(Schemas)) =>
        throw new Refused("a table that is not in the catalog is refused")
      case node: LogicalPlan if !Parts(kind(node)) => refuseKind(node)
      case expression: Expression => checkExpression(expression, functions)
      case _ =>
    }
    case _ =>
  }

  private def checkExpression(expression: Expression, functions: Functions): Unit = expression match {
    case function: UnresolvedFunction => functions.checkName(function.nameParts)
    case generator: UnresolvedGenerator => functions.checkName(Seq(generator.name.funcName))
    case _: ExpressionWithUnresolvedIdentifier => throw new Refused("identifier(…) is refused")
    case _: UserDefinedExpression => throw new Refused("functions that are not Spark's own are refused")
    case _ => functions.checkClass(expression)
  }

  private def checkName(name: Seq[String]): Unit = name.map(_.toLowerCase) match {
    case Seq(_) =>
    case Seq(schema, _) if Schemas(schema) =>
    case Seq(Catalog, schema, _) if Schemas(schema) =>
    case _ => throw new Refused(s"${name.mkString(".")} is refused, tables are in ${Schemas.toSeq.sorted.mkString(", ")}")
  }

  private def kind(node: AnyRef): String = node.getClass.getSimpleName.stripSuffix("$")

  private def refuseKind(node: LogicalPlan): Nothing = {
    val words = kind(node).replaceAll("(Command|Statement|Unresolved|AsSelect)", "").replaceAll("(?<=[a-z])(?=[A-Z])", " ").toUpperCase
    throw new Refused(s"$words is refused")
  }

  /** All plans and expressions within a plan, wherever its nodes hold them: EXPLAIN and WITH do so outside of their children. */
  private def everything(value: Any): Iterator[Any] = value match {
    case plan: LogicalPlan => Iterator(plan) ++ inside(plan)
    case expression: SubqueryExpression => Iterator(expression) ++ everything(expression.plan) ++ inside(expression)
    case expression: Expression => Iterator(expression) ++ inside(expression)
    case some: Iterable[_] => some.iterator.flatMap(everything)
    case _: DataType | _: TableIdentifier => Iterator.empty
    case option: Option[_] => option.iterator.flatMap(everything)
    // WITH holds its queries in triples.
    case several: Product if several.productPrefix.startsWith("Tuple") => inside(several)
    case _ => Iterator.empty
  }

  private def inside(node: Product): Iterator[Any] = node.productIterator.flatMap(everything)
}

/** Spark's parser with Delta's words, followed by the rule. */
class ReadOnlyParser(parser: ParserInterface, limits: Limits, functions: Functions) extends ParserInterface {
  /** Spark's parser takes minutes for a statement of thousands of nested brackets, and cannot be cancelled. */
  private def checkText(text: String): Unit = {
    def refuse(why: String) = throw new TooMuch(TooMuch.Complex, s"the statement is too complex: $why")
    if (text.length > ReadOnly.MostCharacters) refuse(s"it has more than ${ReadOnly.MostCharacters} characters")
    var depth = 0
    for (character <- text) character match {
      case '(' | '[' => depth += 1; if (depth > ReadOnly.MostBrackets) refuse(s"more than ${ReadOnly.MostBrackets} brackets are open at once")
      case ')' | ']' => depth -= 1
      case _ =>
    }
  }

  override def parsePlan(text: String): LogicalPlan = {
    checkText(text)
    ReadOnly.checkWritten(parser.parsePlan(text), limits, functions)
  }

  override def parsePlanWithParameters(text: String, context: ParameterContext): LogicalPlan = {
    checkText(text)
    ReadOnly.checkWritten(parser.parsePlanWithParameters(text, context), limits, functions)
  }

  override def parseExpression(text: String): Expression = parser.parseExpression(text)
  override def parseTableIdentifier(text: String): TableIdentifier = parser.parseTableIdentifier(text)
  override def parseFunctionIdentifier(text: String): FunctionIdentifier = parser.parseFunctionIdentifier(text)
  override def parseMultipartIdentifier(text: String): Seq[String] = parser.parseMultipartIdentifier(text)
  override def parseQuery(text: String): LogicalPlan = parser.parseQuery(text)
  override def parseRoutineParam(text: String): StructType = parser.parseRoutineParam(text)
  override def parseTableSchema(text: String): StructType = parser.parseTableSchema(text)
  override def parseDataType(text: String): DataType = parser.parseDataType(text)
}

/** Patterns of names that cost nothing to match: letters, digits, and few wildcards. Others take minutes on one name. */
object NamePattern {
  private val Characters = "[\\w*%.|$ \\\\-]{0,200}".r
  private val MostWildcards = 4

  def isPlain(pattern: String): Boolean =
    pattern == null || (Characters.matches(pattern) && pattern.split('|').forall(_.count(one => one == '*' || one == '%') <= MostWildcards))

  def check(pattern: String): Unit =
    if (!isPlain(pattern)) throw new Refused(s"the pattern '${pattern.take(40)}' is refused: it may have letters, digits and up to $MostWildcards wildcards (*)")
}
