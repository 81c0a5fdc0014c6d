package org.apache.spark.sql.hive.thriftserver.chronicle

import org.apache.spark.{SparkConf, SparkThrowable}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, ReturnAnswer, UnaryNode}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution._

/** Limits of a statement: `rows` and `bytes` of an answer, 0 for any number; `elements` of an array, or characters of a text, that a
  * function makes from a number.
  */
case class Limits(rows: Int, bytes: Long, elements: Long)

object Limits {
  /** Bytes of the heap for each element of the longest value: an element has up to 24 bytes as Java's object, and several statements run at once. */
  private val HeapForElement = 256

  def of(conf: SparkConf): Limits = Limits(
    conf.getInt("spark.chronicle.maxRows", 0),
    conf.getLong("spark.chronicle.maxBytes", 0),
    conf.getLong("spark.chronicle.maxElements", 0).min(Runtime.getRuntime.maxMemory / HeapForElement)
  )
}

/** A statement exceeds what the server gives or takes. */
class TooMuch(condition: String, message: String) extends RuntimeException(s"[$condition] $message") with SparkThrowable {
  override def getCondition: String = condition
  override def getSqlState: String = TooMuch.States(condition)
}

object TooMuch {
  val Rows = "CHRONICLE_TOO_MANY_ROWS"
  val Bytes = "CHRONICLE_TOO_MANY_BYTES"
  val Long = "CHRONICLE_TOO_LONG"
  val Complex = "CHRONICLE_TOO_COMPLEX"
  val Memory = "CHRONICLE_OUT_OF_MEMORY"
  /** A value of more than `most` elements or characters. */
  def long(function: String, most: scala.Long): TooMuch = new TooMuch(
    Long,
    s"$function() would make more than $most elements or characters, the most that this server makes; for many rows use range(…)"
  )

  /** SQLSTATE by condition: a limit of the program is exceeded, a statement is too complex, out of memory. */
  val States: Map[String, String] = Map(Rows -> "54000", Bytes -> "54000", Long -> "54000", Complex -> "54001", Memory -> "53200")
}

/** The root of a client's query: its answer is within the limits, or refused as a whole. */
case class Answer(limits: Limits, child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override def maxRows: Option[Long] = child.maxRows
  override protected def withNewChildInternal(newChild: LogicalPlan): Answer = copy(child = newChild)
}

object AnswerStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    // A query with a LIMIT of its own is planned as Spark does it, which then reads no more than it needs.
    case ReturnAnswer(Answer(limits, child)) =>
      AnswerExec(limits, planLater(if (child.maxRows.exists(_ <= limits.rows)) ReturnAnswer(child) else child)) :: Nil
    case Answer(_, child) => planLater(child) :: Nil
    case _ => Nil
  }
}

/** Each partition stops after the first row too many, so that no answer fills the memory before it is refused. */
case class AnswerExec(limits: Limits, child: SparkPlan) extends UnaryExecNode {
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override protected def doExecute(): RDD[InternalRow] = {
    val within = limits
    child.execute().mapPartitionsInternal(rows => new Measured(rows, within).untilTooMuch)
  }

  override def executeCollect(): Array[InternalRow] = new Measured(collected(), limits).orRefused.toArray

  override def executeToIterator(): Iterator[InternalRow] = new Measured(super.executeToIterator(), limits).orRefused

  /** Rows of the answer. Partitions come compressed, and are unpacked one by one: only then is their size known. */
  private def collected(): Iterator[InternalRow] = child match {
    case limit: CollectLimitExec => limit.copy(child = AnswerExec(limits, limit.child)).executeCollect().iterator
    case _: TakeOrderedAndProjectExec | _: LocalTableScanExec => child.executeCollect().iterator
    case _ => executeCollectIterator()._2
  }

  override protected def withNewChildInternal(newChild: SparkPlan): AnswerExec = copy(child = newChild)
}

/** Rows that are counted and weighed as they pass. */
private class Measured(rows: Iterator[InternalRow], limits: Limits) {
  private var count, bytes = 0L

  private def isTooMany: Boolean = limits.rows > 0 && count > limits.rows
  private def isTooLarge: Boolean = limits.bytes > 0 && bytes > limits.bytes

  private def measure(row: InternalRow): InternalRow = {
    count += 1
    bytes += (row match {
      case unsafe: UnsafeRow => unsafe.getSizeInBytes
      case _ => 0
    })
    row
  }

  def untilTooMuch: Iterator[InternalRow] = new Iterator[InternalRow] {
    override def hasNext: Boolean = !isTooMany && !isTooLarge && rows.hasNext
    override def next(): InternalRow = measure(rows.next())
  }

  def orRefused: Iterator[InternalRow] = rows.map { row =>
    measure(row)
    if (isTooMany)
      throw new TooMuch(
        TooMuch.Rows,
        s"the answer has more than ${limits.rows} rows, the most that this server gives; add a WHERE, a GROUP BY or a LIMIT"
      )
    if (isTooLarge)
      throw new TooMuch(
        TooMuch.Bytes,
        s"the answer has more than ${limits.bytes} bytes, the most that this server gives; choose fewer columns or fewer rows"
      )
    row
  }
}
