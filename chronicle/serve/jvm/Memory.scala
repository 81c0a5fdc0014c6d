package org.apache.spark.sql.hive.thriftserver.chronicle

import java.lang.management.{ManagementFactory, MemoryType}
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.spark.SparkContext
import org.apache.spark.scheduler._
import org.apache.spark.sql.catalyst.InternalRow

/** Ends the statement that fills the memory before Java runs out of it, which would hit whichever statement asks for memory next.
  *
  * Java counts what each thread has allocated; Spark names its threads by their task, and knows the statement of each task.
  */
object Memory {
  private val Words = "the statement needs more memory than this server has; read or return less, or give the server more with --memory"
  val Message = s"[${TooMuch.Memory}] $Words"

  private val LookMillis = 100L
  /** Shares of the heap: above the first a full collection is run; if more than the second is left after it, a statement is ended. */
  private val Suspicious = 0.7
  private val Full = 0.6
  private val CollectAgainMillis = 3000L
  private val LeaveMillis = 15000L

  private val threads = ManagementFactory.getThreadMXBean.asInstanceOf[com.sun.management.ThreadMXBean]
  private val old = ManagementFactory.getMemoryPoolMXBeans.asScala.filter(pool => pool.getType == MemoryType.HEAP && pool.getName.matches(".*(Old|Tenured).*"))
  private val TaskThread = ".*\\(TID (\\d+)\\).*".r

  /** How many rows a statement may take in between two checks of the memory. */
  private val EveryRows = 256
  /** Bytes that a statement may allocate before it can be the one to end: ending a smaller one does not make room, whoever holds the rest. */
  private val Innocent = (0.05 * Runtime.getRuntime.maxMemory).toLong

  /** The rows of a task that keeps what it reads. The task itself checks whether there is room, because it may fill the heap between two
    * checks of the thread that watches.
    */
  def bounded(rows: Iterator[InternalRow]): Iterator[InternalRow] = {
    val thread = Thread.currentThread.getId
    val before = threads.getThreadAllocatedBytes(thread)
    var count = 0L
    rows.map { row =>
      count += 1
      if (count % EveryRows == 0 && used > Suspicious && threads.getThreadAllocatedBytes(thread) - before > Innocent)
        room()
      row
    }
  }

  /** Throws where a collection leaves too little room. One task at a time, so that the first to end makes room for the others. */
  private def room(): Unit = synchronized {
    if (used > Suspicious) {
      System.gc()
      if (used > Full) throw new TooMuch(TooMuch.Memory, Words)
    }
  }

  private def used: Double = {
    val java = Runtime.getRuntime
    (java.totalMemory - java.freeMemory).toDouble / java.maxMemory
  }

  def watch(context: SparkContext): Unit = {
    val statements = new Statements
    context.addSparkListener(statements)
    val watch = new Thread(() => look(context, statements), "chronicle-memory")
    watch.setDaemon(true)
    watch.start()
  }

  private def look(context: SparkContext, statements: Statements): Unit = {
    // What a thread had allocated when its task was first seen: threads live longer than tasks.
    var before = Map.empty[Long, Long]
    var collected = 0L
    while (!context.isStopped) {
      try {
        Thread.sleep(LookMillis)
        val now = allocated()
        before = now.map { case (task, bytes) => task -> before.getOrElse(task, bytes) }
        if (share > Suspicious && System.currentTimeMillis - collected > CollectAgainMillis) {
          System.gc()
          collected = System.currentTimeMillis
          if (share > Full) {
            val byStatement = now.toSeq.flatMap { case (task, bytes) => statements.of(task).map(_ -> (bytes - before(task))) }
              .groupMapReduce(_._1)(_._2)(_ + _)
            byStatement.filter(_._2 > Innocent).maxByOption(_._2).foreach { case (greediest, _) => context.cancelJobGroup(greediest, Message) }
          }
        }
      } catch {
        // The next check may do better.
        case NonFatal(_) | _: OutOfMemoryError =>
      }
    }
    // Without Spark nothing can be answered. A server that is asked to stop has ended before that.
    Thread.sleep(LeaveMillis)
    Runtime.getRuntime.halt(1)
  }

  private def share: Double = old.map(_.getUsage.getUsed).sum.toDouble / Runtime.getRuntime.maxMemory

  /** Bytes that the thread of each running task has allocated. */
  private def allocated(): Map[Long, Long] = {
    val ids = threads.getAllThreadIds
    threads.getThreadInfo(ids).zip(threads.getThreadAllocatedBytes(ids)).collect {
      case (info, bytes) if info != null && TaskThread.matches(info.getThreadName) =>
        val TaskThread(task) = info.getThreadName: @unchecked
        task.toLong -> bytes
    }.toMap
  }
}

/** Which statement each running task works for: the Thrift Server runs a statement as a group of jobs. */
private class Statements extends SparkListener {
  private val byStage = new ConcurrentHashMap[Int, String]
  private val byTask = new ConcurrentHashMap[Long, String]

  def of(task: Long): Option[String] = Option(byTask.get(task))

  override def onStageSubmitted(event: SparkListenerStageSubmitted): Unit =
    for (properties <- Option(event.properties); group <- Option(properties.getProperty("spark.jobGroup.id")))
      byStage.put(event.stageInfo.stageId, group)
  override def onStageCompleted(event: SparkListenerStageCompleted): Unit = byStage.remove(event.stageInfo.stageId)
  override def onTaskStart(event: SparkListenerTaskStart): Unit =
    Option(byStage.get(event.stageId)).foreach(byTask.put(event.taskInfo.taskId, _))
  override def onTaskEnd(event: SparkListenerTaskEnd): Unit = byTask.remove(event.taskInfo.taskId)
}
