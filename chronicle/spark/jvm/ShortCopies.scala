package org.apache.spark.unsafe.chronicle

import scala.jdk.CollectionConverters._

import org.apache.spark.unsafe.Platform
import org.apache.xbean.asm9.{Label, Opcodes, Type}
import org.apache.xbean.asm9.commons.{GeneratorAdapter, Method}
import org.apache.xbean.asm9.tree.ClassNode

/** Copies of short texts and rows, eight bytes at a time; `CopyMemory` puts them into Spark's `Platform`. Java's own copy asks first whether both
  * sides are arrays of numbers, which takes 40 ns unless its second compiler is used. Most builds have the first one alone.
  */
object ShortCopies {
  final val Longest = 128L

  /** Copy `length` bytes from one object, or from memory outside, to another. */
  def copy(source: AnyRef, from: Long, target: AnyRef, to: Long, length: Long): Unit =
    if (length >= 8 && Platform.unaligned) {
      val last = length - 8
      var done = 0L
      while (done < last) {
        Platform.putLong(target, to + done, Platform.getLong(source, from + done))
        done += 8
      }
      // Some of the last eight bytes may be copied already.
      Platform.putLong(target, to + last, Platform.getLong(source, from + last))
    } else {
      var done = 0L
      while (done < length) {
        Platform.putByte(target, to + done, Platform.getByte(source, from + done))
        done += 1
      }
    }
}

/** Spark's class `Platform` with another `copyMemory`, which leaves what is short to `ShortCopies`. All else is copied as before, also bytes within
  * one object, which may overlap.
  */
object CopyMemory extends ChangedClass(classOf[Platform]) {
  private val copy = Method.getMethod("void copyMemory(Object, long, Object, long, long)")
  private val asBefore = new Method("copyAnyMemory", copy.getDescriptor)

  override def change(platform: ClassNode): Unit = {
    val spark = platform.methods.asScala.find(method => method.name == copy.getName && method.desc == copy.getDescriptor)
    spark.getOrElse(sys.error(s"Spark's Platform has no $copy")).name = asBefore.getName
    val access = Opcodes.ACC_PUBLIC | Opcodes.ACC_STATIC
    val code = new GeneratorAdapter(
      platform.visitMethod(access, copy.getName, copy.getDescriptor, null, null), access, copy.getName, copy.getDescriptor)
    val other = new Label
    code.loadArg(4)
    code.push(ShortCopies.Longest)
    code.ifCmp(Type.LONG_TYPE, GeneratorAdapter.GT, other)
    code.loadArg(0)
    code.loadArg(2)
    code.ifCmp(copy.getArgumentTypes.head, GeneratorAdapter.EQ, other)
    code.loadArgs()
    code.invokeStatic(Type.getObjectType("org/apache/spark/unsafe/chronicle/ShortCopies"), new Method("copy", copy.getDescriptor))
    code.returnValue()
    code.mark(other)
    val held = Array[AnyRef]("java/lang/Object", Opcodes.LONG, "java/lang/Object", Opcodes.LONG, Opcodes.LONG)
    code.visitFrame(Opcodes.F_NEW, held.length, held, 0, Array())
    code.loadArgs()
    code.invokeStatic(Type.getObjectType(platform.name), asBefore)
    code.returnValue()
    code.endMethod()
  }
}
