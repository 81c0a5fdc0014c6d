package org.apache.spark.sql.chronicle

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.analysis.SchemaCompensation
import org.apache.spark.sql.catalyst.catalog.{CatalogStorageFormat, CatalogTable, CatalogTableType, CatalogUtils}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.command.ViewHelper
import org.apache.spark.sql.types.{DataType, StructType}

/** Puts tables and views into a session's catalog with columns that are known, as JSON in Spark's form or as in `create table`. `create table …
  * location` and `create view` have to find them: by a query of a Delta table's log, a job that opens a Parquet file, the analysis of a view.
  */
object CatalogEntries {
  def table(session: SparkSession, schema: String, name: String, provider: String, place: String, columns: String): Unit =
    session.sessionState.catalog.createTable(
      CatalogTable(
        identifier = TableIdentifier(name, Some(schema)),
        tableType = CatalogTableType.EXTERNAL,
        storage = CatalogStorageFormat.empty.copy(locationUri = Some(CatalogUtils.stringToURI(place))),
        // As Spark has them where it takes the columns from the files.
        schema = if (provider == "parquet") read(columns).asNullable else read(columns),
        provider = Some(provider)),
      ignoreIfExists = true,
      validateLocation = false)

  /** Replaces a view of its name. */
  def view(session: SparkSession, schema: String, name: String, query: String, columns: String, comment: String): Unit = {
    val found = read(columns)
    val names = found.fieldNames
    val made = CatalogTable(
      identifier = TableIdentifier(name, Some(schema)),
      tableType = CatalogTableType.VIEW,
      storage = CatalogStorageFormat.empty,
      schema = found,
      comment = Option(comment).filter(_.nonEmpty),
      properties = ViewHelper.generateViewProperties(Map.empty, session, names, names, SchemaCompensation),
      viewOriginalText = Some(query),
      viewText = Some(query))
    val catalog = session.sessionState.catalog
    catalog.dropTable(made.identifier, ignoreIfNotExists = true, purge = false)
    catalog.createTable(made, ignoreIfExists = false)
  }

  /** The columns of a table or view in the catalog. */
  def columns(session: SparkSession, schema: String, name: String): String =
    session.sessionState.catalog.getTableMetadata(TableIdentifier(name, Some(schema))).schema.json

  private def read(columns: String): StructType =
    if (columns.startsWith("{")) DataType.fromJson(columns).asInstanceOf[StructType] else StructType.fromDDL(columns)
}
