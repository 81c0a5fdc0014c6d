"""The steps' tables of clusters that a build does not make."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from chronicle.build.dbt_runs import ROW_GROUP
from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from chronicle.build.compiled import Model


# Rows of a table that are held in memory at once while they are carried over.
CARRIED = 8 * ROW_GROUP


def keep_steps(spark: SparkSession, place: Warehouse, steps: Sequence[Model]) -> None:
    """Put the tables of steps aside, for what they hold of the clusters that are not built."""
    shutil.rmtree(place.kept_steps, ignore_errors=True)
    for step in steps:
        folder = Path(place.table(step.schema, step.alias))
        if folder.is_dir():
            kept_step(place, step).parent.mkdir(parents=True, exist_ok=True)
            folder.rename(kept_step(place, step))
            spark.sql(f"drop table if exists {step.table}")


def kept_step(place: Warehouse, step: Model) -> Path:
    """Where a step is put aside."""
    return place.kept_steps / step.schema / step.alias


def carry_over(spark: SparkSession, place: Warehouse, steps: list[Model], clusters: Sequence[str]) -> None:
    """Add to the Parquet steps of a build of some clusters what the build before it held of all others; and put back what was not made again."""
    for step in steps:
        kept, folder = kept_step(place, step), Path(place.table(step.schema, step.alias))
        if kept.is_dir() and not folder.exists():
            # Not made again, for nothing that it reads has changed.
            kept.rename(folder)
        elif kept.is_dir():
            held = ds.dataset(kept, format="parquet")
            if "cluster_id" in held.schema.names:
                scanner = held.scanner(filter=~pc.field("cluster_id").isin(list(clusters)))
                with pq.ParquetWriter(folder / "others.zstd.parquet", held.schema, compression="zstd") as writer:
                    for some in in_pieces(scanner.to_batches(), CARRIED):
                        writer.write_table(some, row_group_size=ROW_GROUP)
                spark.sql(f"refresh table {step.schema}.`{step.alias}`")


def in_pieces(batches: Iterable[pa.RecordBatch], size: int) -> Iterator[pa.Table]:
    """Batches of rows as tables of at least so many rows each, except for the last."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(one.num_rows for one in held) >= size:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)
