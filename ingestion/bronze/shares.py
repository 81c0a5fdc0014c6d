"""Shares files out to Spark's executors, which inspect and read them."""

from __future__ import annotations

import datetime as dt
import heapq
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from ingestion.bronze import write
from ingestion.bronze.capture_rows import read_capture, read_system_lines
from ingestion.bronze.executors import is_elsewhere, on_executors, tasks_at_once
from ingestion.bronze.jvm_rows import Beside
from ingestion.bronze.log_records import Cache, read_tasks
from ingestion.bronze.parts import parts_of, to_read_again, together
from ingestion.bronze.tasks import Counted, Read, Task, task_of
from ingestion.delta_files import Added
from ingestion.reading.objects import is_uri
from ingestion.sources import archives
from ingestion.sources.discover import GZIPPED, is_archive
from ingestion.sources.inspect import inspect
from ingestion.sources.spool import Spool
from ingestion.sources.stages import TO_READ, Found, Identified, Inspected

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Called while the executors read: files, their bytes, how much of it is done (0 to 1), seconds.
Progress = Callable[[int, int, float, float], None]
# (table, Parquet file written) of each file, and what each source gave, by its id.
Done = tuple[list[tuple[str, Added]], dict[str, Counted]]
# One commit holds at most this much, so that a kill loses little of a long run.
COMMIT_BYTES = 4 << 30
# One task reads about this much: enough to outweigh its start, small enough to share the work out.
TASK_BYTES = 24 << 20
# From so many files on, executors inspect them; fewer are inspected by this process, before Spark is up.
MANY_FILES = 2_000
# Files inspected at once, because the results go through the driver; and files of one task, which take it half a second.
LOOKED_AT, TASK_FILES = 20_000, 500
OBJECTS_AT_ONCE = 16


def inspect_all(
    files: list[Found], pattern: str | None, start: Callable[[], SparkSession] | None
) -> Iterator[tuple[Found, Inspected | None]]:
    """Each file with its inspection, in order; None for an archive.  `files` is emptied; `start` gives the session if there are many."""
    spark = start() if start and len(files) >= MANY_FILES else None
    while files:
        some = files[:LOOKED_AT]
        del files[:LOOKED_AT]
        if spark is None:
            yield from zip(some, inspect_some(some, pattern), strict=True)
            continue
        shares = [some[first : first + TASK_FILES] for first in range(0, len(some), TASK_FILES)]
        for share, looked_at in zip(shares, on_executors(spark, partial(inspect_some, pattern=pattern), shares), strict=True):
            yield from zip(share, looked_at, strict=True)


def inspect_some(files: list[Found], pattern: str | None) -> list[Inspected | None]:
    """What each file is, in order; objects many at a time, because a store is slow to answer."""
    if not any(is_uri(found.path) for found in files):
        return [inspect_file(found, pattern) for found in files]
    with ThreadPoolExecutor(OBJECTS_AT_ONCE) as threads:
        return list(threads.map(lambda found: inspect_file(found, pattern), files))


def inspect_file(found: Found, pattern: str | None) -> Inspected | None:
    """What a file is; None for an archive, whose members are files of their own."""
    if is_uri(found.path):
        # Opened just once: most are then seen to be no archive.
        source = inspect(found, pattern)
        may_be_archive = source.compressed or source.outcome != TO_READ or archives.kind_of(source.head)
        return None if may_be_archive and is_archive(found) else source
    return None if is_archive(found) else inspect(found, pattern)


def portions(sources: list[Identified]) -> Iterator[list[Identified]]:
    """The sources in portions of at most COMMIT_BYTES, in order."""
    portion: list[Identified] = []
    size = 0
    for source in sources:
        length = source_size(source)
        if portion and size + length > COMMIT_BYTES:
            yield portion
            portion, size = [], 0
        portion.append(source)
        size += length
    if portion:
        yield portion


def source_size(source: Identified) -> int:
    """Bytes that are still to be read; of a compressed file an estimate from its size on disk."""
    return (source.disk_size or 0) * GZIPPED if source.size is None else source.size - source.start


def bins(sources: list[Identified], cores: int) -> list[list[int]]:
    """Share sources out to tasks of about TASK_BYTES, at least one for each core: largest first, each to the least loaded."""
    total = sum(source_size(source) for source in sources)
    count = max(1, min(len(sources), max(cores, round(total / TASK_BYTES))))
    loads = [(0, n) for n in range(count)]
    out: list[list[int]] = [[] for _ in range(count)]
    for n in sorted(range(len(sources)), key=lambda n: -source_size(sources[n])):
        load, lightest = loads[0]
        out[lightest].append(n)
        heapq.heapreplace(loads, (load + source_size(sources[n]) + 4096, lightest))
    return out


def read_portion(
    spark: SparkSession,
    warehouse: str,
    portion: list[Identified],
    held: Collection[str],
    batch_id: int,
    now: dt.datetime,
    spool: Spool,
    progress: Progress | None,
) -> tuple[dict[str, list[Added]], list[Read]]:
    """Read some files: the Parquet files that were written, by table, and what each source gave.  `held`: paths of files whose last record may
    still grow; `spool`: has files that executors on other machines do not see."""

    def read(shares: list[list[Task]]) -> list[Done]:
        return read_shares(spark, warehouse, shares, spool, progress)

    parts = [parts_of(task_of(source, source.path in held, batch_id, now)) for source in portion]
    whole = [number for number, those in enumerate(parts) if len(those) == 1]
    cut = [those for those in parts if len(those) > 1]
    bundles = bins([portion[number] for number in whole], tasks_at_once(spark)) if whole else []
    shares = [[parts[whole[n]][0] for n in bundle] for bundle in bundles]
    done = read([*shares, *([part] for those in cut for part in those)])
    kept, done = done[: len(shares)], done[len(shares) :]
    for those in cut:
        kept.append(read_on(those, done[: len(those)], read))
        done = done[len(those) :]
    files: dict[str, list[Added]] = {}
    for table, written in (pair for added, _ in kept for pair in added):
        files.setdefault(table, []).append(written)
    counted = {source_id: count for _, counts in kept for source_id, count in counts.items()}
    return files, [Read(source, counted[source.source_id]) for source in portion]


def read_on(parts: list[Task], done: list[Done], read: Callable[[list[list[Task]]], list[Done]]) -> Done:
    """What the parts of a source gave together; parts are read again as far as needed."""
    source_id = parts[0].source_id

    def counts() -> list[Counted]:
        return [counted[source_id] for _, counted in done]

    while again := to_read_again(parts, counts()):
        parts = [*parts[: -len(again)], *again]
        done = [*done[: -len(again)], *read([[part] for part in again])]
    count, counted = together(parts, counts())
    return [file for added, _ in done[:count] for file in added], {source_id: counted}


def read_shares(spark: SparkSession, warehouse: str, shares: list[list[Task]], spool: Spool, progress: Progress | None) -> list[Done]:
    """Read each share of the tasks on an executor, and in this process the files that executors do not see."""
    tasks = [task for share in shares for task in share]
    size = sum(task.end - task.start for task in tasks if task.end >= 0)
    shown = partial(progress, len(tasks), size) if progress else None
    work, elsewhere = partial(write_share, bronze=f"{warehouse}/bronze"), is_elsewhere(spark)

    def stays(task: Task) -> bool:
        return elsewhere and spool.is_only_here(task.path)

    far = [[task for task in share if not stays(task)] for share in shares]
    made = iter(on_executors(spark, work, [share for share in far if share], shown))
    done = [next(made) if share else ([], {}) for share in far]
    for (files, counted), share in zip(done, shares, strict=True):
        if near := [task for task in share if stays(task)]:
            more, counts = work(near)
            files += more
            counted |= counts
    return done


# Shapes that this worker has recognised, for all shares on which its process works. A fleet has some thousand, but unknown texts have
# shapes of their own, and a long-lived process would keep them all.
_shapes: Cache = {}
MOST_SHAPES = 20_000


def write_share(tasks: list[Task], bronze: str) -> Done:
    """Read some sources into one Parquet file for each table that they have rows for."""
    if len(_shapes) > MOST_SHAPES:
        _shapes.clear()
    counted: dict[str, Counted] = {}
    files: dict[str, write.File] = {}
    for table, batch in read_all(tasks, counted):
        if table not in files:
            files[table] = write.File(f"{bronze}/{table}", batch.schema)
        files[table].write(batch)
    return [(table, file.close()) for table, file in files.items()], counted


def read_all(tasks: list[Task], counted: dict[str, Counted]) -> Iterator[tuple[str, pa.RecordBatch]]:
    """(table, batch) of all that some sources give."""
    beside = Beside(counted)
    for batch in read_tasks([task for task in tasks if task.capture is None], counted, _shapes, beside.take):
        yield "log_records", batch
        yield from beside.batches()
    for task in tasks:
        if task.capture is None and task.wrapping.has_system:
            yield from read_system_lines(task, counted[task.source_id])
        if task.capture is not None:
            counted[task.source_id] = Counted(end=task.start)
            yield from read_capture(task, counted[task.source_id], _shapes)
