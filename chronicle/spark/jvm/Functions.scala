package org.apache.spark.sql.hive.thriftserver.chronicle

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.{FunctionRegistry, FunctionRegistryBase, TableFunctionRegistry}
import org.apache.spark.sql.catalyst.expressions.Expression

/** The functions that clients may call: those of `functions.yml` and no others, whatever a later Spark or a library adds.
  *
  * `exists`: whether a session knows a function; what nobody knows is left to Spark, which suggests names that are like it.
  */
class Functions(allowed: Set[String], exists: String => Boolean) {
  /** Classes that make up the functions of Spark that are not allowed. The analysed plan has no other trace of them. */
  private val refused: Set[String] = {
    def classes(registry: FunctionRegistryBase[_], wanted: Boolean): Set[String] =
      registry.listFunction().filter(name => allowed(name.funcName) == wanted).flatMap(registry.lookupFunction(_).map(_.getClassName)).toSet
    val registries = Seq(FunctionRegistry.builtin, TableFunctionRegistry.builtin)
    registries.flatMap(classes(_, wanted = false)).toSet -- registries.flatMap(classes(_, wanted = true))
  }

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

  def of(session: SparkSession): Functions = {
    val allowed = session.sparkContext.conf.get(Setting, "").split(' ').toSet
    // Asked by name it wants catalog and schema, which are Spark's own affair.
    def registries = Seq(session.sessionState.functionRegistry, session.sessionState.tableFunctionRegistry)
    new Functions(allowed, name => registries.exists(_.listFunction().exists(_.funcName == name)))
  }
}
