"""`chronicle ingest`: raw evidence to bronze, exactly once.

The data is the state: `bronze.sources` says how far each file has been read and is committed in the same batch as the records,
so a killed run leaves nothing half done and there is no checkpoint to lose.

A file goes through five stages: found, inspected, placed, identified (`sources.stages`), read (`bronze.tasks`).
"""

from __future__ import annotations

import contextlib
import datetime as dt
import gc
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from itertools import chain, groupby
from typing import TYPE_CHECKING

import pyarrow as pa

from ingestion.bronze import write
from ingestion.bronze.capture_rows import ROW_COLUMNS, SAMPLE_COLUMNS
from ingestion.bronze.log_records import COLUMNS
from ingestion.bronze.named import Named, name_writers
from ingestion.bronze.pieces import whole_end
from ingestion.bronze.shares import Progress, inspect_all, portions, read_portion
from ingestion.bronze.source_rows import SOURCE_COLUMNS, in_batches, source_row, write_sources
from ingestion.bronze.tasks import Counted, Read, task_of, writer_of
from ingestion.bronze.write import Columns
from ingestion.delta_files import Added
from ingestion.freed import give_back
from ingestion.outcome import Outcome, Seconds, faults
from ingestion.reading import objects
from ingestion.reading.files import exists
from ingestion.reading.objects import is_service
from ingestion.sources import earlier, kept, said, services
from ingestion.sources.discover import Options, below, discover, located, members
from ingestion.sources.identify import identify, is_in_the_making, may_grow, unread
from ingestion.sources.inspect import inspect
from ingestion.sources.resolve import place
from ingestion.sources.said import Reported
from ingestion.sources.seen import Seen
from ingestion.sources.spool import Spool
from ingestion.sources.stages import TO_READ, Found, Identified, Inspected, Placed
from ingestion.warehouse import Warehouse, only_writer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A log may rotate between its inspection and its reading, and once more before the next attempt.
MOST_LOOKS = 4
TABLES: dict[str, tuple[Columns, str]] = {
    "log_records": (COLUMNS, "One row per log record, which is a line with all its continuation lines."),
    "capture_rows": (ROW_COLUMNS, "One row per item that a capture states: a pause, a thread, a partition of a describe …"),
    "metric_samples": (SAMPLE_COLUMNS, "One row per metric, labels, attribute and time."),
    "sources": (SOURCE_COLUMNS, "One row per file and ingestion that found something to say about it."),
}


def ingest(
    start: Callable[[], SparkSession],
    warehouse: str,
    options: Options,
    tell: Callable[[str], None] = print,
    progress: Progress | None = None,
) -> Outcome:
    """Read what is new below the given paths into the tables of bronze.

    `start` gives the session if there is something to read.  A file that becomes another one between its inspection and its reading
    (logs rotate) is inspected again.  Raises ValueError for invalid options, FileNotFoundError if none of the paths exists, Busy
    if another process writes to the warehouse.
    """
    options.check()
    must_exist(options.paths)
    at = Warehouse.at(warehouse)
    outcome = Outcome()
    with only_writer(at) as must_hold, Spool(at.work / "members", at.is_local) as spool, without_collections():
        for _ in range(MOST_LOOKS):
            loading = Loading(at, options, start, must_hold, spool, progress, Seconds())
            outcome = outcome.followed_by(loading.run(tell))
            if not outcome.changed:
                break
    give_back()
    for fault in outcome.faults:
        tell(fault)
    if outcome.changed:
        tell(f"{len(outcome.changed)} files changed while they were read, for example {outcome.changed[0]}; the next run reads the rest")
    return outcome


@contextlib.contextmanager
def without_collections() -> Iterator[None]:
    """Turn off Python's cyclic garbage collection: for 260,000 files some millions of objects are alive, none of them in a cycle, and scanning them
    again and again takes a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def must_exist(paths: list[str]) -> None:
    """Raises FileNotFoundError if none of the paths exists."""
    if not any(is_service(path) or exists(objects.plain(path)) for path in paths):
        raise FileNotFoundError(f"no such file or folder: {', '.join(paths)}; use the folder that holds the logs")


def look(
    options: Options,
    warehouse: str,
    spool: Spool,
    past: earlier.Past | None = None,
    seen: Seen | None = None,
    start: Callable[[], SparkSession] | None = None,
    seconds: Seconds | None = None,
) -> Iterator[list[Placed]]:
    """Every file below the given paths, and in archives, with its kind, node and time zone, cluster by cluster; an unchanged file is not opened, and
    a cluster whose files are all unchanged is skipped.  `past`: what earlier runs found; `start` gives the session that inspects many files;
    `seconds` collects the time that each part took."""
    seen, seconds = seen or Seen(), Seconds() if seconds is None else seconds
    clusters: dict[str, list[Found]] = {}
    with seconds.of("list"):
        discovered = discover(options, warehouse, past.passes_by) if past else discover(options, warehouse)
        for found in chain(discovered, from_services(options, spool, past)):
            clusters.setdefault(found.cluster_id, []).append(found)
        as_they_were = {name for name, files in clusters.items() if past and seen.pass_by(name, files, options, past)}
    with seconds.of("inspect"):
        new = looked_at(
            [found for name, files in clusters.items() if name not in as_they_were for found in files], options, spool, seen, start
        )
        # An archive may hold files of a skipped cluster, which then is looked at after all.
        for name in sorted(as_they_were & new.keys()):
            del seen.passed[name]
            as_they_were.remove(name)
            for cluster, some in looked_at(clusters[name], options, spool, seen, start).items():
                new.setdefault(cluster, {}).update(some)
    # One cluster at a time: all files of a large fleet would take gigabytes.
    for name in [*clusters, *(name for name in new if name not in clusters)]:
        files = clusters.pop(name, [])
        if name in as_they_were:
            continue
        with seconds.of("inspect"):
            sources = together(files, new.pop(name, {}), options, seen)
        with seconds.of("place"):
            before = past.of(name).files if past else {}
            placed = place([earlier.from_above(source, before) for source in sources], before.values(), options.timezone)
        del files, sources, before
        if placed:
            yield placed


def looked_at(
    files: list[Found], options: Options, spool: Spool, seen: Seen, start: Callable[[], SparkSession] | None
) -> dict[str, dict[str, list[Inspected]]]:
    """The files that are not known, inspected: by cluster, and by the path at which they were found, that of the archive for its members.  A path
    that was looked at has a list, even if it is an archive without files of the cluster."""
    out: dict[str, dict[str, list[Inspected]]] = {}
    for found, source in inspect_all([found for found in files if not seen.knows(found, options.pattern)], options.pattern, start):
        out.setdefault(found.cluster_id, {}).setdefault(found.path, [])
        here = [seen.note(source)] if source else [inspect(member, options.pattern) for member in members(found, options, spool)]
        for one in here:
            out.setdefault(one.cluster_id, {}).setdefault(found.path, []).append(one)
    return out


def together(files: list[Found], new: dict[str, list[Inspected]], options: Options, seen: Seen) -> list[Inspected]:
    """The files of a cluster: those that are known, and those that were inspected, in order; what is in archives of other clusters comes last."""
    out: list[Inspected] = []
    for found in files:
        if found.path in new:
            out += new[found.path]
            new[found.path] = []
        else:
            out.append(seen.find(found, options.pattern) or seen.note(inspect(found, options.pattern)))
    return [*out, *chain.from_iterable(new.values())]


def from_services(options: Options, spool: Spool, past: earlier.Past | None) -> Iterator[Found]:
    """What topics and other services have that no earlier run has read, as files."""

    def whole(found: Found) -> int:
        source = inspect(found, options.pattern)
        if source.outcome != TO_READ or source.capture is not None:
            return source.size or 0
        [placed] = place([source], timezone=options.timezone)
        return whole_end(task_of(unread(placed), True, 0, dt.datetime.now(dt.UTC)))

    for given in filter(is_service, options.paths):
        for found in services.new(given, past.names if past else [], options.settled_after, spool, whole):
            yield located(found, below(found.shown, found.root), options, None)


@dataclass(frozen=True)
class Loading:
    """An ingestion that holds the warehouse's lock.  `must_hold` raises Busy once the lock is lost; `start` gives the session if there is something
    to read; `seconds` collects the time that each part took."""

    at: Warehouse
    options: Options
    start: Callable[[], SparkSession]
    must_hold: Callable[[], None]
    spool: Spool
    progress: Progress | None
    seconds: Seconds

    def run(self, tell: Callable[[str], None]) -> Outcome:
        """Look at all files and read what is new."""
        with self.seconds.of("earlier runs"):
            past, seen = state(self.at, tell), Seen(self.at.work / "seen")
        return take_in(self, look(self.options, self.at.root, self.spool, past, seen, self.start, self.seconds), past, seen)

    def read(
        self, portion: list[Identified], held: Collection[str], batch_id: int, now: dt.datetime
    ) -> tuple[dict[str, list[Added]], list[Read]]:
        """Read some files: the Parquet files that were written, by table, and what each source gave."""
        if not portion:
            return {}, []
        with self.seconds.of("start Spark"):
            spark = self.start()
        with self.seconds.of("read"):
            return read_portion(spark, self.at.root, portion, held, batch_id, now, self.spool, self.progress)

    def commit(self, batch_id: int, files: dict[str, list[Added]], rows: list[pa.RecordBatch]) -> None:
        """Commit the written files together with their rows of `sources`."""
        self.must_hold()
        with self.seconds.of("commit"):
            write.commit_batch(self.at.root, batch_id, files | {"sources": [write_sources(self.at.root, rows)]})


@dataclass
class Due:
    """What is to be done about the clusters that were looked at so far.  `sources`: files with something to read; `held`: paths of files that may
    still grow; `rows`: of `bronze.sources`, about files that are not read; `named`: processes whose node is known now; `reported`: what is said of all files, before any is read."""

    loading: Loading
    batch_id: int
    now: dt.datetime
    sources: list[Identified] = field(default_factory=list)
    held: set[str] = field(default_factory=set)
    rows: list[pa.RecordBatch] = field(default_factory=list)
    named: list[Named] = field(default_factory=list)
    reported: Reported = field(default_factory=Reported)

    def add(self, found: list[Placed], past: earlier.OfCluster, seen: Seen, outcome: Outcome) -> None:
        """Look at the files of one cluster.  `outcome` counts those that are not read."""
        cluster, settled_after = found[0].cluster_id, self.loading.options.settled_after
        owned, named = earlier.second_look(found, past), earlier.named_now(found, past)
        in_the_making = {source.path for source in found if is_in_the_making(source, time.time(), settled_after)}
        sources = identify(past.kept(found), past.known(owned), in_the_making)
        held = {source.path for source in sources if may_grow(source, time.time(), settled_after)}
        others: list[Read] = []
        for source in sources:
            self.reported.add(source.shown, source.outcome, said.fault(source, source.path in held), said.is_nodeless(source))
            if past.has_more_of(source):
                self.sources.append(source)
                continue
            others.append(Read(source, Counted(end=source.start)))
            outcome.add(others[-1], source.path in held)
        self.held |= held
        rows = (source_row(read, past, self.batch_id, self.now) for read in others)
        self.rows += in_batches(
            chain(
                filter(None, rows),
                earlier.rows_of(owned, past.captures, self.batch_id, self.now),
                earlier.rows_of(named, past.nodeless_logs, self.batch_id, self.now),
            )
        )
        self.named += [Named(cluster, writer_of(path), owner) for path, owner in named.items()]
        outcome.clusters.add(cluster)
        outcome.owned_now += len(owned) + len(named)
        outcome.waiting += len(found) - len(sources)
        seen.settle(cluster, self.loading.options.paths, sources, held)


def take_in(loading: Loading, clusters: Iterator[list[Placed]], past: earlier.Past, seen: Seen) -> Outcome:
    """Read and append what is new in the inspected files."""
    # Whole milliseconds, as Delta's statistics have them.
    now = dt.datetime.fromtimestamp(time.time_ns() // 1_000_000 / 1000, dt.UTC)
    # An undone batch has no rows left, but the tables do not take its number a second time.
    batch_id = max(write.last_batch(f"{loading.at.root}/bronze/{table}") for table in TABLES) + 1
    outcome, due = Outcome(seconds=loading.seconds), Due(loading, batch_id, now)
    for found in clusters:
        with loading.seconds.of("identify"):
            due.add(found, past.of(found[0].cluster_id), seen, outcome)
    report(outcome, due.reported, past, seen)
    if due.named:
        loading.must_hold()
        name_writers(f"{loading.at.root}/bronze/log_records", due.named)
    rows, cut = due.rows, list[Identified]()
    for portion in portions(due.sources) if due.sources else [[]]:
        added, reads = loading.read(portion, due.held, batch_id, now)
        rows += in_batches(rows_of_reads(reads, past, batch_id, now))
        if rows:
            loading.commit(batch_id, added, rows)
            outcome.batch_id = batch_id
        for read in reads:
            outcome.add(read, read.source.path in due.held)
            if read.count.fault or read.count.failed or read.count.changed:
                cut.append(read.source)
        outcome.rows_written += sum(batch.num_rows for batch in rows)
        rows, batch_id = [], batch_id + 1
    seen.keep(cut)
    return outcome


def report(outcome: Outcome, reported: Reported, past: earlier.Past, seen: Seen) -> None:
    """Note what is known before anything was read.  `reported`: of the files that were looked at."""
    passed = Reported(Counter({TO_READ: past.passed.total()}))
    for other in seen.passed.values():
        passed.extend(other)
    outcome.passed_by = passed.outcomes
    outcome.clusters |= past.passed.keys() | seen.passed.keys()
    reported.extend(passed)
    outcome.faults, outcome.nodeless = faults(reported), reported.nodeless


def rows_of_reads(reads: list[Read], past: earlier.Past, batch_id: int, now: dt.datetime) -> Iterator[earlier.Row]:
    """The rows of `bronze.sources` about files that were read."""

    def cluster(read: Read) -> str:
        return read.source.cluster_id

    for name, some in groupby(sorted(reads, key=cluster), cluster):
        known = past.of(name)
        yield from filter(None, (source_row(read, known, batch_id, now) for read in some))


def state(at: Warehouse, tell: Callable[[str], None]) -> earlier.Past:
    """What earlier runs found, read from the data itself: `bronze.sources` says how far each file has been read.

    Makes the tables where there are none, and completes a run that was killed.
    """
    for table, (columns, comment) in TABLES.items():
        write.create(at.bronze(table), columns, comment)
    for line in write.complete(at.root):
        tell(line)
    past = earlier.Past(kept.rows(at.bronze("sources"), at.work / "sources"))
    give_back()
    return past
