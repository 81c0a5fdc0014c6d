"""The rows that a build takes over from the one before it: those of clusters that it does not make, and those of before the time from which
on it makes a table."""

from __future__ import annotations

import shutil
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from chronicle.build.dbt_runs import FILE, GROUPS_CHOSEN_FROM, ROW_GROUP, SMALLEST_GROUP, THREADS
from chronicle.spark.internals.kept_plans import KeptPlans
from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from chronicle.build.compiled import Model


def keep_steps(spark: SparkSession, place: Warehouse, steps: Sequence[Model]) -> None:
    """Put the tables of steps aside, for what they hold of the clusters that are not built."""
    shutil.rmtree(place.kept_steps, ignore_errors=True)
    plans = KeptPlans(spark)
    for step in steps:
        folder = Path(place.table(step.schema, step.alias))
        if folder.is_dir():
            kept_step(place, step).parent.mkdir(parents=True, exist_ok=True)
            folder.rename(kept_step(place, step))
            plans.forget(step.schema, step.alias)


def kept_step(place: Warehouse, step: Model) -> Path:
    """Where a step is put aside."""
    return place.kept_steps / step.schema / step.alias


def carry_over(spark: SparkSession, place: Warehouse, steps: list[Model], clusters: Sequence[str]) -> None:
    """Add to the Parquet steps of a build of some clusters what the build before it held of all others; and put back what was not made again."""
    made = pc.field("cluster_id").isin(list(clusters))

    def complete(step: Model) -> None:
        kept, folder = kept_step(place, step), Path(place.table(step.schema, step.alias))
        if kept.is_dir() and not folder.exists():
            # Not made again, for nothing that it reads has changed.
            kept.rename(folder)
        elif kept.is_dir():
            held = ds.dataset(kept, format="parquet")
            if "cluster_id" in held.schema.names:
                carry(Carried(held, kept, ~made, made), folder, "others")
                spark.sql(f"refresh table {step.schema}.`{step.alias}`")

    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(complete, steps))


@dataclass(frozen=True)
class Carried:
    """Rows of Parquet files that are taken over: `rows` of the files in a folder, those for which `kept` holds.  `dropped`: what holds of the
    others, for a file's statistics are asked by it."""

    rows: ds.Dataset
    folder: Path
    kept: pc.Expression
    dropped: pc.Expression


def carry(carried: Carried, folder: Path, name: str, order: Sequence[str] = ()) -> None:
    """Take rows over into a folder.  A file is linked if its statistics say that all of its rows are kept; what is left of the others, and of
    files of few rows, is written anew.  `order`: the columns by which readers choose where rows do not lie by cluster; what is written anew
    is in their order, and files that fill one are made one, for readers open each."""
    numbers = count()
    linked: list[ds.Fragment] = []
    others: list[ds.Fragment] = []
    for file in carried.rows.get_fragments():
        is_kept = file.metadata.num_rows >= ROW_GROUP // 2 and not file.subset(filter=carried.dropped).row_groups
        (linked if is_kept else others).append(file)
    for file in filling(linked) if order else []:
        linked.remove(file)
        others.append(file)
    for file in linked:
        link(carried.folder / file.path, folder / f"{name}-{next(numbers)}.zstd.parquet")
    schema = carried.rows.schema
    group = group_chosen_from(carried.rows.count_rows()) if order else ROW_GROUP
    for some in in_pieces(batches_in(others, schema, carried.kept), FILE):
        write(some, folder / f"{name}-{next(numbers)}.zstd.parquet", group, order)


def batches_in(files: Iterable[ds.ParquetFileFragment], schema: pa.Schema, kept: pc.Expression) -> Iterator[pa.RecordBatch]:
    """The rows of files for which something holds, read a group at a time: Arrow's scanner reads on while nobody takes what it has read."""
    for file in files:
        for group in file.subset(filter=kept, schema=schema).split_by_row_group():
            yield from group.to_table(schema=schema, filter=kept).to_batches()


def write(rows: pa.Table, file: Path, group: int, order: Sequence[str] = ()) -> None:
    """Write rows into a Parquet file, in groups of so many, in the order of these columns.  In memory are the rows and a group of them in order."""
    places = pc.sort_indices(rows, sort_keys=[(column, "ascending") for column in order]) if order else None
    with pq.ParquetWriter(file, rows.schema, compression="zstd") as writer:
        for start in range(0, rows.num_rows, ROW_GROUP):
            some = rows.slice(start, ROW_GROUP) if places is None else rows.take(places.slice(start, ROW_GROUP))
            writer.write_table(some, row_group_size=group)


def group_chosen_from(rows: int) -> int:
    """Rows of a group in a table of so many rows, whose readers choose by a column: a group says which values it has."""
    return min(ROW_GROUP, max(SMALLEST_GROUP, rows // GROUPS_CHOSEN_FROM))


def filling(files: Sequence[ds.Fragment]) -> list[ds.Fragment]:
    """Of files that are less than half full as many as fill one; none if they do not."""
    small = [file for file in files if file.metadata.num_rows < FILE // 2]
    rows = list(accumulate(file.metadata.num_rows for file in small))
    return small[: bisect_left(rows, FILE) + 1] if rows and rows[-1] >= FILE else []


def link(file: Path, other: Path) -> None:
    """Make another name for a file that is never written again; a copy, where the file system has no such names."""
    try:
        other.hardlink_to(file)
    except OSError:
        shutil.copyfile(file, other)


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


# What tells a file from another of the same name: its device, number, size and last change.
Identity = tuple[int, int, int, int]
# By folder and column the values in each file, in a process that stays: a build links what is kept, so only new files are read.
_values: dict[tuple[Path, str], dict[Identity, frozenset[str | None]]] = {}


def values_in(folder: Path, column: str) -> set[str | None]:
    """The values of a column in a folder of Parquet files, null among them."""
    before, now = _values.get((folder, column), {}), {}
    for file in folder.glob("*.parquet"):
        status = file.stat()
        identity = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        now[identity] = before[identity] if identity in before else frozenset(values_of(file, column))
    _values[folder, column] = now
    return set().union(*now.values())


def values_of(file: Path, column: str) -> list[str | None]:
    """The values of a column in a Parquet file, which are few: its dictionary names them."""
    found: list[str | None] = pc.unique(pq.ParquetFile(file, read_dictionary=[column]).read([column])[column]).to_pylist()
    return found


def largest(rows: ds.Dataset, column: str) -> Any:
    """The largest value of a column of Parquet files, by their statistics where they have them; None if there is none."""
    found = []
    for file in rows.get_fragments():
        if all(column in group.statistics for group in file.row_groups):
            found += [group.statistics[column]["max"] for group in file.row_groups]
        else:
            found.append(pc.max(file.to_table(columns=[column])[column]).as_py())
    return max((value for value in found if value is not None), default=None)
