package org.apache.spark.sql.hive.thriftserver.chronicle

import java.util.concurrent.ConcurrentHashMap

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.chronicle.FileList
import org.apache.spark.sql.delta.{NoMapping, Snapshot}
import org.apache.spark.sql.delta.files.TahoeLogFileIndex
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation, PartitionDirectory}

/** Reads small tables by a list of their files, which is cached while their version is the newest. Delta finds the files again for each
  * scan, by queries over its log: for a table of some thousand rows they take longer than the query itself.
  */
object HeldFiles extends Rule[LogicalPlan] {
  /** Larger tables are left to Delta, which knows by its statistics which files a query needs. */
  private val MostFiles = 1000
  private val MostBytes = 64L << 20
  private val known = new ConcurrentHashMap[Path, (Long, Option[Seq[PartitionDirectory]])]

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case scan: LogicalRelation => held(scan.relation).fold(scan)(relation => scan.copy(relation = relation))
  }

  private def held(relation: AnyRef): Option[HadoopFsRelation] = relation match {
    case files: HadoopFsRelation => files.location match {
      case index: TahoeLogFileIndex if !index.isTimeTravelQuery && index.partitionFilters.isEmpty =>
        val snapshot = index.getSnapshot
        list(snapshot).map { found =>
          files.copy(location = FileList(snapshot.dataPath, snapshot.version, files.partitionSchema)(found))(files.sparkSession)
        }
      case _ => None
    }
    case _ => None
  }

  private def list(snapshot: Snapshot): Option[Seq[PartitionDirectory]] = known.get(snapshot.dataPath) match {
    case (version, found) if version == snapshot.version => found
    case _ =>
      val isSmall = snapshot.numOfFiles <= MostFiles && snapshot.sizeInBytes <= MostBytes
      val found = if (isSmall && snapshot.columnMappingMode == NoMapping) directories(snapshot) else None
      known.put(snapshot.dataPath, (snapshot.version, found))
      found
  }

  private def directories(snapshot: Snapshot): Option[Seq[PartitionDirectory]] = {
    val added = snapshot.allFiles.collect().toSeq
    if (added.exists(_.deletionVector != null)) return None
    Some(added.groupBy(_.partitionValues).toSeq.map { case (values, files) =>
      val row = InternalRow.fromSeq(snapshot.metadata.partitionSchema.map { field =>
        Cast(Literal(values.getOrElse(field.name, null)), field.dataType, Some("UTC")).eval()
      })
      val statuses = files.sortBy(_.path).map { file =>
        val path = if (file.toPath.isAbsolute) file.toPath else new Path(snapshot.dataPath, file.toPath)
        new FileStatus(file.size, false, 1, 128L << 20, file.modificationTime, path)
      }
      PartitionDirectory(row, statuses.toArray)
    })
  }
}
