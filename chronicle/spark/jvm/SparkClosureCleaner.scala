package org.apache.spark.util

/** Replaces Spark's object of this name, which comes later on the class path: takes functions as they are. Spark's reads the class of each function
  * that an operator or a job is given, to find a `return` that would leave it, and serializes the function to see whether that can be done.
  * Functions that are typed into a Scala shell need that; those of Spark's own operators were compiled with Spark, and serialize.
  */
private[spark] object SparkClosureCleaner {
  def clean[F <: AnyRef](closure: F, checkSerializable: Boolean = true, cleanTransitively: Boolean = true): F = closure
}
