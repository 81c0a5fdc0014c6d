package org.apache.spark.sql.catalyst.chronicle

import java.io.File
import java.net.URI
import java.util.{LinkedHashMap, List => JavaList, Map => JavaMap}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SaveMode.Overwrite
import org.apache.spark.sql.catalyst.QueryPlanningTracker.{ANALYSIS, OPTIMIZATION, PARSING, PLANNING}
import org.apache.spark.sql.catalyst.{FunctionIdentifier, QualifiedTableName, QueryPlanningTracker, TableIdentifier}
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, TemporaryViewRelation}
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, Expression, InSet, LeafExpression, Literal, Unevaluable}
import org.apache.spark.sql.catalyst.optimizer.UnwrapCastInBinaryComparison
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.logical.{CreateTableAsSelect, Filter, LeafNode, LocalRelation, LogicalPlan, OneRowRelation, Project, Statistics, UnaryCommand}
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.catalyst.util.IntervalUtils
import org.apache.spark.sql.chronicle.{FileList, KnownFiles}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.{CommandExecutionMode, QueryExecution, SparkPlan, SparkStrategy}
import org.apache.spark.sql.execution.command.CreateDataSourceTableAsSelectCommand
import org.apache.spark.sql.execution.datasources.{CatalogFileIndex, HadoopFsRelation, InsertIntoHadoopFsRelationCommand, LogicalRelation, PartitioningAwareFileIndex}
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.types.{DataType, DateType, StringType, StructType, TimestampType}
import org.apache.spark.unsafe.types.UTF8String

/** Caches plans between the builds of one process: the analysed ones of views, the optimised ones of tables. To analyse and to optimise them is half
  * of what a small build takes. The key of a plan covers its text, the plans of the views in it and what is known of the rows of its tables. The
  * tables in it are replaced by those that the catalog has now, if their columns are the same. A plan that reads anything else is not kept.
  *
  * What the optimiser does depends on nothing else: it knows of tables what the key covers, and their sizes, which decide what is likely to be
  * faster. Partitions and files are chosen when a plan is executed.
  */
object KeptPlans {
  private val Cluster = "cluster_id"
  private val views = new Plans[TemporaryViewRelation]
  private val tables = new Plans[CatalogTable]

  /** Creates a temporary view, which keeps its analysed plan (`spark.sql.legacy.storeAnalyzedPlanForView`). */
  def view(session: SparkSession, key: String, name: String, rows: String): Unit = {
    val catalog = session.sessionState.catalog
    views.renewed(session, key) match {
      case Some((like, plan)) => catalog.createTempView(name, like.copy(plan = Some(plan)), overrideIfExists = true)
      case None =>
        session.sql(s"create or replace temporary view $name as $rows")
        for (made <- catalog.getRawTempView(name); plan <- made.plan) views.keep(key, made.copy(plan = None), plan, plan)
    }
  }

  /** The columns of a temporary view that keeps its plan, as JSON; null for any other. */
  def columns(session: SparkSession, name: String): String =
    session.sessionState.catalog.getRawTempView(name).flatMap(_.plan).map(_.schema.json).orNull

  /** Creates a table from a query. `key`: null for a plan that is not kept; `definition`: `create table …` with its place; `clusters`: of tables with a
    * column `cluster_id` only their rows are read; null for all rows; `since`: the time that `chronicle_since` means, in microseconds since 1970.
    * Gives the milliseconds of parsing and analysis, and those of the optimiser and planning, of which only planning remains for a plan that was kept; and the rows that were written.
    */
  def table(
      session: SparkSession, key: String, definition: String, place: String, rows: String, clusters: JavaList[String], since: Long): Array[Long] = {
    PlanOptimised.addTo(session)
    Since.addTo(session)
    val tracker = new QueryPlanningTracker
    val (table, plan) = Option(key).flatMap(tables.renewed(session, _)).getOrElse {
      val create = tracker.measurePhase(PARSING)(session.sessionState.sqlParser.parsePlan(s"$definition as $rows")).asInstanceOf[CreateTableAsSelect]
      // Spark would analyse the query as a part of this statement, and once more when it runs.
      val Asked(query) = new QueryExecution(session, Asked(create.query), tracker, CommandExecutionMode.SKIP).analyzed
      val plan = new QueryExecution(session, query, tracker).optimizedPlan
      val made = session.sessionState.executePlan(create.copy(query = Optimised(plan)), CommandExecutionMode.SKIP).analyzed
      val table = made.asInstanceOf[CreateDataSourceTableAsSelectCommand].table
      if (key != null) tables.keep(key, table, query, plan)
      (table, plan)
    }
    val (planning, written) = write(session, table, new File(place).toURI, Optimised(Since.filledIn(since, of(clusters, plan))))
    Array(taken(tracker, PARSING, ANALYSIS), taken(tracker, OPTIMIZATION) + planning, written)
  }

  /** Writes a table of Parquet files and enters it in the catalog, in one execution; `create table … as` takes two, and lists the files. Gives the
    * milliseconds of planning, and the rows that tasks say they wrote.
    */
  private def write(session: SparkSession, table: CatalogTable, place: URI, query: Optimised): (Long, Long) = {
    val (parts, others) = query.output.partition(column => table.partitionColumnNames.contains(column.name))
    val (options, names) = (table.storage.properties, query.output.map(_.name))
    val files = new ParquetFileFormat
    val insert = InsertIntoHadoopFsRelationCommand(new Path(place), Map.empty, false, parts, None, files, options, query, Overwrite, None, None, names)
    val (execution, _) = QueryExecution.runCommand(session, insert, "table")
    val entry = table.copy(
      storage = table.storage.copy(locationUri = Some(place)),
      schema = DataTypeUtils.fromAttributes(others ++ parts).asNullable,
      // Its files say which partitions it has.
      tracksPartitionsInCatalog = false)
    session.sessionState.catalog.createTable(entry, ignoreIfExists = false, validateLocation = false)
    (taken(execution.tracker, OPTIMIZATION, PLANNING), execution.executedPlan.metrics("numOutputRows").value)
  }

  private def taken(tracker: QueryPlanningTracker, phases: String*): Long = phases.flatMap(tracker.phases.get).map(_.durationMs).sum

  /** An optimised plan that reads the rows of some clusters. A kept plan is of all, so that it serves any. */
  private def of(clusters: JavaList[String], plan: LogicalPlan): LogicalPlan =
    if (clusters == null) plan
    else {
      val names = clusters.asScala.map(name => UTF8String.fromString(name): Any).toSet
      plan.transformUpWithSubqueries {
        case leaf: LogicalRelation if leaf.relation.schema.fieldNames.contains(Cluster) =>
          // The optimiser may have left the column out.
          val found = leaf.output.find(_.name == Cluster).getOrElse(AttributeReference(Cluster, StringType)())
          val rows = Filter(InSet(found, names), leaf.copy(output = (leaf.output :+ found).distinct))
          if (rows.output == leaf.output) rows else Project(leaf.output, rows)
      }
    }

  /** Drops a table from the catalog; its files stay. */
  def forget(session: SparkSession, schema: String, name: String): Unit = {
    val (catalog, table) = (session.sessionState.catalog, TableIdentifier(name, Some(schema)))
    catalog.dropTable(table, ignoreIfNotExists = true, purge = false)
    catalog.invalidateCachedTable(table)
  }
}

/** A query that is analysed as those of commands are: the names of a `with` are written into it (`spark.sql.legacy.inlineCTEInCommands`). */
private case class Asked(child: LogicalPlan) extends UnaryCommand {
  override protected def withNewChildInternal(newChild: LogicalPlan): Asked = copy(child = newChild)
}

/** An optimised plan, within one that Spark analyses and optimises: it leaves this as it is. */
private case class Optimised(plan: LogicalPlan) extends LeafNode {
  override def output: Seq[Attribute] = plan.output
  override def computeStats(): Statistics = plan.stats
  override def innerChildren: Seq[QueryPlan[_]] = Seq(plan)
}

private object PlanOptimised extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    // A copy, as Spark makes one of what it has optimised: planning leaves marks on it.
    case Optimised(optimised) => Seq(planLater(optimised.clone()))
    case _ => Nil
  }

  /** Lets a session plan what is optimised. */
  def addTo(session: SparkSession): Unit = synchronized {
    val strategies = session.experimental.extraStrategies
    if (!strategies.contains(this)) session.experimental.extraStrategies = strategies :+ this
  }
}

/** Placeholder for a time that is put into an optimised plan: the one from which on a table is made, `back` microseconds before it, or its day. */
private case class Since(dataType: DataType, back: Long) extends LeafExpression with Unevaluable {
  override def nullable: Boolean = false

  def of(since: Long): Literal = dataType match {
    case DateType => Literal(Math.floorDiv(since - back, MICROS_PER_DAY).toInt, DateType)
    case _ => Literal(since - back, TimestampType)
  }
}

private object Since {
  private val Time = FunctionIdentifier("chronicle_since")
  private val Day = FunctionIdentifier("chronicle_since_day")

  /** A day is compared with a time as a day again, as the optimiser does with times that it knows: else neither files nor row groups are left out. */
  def filledIn(since: Long, plan: LogicalPlan): LogicalPlan = {
    val filled = plan.transformAllExpressionsWithSubqueries { case time: Since => time.of(since) }
    if (filled.eq(plan)) plan else UnwrapCastInBinaryComparison(filled)
  }

  /** Lets queries of a session name the time: `chronicle_since('2 hours')`, two hours before it, and `chronicle_since_day()`. */
  def addTo(session: SparkSession): Unit = synchronized {
    val functions = session.sessionState.functionRegistry
    if (!session.sessionState.catalog.isTemporaryFunction(Time)) {
      functions.createOrReplaceTempFunction(Time.funcName, (given: Seq[Expression]) => Since(TimestampType, length(given.head)), "scala_udf")
      functions.createOrReplaceTempFunction(Day.funcName, (_: Seq[Expression]) => Since(DateType, 0), "scala_udf")
    }
  }

  private def length(interval: Expression): Long = {
    val found = IntervalUtils.stringToInterval(interval.eval().asInstanceOf[UTF8String])
    require(found.months == 0, s"$interval: a month has no fixed length")
    found.days * MICROS_PER_DAY + found.microseconds
  }
}

/** Placeholder for a table that is put into a plan. */
private case class Place(table: LogicalRelation) extends LeafNode {
  override def output: Seq[Attribute] = table.output
}

/** A plan, the rest of the view or command that it was made for, and the columns of the tables that it reads. */
private case class Kept[T](rest: T, plan: LogicalPlan, tables: Map[TableIdentifier, StructType])

/** Plans by their keys; the least recently used go first. */
private class Plans[T] {
  private val Most = 500
  private val held = new LinkedHashMap[String, Kept[T]](Most, 0.75f, true) {
    override def removeEldestEntry(eldest: JavaMap.Entry[String, Kept[T]]): Boolean = size > Most
  }

  /** Keeps a plan, unless it reads anything but tables, or the time at which it runs. `analysed`: the plan before it was optimised. */
  def keep(key: String, rest: T, analysed: LogicalPlan, plan: LogicalPlan): Unit = {
    val leaves = analysed.collectWithSubqueries { case leaf: LeafNode => leaf }
    val tables = leaves.collect { case leaf: LogicalRelation => tableOf(leaf).map(_ -> leaf.relation.schema) }
    val others = leaves.filterNot(leaf => leaf.isInstanceOf[LogicalRelation] || leaf.isInstanceOf[LocalRelation] || leaf.isInstanceOf[OneRowRelation])
    if (others.isEmpty && tables.forall(_.isDefined) && !analysed.containsPattern(TreePattern.CURRENT_LIKE))
      synchronized(held.put(key, Kept(rest, plan, tables.flatten.toMap)))
  }

  def renewed(session: SparkSession, key: String): Option[(T, LogicalPlan)] =
    Option(synchronized(held.get(key))).flatMap(kept => withTablesOf(session, kept).map(kept.rest -> _))

  private def withTablesOf(session: SparkSession, kept: Kept[T]): Option[LogicalPlan] = session.withActive {
    val now = kept.tables.map { case (table, columns) => table -> relation(session, table).filter(now => alike(columns, now.relation.schema)) }
    if (now.exists(_._2.isEmpty)) None
    else {
      // By way of placeholders: Spark leaves a node as it is if it equals the new one, and tables in one location are equal.
      val renewed = kept.plan
        .transformUpWithSubqueries { case leaf: LogicalRelation => Place(of(leaf, now(tableOf(leaf).get).get)) }
        .transformUpWithSubqueries { case Place(table) => table }
      if (kept.plan.analyzed) renewed.setAnalyzed()
      Some(renewed)
    }
  }

  /** A leaf of a plan that reads a table as it is now. The optimiser may have left out columns of the leaf. */
  private def of(leaf: LogicalRelation, table: LogicalRelation): LogicalRelation = (leaf.relation, table.relation) match {
    case (before: HadoopFsRelation, now: HadoopFsRelation) =>
      val files = before.copy(location = now.location, fileFormat = now.fileFormat, options = now.options)(now.sparkSession)
      leaf.copy(relation = files, catalogTable = table.catalogTable)
  }

  /** The table that a leaf reads, if it reads nothing but files. Of a Delta table the optimiser puts what its log says into the plan. */
  private def tableOf(leaf: LogicalPlan): Option[TableIdentifier] = leaf match {
    case LogicalRelation(files: HadoopFsRelation, _, Some(table), false, None) if table.identifier.database.isDefined =>
      files.location match {
        case _: FileList | _: CatalogFileIndex | _: PartitioningAwareFileIndex => Some(table.identifier)
        case _ => None
      }
    case _ => None
  }

  private def relation(session: SparkSession, table: TableIdentifier): Option[LogicalRelation] = {
    val catalog = session.sessionState.catalog
    val cached = Option(catalog.getCachedTable(QualifiedTableName(table.catalog.get, table.database.get, table.table)))
    val plan = cached.map(KnownFiles(_)).getOrElse {
      session.sessionState.executePlan(UnresolvedRelation(Seq(table.database.get, table.table))).analyzed
    }
    plan.collectFirst { case leaf: LogicalRelation if tableOf(leaf).isDefined => leaf }
  }

  private def alike(one: StructType, other: StructType): Boolean =
    one.map(column => (column.name, column.dataType)) == other.map(column => (column.name, column.dataType))
}
