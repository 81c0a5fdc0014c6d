package org.apache.spark.sql.chronicle

import org.apache.spark.{TaskContext, TaskFailedReason}
import org.apache.spark.api.plugin.{DriverPlugin, ExecutorPlugin, SparkPlugin}
import org.apache.spark.sql.internal.{ReadOnlySQLConf, SQLConf}

/** Creates the SQL settings once per task (`spark.plugins`). Without it Spark creates them, including all environment variables, for each look-up
  * in a task, and interpreted expressions look one up for each value that they read from a map or a list.
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

  override def onTaskStart(): Unit = settings.set(new ReadOnlySQLConf(TaskContext.get()))
  override def onTaskSucceeded(): Unit = settings.remove()
  override def onTaskFailed(reason: TaskFailedReason): Unit = settings.remove()
}
