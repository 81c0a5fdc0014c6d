package org.apache.spark.sql.hive.thriftserver.chronicle

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.{ArrayData, TypeUtils}
import org.apache.spark.sql.types.{ArrayType, DateType, YearMonthIntervalType}
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String}

/** Computes how long the array or text will be that a function makes from a number, or how long it will work, before it does. */
class BoundedValues(limits: Limits) extends Wrapping {
  import BoundedValues._

  override protected def isWrapper(expression: Expression): Boolean = expression.isInstanceOf[Bounded]

  override protected def wrapped: PartialFunction[Expression, Expression] = {
    case made @ (_: Sequence | _: ArrayRepeat | _: StringRepeat | _: StringSpace | _: StringLPad | _: StringRPad | _: FormatString | _: ArrayInsert |
        _: StringReplace | _: Levenshtein) if limits.elements > 0 =>
      Bounded(made, limits.elements)
    // They compare each element with each other where a set cannot hold them.
    case made @ (_: ArrayDistinct | _: ArrayUnion | _: ArrayIntersect | _: ArrayExcept | _: ArraysOverlap) if limits.elements > 0 && !isHashed(made) =>
      Bounded(made, limits.elements)
    // Where a text is looked for that is longer than a name, each place of the other may be compared with all of it.
    case found @ (_: StringInstr | _: StringLocate | _: StringSplitSQL | _: SubstringIndex | _: Contains) if limits.elements > 0 && !isShort(sought(found)) =>
      Bounded(found, limits.elements)
    case RandStr(length, _, _) if limits.elements > 0 && length.foldable && number(length.eval()) > limits.elements =>
      throw TooMuch.long("randstr", limits.elements)
  }
}

object BoundedValues {
  /** Steps of a loop for which nothing asks whether the statement was cancelled: seconds at most. */
  val MostSteps = 1e9
  /** Steps that take longer: comparisons of arrays, structs and texts. */
  val MostComparisons = 1e8
  private val ShortText = 1000

  def number(value: Any): Double = value match {
    case number: Number => number.doubleValue
    case _ => 0
  }

  def sought(in: Expression): Expression = in match {
    case StringInstr(_, text) => text
    case StringLocate(text, _, _) => text
    case StringSplitSQL(_, delimiter) => delimiter
    case SubstringIndex(_, delimiter, _) => delimiter
    case Contains(_, text) => text
  }

  def isShort(text: Expression): Boolean = text match {
    case Literal(value: UTF8String, _) => value.numBytes <= ShortText
    case Literal(null, _) => true
    case _ => false
  }

  def isHashed(of: Expression): Boolean = of.children.head.dataType match {
    case ArrayType(element, _) => TypeUtils.typeWithProperEquals(element)
    case _ => true
  }

  /** Of a conversion of Java's formatter, after its flags and an index: width and precision. */
  val Width = "%(?:\\d+\\$)?[-#+ 0,(<]*(\\d{1,15})?(?:\\.(\\d{1,15}))?[a-zA-Z]".r
  val Day = 86400e6
  val Month = 31 * Day
}

/** A value, or an error where it would have more than `most` elements or characters. */
case class Bounded(child: Expression, most: Long) extends Wrapper {
  import BoundedValues._

  override def eval(row: InternalRow): Any = {
    Heeding.heed()
    if (length(row) > most) throw TooMuch.long(child.prettyName, most)
    if (work(row) > 1) throw new TooMuch(TooMuch.Complex, s"${child.prettyName}() would work on these values for too long")
    child.eval(row)
  }

  /** About how long the value will be: exact for numbers; for times with months never too long. */
  private def length(row: InternalRow): Double = child match {
    case Sequence(start, stop, step, _) =>
      val width = step.fold(if (start.dataType == DateType) Day else 1.0)(size(_, row)).abs
      // Spark itself reports a step of zero.
      if (width == 0) 0 else (size(stop, row) - size(start, row)).abs / width + 1
    case ArrayRepeat(_, times) => size(times, row)
    case StringRepeat(text, times) => size(times, row) * bytes(text, row)
    case StringSpace(length) => size(length, row)
    case StringLPad(_, length, _) => size(length, row)
    case StringRPad(_, length, _) => size(length, row)
    case ArrayInsert(_, position, _, _) => size(position, row).abs
    case StringReplace(text, search, by) => bytes(text, row).toDouble / bytes(search, row).max(1) * bytes(by, row)
    case FormatString(format, _*) => widths(format.eval(row))
    case _ => 0
  }

  /** Steps of the function, as a share of those it may take. */
  private def work(row: InternalRow): Double = child match {
    case Levenshtein(left, right, _) => bytes(left, row).toDouble * bytes(right, row) / MostSteps
    case _: ArrayDistinct | _: ArrayUnion | _: ArrayIntersect | _: ArrayExcept | _: ArraysOverlap =>
      val elements = child.children.map(_.eval(row)).map { case array: ArrayData => array.numElements().toDouble; case _ => 0.0 }
      elements.sum * elements.sum / MostComparisons
    case _: StringInstr | _: StringLocate | _: StringSplitSQL | _: SubstringIndex | _: Contains =>
      val text = child match {
        case StringLocate(_, text, _) => text
        case _ => child.children.head
      }
      val asked = bytes(sought(child), row).toDouble
      // Java compiles a delimiter as a pattern, in up to the square of its length.
      val compiled = if (child.isInstanceOf[StringSplitSQL]) asked * asked / MostSteps else 0
      compiled.max(bytes(text, row) * asked / (8 * MostSteps))
    case _ => 0
  }

  /** The widths and precisions that a format names, together. */
  private def widths(format: Any): Double =
    if (format == null) 0
    else Width.findAllMatchIn(format.toString).flatMap(found => Seq(found.group(1), found.group(2))).filter(_ != null).map(_.toDouble).sum

  /** A number as it is; a time or an interval in microseconds. */
  private def size(of: Expression, row: InternalRow): Double = (of.eval(row), of.dataType) match {
    case (interval: CalendarInterval, _) => interval.months * Month + interval.days * Day + interval.microseconds
    case (months: Number, _: YearMonthIntervalType) => months.doubleValue * Month
    case (days: Number, DateType) => days.doubleValue * Day
    case (value: Number, _) => value.doubleValue
    case _ => 0
  }

  private def bytes(text: Expression, row: InternalRow): Int = text.eval(row) match {
    case value: UTF8String => value.numBytes
    case _ => 0
  }

  override protected def withNewChildInternal(newChild: Expression): Bounded = copy(child = newChild)
}
