package org.apache.spark.util

import java.io.{ObjectInputStream, ObjectOutputStream}
import java.lang.ref.{ReferenceQueue, WeakReference}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.spark.{SparkContext, SparkEnv}
import org.apache.spark.broadcast.Broadcast

/** Replaces Spark's class of this name, which comes later on the class path: sends Hadoop's settings to tasks. Hadoop also writes where each of the
  * four hundred was set, compressed one by one, for every table that is read. Tasks on other machines have Spark's class, and are sent the form
  * that it reads. Tasks of this process find what is broadcast to them where it is.
  */
class SerializableConfiguration(@transient var value: Configuration) extends Serializable {
  import SerializableConfiguration.{isHere, read, write}

  private def writeObject(out: ObjectOutputStream): Unit = Utils.tryOrIOException {
    out.defaultWriteObject()
    if (isHere) write(value, out) else value.write(out)
  }

  private def readObject(in: ObjectInputStream): Unit = Utils.tryOrIOException {
    value = new Configuration(false)
    if (isHere) read(value, in) else value.readFields(in)
  }
}

private[spark] object SerializableConfiguration {
  def broadcast(context: SparkContext, settings: Configuration): Broadcast[SerializableConfiguration] =
    if (isHere) Here(new SerializableConfiguration(settings)) else context.broadcast(new SerializableConfiguration(settings))

  def broadcast(context: SparkContext): Broadcast[SerializableConfiguration] = broadcast(context, context.hadoopConfiguration)

  /** Whether tasks are run by this process. */
  private def isHere: Boolean = SparkEnv.get != null && SparkEnv.get.conf.get("spark.master", "").startsWith("local")

  private def write(settings: Configuration, out: ObjectOutputStream): Unit = {
    val all = settings.iterator.asScala.toArray
    out.writeInt(all.length)
    for (one <- all; text <- Seq(one.getKey, one.getValue)) {
      val bytes = text.getBytes(UTF_8)
      out.writeInt(bytes.length)
      out.write(bytes)
    }
  }

  private def read(settings: Configuration, in: ObjectInputStream): Unit = {
    def text(): String = {
      val bytes = new Array[Byte](in.readInt())
      in.readFully(bytes)
      new String(bytes, UTF_8)
    }
    for (_ <- 1 to in.readInt()) settings.set(text(), text())
  }
}

/** A value for tasks of the process that it is in: they are sent its number. Whoever waits for a task holds the value. */
private class Here(number: Long, settings: SerializableConfiguration) extends Broadcast[SerializableConfiguration](number) {
  override protected def getValue(): SerializableConfiguration = settings
  override protected def doUnpersist(blocking: Boolean): Unit = ()
  override protected def doDestroy(blocking: Boolean): Unit = ()
  private def writeReplace(): AnyRef = new Here.Sent(number)
}

private object Here {
  private val last = new AtomicLong
  private val held = new ConcurrentHashMap[Long, Held]
  private val gone = new ReferenceQueue[Here]

  def apply(settings: SerializableConfiguration): Here = {
    Iterator.continually(gone.poll()).takeWhile(_ != null).foreach { case one: Held => held.remove(one.number) }
    val made = new Here(last.incrementAndGet(), settings)
    held.put(made.id, new Held(made.id, made))
    made
  }

  private class Held(val number: Long, value: Here) extends WeakReference[Here](value, gone)

  private class Sent(number: Long) extends Serializable {
    private def readResolve(): AnyRef = held.get(number).get
  }
}
