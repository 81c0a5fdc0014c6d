package org.apache.spark.unsafe.chronicle

import java.io.ObjectStreamClass

import scala.jdk.CollectionConverters._

import org.apache.spark.unsafe.types.UTF8String
import org.apache.xbean.asm9.Opcodes
import org.apache.xbean.asm9.tree.{ClassNode, FieldNode}

/** Spark's class `UTF8String` without volatile fields. It has four, which keep what was once asked of the bytes: how many characters they are, and
  * whether they are ASCII and valid. Each text sets all four when it is made, the processor waits for memory each time, and Spark makes a text
  * whenever it looks at a column of a row. Two threads that ask the same text find the same answer; if one does not see that of the other, it
  * looks for itself, as `java.lang.String` does for its hash. Two fields belong together, `isValid` and `numBytesValid`; only functions that look
  * for invalid UTF-8 ask for them.
  */
object TextCaches extends ChangedClass(classOf[UTF8String]) {
  private val caches = Set("numChars", "isValid", "numBytesValid", "isFullAscii")

  override def change(text: ClassNode): Unit = {
    val changed = text.fields.asScala.filter(field => (field.access & Opcodes.ACC_VOLATILE) != 0)
    require(changed.map(_.name).toSet == caches, s"Spark's UTF8String has other volatile fields than $caches")
    changed.foreach(field => field.access &= ~Opcodes.ACC_VOLATILE)
    // Java computes it of the fields, and executors on other machines have Spark's class.
    val version = ObjectStreamClass.lookup(classOf[UTF8String]).getSerialVersionUID
    val access = Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC | Opcodes.ACC_FINAL
    text.fields.add(new FieldNode(access, "serialVersionUID", "J", null, Long.box(version)))
  }
}
