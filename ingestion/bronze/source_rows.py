"""`bronze.sources`: what became of each file."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from itertools import islice

import pyarrow as pa

from ingestion.bronze import write
from ingestion.bronze.tasks import Read
from ingestion.bronze.write import TIME, Columns, schema_of
from ingestion.delta_files import Added
from ingestion.sources import earlier
from ingestion.sources.said import CUT, TORN
from ingestion.sources.stages import TO_READ

# Rows that are dictionaries at a time.
AT_ONCE = 20_000

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
    ("cluster_id", pa.string(), "cluster, as named when the file was ingested"),
    ("source_id", pa.string(), "identity of the file, from its first bytes, not its name; null if it is not a log"),
    ("source_path", pa.string(), "path of the file"),
    ("batch_id", pa.int64(), "ingestion that added the row"),
    ("ingested_at", TIME, "when it says so, UTC"),
    ("kind", pa.string(), "what the file is, by its content"),
    ("layout", pa.string(), "how its records are framed (catalogue/envelopes.yml), or the pattern that was derived"),
    ("layout_known_by", pa.string(), "content, given (--pattern) or derived (from lines whose wording is known)"),
    ("node_id", pa.int32(), "node that wrote the first record read"),
    ("last_node_id", pa.int32(), "node that wrote the last record read"),
    ("node_known_by", pa.string(), "content, host (named in the text), path, folder or name"),
    ("zone", pa.string(), "time zone of its local times"),
    ("zone_known_by", pa.string(), "given, content (the records state it), evidence (in its folder), cluster or default"),
    ("fingerprint", pa.string(), "SHA-256 of cluster, node and first bytes"),
    ("fingerprint_length", pa.int32(), "number of these first bytes"),
    ("tail_hash", pa.string(), "SHA-256 of the last bytes read"),
    ("size_bytes", pa.int64(), "size on disk, bytes; NULL where a gzip is not complete yet"),
    ("start_offset", pa.int64(), "first byte that this ingestion read"),
    ("end_offset", pa.int64(), "byte up to which the file has been read"),
    ("records", pa.int64(), "records that this ingestion added"),
    ("recognised", pa.int64(), "number of these records with an event type"),
    ("outcome", pa.string(), "read, copy, cut, empty, binary, unknown, unreadable, refused, missing or failed"),
    ("reason", pa.string(), "why it was not read, or not to its end"),
    ("warnings", pa.list_(pa.string()), "warnings about node or time zone"),
    ("is_compressed", pa.bool_(), "whether it is compressed"),
    ("modified_at", TIME, "last change of the file, UTC"),
    ("clues", CLUES, "what the file and its path show about nodes, for files that show less"),
]


def source_row(read: Read, past: earlier.OfCluster, batch_id: int, now: dt.datetime) -> earlier.Row | None:
    """The row of `bronze.sources` for a file; None if there is nothing new about it."""
    source, count = read.source, read.count
    is_read = source.outcome == TO_READ
    if count.changed and not count.records:
        # The file became another one before anything was read.
        return None
    fault = count.fault or count.failed or (TORN if is_read and source.ends_torn and count.end == source.size else None)
    outcome = CUT if fault else source.outcome
    # Without a size, the next run reads on in it, whether it has grown by then or not.
    size = None if source.size is None and count.lacks_end else source.disk_size
    unread = source.size is None and is_read and not past.has_more_of(source)
    # Not known if the file was rotated before its last bytes were hashed; if nothing was read, they are those before its start.
    before_end = count.tail_hash or (source.tail_hash if count.end == source.start else None)
    is_as_it_was = unread or (not count.records and past.written.get(source.shown) == (outcome, size))
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
        "layout_known_by": source.layout_known_by,
        "node_id": source.node_id,
        "last_node_id": count.last_node if count.records else source.node_id,
        "node_known_by": source.node_known_by,
        "zone": source.zones[-1][1] if source.zones else None,
        "zone_known_by": source.zone_known_by,
        "fingerprint": source.fingerprint() if source.head else None,
        "fingerprint_length": len(source.head),
        "tail_hash": before_end if is_read else None,
        "size_bytes": size,
        "start_offset": source.start,
        "end_offset": count.end if is_read else None,
        "records": count.records,
        "recognised": count.recognised,
        "outcome": outcome,
        "reason": fault or source.reason,
        "warnings": [*source.warnings, *sorted(count.doubts)],
        "is_compressed": source.compressed,
        "modified_at": source.changed_at,
        "clues": earlier.clues_of(source),
    }


def in_batches(rows: Iterable[earlier.Row]) -> list[pa.RecordBatch]:
    """Rows of `bronze.sources` as Arrow batches: for a large fleet they are hundreds of thousands."""
    left, schema = iter(rows), schema_of(SOURCE_COLUMNS)
    return [pa.RecordBatch.from_pylist(some, schema=schema) for some in iter(lambda: list(islice(left, AT_ONCE)), [])]


def write_sources(warehouse: str, batches: list[pa.RecordBatch]) -> Added:
    """Rows of `bronze.sources` as a file."""
    file = write.File(f"{warehouse}/bronze/sources", schema_of(SOURCE_COLUMNS))
    # Those of a small cluster are few: each batch becomes a row group.
    for batch in pa.Table.from_batches(batches).combine_chunks().to_batches(AT_ONCE):
        file.write(batch)
    return file.close()
