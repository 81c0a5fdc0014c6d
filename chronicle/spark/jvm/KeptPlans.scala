package org.apache.spark.sql.catalyst.chronicle

import java.io.File
import java.util.{LinkedHashMap, Map => JavaMap}

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.{QualifiedTableName, TableIdentifier}
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation
import org.apache.spark.sql.catalyst.catalog.TemporaryViewRelation
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LocalRelation, LogicalPlan, OneRowRelation}
import org.apache.spark.sql.chronicle.KnownFiles
import org.apache.spark.sql.classic.{Dataset, SparkSession}
import org.apache.spark.sql.execution.command.CreateDataSourceTableAsSelectCommand
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

/** Caches analysed plans between the builds of one process: analysis is a third of what a small build takes. The key of a plan covers its text,
  * the plans of the views in it and what is known of the rows of its tables. The tables in it are replaced by those that the catalog has now, if
  * their columns are the same. A plan that reads anything else is not kept.
  */
object KeptPlans {
  private val views = new Plans[TemporaryViewRelation]
  private val tables = new Plans[CreateDataSourceTableAsSelectCommand]

  /** Creates a temporary view, which keeps its analysed plan (`spark.sql.legacy.storeAnalyzedPlanForView`). */
  def view(session: SparkSession, key: String, name: String, rows: String): Unit = {
    val catalog = session.sessionState.catalog
    views.renewed(session, key) match {
      case Some((like, plan)) => catalog.createTempView(name, like.copy(plan = Some(plan)), overrideIfExists = true)
      case None =>
        session.sql(s"create or replace temporary view $name as $rows")
        for (made <- catalog.getRawTempView(name); plan <- made.plan) views.keep(key, made.copy(plan = None), plan)
    }
  }

  /** The columns of a temporary view that keeps its plan, as JSON; null for any other. */
  def columns(session: SparkSession, name: String): String =
    session.sessionState.catalog.getRawTempView(name).flatMap(_.plan).map(_.schema.json).orNull

  /** Creates a table from a query. `definition`: `create table …` with its place. */
  def table(session: SparkSession, key: String, definition: String, place: String, rows: String): DataFrame =
    tables.renewed(session, key) match {
      case Some((like, plan)) =>
        val storage = like.table.storage.copy(locationUri = Some(new File(place).toURI))
        Dataset.ofRows(session, like.copy(table = like.table.copy(storage = storage), query = plan))
      case None =>
        val made = session.sql(s"$definition as $rows")
        made.asInstanceOf[Dataset[_]].queryExecution.analyzed match {
          case command: CreateDataSourceTableAsSelectCommand => tables.keep(key, command.copy(query = OneRowRelation()), command.query)
          case _ =>
        }
        made
    }

  /** Drops a table from the catalog; its files stay. */
  def forget(session: SparkSession, schema: String, name: String): Unit = {
    val (catalog, table) = (session.sessionState.catalog, TableIdentifier(name, Some(schema)))
    catalog.dropTable(table, ignoreIfNotExists = true, purge = false)
    catalog.invalidateCachedTable(table)
  }
}

/** Placeholder for a table that is put into a plan. */
private case class Place(table: LogicalRelation) extends LeafNode {
  override def output: Seq[Attribute] = table.output
}

/** Plans by their keys, each with the rest of the view or command it was made for; the least recently used go first. */
private class Plans[T] {
  private val Most = 500
  private val held = new LinkedHashMap[String, (T, LogicalPlan)](Most, 0.75f, true) {
    override def removeEldestEntry(eldest: JavaMap.Entry[String, (T, LogicalPlan)]): Boolean = size > Most
  }

  def keep(key: String, rest: T, plan: LogicalPlan): Unit = {
    val leaves = plan.collectWithSubqueries { case leaf: LeafNode => leaf }
    if (leaves.forall(leaf => tableOf(leaf).isDefined || leaf.isInstanceOf[LocalRelation] || leaf.isInstanceOf[OneRowRelation]))
      synchronized(held.put(key, (rest, plan)))
  }

  def renewed(session: SparkSession, key: String): Option[(T, LogicalPlan)] =
    Option(synchronized(held.get(key))).flatMap { case (rest, plan) => withTablesOf(session, plan).map(rest -> _) }

  private def withTablesOf(session: SparkSession, plan: LogicalPlan): Option[LogicalPlan] = session.withActive {
    val old = plan.collectWithSubqueries { case leaf: LogicalRelation => leaf }
    val now = old.map(leaf => leaf -> tableOf(leaf).flatMap(relation(session, _)).filter(alike(leaf, _)))
    if (now.exists(_._2.isEmpty)) None
    else {
      // By way of placeholders: Spark leaves a node as it is if it equals the new one, and tables in one location are equal.
      val places = now.map { case (leaf, table) => leaf -> Place(leaf.copy(relation = table.get.relation, catalogTable = table.get.catalogTable)) }.toMap
      val renewed = plan.transformUpWithSubqueries { case leaf: LogicalRelation => places(leaf) }.transformUpWithSubqueries { case Place(table) => table }
      // The query of a command is analysed once more when the command runs, and is not marked as analysed before.
      if (plan.analyzed) renewed.setAnalyzed()
      Some(renewed)
    }
  }

  private def tableOf(leaf: LogicalPlan): Option[TableIdentifier] = leaf match {
    case LogicalRelation(_: HadoopFsRelation, _, Some(table), false, None) if table.identifier.database.isDefined => Some(table.identifier)
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

  private def alike(one: LogicalRelation, other: LogicalRelation): Boolean =
    one.output.map(column => (column.name, column.dataType)) == other.output.map(column => (column.name, column.dataType))
}
