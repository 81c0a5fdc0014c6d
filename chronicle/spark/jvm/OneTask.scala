package org.apache.spark.sql.chronicle

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, CollectSet, Complete, Final, Mode, Partial}
import org.apache.spark.sql.catalyst.optimizer.BuildRight
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.aggregate.{BaseAggregateExec, HashAggregateExec, ObjectHashAggregateExec, SortAggregateExec}
import org.apache.spark.sql.execution.datasources.WriteFilesExec
import org.apache.spark.sql.execution.exchange.{BroadcastExchangeExec, ShuffleExchangeExec}
import org.apache.spark.sql.execution.joins.{BroadcastHashJoinExec, ShuffledHashJoinExec, SortMergeJoinExec}
import org.apache.spark.sql.execution.window.WindowExecBase
import org.apache.spark.sql.types.{ArrayType, StructType}

/** Adds `OneTask` to a session (`spark.sql.extensions`). */
class OneTaskExtension extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit = extensions.injectColumnar(_ => new ColumnarRule {
    override def preColumnarTransitions: Rule[SparkPlan] = OneTask
  })
}

/** Runs plans that read few bytes in one task. Spark runs a job for each side of a join that it broadcasts and a stage for each exchange,
  * and starting one costs more than thousands of rows do. Where all exchanges have one partition, a plan without them gives the same rows.
  * An aggregate whose two steps were separated by an exchange is then one step, and a sort for which rows come in order is left out.
  *
  * The setting `chronicle.one_task_bytes` says how many bytes of files a part of a plan may read for that; what reads more keeps the exchanges that
  * bring its rows into one partition, but not those above them. Without the setting nothing changes.
  */
object OneTask extends Rule[SparkPlan] {
  private val Most = "chronicle.one_task_bytes"

  /** A part of a plan: the bytes of the files it reads; whether its rows are known to be in one partition; whether partitions are sorted,
    * which they are no longer when several become one.
    */
  private case class Part(plan: SparkPlan, bytes: Long, isOne: Boolean, isSorted: Boolean) {
    def together: SparkPlan = if (isOne) plan else CoalesceExec(1, plan)
    def mayMove: Boolean = isOne || !isSorted
  }

  override def apply(plan: SparkPlan): SparkPlan = {
    val most = conf.getConfString(Most, "0").toLong
    if (most == 0 || conf.numShufflePartitions != 1) plan else RemoveRedundantSorts(part(plan, most).plan)
  }

  private def part(plan: SparkPlan, most: Long): Part = plan match {
    case join: BroadcastHashJoinExec if !join.isNullAwareAntiJoin =>
      val sides = join.children.map {
        case exchange: BroadcastExchangeExec => part(exchange.child, most)
        case side => part(side, most)
      }
      val bytes = sides.map(_.bytes).sum
      if (bytes <= most && sides.forall(_.mayMove)) {
        val Seq(left, right) = sides.map(_.together)
        val inTask = ShuffledHashJoinExec(join.leftKeys, join.rightKeys, join.joinType, join.buildSide, join.condition, left, right)
        Part(inTask, bytes, isOne = true, isSorted = false)
      } else {
        val children = join.children.zip(sides).map {
          case (exchange: BroadcastExchangeExec, side) => exchange.withNewChildren(Seq(side.plan))
          case (_, side) => side.plan
        }
        val Seq(left, right) = sides
        val streamed = if (join.buildSide == BuildRight) left else right
        Part(join.withNewChildren(children), bytes, streamed.isOne, sides.exists(_.isSorted))
      }
    case _ =>
      val parts = plan.children.map(part(_, most))
      val bytes = if (parts.isEmpty) read(plan) else parts.map(_.bytes).sum
      val isSorted = parts.exists(_.isSorted)
      lazy val same = if (parts.isEmpty) plan else plan.withNewChildren(parts.map(_.plan))
      plan match {
        case exchange: ShuffleExchangeExec if exchange.outputPartitioning.numPartitions == 1 =>
          Part(if (bytes <= most || parts.head.isOne) parts.head.together else same, bytes, isOne = true, isSorted = false)
        case write: WriteFilesExec if bytes <= most && parts.head.mayMove =>
          Part(write.withNewChildren(Seq(parts.head.together)), bytes, isOne = true, isSorted = false)
        // It has one partition only while its sides are distributed alike, and the plan above relies on that.
        case union: UnionExec if union.outputPartitioning.numPartitions == 1 =>
          Part(CoalesceExec(1, same), bytes, isOne = true, isSorted = false)
        case _: SortExec => Part(same, bytes, parts.head.isOne, isSorted = true)
        case _: ProjectExec | _: FilterExec | _: BaseAggregateExec | _: WindowExecBase | _: GenerateExec | _: ExpandExec |
            _: SortMergeJoinExec | _: ShuffledHashJoinExec =>
          Part(inOneStep(same), bytes, parts.forall(_.isOne), isSorted)
        case _ => Part(same, bytes, isOne = false, isSorted)
      }
  }

  /** Turns an aggregate that merges the partial results of the one right below it into one that does both. */
  private def inOneStep(plan: SparkPlan): SparkPlan = plan match {
    case last: BaseAggregateExec =>
      below(last.child).filter { case (first, _) => prepares(first, last) }.fold[SparkPlan](last) { case (first, rows) =>
        val keys = first.groupingExpressions
        val both = first.aggregateExpressions.map(_.copy(mode = Complete))
        last match {
          case hash: HashAggregateExec =>
            hash.copy(groupingExpressions = keys, aggregateExpressions = both, initialInputBufferOffset = 0, child = rows)
          case objects: ObjectHashAggregateExec =>
            objects.copy(groupingExpressions = keys, aggregateExpressions = both, initialInputBufferOffset = 0, child = rows)
          case sorted: SortAggregateExec if rows.isInstanceOf[SortExec] =>
            sorted.copy(groupingExpressions = keys, aggregateExpressions = both, initialInputBufferOffset = 0, child = rows)
          case _ => last
        }
      }
    case _ => plan
  }

  /** The aggregate below another one, and the rows that it reads, in one partition. Where aggregates need sorted rows, the rows are
    * sorted as for the one below.
    */
  private def below(child: SparkPlan): Option[(BaseAggregateExec, SparkPlan)] = child match {
    case first: BaseAggregateExec => Some((first, first.child))
    case CoalesceExec(1, first: BaseAggregateExec) => first.child match {
      case sort: SortExec => Some((first, sort.copy(child = CoalesceExec(1, sort.child))))
      case rows => Some((first, CoalesceExec(1, rows)))
    }
    case SortExec(_, false, sorted, _) => below(sorted)
    case _ => None
  }

  private def prepares(first: BaseAggregateExec, last: BaseAggregateExec): Boolean =
    first.getClass == last.getClass &&
      first.groupingExpressions.map(_.toAttribute) == last.groupingExpressions.map(_.toAttribute) &&
      first.aggregateExpressions.map(_.resultId) == last.aggregateExpressions.map(_.resultId) &&
      first.aggregateExpressions.forall(step => step.mode == Partial && !step.isDistinct && !comparesObjects(step)) &&
      last.aggregateExpressions.forall(_.mode == Final)

  /** Whether a function compares rows or arrays. Beyond 128 groups Spark serialises the results that it has, and merges them with later ones in
    * the end. A row that was serialised is another kind of object than one that was not, and Spark does not see that both are equal. In a second
    * step all rows have been serialised.
    */
  private def comparesObjects(step: AggregateExpression): Boolean = step.aggregateFunction match {
    case function @ (_: CollectSet | _: Mode) => function.children.map(_.dataType).exists {
      case _: StructType | _: ArrayType => true
      case _ => false
    }
    case _ => false
  }

  /** Bytes of the files that a leaf of a plan reads. */
  private def read(leaf: SparkPlan): Long = leaf match {
    case scan: FileSourceScanExec => scan.relation.location match {
      case list: FileList => list.bytes(scan.partitionFilters, scan.dataFilters)
      case files => files.sizeInBytes
    }
    case _: LocalTableScanExec | _: RangeExec | _: EmptyRelationExec => 0
    case _ => Long.MaxValue / 1000
  }
}
