"""`chronicle ingest`: raw evidence to bronze, exactly once.

The state is the data: `bronze.sources` says up to where each file has been read, and comes with the records in one batch,
so a killed run leaves nothing half done and there is no checkpoint to lose.
"""

from __future__ import annotations

import datetime as dt
import heapq
import os
import re
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ingestion.bronze import write
from ingestion.bronze.capture_rows import ROW_COLUMNS, SAMPLE_COLUMNS, read_capture
from ingestion.bronze.log_records import COLUMNS, Cache, Counted, Task, read_tasks
from ingestion.bronze.write import TIME, Added, Columns, schema_of
from ingestion.captures import is_of_node
from ingestion.reading.files import fault_of, readable
from ingestion.reading.zones import zone_of
from ingestion.records.patterns import compile_pattern
from ingestion.sources import archives, earlier
from ingestion.sources.owners import layout_for
from ingestion.sources.seen import Seen
from ingestion.sources.sources import (
    BINARY,
    COPY,
    EMPTY,
    FAILED,
    MISSING,
    REFUSED,
    TO_READ,
    UNKNOWN,
    UNREADABLE,
    Layout,
    Source,
    find_files,
    identify,
    inspect,
    may_grow,
    resolve_nodes,
    resolve_zones,
)
from ingestion.sources.sources import replace as with_changes
from ingestion.warehouse import Warehouse, only_writer

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

# Called while Spark reads: files, all files, bytes, all bytes, records, seconds.
Progress = Callable[[int, int, int, int, int, float], None]
# One commit holds at most this much, so that a kill loses little of a long run.
COMMIT_BYTES = 4 << 30
# One task reads about this much: enough to outweigh its start, small enough to share the work out.
TASK_BYTES = 24 << 20

# A log may rotate between the look at it and its reading, and once more before the next.
MOST_LOOKS = 4

TORN = "ends in the middle of a line, which is loaded as it is"

CLUES = pa.struct(
    [
        ("root", pa.string()),
        ("path_node", pa.int32()),
        ("is_said_of_file", pa.bool_()),
        ("host", pa.string()),
        ("nodes", pa.list_(pa.int32())),
        ("members", pa.list_(pa.int32())),
        ("hosts", pa.list_(pa.struct([("host", pa.string()), ("node_id", pa.int32())]))),
        ("doubts", pa.list_(pa.string())),
    ]
)
SOURCE_COLUMNS: Columns = [
    ("cluster_id", pa.string(), "cluster, as it was called when the file was ingested"),
    ("source_id", pa.string(), "file, whatever its name: known by its first bytes; null where it is no log"),
    ("source_path", pa.string(), "path of the file"),
    ("batch_id", pa.int64(), "ingestion that says this"),
    ("ingested_at", TIME, "when it says so, UTC"),
    ("kind", pa.string(), "what the file is, by its content"),
    ("layout", pa.string(), "how its records are framed (catalogue/envelopes.yml)"),
    ("node_id", pa.int32(), "node that wrote the first record read"),
    ("last_node_id", pa.int32(), "node that wrote the last record read"),
    ("node_known_by", pa.string(), "content, host (named in the text), path, folder or name"),
    ("zone", pa.string(), "time zone of its local times"),
    ("zone_known_by", pa.string(), "given, evidence (in its folder), cluster or default"),
    ("fingerprint", pa.string(), "SHA-256 of cluster, node and first bytes"),
    ("fingerprint_length", pa.int32(), "how many first bytes that is"),
    ("tail_hash", pa.string(), "SHA-256 of the last bytes read"),
    ("size_bytes", pa.int64(), "size on disk, bytes"),
    ("start_offset", pa.int64(), "from which byte this ingestion read"),
    ("end_offset", pa.int64(), "up to which byte it has been read"),
    ("records", pa.int64(), "records that this ingestion brought"),
    ("recognised", pa.int64(), "how many of them have an event type"),
    ("outcome", pa.string(), "read, copy, cut, empty, binary, unknown, unreadable, refused, missing or failed"),
    ("reason", pa.string(), "why it was not read, or not to its end"),
    ("warnings", pa.list_(pa.string()), "what is doubtful about node or time zone"),
    ("is_compressed", pa.bool_(), "whether it is a gzip"),
    ("modified_at", TIME, "last change of the file, UTC"),
    ("clues", CLUES, "what the file and its path tell of nodes, for files that say less"),
]
TABLES: dict[str, tuple[Columns, str]] = {
    "log_records": (COLUMNS, "One row per log record, which is a line with all its continuation lines."),
    "capture_rows": (ROW_COLUMNS, "One row per thing that a capture states: a pause, a thread, a partition of a describe …"),
    "metric_samples": (SAMPLE_COLUMNS, "One row per metric, labels, attribute and time."),
    "sources": (SOURCE_COLUMNS, "One row per file and ingestion that found something to say about it."),
}


@dataclass
class Options:
    """What `chronicle ingest` was asked for.  `settled_after`: seconds without change after which a file counts as complete."""

    paths: list[str]
    cluster: str | None = None
    node: int | None = None
    layout: str | None = None
    timezone: str | None = None
    settled_after: float = 60.0
    pattern: str | None = None


@dataclass
class Outcome:
    """What an ingestion did: what became of each file, bytes and records that are new, and what went wrong where.

    `states`: by path; `changed`: files that turned into others while they were read; `failed`: that met a fault of our own; `nodeless`: captures
    of nodes that are not known; `owned_now`: earlier captures that have another node now.
    """

    batch_id: int | None = None
    states: dict[str, list[str]] = field(default_factory=dict)
    bytes_read: int = 0
    records: int = 0
    recognised: int = 0
    read_seconds: float = 0.0
    rows_written: int = 0
    waiting: int = 0
    faults: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    clusters: set[str] = field(default_factory=set)
    nodeless: list[str] = field(default_factory=list)
    owned_now: int = 0

    @property
    def files(self) -> dict[str, int]:
        """Files by what became of them: `new`, `unchanged`, or their outcome."""
        return dict(Counter(state for states in self.states.values() for state in states))

    def add(self, source: Source, count: Counted, is_held: bool) -> None:
        """Count a file and what it gave."""
        is_read = source.outcome == TO_READ
        state_of = source.outcome if not is_read else "new" if count.records else "unchanged"
        self.states.setdefault(source.shown, []).append(state_of)
        self.records += count.records
        self.recognised += count.recognised
        self.bytes_read += count.end - source.start if count.records else 0
        self.waiting += is_held and is_read and source.size is not None and count.end < source.size
        if fault := count.fault or count.failed:
            self.faults.append(f"{source.shown}: cut: {fault}; read up to byte {count.end}")
        if count.changed:
            self.changed.append(source.shown)
        if count.failed or source.outcome == FAILED:
            self.failed.append(source.shown)

    def followed_by(self, later: Outcome) -> Outcome:
        """This and another look at the same files as one outcome."""
        seen_before = {path: states for path, states in self.states.items() if "new" in states}
        return replace(
            later,
            batch_id=later.batch_id or self.batch_id,
            states=later.states | {path: states for path, states in seen_before.items() if "new" not in later.states.get(path, [])},
            bytes_read=self.bytes_read + later.bytes_read,
            records=self.records + later.records,
            recognised=self.recognised + later.recognised,
            read_seconds=self.read_seconds + later.read_seconds,
            rows_written=self.rows_written + later.rows_written,
            faults=list(dict.fromkeys(self.faults + later.faults)),
            failed=list(dict.fromkeys(self.failed + later.failed)),
            clusters=self.clusters | later.clusters,
            owned_now=self.owned_now + later.owned_now,
        )


def ingest(
    start: Callable[[], SparkSession],
    warehouse: str,
    options: Options,
    tell: Callable[[str], None] = print,
    progress: Progress | None = None,
) -> Outcome:
    """Read what is new below the given paths into `bronze.log_records` and `bronze.sources`.

    `start` gives the session, where there is something to read.  A file that turns into another one between the look at it and its reading
    (logs rotate) is looked at again.  Raises ValueError for options that cannot be, FileNotFoundError where there is nothing to read, Busy
    where another process writes to the warehouse.
    """
    if options.timezone:
        zone_of(options.timezone)
    if options.pattern:
        compile_pattern(options.pattern)
    must_exist(options.paths)
    place = Warehouse.at(warehouse)
    outcome = Outcome()
    with only_writer(place), Spool(place.work / "members") as spool:
        for _ in range(MOST_LOOKS):
            past = state(place.root, tell)
            seen = Seen(place.work / "seen")
            found = look(options, warehouse, spool, past, seen)
            outcome = outcome.followed_by(take_in(start, place.root, found, past, options, progress, seen))
            if not outcome.changed:
                break
    for fault in outcome.faults:
        tell(fault)
    if outcome.changed:
        tell(f"{len(outcome.changed)} files changed while they were read, for example {outcome.changed[0]}; the next run reads the rest")
    return outcome


def must_exist(paths: list[str]) -> None:
    """Raises FileNotFoundError where none of the paths is there."""
    if not any(os.path.exists(path) for path in paths):
        raise FileNotFoundError(f"no such file or folder: {', '.join(paths)}; give the folder that holds the logs")


def take_in(
    start: Callable[[], SparkSession],
    warehouse: str,
    found: list[Source],
    past: earlier.Past,
    options: Options,
    progress: Progress | None,
    seen: Seen,
) -> Outcome:
    """Append what is new in the files that were found; the caller holds the warehouse."""
    began = time.monotonic()
    # Whole milliseconds, as Delta's statistics have them.
    now = dt.datetime.fromtimestamp(time.time_ns() // 1_000_000 / 1000, dt.UTC)
    # A batch that was undone has left no row, but tables do not take its number twice.
    batch_id = max(write.last_batch(f"{warehouse}/bronze/{table}") for table in TABLES) + 1
    written = past.written()
    owners = earlier.second_look(found, past)
    sources = identify(past.kept(found), past.known(owners))
    held = {source.path for source in sources if may_grow(source, time.time(), options.settled_after)}
    outcome = Outcome(
        faults=faults(sources, held), clusters={source.cluster_id for source in sources}, nodeless=nodeless(sources), owned_now=len(owners)
    )
    due = [source for source in sources if has_more(source, written)]
    not_to_its_end = set(held)
    # What is not read is told with the first portion.
    others = [(source, Counted(end=source.start)) for source in sources if not has_more(source, written)]
    looked_at = earlier.rows_of(owners, past, batch_id, now)
    for portion in portions(due) if due else [[]]:
        added, counted = {}, {}
        if portion:
            spark = start()
            cores = spark.sparkContext.defaultParallelism
            shares = [[task_of(portion[n], portion[n].path in held, batch_id, now) for n in share] for share in bins(portion, cores)]
            added, counted = read_shares(spark, warehouse, shares, progress)
        told = [(source, counted[source.source_id]) for source in portion] + others
        rows = [row for source, count in told if (row := source_row(source, count, past, written, batch_id, now))] + looked_at
        if rows:
            write.commit_batch(warehouse, batch_id, added | {"sources": [write_sources(warehouse, rows)]})
            outcome.batch_id = batch_id
        for source, count in told:
            outcome.add(source, count, source.path in held)
            if count.fault or count.failed or count.changed:
                not_to_its_end.add(source.path)
        outcome.rows_written += len(rows)
        others, looked_at, batch_id = [], [], batch_id + 1
    seen.keep(options.paths, sources, not_to_its_end)
    outcome.read_seconds = time.monotonic() - began
    return outcome


def has_more(source: Source, written: dict[str, tuple[str, int | None]]) -> bool:
    """Whether a source may hold bytes that have not been read; a gzip does not tell, unless it is as it was."""
    if source.outcome != TO_READ:
        return False
    if source.size is None:
        return written.get(source.shown) not in ((TO_READ, source.disk_size), ("cut", source.disk_size))
    return source.start < source.size


def faults(sources: list[Source], held: set[str]) -> list[str]:
    """One line for every file that could not be read as a log; those of no known layout are only counted.  `held`: paths of files that may
    still grow."""
    out = []
    for source in sources:
        if source.outcome in (MISSING, EMPTY, BINARY, UNREADABLE, REFUSED, FAILED):
            out.append(f"{source.shown}: {source.outcome}: {source.reason}")
        elif source.outcome == TO_READ and source.ends_torn and source.path not in held:
            out.append(f"{source.shown}: cut: {TORN}")
    unknown = sum(source.outcome == UNKNOWN for source in sources)
    if unknown:
        out.append(f"{unknown} files of no known layout are left out; marts.fct_sources lists them with the reason")
    if not any(source.outcome in (TO_READ, COPY) for source in sources):
        out.append("no logs of Kafka or ZooKeeper among the files")
    return out


def nodeless(sources: list[Source]) -> list[str]:
    """Captures that speak of a node of which nothing says which it is."""
    return [
        source.shown
        for source in sources
        if source.outcome == TO_READ and source.node_id is None and source.capture and is_of_node(source.capture)
    ]


def nodeless_said(paths: list[str]) -> str:
    """How many captures have no node, one of them, and how to say it."""
    example = next((path for path in paths if layout_for(os.path.basename(path))), paths[0])
    layout = layout_for(os.path.basename(example))
    count = f"{len(paths):,} capture{'s have' if len(paths) > 1 else ' has'} no node, for example {example}"
    if layout is None:
        return f"{count}; say it with --node for a folder of one node, or with a layout like '**/{{kind}}-broker-{{node}}.txt'"
    return f"{count}; where its number is the node's, say --layout '{layout}' (or --node for a folder of one node)"


def look(options: Options, warehouse: str, spool: Spool, past: earlier.Past | None = None, seen: Seen | None = None) -> list[Source]:
    """Every file below the given paths, and in archives, inspected, with its cluster, node and time zone; one that is as it was is not opened.
    `past`: what earlier runs found."""
    seen = seen or Seen()
    layout = Layout(options.layout) if options.layout else None
    sources: list[Source] = []
    for given_root in options.paths:
        root = readable(os.path.realpath(given_root))
        files = [(path, below(path, given_root)) for path in find_files(given_root, warehouse)]
        known = archives.bundle_of(relative for _, relative in files)
        for path, relative in files:
            place = where(relative, root, options, layout, known)
            given = (folder_of(os.path.dirname(path)), place.cluster, place.node, options.pattern)
            source = seen.find(path, given)
            if source is None and os.path.isfile(path) and os.access(path, os.R_OK) and archives.is_bundle(path):
                sources += look_into(path, root, options, layout, spool)
                continue
            sources.append(placed(source or seen.note(path, given, inspect(path, *given)), root, place))
    before = past.by_place({source.cluster_id for source in sources}) if past else {}
    sources = [earlier.from_above(source, before.get((source.cluster_id, source.shown))) for source in sources]
    return resolve_zones(resolve_nodes(sources, tuple(before.values())), options.timezone)


def below(path: str, root: str) -> str:
    """A path as seen from the folder that was given."""
    return readable(os.path.relpath(path, root) if path != root else os.path.basename(path))


def placed(source: Source, root: str, place: archives.Place) -> Source:
    """A source with the path that was given, resolved, and what its place says beside cluster and node."""
    return with_changes(source, root=root, host=source.host or place.host, is_said_of_file=place.is_of_file)


def look_into(archive: str, root: str, options: Options, layout: Layout | None, spool: Spool) -> list[Source]:
    """The members of an archive, inspected as files; what was refused of it says why."""
    shown = readable(os.path.realpath(archive))
    kept: list[tuple[str, str | None, archives.Member | archives.Refused]] = []
    try:
        for member in archives.members(archive):
            kept.append((readable(member.path), spool.keep(member) if isinstance(member, archives.Member) else None, member))
    except Exception as error:  # one archive's fault must not stop the other files
        kept.append(("", None, archives.Refused("", fault_of(error))))
    known = archives.bundle_of(path for path, _, _ in kept)
    out = []
    for path, copy, member in kept:
        place = where(path, root, options, layout, known)
        name = f"{shown}/{path}" if path else shown
        if copy is None or isinstance(member, archives.Refused):
            reason = member.reason if isinstance(member, archives.Refused) else ""
            out.append(Source(path=shown, shown=name, folder=shown, cluster_id=place.cluster, outcome=REFUSED, reason=reason))
        else:
            source = inspect(copy, os.path.dirname(name), place.cluster, place.node, options.pattern, name)
            out.append(with_changes(placed(source, root, place), is_whole=True))
    return out


def where(
    relative: str, root: str, options: Options, layout: Layout | None, known: tuple[archives.Bundle, str | None] | None
) -> archives.Place:
    """Cluster, node and host of a path: as told, by `--layout`, by what is known of the bundle, else the cluster by the folder's or
    archive's name."""
    place = archives.place_of(known, relative) if layout is None else None
    if layout is not None:
        cluster, node = layout.read(relative)
        place = archives.Place("layout", cluster, node, layout.parts(relative).get("host"), layout.names_files and node is not None)
    place = place or archives.Place("folder")
    node = options.node if options.node is not None else place.node
    return replace(place, cluster=options.cluster or place.cluster or name_of(root), node=node)


@lru_cache(maxsize=64)
def name_of(root: str) -> str:
    """The name of a folder or archive, without what says that it is one."""
    return re.sub(r"\.(?:tar(?:\.\w+)?|tgz|txz|tbz2?|zip)$", "", os.path.basename(root))


@lru_cache(maxsize=64)
def folder_of(name: str) -> str:
    """A folder's path in its shortest form."""
    return str(Path(name))


class Spool:
    """A private folder for the members of archives, one after the other under numbers, gone when the run ends."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0

    def __enter__(self) -> Spool:
        shutil.rmtree(self.folder, ignore_errors=True)
        return self

    def keep(self, member: archives.Member) -> str:
        """Where the bytes of a member lie now."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.count += 1
        path = self.folder / str(self.count)
        with path.open("wb") as file:
            shutil.copyfileobj(member.open(), file, 1 << 20)
        at = member.modified_at.timestamp() if member.modified_at else 0
        os.utime(path, (at, at))
        return str(path)

    def __exit__(self, *error: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def state(warehouse: str, tell: Callable[[str], None]) -> earlier.Past:
    """What earlier runs found, read from the data itself: `bronze.sources` says how far each file has been read.

    Makes the tables where there are none, and completes a run that was killed.
    """
    for table, (columns, comment) in TABLES.items():
        write.create(f"{warehouse}/bronze/{table}", columns, comment)
    for line in write.complete(warehouse):
        tell(line)
    return earlier.Past(write.rows(f"{warehouse}/bronze/sources", "batch_id", "source_path"))


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
    return (source.disk_size or 0) * 8 if source.size is None else source.size - source.start


def task_of(source: Source, holds_last: bool, batch_id: int, now: dt.datetime) -> Task:
    """What a worker needs to read one source."""
    return Task(
        cluster_id=source.cluster_id,
        source_id=source.source_id,
        path=os.path.realpath(source.path),
        start=source.start,
        end=-1 if source.size is None else source.size,
        holds_last=holds_last,
        envelope=source.envelope or "",
        node_id=source.node_id,
        node_known_by=source.node_known_by,
        takes_nodes=source.takes_nodes,
        zones=source.zones,
        zone_known_by=source.zone_known_by,
        batch_id=batch_id,
        ingested_at=now,
        wrappers=source.wrappers,
        pattern=source.pattern,
        capture=source.capture,
        modified_at=changed_at(source),
        shown=source.shown,
        expected=source.expected,
    )


def changed_at(source: Source) -> dt.datetime | None:
    """When a file was last changed; None where its file system says a year that there is not."""
    try:
        return dt.datetime.fromtimestamp(source.modified, dt.UTC) if source.modified else None
    except (ValueError, OverflowError, OSError):
        return None


def bins(sources: list[Source], cores: int) -> list[list[int]]:
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


# Shapes that this worker has recognised; one process works through many shares.
_shapes: Cache = {}


def write_share(tasks: list[Task], bronze: str, watch: Watch) -> tuple[dict[str, Added], dict[str, Counted]]:
    """Read some sources into one Parquet file for each table that they have rows for."""
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
        self.files, self.bytes, self.records = (context.accumulator(0) for _ in range(3))
        self.all_files, self.all_bytes = len(tasks), sum(task.end - task.start for task in tasks if task.end >= 0)
        self.progress = progress

    def __getstate__(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in ("files", "bytes", "records")}

    def tell(self, tasks: list[Task], counted: dict[str, Counted]) -> None:
        """Add what a worker has read."""
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
        size = max(self.all_bytes, self.bytes.value)
        self.progress(self.files.value, self.all_files, self.bytes.value, size, self.records.value, time.monotonic() - self.began)

    def __exit__(self, *error: object) -> None:
        if self.progress:
            self.stop.set()
            self.thread.join()
            self._show()


def source_row(
    source: Source, count: Counted, past: earlier.Past, written: dict[str, tuple[str, int | None]], batch_id: int, now: dt.datetime
) -> dict[str, object] | None:
    """The row of `bronze.sources` for a file; None where nothing new is to be said of it."""
    is_read = source.outcome == TO_READ
    if count.changed and not count.records:
        # Nothing of what was looked at has been read.
        return None
    fault = count.fault or count.failed or (TORN if is_read and source.ends_torn and count.end == source.size else None)
    outcome = "cut" if fault else source.outcome
    unread = source.compressed and is_read and not has_more(source, written)
    is_as_it_was = unread or (not count.records and written.get(source.shown) == (outcome, source.disk_size))
    if is_as_it_was and not (is_read and past.has_other_owner(source)):
        return None
    return {
        "cluster_id": source.cluster_id,
        "source_id": source.source_id or None,
        "source_path": source.shown,
        "batch_id": batch_id,
        "ingested_at": now,
        "kind": source.kind,
        "layout": source.layout,
        "node_id": source.node_id,
        "last_node_id": count.last_node if count.records else source.node_id,
        "node_known_by": source.node_known_by,
        "zone": source.zones[-1][1] if source.zones else None,
        "zone_known_by": source.zone_known_by,
        "fingerprint": source.fingerprint() if source.head else None,
        "fingerprint_length": len(source.head),
        "tail_hash": (count.tail_hash or source.tail_hash) if is_read else None,
        "size_bytes": source.disk_size,
        "start_offset": source.start,
        "end_offset": count.end if is_read else None,
        "records": count.records,
        "recognised": count.recognised,
        "outcome": outcome,
        "reason": fault or source.reason,
        "warnings": [*source.warnings, *sorted(count.doubts)],
        "is_compressed": source.compressed,
        "modified_at": changed_at(source),
        "clues": earlier.clues_of(source),
    }


def write_sources(warehouse: str, rows: list[dict[str, object]]) -> Added:
    """Rows of `bronze.sources` as a file."""
    file = write.File(f"{warehouse}/bronze/sources", schema_of(SOURCE_COLUMNS))
    file.write(pa.RecordBatch.from_pylist(rows, schema=schema_of(SOURCE_COLUMNS)))
    return file.close()
