package org.apache.spark.unsafe.chronicle

import java.nio.file.{Files, Path, Paths}

import org.apache.xbean.asm9.{ClassReader, ClassWriter, Type}
import org.apache.xbean.asm9.tree.ClassNode

/** A class of Spark's of which builds use a changed copy, because Scala cannot replace it: it has static fields. The copy comes first on the class
  * path.
  */
abstract class ChangedClass(of: Class[_]) {

  /** Change what was read of the class. Fails where Spark's class is not as expected. */
  def change(node: ClassNode): Unit

  def writeTo(folder: Path): Unit = {
    val name = Type.getInternalName(of)
    val node = new ClassNode
    new ClassReader(of.getResourceAsStream(s"/$name.class")).accept(node, 0)
    change(node)
    val written = new ClassWriter(ClassWriter.COMPUTE_MAXS)
    node.accept(written)
    val file = folder.resolve(s"$name.class")
    Files.createDirectories(file.getParent)
    Files.write(file, written.toByteArray)
  }
}

/** Writes the changed classes to a folder; `own_classes.py` runs this. */
object ChangedClasses {
  def main(arguments: Array[String]): Unit = Seq(CopyMemory, TextCaches).foreach(_.writeTo(Paths.get(arguments.head)))
}
