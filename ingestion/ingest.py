"""`chronicle ingest`: raw evidence to bronze, exactly once.

The state is the data: `bronze.sources` says up to where each file has been read, and comes with the records in one batch,
so a killed run leaves nothing half done and there is no checkpoint to lose.

A file goes through five stages: found, inspected, placed, identified (`sources.stages`), read (`bronze.tasks`).
"""

from __future__ import annotations

import contextlib
import datetime as dt
import gc
import time
from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from ingestion.bronze import write
from ingestion.bronze.capture_rows import ROW_COLUMNS, SAMPLE_COLUMNS
from ingestion.bronze.log_records import COLUMNS
from ingestion.bronze.pieces import whole_end
from ingestion.bronze.shares import Progress, inspect_all, portions, read_portion
from ingestion.bronze.source_rows import SOURCE_COLUMNS, source_row, write_sources
from ingestion.bronze.tasks import Counted, Read, task_of
from ingestion.bronze.write import Columns
from ingestion.delta_files import Added
from ingestion.outcome import Outcome, faults, nodeless
from ingestion.reading import objects
from ingestion.reading.files import exists
from ingestion.reading.objects import is_topic
from ingestion.sources import earlier
from ingestion.sources.discover import Options, below, discover, located, members
from ingestion.sources.identify import identify, may_grow, unread
from ingestion.sources.inspect import inspect
from ingestion.sources.resolve import place
from ingestion.sources.seen import Seen
from ingestion.sources.spool import Spool
from ingestion.sources.stages import TO_READ, Found, Identified, Inspected, Placed
from ingestion.sources.topics import ranges
from ingestion.warehouse import Warehouse, only_writer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A log may rotate between the look at it and its reading, and once more before the next.
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
    """Read what is new below the given paths into `bronze.log_records` and `bronze.sources`.

    `start` gives the session, where there is something to read.  A file that turns into another one between the look at it and its reading
    (logs rotate) is looked at again.  Raises ValueError for options that cannot be, FileNotFoundError if there is nothing to read, Busy
    where another process writes to the warehouse.
    """
    options.check()
    must_exist(options.paths)
    at = Warehouse.at(warehouse)
    outcome = Outcome()
    with only_writer(at) as must_hold, Spool(at.work / "members") as spool, without_collections():
        for _ in range(MOST_LOOKS):
            past = state(at.root, tell)
            seen = Seen(at.work / "seen")
            found = look(options, warehouse, spool, past, seen, start)
            outcome = outcome.followed_by(take_in(start, at.root, found, past, options, progress, seen, must_hold))
            if not outcome.changed:
                break
    for fault in outcome.faults:
        tell(fault)
    if outcome.changed:
        tell(f"{len(outcome.changed)} files changed while they were read, for example {outcome.changed[0]}; the next run reads the rest")
    return outcome


@contextlib.contextmanager
def without_collections() -> Iterator[None]:
    """Keep Python from looking for cycles: of 260,000 files it holds some millions of objects, none of them in a cycle, and a third of the time
    goes into looking at them again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def must_exist(paths: list[str]) -> None:
    """Raises FileNotFoundError if none of the paths is there."""
    if not any(is_topic(path) or exists(objects.plain(path)) for path in paths):
        raise FileNotFoundError(f"no such file or folder: {', '.join(paths)}; use the folder that holds the logs")


def look(
    options: Options,
    warehouse: str,
    spool: Spool,
    past: earlier.Past | None = None,
    seen: Seen | None = None,
    start: Callable[[], SparkSession] | None = None,
) -> list[Placed]:
    """Every file below the given paths, and in archives, with what it is, its node and its time zone; an unchanged one is not opened.
    `past`: what earlier runs found; `start` gives the session that looks at many."""
    seen = seen or Seen()
    discovered = discover(options, warehouse, past.passes_by) if past else discover(options, warehouse)
    files = [(found, seen.find(found, options.pattern)) for found in chain(discovered, from_topics(options, spool, past))]
    looked_at = inspect_all([found for found, source in files if source is None], options.pattern, start)
    sources: list[Inspected] = []
    for found, known in files:
        if known is not None:
            sources.append(known)
        elif (source := next(looked_at)) is not None:
            sources.append(seen.note(source, options.pattern))
        else:
            sources += [inspect(member, options.pattern) for member in members(found, options, spool)]
    before = past.by_place({source.cluster_id for source in sources}) if past else {}
    return place([earlier.from_above(source, before) for source in sources], before.values(), options.timezone)


def from_topics(options: Options, spool: Spool, past: earlier.Past | None) -> Iterator[Found]:
    """What was put into topics since it was last read, as files."""

    def whole(found: Found) -> int:
        source = inspect(found, options.pattern)
        if source.outcome != TO_READ or source.capture is not None:
            return source.size or 0
        [placed] = place([source], timezone=options.timezone)
        return whole_end(task_of(unread(placed), True, 0, dt.datetime.now(dt.UTC)))

    for given in filter(is_topic, options.paths):
        for found in ranges(given, past.offsets if past else {}, options.settled_after, spool, whole):
            yield located(found, below(found.shown, found.root), options, None)


def outcome_of(sources: list[Identified], held: set[str], past: earlier.Past) -> Outcome:
    """What can be said of an ingestion before anything was read."""
    return Outcome(
        faults=faults(sources, held) if sources or not past.passed else [],
        clusters={source.cluster_id for source in sources} | past.passed.keys(),
        nodeless=nodeless(sources),
        passed_by=past.passed.total(),
    )


def take_in(
    start: Callable[[], SparkSession],
    warehouse: str,
    found: list[Placed],
    past: earlier.Past,
    options: Options,
    progress: Progress | None,
    seen: Seen,
    must_hold: Callable[[], None],
) -> Outcome:
    """Append what is new in the files that were looked at; the caller holds the warehouse, and `must_hold` raises where it does no more."""
    began = time.monotonic()
    # Whole milliseconds, as Delta's statistics have them.
    now = dt.datetime.fromtimestamp(time.time_ns() // 1_000_000 / 1000, dt.UTC)
    # A batch that was undone has left no row, but tables do not take its number twice.
    batch_id = max(write.last_batch(f"{warehouse}/bronze/{table}") for table in TABLES) + 1
    owned = earlier.second_look(found, past)
    sources = identify(past.kept(found), past.known(owned))
    held = {source.path for source in sources if may_grow(source, time.time(), options.settled_after)}
    outcome = outcome_of(sources, held, past)
    outcome.owned_now = len(owned)
    due = [source for source in sources if past.has_more_of(source)]
    not_to_its_end = set(held)
    # Files that are not read are reported with the first portion.
    others = [Read(source, Counted(end=source.start)) for source in sources if not past.has_more_of(source)]
    looked_at = earlier.rows_of(owned, past, batch_id, now)
    for portion in portions(due) if due else [[]]:
        added: dict[str, list[Added]] = {}
        reads: list[Read] = []
        if portion:
            added, reads = read_portion(start(), warehouse, portion, held, batch_id, now, progress)
        reads += others
        rows = [row for read in reads if (row := source_row(read, past, batch_id, now))] + looked_at
        if rows:
            must_hold()
            write.commit_batch(warehouse, batch_id, added | {"sources": [write_sources(warehouse, rows)]})
            outcome.batch_id = batch_id
        for read in reads:
            outcome.add(read, read.source.path in held)
            if read.count.fault or read.count.failed or read.count.changed:
                not_to_its_end.add(read.source.path)
        outcome.rows_written += len(rows)
        others, looked_at, batch_id = [], [], batch_id + 1
    seen.keep(options.paths, sources, not_to_its_end)
    outcome.read_seconds = time.monotonic() - began
    return outcome


def state(warehouse: str, tell: Callable[[str], None]) -> earlier.Past:
    """What earlier runs found, read from the data itself: `bronze.sources` says how far each file has been read.

    Makes the tables where there are none, and completes a run that was killed.
    """
    for table, (columns, comment) in TABLES.items():
        write.create(f"{warehouse}/bronze/{table}", columns, comment)
    for line in write.complete(warehouse):
        tell(line)
    return earlier.Past(write.all_rows(f"{warehouse}/bronze/sources", "batch_id", "source_path"))
