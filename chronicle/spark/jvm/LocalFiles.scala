package org.apache.spark.sql.chronicle

import java.nio.file.{Files, Paths}
import java.nio.file.attribute.PosixFilePermissions

import org.apache.hadoop.fs.{LocalFileSystem, Path, RawLocalFileSystem}
import org.apache.hadoop.fs.permission.FsPermission

/** Local files without starting a process or writing a checksum file for each (`spark.hadoop.fs.file.impl`). Hadoop starts `chmod`
  * for every file and folder that it makes where its native library is missing, as it is in Spark's packages.
  */
class LocalFiles extends LocalFileSystem(new PlainFiles) {
  setWriteChecksum(false)
  setVerifyChecksum(false)
}

private class PlainFiles extends RawLocalFileSystem {
  override def setPermission(path: Path, permission: FsPermission): Unit = {
    val letters = Seq(permission.getUserAction, permission.getGroupAction, permission.getOtherAction).map(_.SYMBOL).mkString
    Files.setPosixFilePermissions(Paths.get(pathToFile(path).getPath), PosixFilePermissions.fromString(letters))
  }
}
