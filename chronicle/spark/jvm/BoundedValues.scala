package org.apache.spark.sql.hive.thriftserver.chronicle

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DateType, YearMonthIntervalType}
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String}

/** Computes how long the array or text will be that a function makes from a number, before the function takes the memory for it. */
class BoundedValues(limits: Limits) extends Wrapping("bounded") {
  override protected def wrapped: PartialFunction[Expression, Expression] = {
    case made @ (_: Sequence | _: ArrayRepeat | _: StringRepeat | _: StringSpace | _: StringLPad | _: StringRPad) if limits.elements > 0 =>
      Bounded(made, limits.elements)
  }
}

object BoundedValues {
  val Day = 86400e6
  val Month = 31 * Day
}

/** A value, or an error where it would have more than `most` elements or characters. */
case class Bounded(child: Expression, most: Long) extends Wrapper {
  import BoundedValues.{Day, Month}

  override def eval(row: InternalRow): Any = {
    if (length(row) > most)
      throw new TooMuch(
        TooMuch.Long,
        s"${child.prettyName}() would make more than $most elements or characters, the most that this server makes; for many rows use range(…)"
      )
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
    case _ => 0
  }

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
