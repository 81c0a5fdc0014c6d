package org.apache.spark.sql.hive.thriftserver.chronicle

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.{FunctionRegistry, FunctionRegistryBase, TableFunctionRegistry}
import org.apache.spark.sql.catalyst.expressions.Expression

/** The functions that clients may call: those of `functions.yml` and no others, whatever a later Spark or a library adds.
  *
  * `refused`: classes that implement the functions of Spark that are not allowed: the analysed plan has no other trace of them;
  * `inTasks`: those that are evaluated in tasks alone; `exists`: whether a session knows a function; unknown ones are left to Spark, which suggests
  * similar names.
  */
class Functions(allowed: Set[String], refused: Set[String], inTasks: Set[String], exists: String => Boolean) {
  def isInTasks(parts: Seq[String]): Boolean = inTasks(parts.last.toLowerCase)

  def checkName(parts: Seq[String]): Unit = {
    val name = parts.last.toLowerCase
    if (!allowed(name) && exists(name)) throw new Refused(s"the function $name is refused")
  }

  def checkClass(expression: Expression): Unit =
    if (refused(expression.getClass.getName)) throw new Refused(s"the function ${expression.prettyName} is refused")
}

object Functions {
  /** Setting with the names, separated by blanks. */
  val Setting = "spark.chronicle.functions"
  val InTasks = "spark.chronicle.functionsInTasks"

  /** One server has one list, and a session for each connection. */
  private val known = new ConcurrentHashMap[String, (Set[String], Set[String])]

  def of(session: SparkSession): Functions = {
    val (allowed, refused) = known.computeIfAbsent(session.sparkContext.conf.get(Setting, ""), decided)
    // Asked for a name, a registry wants its catalog and schema, which are internal to Spark.
    def registries = Seq(session.sessionState.functionRegistry, session.sessionState.tableFunctionRegistry)
    val inTasks = session.sparkContext.conf.get(InTasks, "").split(' ').toSet
    new Functions(allowed, refused, inTasks, name => registries.exists(_.listFunction().exists(_.funcName == name)))
  }

  /** The names that are allowed, and the classes of the others. */
  private def decided(names: String): (Set[String], Set[String]) = {
    val allowed = names.split(' ').toSet
    def classes(registry: FunctionRegistryBase[_], wanted: Boolean): Set[String] =
      registry.listFunction().filter(name => allowed(name.funcName) == wanted).flatMap(registry.lookupFunction(_).map(_.getClassName)).toSet
    val registries = Seq(FunctionRegistry.builtin, TableFunctionRegistry.builtin)
    (allowed, registries.flatMap(classes(_, wanted = false)).toSet -- registries.flatMap(classes(_, wanted = true)))
  }
}
