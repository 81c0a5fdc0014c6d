"""`chronicle ingest`: raw evidence to bronze, exactly once.

The state is the data: a source has been read up to the end of its last record in `bronze.log_records`, so a killed run
leaves nothing half done and there is no checkpoint to lose.  Every commit carries a transaction version, so that of two
runs at the same time one fails with a clear error and nothing is doubled.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ingestion.bronze import CUT, RECOGNISED, SCHEMA, Task, read_tasks, zone_of
from ingestion.sources import (
    BINARY,
    COPY,
    EMPTY,
    MISSING,
    TO_READ,
    UNKNOWN,
    UNREADABLE,
    Known,
    Layout,
    Source,
    find_files,
    identify,
    inspect,
    may_grow,
    resolve_nodes,
    resolve_zones,
    tail_hash,
)
from ingestion.warehouse import Warehouse, only_writer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Called while Spark reads: files, all files, bytes, all bytes, records, seconds.
Progress = Callable[[int, int, int, int, int, float], None]
# One commit holds at most this much, so that a kill loses little of a long run.
COMMIT_BYTES = 4 << 30
# One task reads about this much: enough to outweigh its start, small enough to share the work out.
TASK_BYTES = 24 << 20

TORN = "ends in the middle of a line; the rest is loaded"
STATISTICS = "cluster_id,batch_id,ingested_at"

SOURCES = """
    cluster_id string, source_id string, source_path string, batch_id bigint, ingested_at timestamp, kind string, layout string,
    node_id int, node_known_by string, zone string, zone_known_by string, fingerprint string, fingerprint_length int, tail_hash string,
    size_bytes bigint, start_offset bigint, end_offset bigint, records bigint, recognised bigint, outcome string, reason string,
    warnings array<string>, is_compressed boolean, modified_at timestamp
"""


@dataclass
class Options:
    """What `chronicle ingest` was asked for.  `settled_after`: seconds without change after which a file counts as complete."""

    paths: list[str]
    cluster: str | None = None
    node: int | None = None
    layout: str | None = None
    timezone: str | None = None
    settled_after: float = 60.0


@dataclass
class Outcome:
    """What an ingestion did: counts of files by outcome, bytes and records that are new, and what went wrong where."""

    batch_id: int | None = None
    files: dict[str, int] = field(default_factory=dict)
    bytes_read: int = 0
    records: int = 0
    recognised: int = 0
    read_seconds: float = 0.0
    rows_written: int = 0
    waiting: int = 0
    faults: list[str] = field(default_factory=list)
    clusters: set[str] = field(default_factory=set)


def ingest(
    start: Callable[[], SparkSession],
    warehouse: str,
    options: Options,
    tell: Callable[[str], None] = print,
    progress: Progress | None = None,
) -> Outcome:
    """Read what is new below the given paths into `bronze.log_records` and `bronze.sources`.

    `start` gives the session, once the paths are known to hold files.  Raises ValueError for options that cannot be,
    FileNotFoundError where there is nothing to read, Busy where another process writes to the warehouse.
    """
    if options.timezone:
        zone_of(options.timezone)
    found = look(options, warehouse)
    if all(source.outcome == MISSING for source in found):
        raise FileNotFoundError(f"no such file or folder: {', '.join(options.paths)}; give the folder that holds the logs")
    spark = start()
    with only_writer(Warehouse.at(warehouse)):
        return take_in(spark, Warehouse.at(warehouse).root, found, options, tell, progress)


def take_in(
    spark: SparkSession, warehouse: str, found: list[Source], options: Options, tell: Callable[[str], None], progress: Progress | None
) -> Outcome:
    """Append what is new in the files that were found; the caller holds the warehouse."""
    began = time.monotonic()
    outcome = Outcome()
    known, next_batch, written = state(spark, warehouse)
    now = dt.datetime.now(dt.UTC)
    sources = identify(found, known)
    held = {source.path for source in sources if may_grow(source, time.time(), options.settled_after)}
    outcome.clusters = {source.cluster_id for source in sources}
    outcome.faults = faults(sources)
    due = [source for source in sources if has_more(source, written)]
    counted: dict[str, tuple[int, int, int, str | None]] = {}
    for portion in portions(due):
        tasks = [task_of(source, source.path in held, next_batch, now) for source in portion]
        append_records(spark, warehouse, tasks, portion, next_batch, progress)
        counted |= count_batch(spark, warehouse, next_batch)
        outcome.batch_id = next_batch
        next_batch += 1
    rows = source_rows(sources, counted, written, outcome.batch_id or next_batch, now)
    if rows:
        append_sources(spark, warehouse, rows)
    make_tables(spark, warehouse)
    outcome.rows_written = len(rows)
    if rows:
        # What was built before lacks this: a build that is killed must not look done.
        Warehouse.at(warehouse).built.unlink(missing_ok=True)
    for source in sources:
        records, recognised, end, fault = (
            counted.get(source.source_id, (0, 0, source.start, None)) if source.outcome == TO_READ else (0, 0, 0, None)
        )
        is_new = source.outcome == TO_READ and records > 0
        state_of = "new" if is_new else "unchanged" if source.outcome == TO_READ else source.outcome
        outcome.files[state_of] = outcome.files.get(state_of, 0) + 1
        outcome.records += records
        outcome.recognised += recognised
        outcome.bytes_read += max(0, end - source.start) if is_new else 0
        outcome.waiting += source.path in held and source.outcome == TO_READ and source.size is not None and end < source.size
        if fault:
            outcome.faults.append(f"{source.path}: cut: {fault}; read up to byte {end}")
    for fault in outcome.faults:
        tell(fault)
    outcome.read_seconds = time.monotonic() - began
    return outcome


def has_more(source: Source, written: dict[str, tuple[str, int | None]]) -> bool:
    """Whether a source may hold bytes that have not been read; a gzip does not tell, unless it is as it was."""
    if source.outcome != TO_READ:
        return False
    if source.size is None:
        return written.get(str(Path(source.path).resolve())) not in ((TO_READ, source.disk_size), ("cut", source.disk_size))
    return source.start < source.size


def faults(sources: list[Source]) -> list[str]:
    """One line for every file that could not be read as a log; those of no known layout are only counted."""
    out = []
    for source in sources:
        if source.outcome in (MISSING, EMPTY, BINARY, UNREADABLE):
            out.append(f"{source.path}: {source.outcome}: {source.reason}")
        elif source.outcome == TO_READ and source.ends_torn:
            out.append(f"{source.path}: cut: {TORN}")
    unknown = sum(source.outcome == UNKNOWN for source in sources)
    if unknown:
        out.append(f"{unknown} files of no known layout are left out; marts.fct_sources lists them with the reason")
    if not any(source.outcome in (TO_READ, COPY) for source in sources):
        out.append("no logs of Kafka or ZooKeeper among the files")
    return out


def look(options: Options, warehouse: str) -> list[Source]:
    """Every file below the given paths, inspected, with its cluster, node and time zone."""
    layout = Layout(options.layout) if options.layout else None
    sources: list[Source] = []
    for root, path in find_files(options.paths, leave_out=Path(warehouse).resolve()):
        relative = str(Path(path).relative_to(root)) if path != root else Path(path).name
        cluster, node = layout.read(relative) if layout else (None, None)
        cluster_id = options.cluster or cluster or Path(root).resolve().name
        sources.append(inspect(path, str(Path(path).parent), cluster_id, options.node if options.node is not None else node))
    return resolve_zones(resolve_nodes(sources), options.timezone)


def state(spark: SparkSession, warehouse: str) -> tuple[list[Known], int, dict[str, tuple[str, int | None]]]:
    """(known sources, number of the next batch, latest (outcome, size) by path), read from the data itself."""
    if not has_table(warehouse, "log_records"):
        return [], 1, {}
    spark.read.format("delta").load(f"{warehouse}/bronze/log_records").createOrReplaceTempView("_log_records")
    spark.read.format("delta").load(f"{warehouse}/bronze/sources").createOrReplaceTempView("_sources")
    ends = {
        row.source_id: row
        for row in spark.sql(
            "select source_id, max(byte_offset + byte_length) as end_offset, max_by(node_id, byte_offset) as node_id, max(batch_id) as batch_id"
            " from _log_records group by source_id"
        ).collect()
    }
    rows = spark.sql("select * from _sources order by batch_id, source_path").collect()
    known: dict[str, Known] = {}
    written: dict[str, tuple[str, int | None]] = {}
    for row in rows:
        written[row.source_path] = (row.outcome, row.size_bytes)
        if row.outcome in (TO_READ, "cut"):
            end = ends.get(row.source_id)
            known[row.source_id] = Known(
                source_id=row.source_id,
                path=row.source_path,
                fingerprint=row.fingerprint,
                fingerprint_length=row.fingerprint_length,
                end=end.end_offset if end else 0,
                tail_hash=row.tail_hash,
                size=row.size_bytes,
                outcome=row.outcome,
                node_id=end.node_id if end else None,
            )
    batches = [row.batch_id for row in rows] + [row.batch_id for row in ends.values()]
    return list(known.values()), max(batches, default=0) + 1, written


def has_table(warehouse: str, table: str) -> bool:
    """Whether a bronze table has been made."""
    return Path(warehouse, "bronze", table, "_delta_log").exists()


def make_tables(spark: SparkSession, warehouse: str) -> None:
    """Make the bronze tables that no file has made, empty, so that a build finds them."""
    from pyspark.sql.pandas.types import from_arrow_schema

    for table, schema in (("log_records", from_arrow_schema(SCHEMA)), ("sources", SOURCES)):
        if not has_table(warehouse, table):
            append(spark.createDataFrame([], schema), warehouse, table)


def append(frame: DataFrame, warehouse: str, table: str, **options: object) -> None:
    """Append to a bronze table in one commit.  Statistics cover what builds and look-ups select by, and no text."""
    writer = frame.write.format("delta").mode("append").option("delta.dataSkippingStatsColumns", STATISTICS)
    for name, value in options.items():
        writer = writer.option(name, value)
    writer.save(f"{warehouse}/bronze/{table}")


def portions(sources: list[Source]) -> Iterator[list[Source]]:
    """The sources in portions of at most COMMIT_BYTES, in order."""
    portion: list[Source] = []
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


def source_size(source: Source) -> int:
    """Bytes that are still to be read; a gzip is taken as eight times its size on disk."""
    return Path(source.path).stat().st_size * 8 if source.size is None else source.size - source.start


def task_of(source: Source, holds_last: bool, batch_id: int, now: dt.datetime) -> Task:
    """What a worker needs to read one source."""
    assert source.envelope is not None
    return Task(
        cluster_id=source.cluster_id,
        source_id=source.source_id,
        path=str(Path(source.path).resolve()),
        start=source.start,
        end=-1 if source.size is None else source.size,
        holds_last=holds_last,
        envelope=source.envelope,
        node_id=source.node_id,
        node_known_by=source.node_known_by,
        takes_nodes=source.takes_nodes,
        zones=source.zones,
        zone_known_by=source.zone_known_by,
        batch_id=batch_id,
        ingested_at=now,
    )


def bins(sources: list[Source], cores: int) -> list[list[int]]:
    """Share sources out to tasks of about TASK_BYTES, at least one for each core: largest first, each to the lightest."""
    total = sum(source_size(source) for source in sources)
    count = max(1, min(len(sources), max(cores, round(total / TASK_BYTES))))
    loads = [(0, n) for n in range(count)]
    out: list[list[int]] = [[] for _ in range(count)]
    for n in sorted(range(len(sources)), key=lambda n: -source_size(sources[n])):
        load, lightest = min(loads)
        out[lightest].append(n)
        loads[lightest] = (load + source_size(sources[n]) + 4096, lightest)
    return out


def append_records(
    spark: SparkSession,
    warehouse: str,
    tasks: list[Task],
    sources: list[Source],
    batch_id: int,
    progress: Progress | None,
) -> None:
    """Read the tasks on the executors and append all their records in one commit."""
    shares = bins(sources, spark.sparkContext.defaultParallelism)
    frame = records_frame(spark, tasks, shares)
    sizes = [sum(source_size(sources[n]) for n in share) for share in shares]
    with Watch(spark, [len(share) for share in shares], sizes, progress):
        append(frame, warehouse, "log_records", txnAppId="chronicle-ingest", txnVersion=batch_id)


def records_frame(spark: SparkSession, tasks: list[Task], shares: list[list[int]]) -> DataFrame:
    """All records of the tasks, one partition for each share; columns as SCHEMA."""
    from pyspark.sql.pandas.types import from_arrow_schema

    kept = list(tasks)
    plan = spark.range(0, len(shares), 1, len(shares))

    def read(batches: Iterator[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        for batch in batches:
            for share in batch.column(0).to_pylist():
                yield from read_tasks(kept[n] for n in shares[share])

    return plan.mapInArrow(read, from_arrow_schema(SCHEMA))


class Watch:
    """Calls `progress` while Spark's tasks finish."""

    def __init__(self, spark: SparkSession, files: list[int], sizes: list[int], progress: Progress | None) -> None:
        self.spark, self.files, self.sizes, self.progress = spark, files, sizes, progress
        self.stop = threading.Event()
        self.records, self.began = 0, time.monotonic()

    def __enter__(self) -> Watch:
        self.group = hashlib.sha256(str(time.time()).encode()).hexdigest()[:12]
        self.spark.sparkContext.setJobGroup(self.group, "ingest")
        if self.progress:
            self.thread = threading.Thread(target=self._watch, daemon=True)
            self.thread.start()
        return self

    def _watch(self) -> None:
        tracker = self.spark.sparkContext.statusTracker()
        store = self.spark.sparkContext._jsc.sc().statusStore()
        files, size = sum(self.files), sum(self.sizes)
        while not self.stop.wait(0.5):
            done = 0
            for job in tracker.getJobIdsForGroup(self.group):
                for stage in info.stageIds if (info := tracker.getJobInfo(job)) else ():
                    running = tracker.getStageInfo(stage)
                    if running and running.numTasks == len(self.files):
                        done = max(done, running.numCompletedTasks)
                        with contextlib.suppress(Exception):
                            # A stage may have gone since.
                            self.records = max(self.records, store.lastStageAttempt(stage).outputRecords())
            share = done / max(1, len(self.files))
            self.progress(round(files * share), files, round(size * share), size, self.records, time.monotonic() - self.began)

    def __exit__(self, *error: object) -> None:
        self.stop.set()
        if self.progress:
            self.thread.join()


def count_batch(spark: SparkSession, warehouse: str, batch_id: int) -> dict[str, tuple[int, int, int, str | None]]:
    """By source: (records, recognised, end offset, why it was cut) of what a batch has brought."""
    spark.read.format("delta").load(f"{warehouse}/bronze/log_records").createOrReplaceTempView("_log_records")
    rows = spark.sql(
        f"select source_id, count_if(outcome <> '{CUT}') as records, count_if(outcome = '{RECOGNISED}') as recognised,"
        f" max(byte_offset + byte_length) as end_offset, max(case when outcome = '{CUT}' then body end) as fault"
        f" from _log_records where batch_id = {int(batch_id)} group by source_id"
    ).collect()
    return {row.source_id: (row.records, row.recognised, row.end_offset, row.fault) for row in rows}


def source_rows(
    sources: list[Source],
    counted: dict[str, tuple[int, int, int, str | None]],
    written: dict[str, tuple[str, int | None]],
    batch_id: int,
    now: dt.datetime,
) -> list[tuple[object, ...]]:
    """Rows of `bronze.sources` for every file of which something new is to be said."""
    rows = []
    for source in sources:
        path = str(Path(source.path).resolve())
        reads = source.outcome == TO_READ
        records, recognised, end, fault = counted.get(source.source_id, (0, 0, source.start, None)) if reads else (0, 0, 0, None)
        fault = fault or (TORN if reads and source.ends_torn else None)
        outcome = "cut" if fault else source.outcome
        unread = source.compressed and reads and not has_more(source, written)
        if unread or (not records and written.get(path) == (outcome, source.disk_size)):
            continue
        rows.append(
            (
                source.cluster_id,
                source.source_id or None,
                path,
                batch_id,
                now,
                source.kind,
                source.envelope,
                source.node_id,
                source.node_known_by,
                source.zones[-1][1] if source.zones else None,
                source.zone_known_by,
                source.fingerprint() if source.head else None,
                len(source.head),
                tail_hash(source.path, end) if reads else None,
                source.disk_size,
                source.start,
                end if reads else None,
                records,
                recognised,
                outcome,
                fault or source.reason,
                list(source.warnings),
                source.compressed,
                dt.datetime.fromtimestamp(source.modified, dt.UTC) if source.modified else None,
            )
        )
    return rows


def append_sources(spark: SparkSession, warehouse: str, rows: list[tuple[object, ...]]) -> None:
    """Append rows to `bronze.sources`."""
    append(spark.createDataFrame(rows, SOURCES).coalesce(1), warehouse, "sources")
