"""Small files of bronze made few.

Each ingestion adds a file or more to each table, and whoever reads a table opens all of them: after an hour of `chronicle follow` that took a
third of a round.  Rows stay as they are, so a build has nothing to do for it (`changes.changed_files`).
"""

from __future__ import annotations

from contextlib import suppress

import pyarrow as pa
from deltalake import WriterProperties

from chronicle.build.changes import bronze_tables, built_from, is_current
from ingestion.lease import Busy
from ingestion.warehouse import Warehouse, only_writer, opened, put

# Files below this are made into files of about this, where there are so many.
SMALL_BYTES, MANY = 32 << 20, 100
# What was compacted so long ago nobody reads any more.
KEPT_HOURS = 168


def compact(place: Warehouse) -> list[str]:
    """Make few files of the many small ones of each table of bronze, if all that is in them was built and nobody else writes.  Returns the tables that
    were compacted.

    A warehouse in a bucket stays as it is: what builds know of it is in their copy.
    """
    many = [name for name in bronze_tables(place) if small_files(place.bronze(name)) >= MANY] if place.is_local else []
    if not many:
        return []
    with suppress(Busy), only_writer(place):
        if is_current(place.root):
            for name in many:
                table = opened(place.bronze(name))
                table.optimize.compact(target_size=SMALL_BYTES, writer_properties=WriterProperties(compression="ZSTD", compression_level=1))
                table.vacuum(KEPT_HOURS, dry_run=False)
            put(place.built, built_from(place))
            return many
    return []


def small_files(path: str) -> int:
    """How many small files a table has."""
    return sum(size < SMALL_BYTES // 2 for size in pa.table(opened(path).get_add_actions())["size_bytes"].to_pylist())
