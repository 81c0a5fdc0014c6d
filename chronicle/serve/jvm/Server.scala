package org.apache.spark.sql.hive.thriftserver.chronicle

import java.util.{HashMap => JHashMap, Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.Path
import org.apache.hadoop.hive.conf.HiveConf
import org.apache.hive.service.cli.CLIService
import org.apache.hive.service.cli.thrift.ThriftBinaryCLIService
import org.apache.hive.service.rpc.thrift._
import org.apache.hive.service.server.HiveServer2

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog._
import org.apache.spark.sql.execution.command.ResetCommand
import org.apache.spark.sql.hive.HiveUtils
import org.apache.spark.sql.hive.thriftserver.{HiveThriftServer2, ReflectedCompositeService, SparkSQLCLIService}
import org.apache.spark.sql.hive.thriftserver.ui.{HiveThriftServer2EventManager, HiveThriftServer2Listener}
import org.apache.spark.sql.types.{DataType, StructType}
import org.apache.spark.status.ElementTrackingStore

/** Spark's Thrift Server, put together as HiveThriftServer2 does it, with a front that checks what clients ask for. */
class ChronicleServer(session: SparkSession, readOnly: Boolean, maxConnections: Int) extends HiveServer2 with ReflectedCompositeService {
  override def init(conf: HiveConf): Unit = {
    val service = new SparkSQLCLIService(this, session)
    addService(service)
    val front = new Front(service, session, readOnly, maxConnections)
    addService(front)
    initCompositeService(conf)
  }
}

object ChronicleServer {
  /** Starts the server of a session on the host and port of its configuration. Throws where it cannot listen. */
  def open(session: SparkSession, readOnly: Boolean, passwords: String, maxConnections: Int): ChronicleServer = {
    PasswordFile.path = if (passwords.isEmpty) null else java.nio.file.Path.of(passwords)
    if (readOnly) mustRefuse(session.newSession())
    HiveThriftServer2.systemExitOnError.set(false)
    val context = session.sparkContext
    val store = context.statusStore.store.asInstanceOf[ElementTrackingStore]
    HiveThriftServer2.eventManager = new HiveThriftServer2EventManager(context)
    HiveThriftServer2.listener = new HiveThriftServer2Listener(store, context.conf, None)
    context.listenerBus.addToStatusQueue(HiveThriftServer2.listener)
    val hive = HiveUtils.newClientForExecution(context.conf, session.sessionState.newHadoopConf())
    val server = new ChronicleServer(session, readOnly, maxConnections)
    server.init(hive.conf)
    Memory.watch(context)
    server.start()
    server
  }

  /** Spark only logs an extension that it cannot load. Throws where the parser or the analyser lets a statement through. */
  private def mustRefuse(session: SparkSession): Unit = {
    def passes(what: => Any): Boolean = try { what; true } catch { case _: Refused => false }
    if (passes(session.sessionState.sqlParser.parsePlan("reset")) || passes(session.sessionState.executePlan(ResetCommand(None)).analyzed))
      throw new IllegalStateException("the rule that makes the server read-only is not in force")
  }
}

/** The thrift service. Settings of a connection reach Spark, Hive and even Java's system properties before any statement is
  * checked, so they are filtered here; and every statement takes a thread of the one pool, which bounds how many run.
  */
class Front(service: CLIService, session: SparkSession, readOnly: Boolean, maxConnections: Int) extends ThriftBinaryCLIService(service) {
  private val Prefix = "set:hiveconf:"

  override def OpenSession(request: TOpenSessionReq): TOpenSessionResp = {
    if (service.getSessionManager.getOpenSessionCount >= maxConnections) {
      val status = new TStatus(TStatusCode.ERROR_STATUS)
      status.setErrorMessage(s"[CHRONICLE_TOO_MANY_CONNECTIONS] $maxConnections clients are connected, the most that this server takes; try again later")
      status.setSqlState("53300")
      return new TOpenSessionResp(status, request.getClient_protocol)
    }
    val asked = Option(request.getConfiguration).map(_.asScala.toMap).getOrElse(Map.empty[String, String])
    val kept: JMap[String, String] = new JHashMap()
    for ((key, value) <- asked if key.startsWith(Prefix)) {
      val name = key.stripPrefix(Prefix)
      if (!readOnly || ReadOnly.Settings.get(name).exists(_(value))) kept.put(key, value)
    }
    kept.put(Prefix + "spark.sql.thriftserver.scheduler.pool", s"pool-${Front.sessions.getAndIncrement() % Front.Pools}")
    val schema = asked.getOrElse("use:database", "marts")
    if (!schema.matches("\\w+")) throw new org.apache.thrift.TException(s"'$schema' is not the name of a schema")
    kept.put("use:database", if (schema.equalsIgnoreCase("default")) "marts" else schema)
    request.setConfiguration(kept)
    super.OpenSession(request)
  }

  /** Spark adds the schema of global temporary views, which nobody has here. */
  override def GetSchemas(request: TGetSchemasReq): TGetSchemasResp = refused(request.getSchemaName).map(new TGetSchemasResp(_)).getOrElse {
    val names = session.sharedState.externalCatalog.listDatabases().filter(Front.like(request.getSchemaName))
    val answer = ask(request.getSessionHandle, Seq("TABLE_SCHEM", "TABLE_CATALOG"), names.map(Seq(_, "")))
    val response = new TGetSchemasResp(answer.getStatus)
    response.setOperationHandle(answer.getOperationHandle)
    response
  }

  /** Hive would ask its own metastore, and start one for that. */
  override def GetPrimaryKeys(request: TGetPrimaryKeysReq): TGetPrimaryKeysResp = {
    val catalog = session.sharedState.externalCatalog
    val keys = for {
      schema <- catalog.listDatabases() if Option(request.getSchemaName).forall(_.equalsIgnoreCase(schema))
      name <- catalog.listTables(schema) if Option(request.getTableName).forall(_.equalsIgnoreCase(name))
      key <- catalog.getTable(schema, name).properties.get(Tables.Key)
    } yield Seq("", schema, name, key, "1", s"${name}_key")
    val columns = Seq("TABLE_CAT", "TABLE_SCHEM", "TABLE_NAME", "COLUMN_NAME", "KEY_SEQ", "PK_NAME")
    val answer = ask(request.getSessionHandle, columns, keys)
    val response = new TGetPrimaryKeysResp(answer.getStatus)
    response.setOperationHandle(answer.getOperationHandle)
    response
  }

  /** The relations of the tables that are there. Hive would ask its own metastore, and start one for that. */
  override def GetCrossReference(request: TGetCrossReferenceReq): TGetCrossReferenceResp = {
    val catalog = session.sharedState.externalCatalog
    def asks(name: String, found: String) = name == null || name.isEmpty || name.equalsIgnoreCase(found)
    val keys = for {
      one <- Tables.relations
      if asks(request.getForeignSchemaName, one.schema) && asks(request.getForeignTableName, one.table)
      if asks(request.getParentSchemaName, one.toSchema) && asks(request.getParentTableName, one.toTable)
      if catalog.tableExists(one.schema, one.table) && catalog.tableExists(one.toSchema, one.toTable)
    } yield Seq("", one.toSchema, one.toTable, one.toColumn, "", one.schema, one.table, one.column, "1") ++
      // Nothing happens to a row when that of its key changes: DatabaseMetaData.importedKeyNoAction, importedKeyNotDeferrable.
      Seq("3", "3", s"${one.table}_${one.column}", s"${one.toTable}_key", "7")
    val sides = Seq("PK", "FK").flatMap(side => Seq("TABLE_CAT", "TABLE_SCHEM", "TABLE_NAME", "COLUMN_NAME").map(side + _))
    val columns = sides ++ Seq("KEY_SEQ", "UPDATE_RULE", "DELETE_RULE", "FK_NAME", "PK_NAME", "DEFERRABILITY")
    val answer = ask(request.getSessionHandle, columns, keys)
    val response = new TGetCrossReferenceResp(answer.getStatus)
    response.setOperationHandle(answer.getOperationHandle)
    response
  }

  /** Spark makes regular expressions of patterns, and matches them in the thread that takes the call. */
  private def refused(patterns: String*): Option[TStatus] = patterns.find(!NamePattern.isPlain(_)).map { pattern =>
    val status = new TStatus(TStatusCode.ERROR_STATUS)
    val refused = new Refused(s"the pattern '${pattern.take(40)}' of names is refused")
    status.setErrorMessage(refused.getMessage)
    status.setSqlState(refused.getSqlState)
    status
  }

  override def GetTables(request: TGetTablesReq): TGetTablesResp =
    refused(request.getSchemaName, request.getTableName).map(new TGetTablesResp(_)).getOrElse(super.GetTables(request))

  override def GetColumns(request: TGetColumnsReq): TGetColumnsResp =
    refused(request.getSchemaName, request.getTableName, request.getColumnName).map(new TGetColumnsResp(_)).getOrElse(super.GetColumns(request))

  override def GetFunctions(request: TGetFunctionsReq): TGetFunctionsResp =
    refused(request.getSchemaName, request.getFunctionName).map(new TGetFunctionsResp(_)).getOrElse(super.GetFunctions(request))

  /** Rows of metadata, as the answer to a statement: clients read them like those of Spark's own operations. */
  private def ask(handle: TSessionHandle, columns: Seq[String], rows: Seq[Seq[String]]): TExecuteStatementResp = {
    def text(value: String) = "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    def column(name: String) = if (!Front.Numbers(name)) name else if (rows.isEmpty) s"0 as $name" else s"int($name) as $name"
    val values = (if (rows.isEmpty) Seq(columns) else rows).map(_.map(text).mkString("(", ", ", ")")).mkString(", ")
    val query = s"select ${columns.map(column).mkString(", ")} from values $values as rows(${columns.mkString(", ")})"
    super.ExecuteStatement(new TExecuteStatementReq(handle, if (rows.isEmpty) query + " where false" else query))
  }

  /** Statements that read no rows do not wait for a place: clients begin with `use`, and could not even connect while others run queries. */
  override def ExecuteStatement(request: TExecuteStatementReq): TExecuteStatementResp = {
    val isLight = Front.Light.matches(request.getStatement)
    val waits = !request.isRunAsync && !isLight
    request.setRunAsync(!isLight)
    request.setConfOverlay(new JHashMap())
    val response = super.ExecuteStatement(request)
    if (waits && response.getStatus.getStatusCode == TStatusCode.SUCCESS_STATUS) {
      val end = finished(response.getOperationHandle)
      if (end.getOperationState != TOperationState.FINISHED_STATE) {
        val status = new TStatus(TStatusCode.ERROR_STATUS)
        status.setErrorMessage(Option(end.getErrorMessage).getOrElse(s"the statement ended as ${end.getOperationState}"))
        status.setSqlState(end.getSqlState)
        // The client does not get its handle, and cannot close it: its plan would stay until the session ends.
        CloseOperation(new TCloseOperationReq(response.getOperationHandle))
        response.setStatus(status)
        response.unsetOperationHandle()
      }
    }
    val status = response.getStatus
    for ((message, state) <- Front.plain(status.getErrorMessage, status.getSqlState)) {
      status.setErrorMessage(message)
      status.setSqlState(state)
    }
    response
  }

  /** The message without Java's names and stack: what a person reads in a tool. */
  override def GetOperationStatus(request: TGetOperationStatusReq): TGetOperationStatusResp = {
    val response = super.GetOperationStatus(request)
    if (response.getOperationState == TOperationState.TIMEDOUT_STATE) {
      response.setErrorMessage("[CHRONICLE_TIMEOUT] the statement took longer than this server allows and was cancelled")
      response.setSqlState("57014")
    }
    for ((message, state) <- Front.plain(response.getErrorMessage, response.getSqlState)) {
      response.setErrorMessage(message)
      response.setSqlState(state)
    }
    response
  }

  private def finished(handle: TOperationHandle): TGetOperationStatusResp = {
    var status = GetOperationStatus(new TGetOperationStatusReq(handle))
    while (Front.Running(status.getOperationState)) status = GetOperationStatus(new TGetOperationStatusReq(handle))
    status
  }
}

object Front {
  /** Columns of metadata that are numbers. */
  val Numbers: Set[String] = Set("KEY_SEQ", "UPDATE_RULE", "DELETE_RULE", "DEFERRABILITY")

  /** Statements of names alone. Others, `describe query` among them, may be of any length, and wait for a place. */
  val Light: scala.util.matching.Regex = {
    val name = "[\\w`.]+"
    val value = "(?:'[\\w/+: -]{0,64}'|[\\w/+:-]{1,64})"
    val pattern = "(?:\\s+(?:like\\s+)?'[\\w*%.| -]{0,200}')?"
    s"(?is)\\s*(?:use(?:\\s+$name){1,2}|set\\s+$name\\s*=\\s*$value|set\\s+time\\s+zone\\s+$value|show(?:\\s+$name){1,5}$pattern|(?:desc|describe)(?!\\s+(?:query|select|values|from|with)\\b)(?:\\s+$name){1,4})\\s*;?\\s*".r
  }
  val Running: Set[TOperationState] = Set(TOperationState.INITIALIZED_STATE, TOperationState.PENDING_STATE, TOperationState.RUNNING_STATE)

  /** A pattern of JDBC: % is any text, _ any character; none, or Hive's *, is everything. */
  def like(pattern: String): String => Boolean =
    if (pattern == null || pattern.isEmpty || pattern == "*") _ => true
    else {
      val regex = pattern.map { case '%' => ".*"; case '_' => "."; case other => java.util.regex.Pattern.quote(other.toString) }.mkString
      name => name.matches("(?i)" + regex)
    }

  /** Spark never removes a pool, so there are a few for all sessions. */
  val Pools = 16
  val sessions = new java.util.concurrent.atomic.AtomicInteger()

  /** The message of an error for a client, without Java's names and stacks, and its SQLSTATE. Nothing if there is no error. */
  def plain(message: String, state: String): Option[(String, String)] = Option(message).map {
    case Ours(said, condition) => (said, TooMuch.States.getOrElse(condition, state))
    case said if said.contains("OutOfMemoryError") => (Memory.Message, TooMuch.States(TooMuch.Memory))
    case said if said.contains("background threadpool cannot accept") =>
      ("[CHRONICLE_BUSY] as many statements wait as this server lets wait; try again", "53000")
    case said if said.contains("StackOverflowError") => (s"[${TooMuch.Complex}] the statement is nested too deeply", TooMuch.States(TooMuch.Complex))
    case said => (withoutStack(said), state)
  }

  /** An error of ours, which may come out of a task with Spark's words before it and a stack after it, and without its state. */
  private object Ours {
    private val Said = "(?s).*(\\[(CHRONICLE_\\w+)] [^\\n]*?)(?: SQLSTATE: \\w+)?(?:\\n.*)?".r
    def unapply(message: String): Option[(String, String)] = message match {
      case Said(said, condition) => Some((said, condition))
      case _ => None
    }
  }

  private def withoutStack(message: String): String =
    message.split("\n\\s*at [\\w.$/]+\\(").head.replaceFirst("^[\\w.]*HiveSQLException: ", "").replaceFirst("^Error running query: \\[[^]]*] [\\w.$]+: ", "")
}

/** The catalog of the server, filled from what is in the warehouse: no statement is run, a table takes a millisecond. */
object Tables {
  /** A column whose values are those of a column of another table. */
  case class Relation(schema: String, table: String, column: String, toSchema: String, toTable: String, toColumn: String)

  @volatile var relations: Seq[Relation] = Nil

  /** Takes the relations that clients are told: one a line, its parts separated by tabs. */
  def relate(text: String): Unit = relations = text.linesIterator.map(_.split('\t')).collect {
    case Array(schema, table, column, toSchema, toTable, toColumn) => Relation(schema, table, column, toSchema, toTable, toColumn)
  }.toSeq

  /** Property of a table that names its primary key. */
  val Key = "chronicle.key"

  def schema(session: SparkSession, name: String, path: String): Unit =
    catalog(session).createDatabase(CatalogDatabase(name, "", new Path(path).toUri, Map.empty), ignoreIfExists = true)

  /** Registers a Delta table, or updates it; `columns` as Delta's log states them, comments included. */
  def table(session: SparkSession, schema: String, name: String, path: String, columns: String, comment: String, key: String): Unit = {
    val table = CatalogTable(
      identifier = TableIdentifier(name, Some(schema)),
      tableType = CatalogTableType.EXTERNAL,
      storage = CatalogStorageFormat.empty.copy(locationUri = Some(new Path(path).toUri)),
      schema = DataType.fromJson(columns).asInstanceOf[StructType],
      provider = Some("delta"),
      comment = Option(comment).filter(_.nonEmpty),
      properties = if (key.isEmpty) Map.empty else Map(Key -> key)
    )
    if (catalog(session).tableExists(schema, name)) catalog(session).alterTable(table)
    else catalog(session).createTable(table, ignoreIfExists = true)
  }

  def forget(session: SparkSession, schema: String, name: String): Unit =
    catalog(session).dropTable(schema, name, ignoreIfNotExists = true, purge = false)

  /** Drops Hive's own schema, which is always empty here. Dropping a schema deletes its folder, so this one's has to be in the
    * folder given.
    */
  def hideDefault(session: SparkSession, within: String): Unit = {
    val folder = new Path(catalog(session).getDatabase("default").locationUri).toUri.getPath
    if (!folder.startsWith(within + "/")) throw new IllegalStateException(s"the schema default lies in $folder, not in $within")
    catalog(session).dropDatabase("default", ignoreIfNotExists = true, cascade = false)
  }

  private def catalog(session: SparkSession): ExternalCatalog = session.sharedState.externalCatalog
}
