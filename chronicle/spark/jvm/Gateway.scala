package org.apache.spark.sql.chronicle

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.api.python.PythonGatewayServer

/** Starts Spark's gateway for Python, with a class loader that remembers which classes do not exist. The compiler of generated code tries each
  * name of a type in each package that it may be in, and each time Java looks into three hundred jars: that took three quarters of its time.
  */
object Gateway {
  def main(arguments: Array[String]): Unit = {
    val thread = Thread.currentThread()
    thread.setContextClassLoader(new MissingClasses(thread.getContextClassLoader))
    PythonGatewayServer.main(arguments)
  }
}

/** Finds the classes that another loader finds, and asks it once for each that it does not. */
class MissingClasses(parent: ClassLoader) extends ClassLoader(parent) {
  private val Most = 100000
  private val missing = ConcurrentHashMap.newKeySet[String]

  override def loadClass(name: String, resolve: Boolean): Class[_] = {
    if (missing.contains(name)) throw new IsMissing(name)
    try parent.loadClass(name)
    catch {
      case none: ClassNotFoundException =>
        if (missing.size < Most) missing.add(name)
        throw none
    }
  }
}

/** Has no stack trace: code that tries out names of classes does not need it. */
private class IsMissing(name: String) extends ClassNotFoundException(name) {
  override def fillInStackTrace(): Throwable = this
}
