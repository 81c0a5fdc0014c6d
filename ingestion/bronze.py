"""Log files to `bronze.log_records`: bytes to Arrow in plain Python, run by Spark's executors.

Grain: one row per record, which is a log line with all its continuation lines.  Nothing is dropped: what no form
recognises is a row with a null `event_type`, what has no head is a row with outcome `orphan`, and where a source could
not be read to its end a row of no length says why.
"""

from __future__ import annotations

import datetime as dt
import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingestion.envelope import Envelope, envelopes
from ingestion.forms import Form
from ingestion.recognise import Catalogue, catalogue
from ingestion.records import gather, hide_secrets, local_millis, mask, shapes, split, valid_text

CHUNK = 16 << 20
RECOGNISED, UNRECOGNISED, ORPHAN, CUT = "recognised", "unrecognised", "orphan", "source_cut"

SCHEMA = pa.schema(
    [
        ("cluster_id", pa.string()),
        ("source_id", pa.string()),
        ("byte_offset", pa.int64()),
        ("byte_length", pa.int32()),
        ("source_path", pa.string()),
        ("node_id", pa.int32()),
        ("node_known_by", pa.string()),
        ("batch_id", pa.int64()),
        ("ingested_at", pa.timestamp("us", tz="UTC")),
        ("event_date", pa.date32()),
        ("logged_at", pa.timestamp("us", tz="UTC")),
        ("zone", pa.string()),
        ("zone_known_by", pa.string()),
        ("level", pa.string()),
        ("thread", pa.string()),
        ("logger", pa.string()),
        ("context", pa.string()),
        ("topic_name", pa.string()),
        ("partition_id", pa.int32()),
        ("body", pa.string()),
        ("raw_text", pa.string()),
        ("event_type", pa.string()),
        ("fields", pa.map_(pa.string(), pa.string())),
        ("catalogue_version", pa.string()),
        ("outcome", pa.string()),
    ]
)


@dataclass(frozen=True)
class Task:
    """What one source asks of a worker.  `zones`: (local milliseconds from which it holds, name or '+05:30')."""

    cluster_id: str
    source_id: str
    path: str
    start: int
    end: int
    holds_last: bool
    envelope: str
    node_id: int | None
    node_known_by: str | None
    takes_nodes: bool
    zones: tuple[tuple[int, str], ...]
    zone_known_by: str
    batch_id: int
    ingested_at: dt.datetime


@dataclass
class Shape:
    """What all records of one shape have in common: the event, and where its parts stand."""

    level: str | None = None
    outcome: str = UNRECOGNISED
    event_type: str | None = None
    logger: tuple[int, int] | None = None
    thread: tuple[int, int] | None = None
    context: tuple[int, int] | None = None
    body: tuple[int, int] = (0, 0)
    keys: list[str] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    picked: list[Form | None] = field(default_factory=list)
    recheck: bool = False


def shape_of(record: bytes, has_head: bool, envelope: Envelope, known: Catalogue) -> Shape:
    """Recognise one record and say where everything stands; holds for every record that differs only in digits."""
    shape = Shape(outcome=ORPHAN, body=(0, len(record)))
    cut = envelope.cut(record) if has_head else None
    if cut is None:
        shape.outcome = UNRECOGNISED if has_head else ORPHAN
        return shape
    shape.outcome = UNRECOGNISED
    shape.level = record[slice(*cut["level"])].decode()
    shape.logger, shape.thread = cut.get("logger"), cut.get("thread")
    start, end = cut["message"]
    logger = record[slice(*shape.logger)] if shape.logger else None
    message = record[start:end]
    context = known.context(logger, message)
    found = known.recognise(logger, message[context.end :] if context else message)
    if found is None and context is not None:
        # Texts that begin like a prefix but are not one.
        found = known.recognise(logger, message)
        context = None if found else context
    body = start + (context.end if context else 0)
    shape.body = (body, end)
    for part, at in ((context, start), (found, body)):
        for span in part.spans if part else ():
            if span.name not in shape.keys:
                shape.keys.append(span.name)
                shape.spans.append((at + span.start, at + span.end))
                shape.picked.append(part.form if span.name in part.form.picks else None)
    if context is not None:
        shape.context = (start, start + context.end)
    if found is not None:
        shape.outcome, shape.event_type = RECOGNISED, found.form.event
        shape.recheck = found.form.digits_matter
        if found.form.continues == "settings":
            _add_settings(shape, record, body + found.end, end)
    _add_exception(shape, record, end)
    return shape


def _add_settings(shape: Shape, record: bytes, start: int, end: int) -> None:
    """The lines '\\tkey = value' of a configuration dump, each as a field of its own."""
    at = start
    for line in record[start:end].split(b"\n"):
        key, equals, _ = line.partition(b" = ")
        name = key.strip().decode("utf-8", "replace")
        if equals and name and name not in shape.keys:
            value = at + len(key) + 3
            shape.keys.append(name)
            shape.spans.append((value, at + len(line.rstrip(b"\r"))))
            shape.picked.append(None)
        at += len(line) + 1


def _add_exception(shape: Shape, record: bytes, end: int) -> None:
    """Class and message of the exception whose trace follows the message."""
    line_end = record.find(b"\n", end)
    if line_end < 0:
        return
    stop = record.find(b"\n", line_end + 1)
    stop = len(record) if stop < 0 else stop
    line = record[line_end + 1 : stop]
    name, colon, _ = line.partition(b": ")
    if not name or b" " in name or b"." not in name or not name.rstrip(b"\r").endswith((b"Exception", b"Error", b"Throwable")):
        return
    first = line_end + 1
    shape.keys.append("exception")
    shape.spans.append((first, first + len(name.rstrip(b"\r"))))
    shape.picked.append(None)
    if colon:
        shape.keys.append("exception_message")
        shape.spans.append((first + len(name) + 2, first + len(line.rstrip(b"\r"))))
        shape.picked.append(None)


def zone_offsets(zones: tuple[tuple[int, str], ...], local: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For local clock times (int64 ms): (offset to UTC in ms, number of the zone that holds)."""
    number = np.clip(np.searchsorted(np.array([start for start, _ in zones]), local, side="right") - 1, 0, None)
    offsets = np.zeros(len(local), np.int64)
    for n, (_, name) in enumerate(zones):
        mine = number == n
        if not mine.any():
            continue
        zone = zone_of(name)
        if isinstance(zone, dt.timezone):
            offsets[mine] = int(zone.utcoffset(None).total_seconds() * 1000)
            continue
        # Offsets change on the quarter hour at most: one look-up for each quarter that occurs.
        quarters, back = np.unique(local[mine] // 900_000, return_inverse=True)
        epoch = dt.datetime(1970, 1, 1)
        looked_up = [(epoch + dt.timedelta(milliseconds=int(q) * 900_000)).replace(tzinfo=zone).utcoffset() for q in quarters]
        offsets[mine] = np.array([int(offset.total_seconds() * 1000) if offset else 0 for offset in looked_up])[back]
    return offsets, number


def zone_of(name: str) -> dt.tzinfo:
    """'Asia/Kolkata', 'UTC', '+05:30', '+0530', 'Z' -> tzinfo.  Raises ValueError with what to write."""
    if name in ("UTC", "Z", "GMT"):
        return dt.UTC
    if name[:1] in "+-":
        digits = name[1:].replace(":", "")
        if digits.isdigit() and len(digits) in (2, 4):
            minutes = int(digits[:2]) * 60 + int(digits[2:] or 0)
            return dt.timezone(dt.timedelta(minutes=-minutes if name[0] == "-" else minutes))
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f"unknown time zone '{name}'; write a name such as Asia/Kolkata or an offset such as +05:30") from error


class Reader:
    """Reads one source into batches of SCHEMA; keeps shapes, the current node and the last day between chunks."""

    def __init__(self, task: Task, known: Catalogue, cache: dict[tuple[str, bool, bytes], Shape]) -> None:
        self.task = task
        self.known = known
        self.cache = cache
        self.envelope = next(e for e in envelopes() if e.name == task.envelope)
        self.node = task.node_id
        self.node_known_by = task.node_known_by
        self.day: int | None = None

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All records from the task's start to its end; the last one is held back where the file still grows."""
        offset = self.task.start
        carry = b""
        fault: str | None = None
        stream = self._chunks()
        while True:
            try:
                chunk = next(stream, b"")
            except (OSError, EOFError, zlib.error) as error:
                chunk, fault = b"", f"{type(error).__name__}: {error}"
            last = not chunk
            data = carry + chunk
            if not data:
                break
            raw = hide_secrets(data)
            text, _ = valid_text(raw)
            padded = text + b"\n" * 16
            masked = mask(padded)
            bounds, heads = split(text, np.frombuffer(masked, np.uint8)[: len(text)], self.envelope)
            if last and not fault and self.task.holds_last and len(bounds) > 1:
                bounds, heads = bounds[:-1], heads[:-1]
            elif not last:
                # The last record may go on in the next chunk, unless it is a piece that is long enough by itself.
                bounds, heads = (bounds[:-1], heads[:-1]) if len(bounds) > 2 or len(data) < 4 * CHUNK else (bounds, heads)
            if len(bounds) > 1:
                yield self._batch(text, padded, masked, bounds, heads, offset)
            done = int(bounds[-1])
            if last:
                offset += done
                break
            carry = data[done:]
            offset += done
        if fault:
            yield self._fault(offset, fault)

    def _chunks(self) -> Iterator[bytes]:
        path = Path(self.task.path)
        with gzip.open(path, "rb") if is_gzip(path) else path.open("rb") as file:
            file.seek(self.task.start)
            left = self.task.end - self.task.start if self.task.end >= 0 else None
            while left is None or left > 0:
                # read1 gives what a cut gzip still holds before it raises.
                chunk = file.read1(CHUNK) if isinstance(file, gzip.GzipFile) else file.read(CHUNK if left is None else min(CHUNK, left))
                if not chunk:
                    return
                if left is not None:
                    left -= len(chunk)
                yield chunk

    def _fault(self, offset: int, reason: str) -> pa.RecordBatch:
        """A row of no length that says why the source could not be read further."""
        row = dict.fromkeys(SCHEMA.names) | {
            "cluster_id": self.task.cluster_id,
            "source_id": self.task.source_id,
            "byte_offset": offset,
            "byte_length": 0,
            "source_path": self.task.path,
            "batch_id": self.task.batch_id,
            "ingested_at": self.task.ingested_at,
            "event_date": self.task.ingested_at.date() if self.day is None else dt.date(1970, 1, 1) + dt.timedelta(days=self.day),
            "body": reason,
            "raw_text": "",
            "catalogue_version": self.known.version,
            "outcome": CUT,
        }
        return pa.RecordBatch.from_pylist([row], schema=SCHEMA)

    def _batch(self, text: bytes, padded: bytes, masked: bytes, bounds: np.ndarray, heads: np.ndarray, offset: int) -> pa.RecordBatch:
        task, count = self.task, len(bounds) - 1
        starts = bounds[:-1]
        numbers, distinct = shapes(pa.py_buffer(masked), bounds)
        plans = self._plans(text, bounds, heads, numbers, distinct)
        numbers, plans = self._recheck(text, bounds, heads, numbers, plans)
        data = pa.py_buffer(padded)

        def constant(values: list[str | None]) -> pa.Array:
            return pa.array(values, pa.string()).take(pa.array(numbers))

        def slices(spans: list[tuple[int, int] | None]) -> pa.Array:
            places = np.array([span or (0, 0) for span in spans], np.int64)[numbers]
            missing = np.array([span is None for span in spans])[numbers]
            values = gather(data, starts + places[:, 0], starts + places[:, 1])
            return pc.if_else(pa.array(missing), pa.scalar(None, pa.string()), values) if missing.any() else values

        fields, keys, values, owners = self._fields(data, starts, numbers, plans)
        local, timed = local_millis(
            np.frombuffer(padded, np.uint8), np.where(heads, starts, 0) + self.envelope.time_at, self.envelope.has_millis
        )
        timed &= heads
        offsets, zone_number = zone_offsets(task.zones, local)
        utc = local - offsets
        days = self._days(utc // 86_400_000, timed)
        nodes, known_by = self._nodes(count, keys, values, owners)
        topics, partitions = self._partitions(count, keys, values, owners)
        ends = bounds[1:]
        raw_ends = ends - (np.frombuffer(padded, np.uint8)[ends - 1] == 10)
        raw_ends -= (np.frombuffer(padded, np.uint8)[raw_ends - 1] == 13) & (raw_ends > starts)
        body = np.array([plan.body for plan in plans], np.int64)[numbers]
        body_ends = np.minimum(starts + body[:, 1], raw_ends)
        repeat = {
            "cluster_id": task.cluster_id,
            "source_id": task.source_id,
            "source_path": task.path,
            "zone_known_by": task.zone_known_by,
            "catalogue_version": self.known.version,
        }
        columns = {name: pa.repeat(pa.scalar(value, pa.string()), count) for name, value in repeat.items()} | {
            "byte_offset": pa.array(starts + offset),
            "byte_length": pa.array(np.diff(bounds).astype(np.int32)),
            "node_id": nodes,
            "node_known_by": known_by,
            "batch_id": pa.repeat(pa.scalar(task.batch_id, pa.int64()), count),
            "ingested_at": pa.repeat(pa.scalar(task.ingested_at, pa.timestamp("us", tz="UTC")), count),
            "event_date": pa.array(days.astype(np.int32)).cast(pa.date32()),
            "logged_at": pa.array(utc * 1000, mask=~timed).cast(pa.timestamp("us", tz="UTC")),
            "zone": pa.array([name for _, name in task.zones]).take(pa.array(zone_number)),
            "level": constant([plan.level for plan in plans]),
            "thread": slices([plan.thread for plan in plans]) if any(p.thread for p in plans) else pa.nulls(count, pa.string()),
            "logger": slices([plan.logger for plan in plans]),
            "context": slices([plan.context for plan in plans]),
            "topic_name": topics,
            "partition_id": partitions,
            "body": gather(data, np.minimum(starts + body[:, 0], body_ends), body_ends),
            "raw_text": gather(data, starts, raw_ends),
            "event_type": constant([plan.event_type for plan in plans]),
            "fields": fields,
            "outcome": constant([plan.outcome for plan in plans]),
        }
        return pa.RecordBatch.from_arrays([columns[name] for name in SCHEMA.names], schema=SCHEMA)

    def _plans(self, text: bytes, bounds: np.ndarray, heads: np.ndarray, numbers: np.ndarray, distinct: pa.Array) -> list[Shape]:
        _, first = np.unique(numbers, return_index=True)
        plans = []
        for number, record in enumerate(first):
            has_head = bool(heads[record])
            key = (self.envelope.name, has_head, distinct[number].as_py())
            plan = self.cache.get(key)
            if plan is None:
                plan = shape_of(text[bounds[record] : bounds[record + 1]].rstrip(b"\r\n"), has_head, self.envelope, self.known)
                if len(self.cache) < 200_000 and len(key[2]) < 20_000:
                    self.cache[key] = plan
            plans.append(plan)
        return plans

    def _recheck(
        self, text: bytes, bounds: np.ndarray, heads: np.ndarray, numbers: np.ndarray, plans: list[Shape]
    ) -> tuple[np.ndarray, list[Shape]]:
        """Where a literal digit of a form decides, each record of the shape is recognised by itself."""
        doubtful = np.flatnonzero(np.array([plan.recheck for plan in plans])[numbers])
        if not len(doubtful):
            return numbers, plans
        numbers, plans = numbers.copy(), list(plans)
        for record in doubtful:
            plans.append(
                shape_of(text[bounds[record] : bounds[record + 1]].rstrip(b"\r\n"), bool(heads[record]), self.envelope, self.known)
            )
            numbers[record] = len(plans) - 1
        return numbers, plans

    def _fields(
        self, data: pa.Buffer, starts: np.ndarray, numbers: np.ndarray, plans: list[Shape]
    ) -> tuple[pa.Array, np.ndarray, pa.Array, np.ndarray]:
        """The map of fields of every record; also, flat: key number, value and record of each entry."""
        names = sorted({key for plan in plans for key in plan.keys})
        number_of = {name: n for n, name in enumerate(names)}
        sizes = np.array([len(plan.keys) for plan in plans], np.int64)
        begins = np.concatenate(([0], np.cumsum(sizes)))[:-1]
        flat_keys = np.array([number_of[key] for plan in plans for key in plan.keys], np.int64)
        flat_spans = np.array([span for plan in plans for span in plan.spans], np.int64).reshape(-1, 2)
        counts = sizes[numbers]
        map_offsets = np.concatenate(([0], np.cumsum(counts)))
        owners = np.repeat(np.arange(len(numbers)), counts)
        entry = np.arange(map_offsets[-1]) - np.repeat(map_offsets[:-1], counts) + begins[numbers[owners]]
        keys = flat_keys[entry] if len(entry) else np.zeros(0, np.int64)
        spans = flat_spans[entry] if len(entry) else np.zeros((0, 2), np.int64)
        values = gather(data, starts[owners] + spans[:, 0], starts[owners] + spans[:, 1])
        picked = [form for plan in plans for form in plan.picked]
        if any(picked):
            chosen = [(n, picked[e]) for n, e in enumerate(entry) if picked[e]]
            texts = values.to_pylist()
            for n, form in chosen:
                name = names[keys[n]]
                texts[n] = b",".join(form.picks[name].findall(texts[n].encode())).decode()
            values = pa.array(texts, pa.string())
        array = pa.MapArray.from_arrays(pa.array(map_offsets.astype(np.int32)), pa.array(names, pa.string()).take(pa.array(keys)), values)
        self._names = number_of
        return array, keys, values, owners

    def _entries(self, name: str, keys: np.ndarray, values: pa.Array, owners: np.ndarray) -> tuple[np.ndarray, pa.Array]:
        """(record, value) of all entries of one field."""
        if name not in self._names:
            return np.zeros(0, np.int64), pa.array([], pa.string())
        at = np.flatnonzero(keys == self._names[name])
        return owners[at], values.take(pa.array(at))

    def _days(self, days: np.ndarray, timed: np.ndarray) -> np.ndarray:
        """The day of every record; one without a time takes that of its neighbour."""
        at = np.maximum.accumulate(np.where(timed, np.arange(len(days)), -1))
        known = at >= 0
        if known.any():
            before = self.day if self.day is not None else int(days[np.argmax(known)])
            self.day = int(days[at[-1]])
        else:
            before = self.day if self.day is not None else (self.task.ingested_at.date() - dt.date(1970, 1, 1)).days
        return np.where(known, days[at], before)

    def _nodes(self, count: int, keys: np.ndarray, values: pa.Array, owners: np.ndarray) -> tuple[pa.Array, pa.Array]:
        """The node that wrote each record: as its own prefix or configuration says, else as the last that said so."""
        if not self.task.takes_nodes:
            return pa.repeat(pa.scalar(self.node, pa.int32()), count), pa.repeat(pa.scalar(self.node_known_by, pa.string()), count)
        said = np.full(count, -1, np.int64)
        for name in ("broker.id", "node.id", "node"):
            records, texts = self._entries(name, keys, values, owners)
            if len(records):
                found = np.array([int(t) if t.lstrip("-").isdigit() and len(t) < 10 else -1 for t in texts.to_pylist()], np.int64)
                said[records[found >= 0]] = found[found >= 0]
        at = np.maximum.accumulate(np.where(said >= 0, np.arange(count), -1))
        before = -1 if self.node is None else self.node
        node = np.where(at >= 0, said[at], before)
        by = np.where(said >= 0, 2, np.where(at >= 0, 1, 0))
        names = pa.array([self.node_known_by, "neighbour", "content"], pa.string())
        if at[-1] >= 0:
            self.node, self.node_known_by = int(said[at[-1]]), "neighbour"
        return pa.array(node.astype(np.int32), mask=node < 0), names.take(pa.array(by))

    def _partitions(self, count: int, keys: np.ndarray, values: pa.Array, owners: np.ndarray) -> tuple[pa.Array, pa.Array]:
        """Topic and partition that the record speaks of, from its prefix or its body."""
        topics = np.full(count, None, object)
        records, texts = self._entries("topic", keys, values, owners)
        topics[records] = texts.to_pylist()
        partitions = np.full(count, -1, np.int64)
        records, texts = self._entries("partition", keys, values, owners)
        if len(records):
            partitions[records] = [int(t) if t.isdigit() and len(t) < 10 else -1 for t in texts.to_pylist()]
        return pa.array(topics, pa.string()), pa.array(partitions.astype(np.int32), mask=partitions < 0)


def is_gzip(path: Path) -> bool:
    """Whether the file begins as gzip does, whatever its name."""
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def read_tasks(tasks: Iterator[Task]) -> Iterator[pa.RecordBatch]:
    """All records of some sources, as batches of SCHEMA."""
    cache: dict[tuple[str, bool, bytes], Shape] = {}
    for task in tasks:
        reader = Reader(task, catalogue(), cache)
        try:
            yield from reader.batches()
        except OSError as error:
            yield reader._fault(task.start, f"{type(error).__name__}: {error.strerror or error}")
