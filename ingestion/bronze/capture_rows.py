"""Captures to `bronze.capture_rows` and `bronze.metric_samples`: any text that a module of `captures` knows, run by Spark's executors.

A capture that has grown is read again from its beginning, because what a line means may depend on lines before it; only what
begins in the new part is written.
"""

from __future__ import annotations

import datetime as dt
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa

from ingestion.bronze.log_records import Cache
from ingestion.bronze.logged import records_of
from ingestion.bronze.tasks import Counted, Task
from ingestion.bronze.write import TIME, WORD, Columns, schema_of
from ingestion.captures import DATED_BY_FILE, PROSE, REMARK, UNREAD, About, Line, Logged, Row, Sample, module_of, unread
from ingestion.captures._terminal import stated_time
from ingestion.captures.document import salvaged, timed
from ingestion.reading.files import BROKEN, Changed, chunks, fault_of, tail_hash
from ingestion.reading.zones import zone_of
from ingestion.records.redact import hide_secrets, shown
from ingestion.records.split import valid_text, whole

# Longer lines are cut: a bulk answer of Jolokia is one line of some megabytes.
LONGEST_LINE = 64 << 20
CHUNK = 1 << 20
# Rows that begin so near the end of a file that is still written are held back: they may be incomplete.
HELD_BYTES = 16 << 10
BATCH_ROWS = 20_000
KERNEL_LOG = "kernel_log"
# Rows that state nothing about the cluster, and so need no time.
SAYS_NOTHING = frozenset({PROSE, REMARK, UNREAD, "command", "log_line"})

WHERE: Columns = [
    ("cluster_id", WORD, "cluster, as named when the file was ingested"),
    ("source_id", WORD, "file, whatever its name: known by its first bytes"),
    ("byte_offset", pa.int64(), "offset in the decompressed file, bytes"),
    ("row_number", pa.int64(), "number among all rows of the file"),
    ("source_path", WORD, "path of the file when it was read"),
    ("source_kind", WORD, "what the file is, by its content"),
    ("node_id", pa.int32(), "node that it is about; null if it is about the cluster, or unknown"),
    ("node_known_by", WORD, "content, host (named in the text), path, folder or name"),
    ("batch_id", pa.int64(), "ingestion that added it"),
    ("ingested_at", TIME, "when it arrived, UTC"),
    ("event_date", pa.date32(), "day of the capture, UTC; the day of arrival if it has no time"),
]
ROW_COLUMNS: Columns = [
    *WHERE,
    ("captured_at", TIME, "when this was so, UTC"),
    ("captured_known_by", WORD, "content, name or modified (last change of the file)"),
    ("row_kind", WORD, "what the row is of: gc_pause, thread, topic_partition …; unread where it could not be made out"),
    ("fields", pa.map_(pa.string(), pa.string()), "its values, as printed"),
    ("raw_text", pa.string(), "the lines themselves, secrets as [redacted]"),
    ("warnings", pa.list_(pa.string()), "data-quality warnings"),
]
SAMPLE_COLUMNS: Columns = [
    *WHERE,
    ("sampled_at", TIME, "when the value was taken, UTC"),
    ("sampled_known_by", WORD, "content, name or modified (last change of the file)"),
    ("metric", WORD, "canonical name (catalogue/metrics.yml), or its own where that has none"),
    ("attribute", WORD, "attribute of the MBean, or part of a histogram or summary"),
    ("labels", pa.map_(pa.string(), pa.string()), "labels of the value: topic, partition, listener …"),
    ("value", pa.float64(), "the value; null if it is not a number"),
    ("unit", WORD, "unit of the value, where it is known"),
    ("kind", WORD, "counter, gauge, rate, quantile or info, where it is known"),
    ("warnings", pa.list_(pa.string()), "data-quality warnings"),
]
SCHEMAS = {"capture_rows": schema_of(ROW_COLUMNS), "metric_samples": schema_of(SAMPLE_COLUMNS)}


def read_capture(task: Task, count: Counted, cache: Cache | None = None) -> Iterator[tuple[str, pa.RecordBatch]]:
    """(table, batch) of all that a file states, from the task's start; `count` is filled.  A fault of the file ends it, and is reported in `count`;
    after a fault of our own code the rest of the lines are kept as `unread`.  What somebody wrote between the captures of a document does not count.
    """
    text = Text(task)
    waiting: dict[str, list[dict[str, Any]]] = {"capture_rows": [], "metric_samples": []}
    held_from: int | None = None
    may_grow_from = task.end - HELD_BYTES if task.holds_last else None
    needs_time = not getattr(module_of(task.capture or ""), "HOLDS_AT_ANY_TIME", False)
    for number, found in enumerate(read_guarded(text), 1):
        if isinstance(found, Logged):
            late = [line.offset for line in found.lines if line.is_head and may_grow_from is not None and line.offset >= may_grow_from]
            held_from = min([*late, *([] if held_from is None else [held_from])], default=None)
            for batch in records_of(found, task, count, {} if cache is None else cache, task.start, may_grow_from):
                yield "log_records", batch
            continue
        if found.offset < task.start:
            continue
        if may_grow_from is not None and found.offset >= may_grow_from:
            held_from = found.offset if held_from is None else min(held_from, found.offset)
            continue
        table = "capture_rows" if isinstance(found, Row) else "metric_samples"
        waiting[table].append(row_of(found, number, task))
        if needs_time and found.at_known_by == "modified" and not (isinstance(found, Row) and found.kind in SAYS_NOTHING):
            count.doubts.add(DATED_BY_FILE)
        if not isinstance(found, Row) or found.kind != PROSE:
            count.records += 1
            count.recognised += not isinstance(found, Row) or found.kind != UNREAD
        if len(waiting[table]) >= BATCH_ROWS:
            yield from batches_of(table, waiting[table], text)
            waiting[table] = []
    for table, rows in waiting.items():
        if rows:
            yield from batches_of(table, rows, text)
    count.failed = count.failed or text.failed
    count.fault, count.changed = text.fault or count.failed, text.changed
    count.end = text.end if held_from is None else held_from
    count.tail_hash = tail_hash(task.path, count.end, task.expected)
    count.last_node = task.node_id


def read_system_lines(task: Task, count: Counted) -> Iterator[tuple[str, pa.RecordBatch]]:
    """(table, batch) of the kernel's and systemd's lines in a log of a whole system, up to where its records were read; `count` is increased."""
    text = Text(replace(task, capture=KERNEL_LOG, end=count.end if task.end >= 0 or count.lacks_end else -1))
    about, rows = About(task.shown, task.modified_at, zone_of(task.zones[0][1])), []
    try:
        for number, found in enumerate(module_of(KERNEL_LOG).read_beside(text.lines(), about), 1):
            if task.start <= found.offset < count.end:
                rows.append(row_of(found, number, of_host(text.task, found.fields.get("host", ""))))
                count.recognised += found.kind != UNREAD
    except Exception as error:  # one file's fault must not stop the others
        count.failed = count.failed or fault_of(error)
    count.records += len(rows)
    for first in range(0, len(rows), BATCH_ROWS):
        yield from batches_of("capture_rows", rows[first : first + BATCH_ROWS], text)


def of_host(task: Task, host: str) -> Task:
    """The task with the node of a host: the one that its writers name.  Writers of a system log are host and program."""
    nodes = {node for writer, node in task.writers if node is not None and writer.split("/")[0] == host}
    hosts = {writer.split("/")[0] for writer, _ in task.writers}
    if len(nodes) == 1:
        return replace(task, node_id=next(iter(nodes)), node_known_by="host")
    return task if hosts <= {host} and not nodes else replace(task, node_id=None, node_known_by=None)


def read_guarded(text: Text) -> Iterator[Row | Sample | Logged]:
    """The rows, samples and records that the module of its kind makes of a text; if the module fails, the lines after its last row as `unread`."""
    last, task = -1, text.task
    kind = task.capture or ""
    about = About(task.shown, task.modified_at, zone_of(task.zones[0][1]))
    try:
        for found in salvaged(at_stated_times(module_of(kind).read(kind, text.lines(), about), about), about):
            yield found
            last = found.offset
    except Exception as error:  # one file's fault must not stop the others
        text.failed = fault_of(error)
        yield from unread((line for line in text.lines() if line.offset > last), "the reader of this kind of capture failed here")


def at_stated_times(rows: Iterable[Row | Sample | Logged], about: About) -> Iterator[Row | Sample | Logged]:
    """Rows at the time that a line above them states (`Timestamp: …`, or what `date` printed), where they say none themselves."""
    stated: dt.datetime | None = None
    for found in rows:
        if isinstance(found, Row) and found.kind == UNREAD and (at := stated_time(found.raw_text, about.zone)):
            stated = at
            yield Row(REMARK, found.offset, found.raw_text, {"message": found.raw_text.strip()}, at, "content")
        else:
            yield found if isinstance(found, Logged) else timed(found, stated)


class Text:
    """The lines of a file; `end`: how far it has been read, `fault`: why no further, `failed`: a fault of our own code, `changed`: it is another
    file by now."""

    def __init__(self, task: Task) -> None:
        self.task, self.end = task, 0
        self.fault: str | None = None
        self.failed: str | None = None
        self.changed = False

    def lines(self) -> Iterator[Line]:
        """All lines, with secrets hidden."""
        # Chunks are joined only when a line ends: a line of many chunks is not copied again with each.
        self.end, size = 0, 0
        waiting: list[bytes] = []
        try:
            for chunk in chunks(self.task.path, 0, self.task.end, CHUNK, self.task.expected):
                end = chunk.rfind(b"\n") + 1
                waiting.append(chunk)
                size += len(chunk)
                if not end and size < LONGEST_LINE:
                    continue
                data = b"".join(waiting)
                cut = len(data) - len(chunk) + end if end else len(data)
                # A key of several lines is not split, so that it is hidden whole.
                key = data.rfind(b"-----BEGIN ", max(0, cut - CHUNK + 1))
                cut = key if 0 <= key < cut and data.find(b"-----END ", key) < 0 else cut
                yield from self._lines(data[:cut])
                waiting, size = [data[cut:]], len(data) - cut
        except Changed:
            self.changed, waiting = True, []
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


def row_of(found: Row | Sample, number: int, task: Task) -> dict[str, Any]:
    """A row or sample as a dictionary, with its origin."""
    at = found.at.astimezone(dt.UTC) if found.at else None
    row: dict[str, Any] = {
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
            "fields": [(name, whole(value)) for name, value in found.fields.items()],
            "raw_text": whole(found.raw_text),
        }
    return row | {
        "sampled_at": at,
        "sampled_known_by": found.at_known_by,
        "metric": found.metric,
        "attribute": found.attribute,
        "labels": [(name, whole(value)) for name, value in found.labels.items()],
        "value": found.value,
        "unit": found.unit,
        "kind": found.kind,
    }


def batches_of(table: str, rows: list[dict[str, Any]], text: Text) -> Iterator[tuple[str, pa.RecordBatch]]:
    """(table, batch) of rows; a row with a value that its column cannot hold becomes `unread`."""
    try:
        yield table, pa.RecordBatch.from_pylist(rows, schema=SCHEMAS[table])
    except (pa.ArrowException, ValueError, OverflowError, TypeError) as error:
        text.failed = fault_of(error)
        if len(rows) > 1:
            for row in rows:
                yield from batches_of(table, [row], text)
        else:
            yield "capture_rows", pa.RecordBatch.from_pylist([unread_row(rows[0], text.failed)], schema=SCHEMAS["capture_rows"])


def unread_row(row: dict[str, Any], fault: str) -> dict[str, Any]:
    """What is left of a row that cannot be written: its position and its text."""
    kept = {name: row[name] for name, _, _ in WHERE} | {"node_id": None, "node_known_by": None}
    raw_text = row.get("raw_text") or f"{row.get('metric')} {row.get('attribute')} {row.get('labels')} {row.get('value')}"
    raw_text = whole(str(raw_text))
    return kept | {"event_date": row["ingested_at"].date(), "row_kind": UNREAD, "fields": [], "raw_text": raw_text, "warnings": [fault]}
