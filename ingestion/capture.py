"""Captures to `bronze.capture_rows` and `bronze.metric_samples`: any text that a module of `captures` knows, run by Spark's executors.

A capture that has grown is read again from its beginning, for what a line means may depend on lines before it; only what
begins in the new part is written.
"""

from __future__ import annotations

import datetime as dt
from codecs import BOM_UTF8
from collections.abc import Iterator

import pyarrow as pa

from ingestion.bronze import Counted, Task
from ingestion.captures import UNREAD, About, Line, Row, Sample, module_of
from ingestion.files import BROKEN, chunks, fault_of
from ingestion.records import valid_text
from ingestion.secrets import hide_secrets, shown
from ingestion.write import TIME, WORD, Columns, schema_of
from ingestion.zones import zone_of

# Longer lines are cut: a bulk answer of Jolokia is one line of some megabytes.
LONGEST_LINE = 64 << 20
CHUNK = 1 << 20
# While a file is still written, what begins this near its end may lack its own end.
HELD_BYTES = 16 << 10
BATCH_ROWS = 20_000

WHERE: Columns = [
    ("cluster_id", WORD, "cluster, as it was called when the file was ingested"),
    ("source_id", WORD, "file, whatever its name: known by its first bytes"),
    ("byte_offset", pa.int64(), "where it begins in the decompressed file, bytes"),
    ("row_number", pa.int64(), "number among all that this file gave"),
    ("source_path", WORD, "path of the file when it was read"),
    ("source_kind", WORD, "what the file is, by its content"),
    ("node_id", pa.int32(), "node that it speaks of; null where that is the cluster or not known"),
    ("node_known_by", WORD, "content, folder or path"),
    ("batch_id", pa.int64(), "ingestion that brought it"),
    ("ingested_at", TIME, "when it arrived, UTC"),
    ("event_date", pa.date32(), "day of the capture, UTC; that of its arrival where it says no time"),
]
ROW_COLUMNS: Columns = [
    *WHERE,
    ("captured_at", TIME, "when this was so, UTC"),
    ("captured_known_by", WORD, "content, name or modified (last change of the file)"),
    ("row_kind", WORD, "what the row is of: gc_pause, thread, topic_partition …; unread where it could not be made out"),
    ("fields", pa.map_(pa.string(), pa.string()), "what it states, as it was printed"),
    ("raw_text", pa.string(), "the lines themselves, secrets as [redacted]"),
    ("warnings", pa.list_(pa.string()), "what is doubtful"),
]
SAMPLE_COLUMNS: Columns = [
    *WHERE,
    ("sampled_at", TIME, "when the value was taken, UTC"),
    ("sampled_known_by", WORD, "content, name or modified (last change of the file)"),
    ("metric", WORD, "canonical name (catalogue/metrics.yml), or its own where that has none"),
    ("attribute", WORD, "attribute of the MBean, or part of a histogram or summary"),
    ("labels", pa.map_(pa.string(), pa.string()), "what the value is of: topic, partition, listener …"),
    ("value", pa.float64(), "the value; null where it is no number"),
    ("unit", WORD, "unit of the value, where it is known"),
    ("kind", WORD, "counter, gauge, rate, quantile or info, where it is known"),
    ("warnings", pa.list_(pa.string()), "what is doubtful"),
]


def read_capture(task: Task, count: Counted) -> Iterator[tuple[str, pa.RecordBatch]]:
    """(table, batch) of all that a file states, from the task's start; `count` is filled.  A fault ends the file, and is told there."""
    about = About(task.shown, task.modified_at, task.node_id, zone_of(task.zones[0][1]))
    text = Text(task)
    waiting: dict[str, list[dict[str, object]]] = {"capture_rows": [], "metric_samples": []}
    number = 0
    held_from: int | None = None
    try:
        for found in module_of(task.capture).read(task.capture, text.lines(), about):
            number += 1
            if found.offset < task.start:
                continue
            if task.holds_last and found.offset >= task.end - HELD_BYTES:
                held_from = found.offset if held_from is None else min(held_from, found.offset)
                continue
            table = "capture_rows" if isinstance(found, Row) else "metric_samples"
            waiting[table].append(row_of(found, number, task))
            count.records += 1
            count.recognised += not isinstance(found, Row) or found.kind != UNREAD
            if len(waiting[table]) >= BATCH_ROWS:
                yield table, batch_of(table, waiting[table])
                waiting[table] = []
    except Exception as error:  # a fault in one file must not stop the rest
        count.fault = fault_of(error)
    for table, rows in waiting.items():
        if rows:
            yield table, batch_of(table, rows)
    count.fault = text.fault or count.fault
    count.end = text.end if held_from is None else held_from
    count.last_node = task.node_id


class Text:
    """The lines of a file; `end`: how far it has been read, `fault`: why no further."""

    def __init__(self, task: Task) -> None:
        self.task, self.end, self.fault = task, 0, None

    def lines(self) -> Iterator[Line]:
        """All lines, with secrets hidden."""
        # Joined when a line ends: a line of many chunks is not copied again with each.
        waiting: list[bytes] = []
        size = 0
        try:
            for chunk in chunks(self.task.path, 0, self.task.end, CHUNK):
                end = chunk.rfind(b"\n") + 1
                waiting.append(chunk)
                size += len(chunk)
                if not end and size < LONGEST_LINE:
                    continue
                data = b"".join(waiting)
                cut = len(data) - len(chunk) + end if end else len(data)
                # A key that goes over many lines is hidden whole.
                key = data.rfind(b"-----BEGIN ", max(0, cut - CHUNK + 1))
                cut = key if 0 <= key < cut and data.find(b"-----END ", key) < 0 else cut
                yield from self._lines(data[:cut])
                waiting, size = [data[cut:]], len(data) - cut
        except BROKEN as error:
            self.fault = fault_of(error)
        yield from self._lines(b"".join(waiting))

    def _lines(self, data: bytes) -> Iterator[Line]:
        if not data:
            return
        data = hide_secrets(valid_text(data))
        at = 0
        while at < len(data):
            stop = data.find(b"\n", at)
            stop = len(data) if stop < 0 else stop
            text = shown(data[at:stop].removesuffix(b"\r"))
            offset, self.end = self.end, self.end + min(stop + 1, len(data)) - at
            if offset == 0 and text.startswith(BOM_UTF8.decode()):
                offset, text = len(BOM_UTF8), text[1:]
            yield Line(offset, text)
            at = stop + 1


def row_of(found: Row | Sample, number: int, task: Task) -> dict[str, object]:
    """A row or sample with where it comes from."""
    at = found.at.astimezone(dt.UTC) if found.at else None
    row: dict[str, object] = {
        "cluster_id": task.cluster_id,
        "source_id": task.source_id,
        "byte_offset": found.offset,
        "row_number": number,
        "source_path": task.shown,
        "source_kind": task.capture,
        "node_id": task.node_id if found.node_id is None else found.node_id,
        "node_known_by": task.node_known_by if found.node_id is None else "content",
        "batch_id": task.batch_id,
        "ingested_at": task.ingested_at,
        "event_date": (at or task.ingested_at).date(),
        "warnings": list(found.warnings),
    }
    if isinstance(found, Row):
        return row | {
            "captured_at": at,
            "captured_known_by": found.at_known_by,
            "row_kind": found.kind,
            "fields": list(found.fields.items()),
            "raw_text": found.raw_text,
        }
    return row | {
        "sampled_at": at,
        "sampled_known_by": found.at_known_by,
        "metric": found.metric,
        "attribute": found.attribute,
        "labels": list(found.labels.items()),
        "value": found.value,
        "unit": found.unit,
        "kind": found.kind,
    }


def batch_of(table: str, rows: list[dict[str, object]]) -> pa.RecordBatch:
    """Rows of one of the two tables as a batch."""
    schema = schema_of(ROW_COLUMNS if table == "capture_rows" else SAMPLE_COLUMNS)
    return pa.RecordBatch.from_pylist(rows, schema=schema)
