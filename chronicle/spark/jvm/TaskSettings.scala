package org.apache.spark.sql.chronicle

import java.util.HashMap

import org.apache.spark.{TaskContext, TaskFailedReason}
import org.apache.spark.api.plugin.{DriverPlugin, ExecutorPlugin, SparkPlugin}
import org.apache.spark.internal.config.ConfigEntry
import org.apache.spark.sql.internal.{ReadOnlySQLConf, SQLConf}

/** Creates the SQL settings once per task (`spark.plugins`). Without it Spark creates them, including all environment variables, for each look-up
  * in a task, and reads the text of the one that is looked up; expressions look one up for each value that they read from a map, a list or a structure.
  */
class TaskSettings extends SparkPlugin {
  override def driverPlugin(): DriverPlugin = null
  override def executorPlugin(): ExecutorPlugin = new OncePerTask
}

private class OncePerTask extends ExecutorPlugin {
  private val settings = {
    val found = SQLConf.getClass.getDeclaredMethod("existingConf")
    found.setAccessible(true)
    found.invoke(SQLConf).asInstanceOf[ThreadLocal[SQLConf]]
  }

  override def onTaskStart(): Unit = settings.set(new Settings(TaskContext.get()))
  override def onTaskSucceeded(): Unit = settings.remove()
  override def onTaskFailed(reason: TaskFailedReason): Unit = settings.remove()
}

/** The settings of a task, each of which is read once: they do not change while it runs. */
private class Settings(context: TaskContext) extends ReadOnlySQLConf(context) {
  private val read = new HashMap[ConfigEntry[_], Any]

  override def getConf[T](entry: ConfigEntry[T]): T = {
    if (!read.containsKey(entry)) read.put(entry, super.getConf(entry))
    read.get(entry).asInstanceOf[T]
  }
}
