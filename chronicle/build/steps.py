"""The steps' tables of clusters that a build does not make."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from chronicle.build.compiled import Model


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
                    for batch in scanner.to_batches():
                        writer.write_batch(batch)
                spark.sql(f"refresh table {step.schema}.`{step.alias}`")
    shutil.rmtree(place.kept_steps, ignore_errors=True)
