package org.apache.spark.sql.chronicle

import java.nio.file.{Files, Paths}
import java.time.LocalDate
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.{FileIndex, HadoopFsRelation, LogicalRelation, PartitionDirectory}
import org.apache.spark.sql.types.{DataType, DateType, IntegerType, LongType, StructType, TimestampType}

/** The files of a table at a version. `bounds`: by path and column the smallest and the largest value of a file (days, microseconds or numbers),
  * as far as they are known.
  */
case class FileList(root: Path, version: Long, partitionSchema: StructType)(
    directories: Seq[PartitionDirectory],
    bounds: Map[Path, Map[String, (Long, Long)]] = Map.empty
) extends FileIndex {
  override def rootPaths: Seq[Path] = Seq(root)

  override def listFiles(partitionFilters: Seq[Expression], dataFilters: Seq[Expression]): Seq[PartitionDirectory] = {
    val wanted = if (partitionFilters.isEmpty) directories else {
      val test = Predicate.createInterpreted(partitionFilters.reduce(And).transform {
        case column: AttributeReference =>
          val place = partitionSchema.indexWhere(field => field.name.equalsIgnoreCase(column.name))
          BoundReference(place, partitionSchema(place).dataType, nullable = true)
      })
      directories.filter(directory => test.eval(directory.values))
    }
    if (bounds.isEmpty || dataFilters.isEmpty) wanted
    else wanted.map(some => some.copy(files = some.files.filter(file => bounds.get(file.getPath).forall(mayHold(dataFilters, _)))))
  }

  /** Bytes of the files that are read with these filters. */
  def bytes(partitionFilters: Seq[Expression], dataFilters: Seq[Expression]): Long =
    listFiles(partitionFilters, dataFilters).flatMap(_.files.map(_.getLen)).sum

  private val Bounded = Set[DataType](DateType, TimestampType, IntegerType, LongType)

  private def mayHold(filters: Seq[Expression], bounds: Map[String, (Long, Long)]): Boolean = {
    def boundsOf(expression: Expression) = expression match {
      case column: AttributeReference if Bounded.contains(column.dataType) => bounds.get(column.name)
      case _ => None
    }
    // Nothing is equal to null, or after it.
    def number(value: Any) = Option(value).collect { case small: Int => small.toLong; case large: Long => large }
    def within(value: Any, ends: (Long, Long)) = number(value).exists(one => ends._1 <= one && one <= ends._2)
    filters.forall {
      case In(column, values) if values.forall(_.foldable) => boundsOf(column).forall(ends => values.exists(value => within(value.eval(), ends)))
      case InSet(column, values) => boundsOf(column).forall(ends => values.exists(within(_, ends)))
      case EqualTo(column, value) if value.foldable => boundsOf(column).forall(within(value.eval(), _))
      case GreaterThanOrEqual(column, value) if value.foldable => boundsOf(column).forall(ends => number(value.eval()).exists(_ <= ends._2))
      case GreaterThan(column, value) if value.foldable => boundsOf(column).forall(ends => number(value.eval()).exists(_ < ends._2))
      case _ => true
    }
  }

  override def inputFiles: Array[String] = statuses.map(_.getPath.toString).toArray
  override def refresh(): Unit = ()
  override def sizeInBytes: Long = statuses.map(_.getLen).sum
  private def statuses: Seq[FileStatus] = directories.flatMap(_.files.map(_.fileStatus))
}

/** Adds `KnownFiles` to a session (`spark.sql.extensions`). */
class KnownFilesExtension extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit = extensions.injectPostHocResolutionRule(_ => KnownFiles)
}

/** Reads a Parquet table by the list of its files that a setting names, `chronicle.files.<schema>.<table>`. The list is a text: the folder
  * and a version in its first line, then a line for each file with its size, when it was changed (ms), its day (`null` if it has none) or `-`, the
  * smallest and the largest value of some columns (`<column>=<first>:<last>,…`), and its path in the folder, with tabs between them.
  */
object KnownFiles extends Rule[LogicalPlan] {
  private val Prefix = "chronicle.files."
  private val Most = 64
  private val known = new ConcurrentHashMap[String, FileList]

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case scan: LogicalRelation => listed(scan).fold(scan)(relation => scan.copy(relation = relation))
  }

  private def listed(scan: LogicalRelation): Option[HadoopFsRelation] = for {
    table <- scan.catalogTable
    schema <- table.identifier.database
    list <- Option(conf.getConfString(s"$Prefix$schema.${table.identifier.table}", null))
    files <- Some(scan.relation).collect { case files: HadoopFsRelation if !files.location.isInstanceOf[FileList] => files }
  } yield files.copy(location = held(list, files.partitionSchema))(files.sparkSession)

  private def held(list: String, partitions: StructType): FileList = {
    if (known.size > Most) known.clear()
    known.computeIfAbsent(list, read(_, partitions))
  }

  private def read(list: String, partitions: StructType): FileList = {
    val lines = Files.readAllLines(Paths.get(list)).asScala.toSeq
    val Array(version, root) = lines.head.split("\t", 2)
    val files = lines.tail.map { line =>
      val Array(size, modified, day, bounds, path) = line.split("\t", 5)
      val status = new FileStatus(size.toLong, false, 1, 128L << 20, modified.toLong, new Path(new Path(root), path))
      val ends = bounds.split(",").filter(_.nonEmpty).map { bound =>
        val Array(column, first, last) = bound.split("[=:]")
        column -> (first.toLong, last.toLong)
      }
      (day, status, ends.toMap)
    }
    val directories = files.groupBy(_._1).toSeq.sortBy(_._1).map { case (day, found) =>
      val values = if (partitions.isEmpty) InternalRow.empty else InternalRow(if (day == "null") null else dayOf(day))
      PartitionDirectory(values, found.map(_._2).sortBy(_.getPath.toString).toArray)
    }
    FileList(new Path(root), version.toLong, partitions)(directories, files.map(file => file._2.getPath -> file._3).toMap)
  }

  private def dayOf(text: String): Int = LocalDate.parse(text).toEpochDay.toInt
}
