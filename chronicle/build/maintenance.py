"""Maintenance of a warehouse's tables, after builds: compacts small files of bronze, and deletes files that only old versions need.

Each ingestion adds one or more files to each table, and every reader of a table opens all of them: after an hour of `chronicle follow` that took
a third of a round.  Each build that changes a table leaves behind the files that it replaced, and a commit in the table's log.  Maintenance does
not change rows, so it gives the next build nothing to do (`changes.changed_files`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
from deltalake.exceptions import CommitFailedError

from chronicle.build.changes import built_from, is_current
from chronicle.build.publish import WRITTEN
from chronicle.build.versions import Record
from ingestion.lease import Busy
from ingestion.reading import objects
from ingestion.warehouse import STEPS, Warehouse, only_writer, opened, put

# A compaction writes files of about this size; it is due where so many files are below half of it.
SMALL_BYTES, MANY = 32 << 20, 30
# So many files that the table no longer needs may stay: deleting them takes two commits.
MOST_LEFT = 50
# Delta keeps the files of old versions for a week, and the commits themselves for thirty days.  A process that stays commits every ten seconds:
# readers of an old version have an hour to finish.
HOURS_OF_ONE_THAT_STAYS = 1


def maintain(place: Warehouse, *, is_of_bucket: bool = False) -> None:
    """Do what is due, unless another process is at work.  `is_of_bucket`: bronze, of which here may be a copy (`working_copy.py`), is
    left as it is."""
    with suppress(Busy, CommitFailedError), only_writer(place):
        for _ in maintained(place, is_of_bucket=is_of_bucket):
            pass


def maintain_one(place: Warehouse) -> None:
    """Do one thing that is due, for a process that stays, whose next round waits for it."""
    with suppress(Busy, CommitFailedError), only_writer(place):
        next(maintained(place, is_staying=True), None)


def maintained(place: Warehouse, *, is_staying: bool = False, is_of_bucket: bool = False) -> Iterator[str]:
    """Do what is due.  Yields each table for which something was, when it is done."""
    # Rows that are not built yet would no longer count as new.
    if not is_of_bucket and is_current(place.root):
        for path in (place.bronze(name) for name in place.tables("bronze")):
            if compact(path, MANY // 2 if is_staying else MANY):
                put(place.built, built_from(place))
                yield path
            if is_due(path, is_staying) and tidy(path, is_staying):
                put(place.built, built_from(place))
                yield path
    record = Record.of(place)
    for schema, name in record.tables(place):
        path = place.table(schema, name)
        # After a build that was killed while it published, readers still use earlier versions.
        is_newest = is_due(path, is_staying) and (known := record.table(place, schema, name)) and known.version() == opened(path).version()
        if is_newest and tidy(path, is_staying):
            yield path
    for path in (place.table(schema, name) for schema in STEPS for name in place.tables(schema)):
        if is_due(path, is_staying) and tidy(path, is_staying):
            yield path


def compact(path: str, many: int) -> bool:
    """Compact the small files of a table, if there are at least `many`.  Returns whether there were."""
    table = opened(path)
    if sum(size < SMALL_BYTES // 2 for size in pa.table(table.get_add_actions())["size_bytes"].to_pylist()) < many:
        return False
    table.optimize.compact(target_size=SMALL_BYTES, writer_properties=WRITTEN)
    return True


def data_files(path: str) -> list[float]:
    """When each data file of all versions of a table was written, in seconds since 1970: those in its folder, and in folders of its partitions."""
    if objects.is_uri(path):
        found = objects.below(path) if objects.exists(path) else ()
        return [status.modified for uri, status in found if uri.endswith(".parquet") and "/_delta_log/" not in uri]
    return [file.stat().st_mtime for pattern in ("*.parquet", "*=*/*.parquet") for file in Path(path).glob(pattern)]


def is_due(path: str, is_staying: bool) -> bool:
    """Whether a table has to be opened for `tidy`: most have too few files, or none that are old enough to delete."""
    since = time.time() - HOURS_OF_ONE_THAT_STAYS * 3600 if is_staying else math.inf
    return sum(modified <= since for modified in data_files(path)) > MOST_LEFT


def tidy(path: str, is_staying: bool) -> bool:
    """Delete files that only old versions need, or none, if there are many.  Returns whether that made a commit."""
    table = opened(path)
    version = table.version()
    if is_staying and not (wanted := kept_by_one_that_stays()).items() <= table.metadata().configuration.items():
        table.alter.set_table_properties(wanted)
    if len(data_files(path)) - len(table.file_uris()) > MOST_LEFT:
        table.vacuum(full=True, dry_run=False)
    return table.version() != version


def kept_by_one_that_stays() -> dict[str, str]:
    """Delta's retention settings for a process that stays."""
    return {
        "delta.deletedFileRetentionDuration": f"interval {HOURS_OF_ONE_THAT_STAYS} hours",
        "delta.logRetentionDuration": "interval 1 days",
    }
