package org.apache.spark.sql.chronicle

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration

/** Hadoop's settings without the defaults that it reads from files in its jars: a thousand, of which most are for YARN and MapReduce. Spark copies
  * all settings for each scan and each write, and sends them to the tasks. Code that asks for a setting that is not there has a default of its own,
  * except for the classes of file systems (`fs.….impl`), which stay.
  */
object HadoopSettings {
  private val Defaults = "-default.xml"

  /** Drops the defaults from a context's settings (`SparkContext.hadoopConfiguration`); those of the user stay, also those of `core-site.xml`. */
  def dropDefaults(settings: Configuration): Unit = {
    val given = settings.iterator.asScala.map(_.getKey).filterNot(isDefault(settings, _)).map(key => key -> settings.get(key)).toList
    settings.clear()
    given.foreach { case (key, value) => settings.set(key, value) }
  }

  private def isDefault(settings: Configuration, key: String): Boolean =
    !(key.startsWith("fs.") && key.endsWith(".impl")) && Option(settings.getPropertySources(key)).exists(_.lastOption.exists(_.endsWith(Defaults)))
}
