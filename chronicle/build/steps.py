"""The rows that a partial build carries over from the previous build: those of other clusters, and those from before the time from which on it
rebuilds a table."""

from __future__ import annotations

import shutil
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
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
from chronicle.build.publish import of_clusters
from ingestion.freed import give_back
from ingestion.moves import move
from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    from chronicle.build.compiled import Model


def keep_steps(place: Warehouse, steps: Sequence[Model]) -> None:
    """Move the tables of steps aside, because they hold the rows of clusters that are not built."""
    shutil.rmtree(place.kept_steps, ignore_errors=True)
    for step in steps:
        folder = Path(place.table(step.schema, step.alias))
        if folder.is_dir():
            kept_step(place, step).parent.mkdir(parents=True, exist_ok=True)
            move(folder, kept_step(place, step))


def kept_step(place: Warehouse, step: Model) -> Path:
    """Folder to which a step is moved aside."""
    return place.kept_steps / step.schema / step.alias


def carry_over(place: Warehouse, steps: list[Model], clusters: Sequence[str]) -> None:
    """Add to the steps of a partial build the previous build's rows of all other clusters; and move back the steps that were not rebuilt."""
    made, built = of_clusters(clusters), set(clusters)

    def complete(step: Model) -> None:
        kept, folder = kept_step(place, step), Path(place.table(step.schema, step.alias))
        if kept.is_dir() and not folder.exists():
            # Not rebuilt, because nothing that it reads has changed.
            move(kept, folder)
        elif kept.is_dir():
            held = ds.dataset(kept, format="parquet")
            if "cluster_id" in held.schema.names:
                carry(Carried(held, kept, ~made, lambda cluster: cluster not in built), folder, "others")

    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(complete, steps))


@dataclass(frozen=True)
class Carried:
    """Rows of Parquet files that are carried over: of `rows`, the files in a folder, those for which `kept` holds.  `is_of`: whether rows of a
    cluster are kept; `dropped`: given the clusters in a file, which are all such, whether some of its rows are not kept, or the condition for
    these, with which its statistics are checked; `recent`: the condition for rows that the next builds are likely to replace."""

    rows: ds.Dataset
    folder: Path
    kept: pc.Expression
    is_of: Callable[[str | None], bool]
    dropped: Callable[[set[str | None]], pc.Expression | bool] = lambda clusters: False
    recent: pc.Expression | None = None

    def files(self) -> tuple[list[ds.Fragment], list[ds.Fragment]]:
        """The files that are large enough and of which all rows are known to be kept; and the others that may have such rows."""
        whole, others = list[ds.Fragment](), list[ds.Fragment]()
        for file in self.rows.get_fragments():
            clusters = set(values_of(self.folder / file.path, "cluster_id")) if "cluster_id" in self.rows.schema.names else None
            kept = clusters and set(filter(self.is_of, clusters))
            if kept == clusters and file.metadata.num_rows >= ROW_GROUP // 2 and not self._has_dropped(file, clusters or set()):
                whole.append(file)
            elif clusters is None or kept:
                others.append(file)
        return whole, others

    def _has_dropped(self, file: ds.ParquetFileFragment, clusters: set[str | None]) -> bool:
        dropped = self.dropped(clusters)
        return dropped if isinstance(dropped, bool) else bool(file.subset(filter=dropped).row_groups)


def carry(carried: Carried, folder: Path, name: str, order: Sequence[str] = ()) -> int:
    """Carry rows over into a folder; returns how many.  A file is hard-linked if all of its rows are known to be kept; the kept rows of other files, and of small
    ones, are written again.  `order`: the columns by which readers filter where rows are not laid out by cluster; rows that are
    written again are sorted by them, and small files that together fill one are merged, because readers open every file.  Recent rows do not
    share a file with others, so that a later build can link these."""
    numbers = count()
    linked, others = carried.files()
    for file in filling(linked) if order else []:
        linked.remove(file)
        others.append(file)
    for file in linked:
        link(carried.folder / file.path, folder / f"{name}-{next(numbers)}.zstd.parquet")
    rows: int = sum(file.metadata.num_rows for file in linked)
    schema = carried.rows.schema
    group = group_chosen_from(carried.rows.count_rows()) if order else ROW_GROUP
    again = sum(file.metadata.num_rows for file in others)
    # A small file would not be linked.
    recent = carried.recent if again >= ROW_GROUP // 2 else None
    for some in in_pieces(batches_in(others, schema, carried.kept), FILE, recent):
        write(some, folder / f"{name}-{next(numbers)}.zstd.parquet", group, order)
        rows += some.num_rows
    if again > ROW_GROUP:
        give_back()
    return rows


def batches_in(files: Iterable[ds.ParquetFileFragment], schema: pa.Schema, kept: pc.Expression) -> Iterator[pa.RecordBatch]:
    """The rows of files for which a condition holds, read one row group at a time: Arrow's scanner reads ahead faster than rows are taken."""
    for file in files:
        for group in file.subset(filter=kept, schema=schema).split_by_row_group():
            yield from group.to_table(schema=schema, filter=kept).to_batches()


def write(rows: pa.Table, file: Path, group: int, order: Sequence[str] = ()) -> None:
    """Write rows into a Parquet file, in row groups of so many, sorted by these columns.  In memory are the rows and a sorted slice of them."""
    places = pc.sort_indices(rows, sort_keys=[(column, "ascending") for column in order]) if order else None
    with pq.ParquetWriter(file, rows.schema, compression="zstd") as writer:
        for start in range(0, rows.num_rows, ROW_GROUP):
            some = rows.slice(start, ROW_GROUP) if places is None else rows.take(places.slice(start, ROW_GROUP))
            writer.write_table(some, row_group_size=group)


def group_chosen_from(rows: int) -> int:
    """Row group size for a table of so many rows whose readers filter by a column: a row group says which values it has."""
    return min(ROW_GROUP, max(SMALLEST_GROUP, rows // GROUPS_CHOSEN_FROM))


def filling(files: Sequence[ds.Fragment]) -> list[ds.Fragment]:
    """As many of the files that are less than half full as fill one; none if all of them do not."""
    small = [file for file in files if file.metadata.num_rows < FILE // 2]
    rows = list(accumulate(file.metadata.num_rows for file in small))
    return small[: bisect_left(rows, FILE) + 1] if rows and rows[-1] >= FILE else []


def link(file: Path, other: Path) -> None:
    """Hard-link a file that is never written again; copy it where the file system has no hard links."""
    try:
        other.hardlink_to(file)
    except OSError:
        shutil.copyfile(file, other)


def in_pieces(batches: Iterable[pa.RecordBatch], size: int, recent: pc.Expression | None = None) -> Iterator[pa.Table]:
    """Batches of rows as tables of at least so many rows each, except for the last.  `recent`: rows for which this holds are in other tables than
    the rest."""
    conditions = [None] if recent is None else [~recent, recent]
    held: list[list[pa.RecordBatch]] = [[] for _ in conditions]
    for batch in batches:
        for rows, condition in zip(held, conditions, strict=True):
            rows.append(batch if condition is None else batch.filter(condition))
            if sum(one.num_rows for one in rows) >= size:
                yield pa.Table.from_batches(rows)
                rows.clear()
    yield from (pa.Table.from_batches(rows) for rows in held if any(one.num_rows for one in rows))


# Tells a file from another of the same name: device, inode, size and last change.
Identity = tuple[int, int, int, int]
# Cache, for a process that stays: by folder and column the values in each file. Kept files are hard links, so only new ones are read.
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
    """The values of a column in a Parquet file, which are few: read from its dictionary."""
    found: list[str | None] = pc.unique(pq.ParquetFile(file, read_dictionary=[column]).read([column])[column]).to_pylist()
    return found


def largest(rows: ds.Dataset, column: str) -> Any:
    """The largest value of a column of Parquet files, from their statistics where they have them; None if there is none."""
    found = []
    for file in rows.get_fragments():
        if all(column in group.statistics for group in file.row_groups):
            found += [group.statistics[column]["max"] for group in file.row_groups]
        else:
            found.append(pc.max(file.to_table(columns=[column])[column]).as_py())
    return max((value for value in found if value is not None), default=None)
