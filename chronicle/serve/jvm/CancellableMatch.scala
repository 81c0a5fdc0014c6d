package org.apache.spark.sql.hive.thriftserver.chronicle

import java.util.regex.{Pattern, PatternSyntaxException}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.{CollationSupport, GenericArrayData, StringUtils}
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

/** Lets regular expressions be cancelled. Java's engine takes for ever where a pattern like `(.*a){12}c` does not match, and checks for
  * nothing meanwhile, so a cancelled statement would hold its place and a processor until the server ends.
  */
class CancellableMatches(limits: Limits) extends Wrapping {
  override protected def isWrapper(expression: Expression): Boolean = expression.isInstanceOf[CancellableMatch]

  /** A LIKE with wildcards only at its ends, which Spark turns into a comparison. */
  private val Simple = "%?[^%_\\\\]*%?".r
  private val Plain = "[^\\\\*+?{}()\\[\\]|.^$]{0,100}|\\\\?[|.]".r

  private def isPlain(pattern: Expression): Boolean = pattern.foldable && Plain.matches(String.valueOf(pattern.eval()))

  private def refuse(function: String, what: String): Nothing =
    throw new TooMuch(TooMuch.Complex, s"$function matches $what as a regular expression, which cannot be cancelled: use a text of at most 100 plain characters")

  override protected def wrapped: PartialFunction[Expression, Expression] = {
    case found @ (_: RLike | _: RegExpReplace | _: RegExpExtract | _: RegExpExtractAll | _: RegExpInStr | _: StringSplit) => CancellableMatch(found, limits.elements)
    case found @ Like(_, pattern, _) if !(pattern.foldable && Simple.matches(String.valueOf(pattern.eval()))) => CancellableMatch(found, limits.elements)
    // These compile a key or delimiters as regular expressions, and match by themselves.
    case ParseUrl(Seq(_, _, key), _) if !isPlain(key) => refuse("parse_url(…)", "the key")
    case StringToMap(_, pairs, values) if !isPlain(pairs) || !isPlain(values) => refuse("str_to_map(…)", "a delimiter")
  }
}

/** A function with a regular expression as its second argument, done as Spark does it, on a text that can be cancelled.
  *
  * `most`: characters of the text that it makes; 0 for any number.
  */
case class CancellableMatch(child: Expression, most: Long) extends Wrapper {
  @transient private var written: String = _
  @transient private var compiled: Pattern = _

  override def eval(row: InternalRow): Any = {
    Heeding.heed()
    val values = child.children.map(_.eval(row))
    if (values.contains(null)) null
    else try {
      val regex = pattern(values(1).toString)
      val text = new CancellableText(values.head.toString)
      child match {
        case _: RLike => regex.matcher(text).find(0)
        case _: Like => regex.matcher(text).matches()
        case _: RegExpReplace => replace(regex, text, values(2).toString, values(3).asInstanceOf[Int] - 1)
        case _: RegExpInStr =>
          val matcher = regex.matcher(text)
          if (matcher.find()) matcher.start() + 1 else 0
        case _: StringSplit if values(1).toString.isEmpty => child.eval(row)
        case _: StringSplit => array(regex.split(text, values(2).asInstanceOf[Int]).toSeq)
        case _: RegExpExtract => UTF8String.fromString(groups(regex, text, values(2)).nextOption().getOrElse(""))
        case _: RegExpExtractAll => array(groups(regex, text, values(2)).toSeq)
      }
    } catch {
      // Spark reports what is wrong with a pattern or a replacement.
      case _: PatternSyntaxException | _: IndexOutOfBoundsException | _: IllegalArgumentException => child.eval(row)
    }
  }

  private def pattern(text: String): Pattern = {
    if (text != written) {
      CancellableMatch.bounded(text)
      val regex = child match {
        case Like(_, _, escape) => StringUtils.escapeLikeRegex(text, escape)
        case _ => text
      }
      val flags = child.children.head.dataType match {
        case string: StringType => CollationSupport.collationAwareRegexFlags(string.collationId)
        case _ => 0
      }
      compiled = Pattern.compile(regex, flags)
      written = text
    }
    compiled
  }

  private def replace(regex: Pattern, text: CancellableText, by: String, from: Int): UTF8String =
    if (from != 0 && from >= text.length) UTF8String.fromString(text.toString)
    else {
      val matcher = regex.matcher(text).region(from, text.length)
      val result = new java.lang.StringBuilder
      while (matcher.find()) {
        matcher.appendReplacement(result, by)
        if (most > 0 && result.length > most) throw TooMuch.long("regexp_replace", most)
      }
      matcher.appendTail(result)
      UTF8String.fromString(result.toString)
    }

  /** What a group captured in each match, empty if it took no part. */
  private def groups(regex: Pattern, text: CancellableText, group: Any): Iterator[String] = {
    val matcher = regex.matcher(text)
    Iterator.continually(matcher).takeWhile(_.find()).map(found => Option(found.group(group.asInstanceOf[Int])).getOrElse(""))
  }

  private def array(texts: Seq[String]): GenericArrayData = new GenericArrayData(texts.map(UTF8String.fromString))

  override protected def withNewChildInternal(newChild: Expression): CancellableMatch = copy(child = newChild)
}

object CancellableMatch {
  /** Characters of a pattern. Java compiles one in up to the square of its length (a long text that repeats itself), and nothing ends that. */
  private val MostPattern = 10000
  /** Repetitions that a pattern asks for. `((){1000}){1000}` repeats without reading the text, and only reading it can be ended. */
  private val MostRepeats = 100000.0
  private val Token = "\\\\.|\\[\\^?]?[^\\]]*+]|\\{(\\d{1,12})[^}]{0,20}}|(?s:.)".r

  /** Refuses a pattern for which time-out and cancel could come too late. */
  private def bounded(pattern: String): Unit = {
    if (pattern.length > MostPattern)
      throw new TooMuch(TooMuch.Complex, s"a pattern of ${pattern.length} characters takes too long to compile; $MostPattern are allowed")
    if (repeats(pattern) > MostRepeats)
      throw new TooMuch(TooMuch.Complex, s"a pattern that repeats its parts more than ${MostRepeats.toLong} times cannot be cancelled")
  }

  /** How many of its parts a pattern matches at least, with a part that is repeated as often as its `{…}` says. */
  private def repeats(pattern: String): Double = {
    var open = List(0.0)
    var last = 0.0
    for (token <- Token.findAllMatchIn(pattern)) token.matched match {
      case "(" => open ::= 1.0
      case ")" if open.tail.nonEmpty =>
        last = open.head
        open = open.tail.head + last :: open.tail.tail
      case _ =>
        val times = Option(token.group(1)).map(_.toDouble)
        val more = times.fold(1.0)(number => last * (number - 1).max(0))
        last = times.fold(1.0)(number => last * number.max(1))
        open = open.head + more :: open.tail
    }
    open.sum
  }
}

/** A text that throws while it is read, once its reader was cancelled. */
private class CancellableText(text: String) extends CharSequence {
  private var reads = 0

  override def length: Int = text.length
  override def subSequence(start: Int, end: Int): CharSequence = text.substring(start, end)
  override def toString: String = text
  override def charAt(index: Int): Char = {
    reads += 1
    if ((reads & 0xfff) == 0) Heeding.heed()
    text.charAt(index)
  }
}
