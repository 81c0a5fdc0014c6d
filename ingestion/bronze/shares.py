"""Files shared out to the executors of Spark: looked at, and read there."""

from __future__ import annotations

import datetime as dt
import heapq
import threading
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pyarrow as pa

from ingestion.bronze import write
from ingestion.bronze.capture_rows import read_capture
from ingestion.bronze.log_records import Cache, read_tasks
from ingestion.bronze.tasks import Counted, Read, Task, task_of
from ingestion.delta_files import Added
from ingestion.reading.objects import is_uri
from ingestion.sources import archives
from ingestion.sources.discover import GZIPPED, is_archive
from ingestion.sources.inspect import inspect
from ingestion.sources.stages import TO_READ, Found, Identified, Inspected

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

# Called while Spark reads: files, all files, bytes, all bytes, records, seconds.
Progress = Callable[[int, int, int, int, int, float], None]
# One commit holds at most this much, so that a kill loses little of a long run.
COMMIT_BYTES = 4 << 30
# One task reads about this much: enough to outweigh its start, small enough to share the work out.
TASK_BYTES = 24 << 20
# So many files are looked at by the executors; fewer, by this process, before Spark is up.
MANY_FILES = 4_000
# As many at once: what they are found to be goes through the driver. A task looks at as many as take it half a second.
LOOKED_AT, TASK_FILES = 20_000, 500
OBJECTS_AT_ONCE = 16


def inspect_all(files: list[Found], pattern: str | None, start: Callable[[], SparkSession] | None) -> Iterator[Inspected | None]:
    """What each file is, in order; None for an archive.  `start` gives the session, where there are many."""
    if start is None or len(files) < MANY_FILES:
        yield from inspect_some(files, pattern)
        return
    context = start().sparkContext
    for begin in range(0, len(files), LOOKED_AT):
        some = files[begin : begin + LOOKED_AT]
        shares = [some[first : first + TASK_FILES] for first in range(0, len(some), TASK_FILES)]
        done = context.parallelize(shares, len(shares)).map(lambda share: inspect_some(share, pattern)).collect()
        yield from (source for share in done for source in share)


def inspect_some(files: list[Found], pattern: str | None) -> list[Inspected | None]:
    """What each file is, in order; objects many at a time, for a store takes its time to answer."""
    if not any(is_uri(found.path) for found in files):
        return [inspect_file(found, pattern) for found in files]
    with ThreadPoolExecutor(OBJECTS_AT_ONCE) as threads:
        return list(threads.map(lambda found: inspect_file(found, pattern), files))


def inspect_file(found: Found, pattern: str | None) -> Inspected | None:
    """What a file is; None for an archive, whose members are files of their own."""
    if is_uri(found.path):
        # Once opened, most are seen to be none.
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
    """Bytes that are still to be read, of a gzip as far as its size on disk says it."""
    return (source.disk_size or 0) * GZIPPED if source.size is None else source.size - source.start


def bins(sources: list[Identified], cores: int) -> list[list[int]]:
    """Share sources out to tasks of about TASK_BYTES, at least one for each core: largest first, each to the lightest."""
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
    progress: Progress | None,
) -> tuple[dict[str, list[Added]], list[Read]]:
    """Read some files: what was written of them, by table, and what each gave.  `held`: paths of files whose last record may still grow."""
    shares = [
        [task_of(portion[n], portion[n].path in held, batch_id, now) for n in share]
        for share in bins(portion, spark.sparkContext.defaultParallelism)
    ]
    added, counted = read_shares(spark, warehouse, shares, progress)
    return added, [Read(source, counted[source.source_id]) for source in portion]


def read_shares(
    spark: SparkSession, warehouse: str, shares: list[list[Task]], progress: Progress | None
) -> tuple[dict[str, list[Added]], dict[str, Counted]]:
    """Read each share of the tasks on an executor: files by table, and what each source gave, by its id."""
    bronze = f"{warehouse}/bronze"
    context = spark.sparkContext
    with Watch(context, [task for share in shares for task in share], progress) as watch:
        done = context.parallelize(shares, len(shares)).map(lambda tasks: write_share(tasks, bronze, watch)).collect()
    files: dict[str, list[Added]] = {}
    for added, _ in done:
        for table, file in added.items():
            files.setdefault(table, []).append(file)
    return files, {source_id: count for _, counts in done for source_id, count in counts.items()}


# Shapes that this worker has recognised; one process works through many shares. A fleet has some thousand, but texts that nobody knows have
# shapes of their own, and a process that stays would keep them all.
_shapes: Cache = {}
MOST_SHAPES = 20_000


def write_share(tasks: list[Task], bronze: str, watch: Watch) -> tuple[dict[str, Added], dict[str, Counted]]:
    """Read some sources into one Parquet file for each table that they have rows for."""
    if len(_shapes) > MOST_SHAPES:
        _shapes.clear()
    counted: dict[str, Counted] = {}
    files: dict[str, write.File] = {}
    for table, batch in read_all(tasks, counted):
        if table not in files:
            files[table] = write.File(f"{bronze}/{table}", batch.schema)
        files[table].write(batch)
    watch.tell(tasks, counted)
    return {table: file.close() for table, file in files.items()}, counted


def read_all(tasks: list[Task], counted: dict[str, Counted]) -> Iterator[tuple[str, pa.RecordBatch]]:
    """(table, batch) of all that some sources hold."""
    for batch in read_tasks([task for task in tasks if task.capture is None], counted, _shapes):
        yield "log_records", batch
    for task in tasks:
        if task.capture is not None:
            counted[task.source_id] = Counted(end=task.start)
            yield from read_capture(task, counted[task.source_id])


class Watch:
    """Calls `progress` while Spark's tasks finish; workers `tell` it what they have read."""

    def __init__(self, context: SparkContext, tasks: list[Task], progress: Progress | None) -> None:
        # pyspark keeps each accumulator for as long as the process lives.
        self.files, self.bytes, self.records = (context.accumulator(0) if progress else None for _ in range(3))
        self.all_files, self.all_bytes = len(tasks), sum(task.end - task.start for task in tasks if task.end >= 0)
        self.progress = progress

    def __getstate__(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in ("files", "bytes", "records")}

    def tell(self, tasks: list[Task], counted: dict[str, Counted]) -> None:
        """Add what a worker has read."""
        if self.files is None or self.bytes is None or self.records is None:
            return
        self.files.add(len(tasks))
        self.bytes.add(sum(counted[task.source_id].end - task.start for task in tasks))
        self.records.add(sum(count.records for count in counted.values()))

    def __enter__(self) -> Watch:
        if self.progress:
            self.stop, self.began = threading.Event(), time.monotonic()
            self.thread = threading.Thread(target=self._watch, daemon=True)
            self.thread.start()
        return self

    def _watch(self) -> None:
        while not self.stop.wait(0.3):
            self._show()

    def _show(self) -> None:
        assert self.progress and self.files is not None and self.bytes is not None and self.records is not None
        size = max(self.all_bytes, self.bytes.value)
        self.progress(self.files.value, self.all_files, self.bytes.value, size, self.records.value, time.monotonic() - self.began)

    def __exit__(self, *error: object) -> None:
        if self.progress:
            self.stop.set()
            self.thread.join()
            self._show()
