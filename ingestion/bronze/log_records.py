"""Log files to `bronze.log_records`: bytes to Arrow in plain Python, run by Spark's executors.

Grain: one row per record, which is a log line with all its continuation lines.  Nothing is dropped: a record that no form
recognises has a null `event_type`, a record without a head has the outcome `orphan`, and if a source could not
be read to its end a row of length 0 says why.

Files are read as pieces of whole records, and pieces of many files make one batch: what a batch costs does not grow
with the number of files in it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingestion.bronze import pieces as cutting
from ingestion.bronze.pieces import NO_TIME, PADDING, Piece, Reader, pieces_of
from ingestion.bronze.shapes import Shape, shape_of
from ingestion.bronze.tasks import Counted, Task
from ingestion.bronze.write import TIME, WORD, Columns, schema_of
from ingestion.reading.files import fault_of, tail_hash
from ingestion.reading.zones import zone_offsets
from ingestion.recognition.recognise import Catalogue, catalogue
from ingestion.records.kinds import Speaker
from ingestion.records.redact import HIDDEN, hide_secrets, may_hold_secrets, shown
from ingestion.records.split import gather, local_millis, mask, shapes, split

CUT, FAILED = "source_cut", "failed"
EPOCH = dt.date(1970, 1, 1)

COLUMNS: Columns = [
    ("cluster_id", WORD, "cluster, as it was called when the logs were ingested"),
    ("source_id", WORD, "file, whatever its name: known by its first bytes"),
    ("byte_offset", pa.int64(), "offset of the record in the decompressed file, bytes"),
    ("byte_length", pa.int32(), "length of the record, bytes"),
    ("source_path", WORD, "path of the file when it was read"),
    ("node_id", pa.int32(), "node that wrote the record"),
    ("node_known_by", WORD, "content, neighbour (an earlier record of the file), folder or path; null: no node wrote it"),
    (
        "writer",
        WORD,
        "process that wrote the record, where no node is known: its file and stream; null: the node is known, or another program wrote it",
    ),
    ("batch_id", pa.int64(), "ingestion that added the record"),
    ("ingested_at", TIME, "when it arrived, UTC"),
    ("event_date", pa.date32(), "day of the record, UTC; that of its neighbour if it has no time"),
    ("logged_at", TIME, "when it was logged, UTC"),
    ("time_resolution_ms", pa.int32(), "milliseconds between one time and the next that the layout can tell: 1, or 1000 for whole seconds"),
    ("zone", WORD, "time zone by which it was reckoned"),
    ("zone_known_by", WORD, "given, content (the records state it), evidence (in its folder), cluster or default"),
    ("level", WORD, "log level"),
    ("thread", pa.string(), "thread; null if the layout does not print it"),
    ("logger", pa.string(), "logger, as printed"),
    ("context", pa.string(), "prefix that names the component"),
    ("topic_name", pa.string(), "topic that the record is about"),
    ("partition_id", pa.int32(), "partition that the record is about"),
    ("body", pa.string(), "message without prefix and stack trace"),
    ("raw_text", pa.string(), "the complete record as in the file, secrets as [redacted]"),
    ("event_type", WORD, "what the record says (dim_event_types); null: no form recognises it"),
    ("fields", pa.map_(pa.string(), pa.string()), "values that the record states"),
    ("catalogue_version", WORD, "catalogue that recognised it"),
    ("outcome", WORD, "recognised, unrecognised, orphan (a record without its head), source_cut or failed (kept as raw text)"),
]
SCHEMA = schema_of(COLUMNS)

Cache = dict[tuple[str, bool, bytes], Shape]


def shown_day(local: int) -> str:
    """The day of a local time (ms), for messages."""
    return f"on {EPOCH + dt.timedelta(milliseconds=int(local))}"


def words(values: Iterable[str | None], numbers: np.ndarray) -> pa.Array:
    """For each record one of some words, as WORD."""
    distinct: dict[str | None, int] = {}
    code = np.array([distinct.setdefault(value, len(distinct)) for value in values], np.int32)
    number = code[numbers] if len(code) else np.zeros(0, np.int32)
    missing = distinct.get(None, -1)
    names = ["" if value is None else value for value in distinct]
    return pa.DictionaryArray.from_arrays(pa.array(number, mask=number == missing), pa.array(names, pa.string()))


class Batch:
    """Pieces of one layout as one record batch of SCHEMA; `counts`: (reader, records, recognised, commonest unknown shape) of each piece."""

    def __init__(self, pieces: list[Piece], known: Catalogue, cache: Cache) -> None:
        self.pieces, self.known, self.cache = pieces, known, cache
        self.envelope = pieces[0].reader.envelope
        # A piece without its last line end gets one, so that the next piece begins a line.
        texts = [piece.text if piece.text.endswith(b"\n") else piece.text + b"\n" for piece in pieces]
        lengths = np.array([len(text) for text in texts], np.int64)
        self.begins = np.cumsum(lengths) - lengths
        self.text = b"".join(texts)
        # Padding, since reads go beyond the last byte: a time of 23 bytes, a view of 16.
        self.padded = self.text + b"\n" * PADDING
        self.raw = np.frombuffer(self.padded, np.uint8)
        masked = mask(self.padded)
        self.bounds, self.heads = split(self.text, np.frombuffer(masked, np.uint8)[: len(self.text)], self.envelope, self.begins)
        self.starts, self.ends = self.bounds[:-1], self.bounds[1:]
        self.count = len(self.starts)
        self.piece = np.searchsorted(self.begins, self.starts, side="right") - 1
        self.first = np.searchsorted(self.starts, self.begins)
        self.last = np.append(self.first[1:], self.count) - 1
        numbers, distinct = shapes(pa.py_buffer(masked), self.bounds)
        self.shape, self.plans = self._plans(numbers, distinct)
        self._entries()

    def table(self) -> pa.RecordBatch:
        """The records, in the order of their pieces."""
        tasks = [piece.reader.task for piece in self.pieces]
        local, timed = local_millis(self.raw, np.where(self.heads, self.starts, 0) + self.envelope.time_at, self.envelope.has_millis)
        timed &= self.heads
        utc, zones = self._utc(local, timed)
        if self.pieces[0].lines:
            # A stack trace or a word of the JVM before the first record has no time of its own; what is around its lines may have one.
            around = self._around()
            beside = ~self.heads & (around != NO_TIME)
            utc, timed = np.where(beside, around, utc), timed | beside
        nodes, known_by, writers = self._nodes()
        raw_ends = self.ends - (self.raw[self.ends - 1] == 10)
        raw_ends -= (self.raw[raw_ends - 1] == 13) & (raw_ends > self.starts)
        body = np.array([plan.body for plan in self.plans], np.int64)[self.shape]
        body_ends = np.minimum(self.starts + body[:, 1], raw_ends)
        added = np.array([not piece.text.endswith(b"\n") for piece in self.pieces])
        offsets = self.starts - (self.begins - np.array([piece.offset for piece in self.pieces]))[self.piece]
        lengths = self.ends - self.starts
        lengths[self.last] -= added
        raw_text = self._texts(self.starts, raw_ends)
        if self.pieces[0].lines:
            offsets, lengths, raw_text = self._physical()
        outcomes = words([plan.outcome for plan in self.plans], self.shape)
        recognised = np.array([plan.event_type is not None for plan in self.plans])[self.shape]
        self.counts = list(
            zip(
                [piece.reader for piece in self.pieces],
                (self.last - self.first + 1).tolist(),
                np.add.reduceat(recognised.astype(np.int64), self.first).tolist(),
                self._unknown(recognised, timed),
                strict=True,
            )
        )

        def of_task(values: list[str | None]) -> pa.Array:
            return words(values, self.piece)

        def repeated(value: object, kind: pa.DataType) -> pa.Array:
            return pa.repeat(pa.scalar(value, kind), self.count)

        columns = {
            "cluster_id": of_task([task.cluster_id for task in tasks]),
            "source_id": of_task([task.source_id for task in tasks]),
            "byte_offset": pa.array(offsets),
            "byte_length": pa.array(lengths.astype(np.int32)),
            "source_path": of_task([task.shown for task in tasks]),
            "node_id": nodes,
            "node_known_by": known_by,
            "writer": writers,
            "batch_id": repeated(tasks[0].batch_id, pa.int64()),
            "ingested_at": repeated(tasks[0].ingested_at, pa.timestamp("us", tz="UTC")),
            "event_date": pa.array(self._days(utc // 86_400_000, timed).astype(np.int32)).cast(pa.date32()),
            "logged_at": pa.array(utc * 1000, mask=~timed).cast(pa.timestamp("us", tz="UTC")),
            "time_resolution_ms": self._resolutions(timed),
            "zone": zones,
            "zone_known_by": of_task([task.zone_known_by for task in tasks]),
            "level": words([plan.level for plan in self.plans], self.shape),
            "thread": self._slices([plan.thread for plan in self.plans]),
            "logger": self._slices([plan.logger for plan in self.plans]),
            "context": self._slices([plan.context for plan in self.plans]),
            "topic_name": self._topics(),
            "partition_id": self._partitions(),
            "body": self._texts(np.minimum(self.starts + body[:, 0], body_ends), body_ends),
            "raw_text": raw_text,
            "event_type": words([plan.event_type for plan in self.plans], self.shape),
            "fields": self.fields,
            "catalogue_version": words([self.known.version], np.zeros(self.count, np.int64)),
            "outcome": outcomes,
        }
        return pa.RecordBatch.from_arrays([columns[name] for name in SCHEMA.names], schema=SCHEMA)

    def _around(self) -> np.ndarray:
        """The time that is around the first line of each record of rewritten pieces; NO_TIME where there is none."""
        lines = [piece.lines for piece in self.pieces if piece.lines]
        begins = np.concatenate([part.begins + begin for part, begin in zip(lines, self.begins, strict=True)])
        return np.concatenate([part.millis for part in lines])[np.searchsorted(begins, self.starts, side="right") - 1]

    def _physical(self) -> tuple[np.ndarray, np.ndarray, pa.Array]:
        """(offset, length, raw text) in the file of records that were rewritten."""
        lines = [piece.lines for piece in self.pieces if piece.lines]
        begins = np.concatenate([part.begins + begin for part, begin in zip(lines, self.begins, strict=True)])
        raw = [text for part in lines for text in part.raw]
        first = np.searchsorted(begins, self.starts, side="right") - 1
        last = np.append(first[1:], len(begins))
        lengths = np.add.reduceat(np.concatenate([part.lengths for part in lines]), first)
        texts = [b"\n".join(raw[a:b]) for a, b in zip(first.tolist(), np.maximum(last, first + 1).tolist(), strict=True)]
        offsets = np.concatenate([part.starts for part in lines])[first]
        # A record that was cut within a line: its first piece has all the lines.
        again = np.flatnonzero(np.append(False, first[1:] == first[:-1]))
        offsets[again] += self.starts[again] - begins[first[again]]
        lengths[again] = 0
        for number in again:
            texts[number] = b""
        return offsets, lengths, pa.array([shown(hide_secrets(text)) for text in texts], pa.string())

    def _texts(self, starts: np.ndarray, ends: np.ndarray, missing: np.ndarray | None = None) -> pa.Array:
        """Slices of the text, hidden values as `[redacted]`; null where `missing`."""
        values = gather(pa.py_buffer(self.padded), starts, ends, missing)
        if len(self.hidden):
            touched = np.searchsorted(self.hidden, ends) > np.searchsorted(self.hidden, starts)
            clean = pc.replace_substring_regex(values.filter(pa.array(touched)), HIDDEN.decode() + "+", "[redacted]")
            values = pc.replace_with_mask(values, pa.array(touched), clean)
        return values

    def _slices(self, spans: list[tuple[int, int] | None]) -> pa.Array:
        if not any(spans):
            return pa.nulls(self.count, pa.string())
        places = np.array([span or (0, 0) for span in spans], np.int64)[self.shape]
        missing = np.array([span is None for span in spans])[self.shape]
        return self._texts(self.starts + places[:, 0], self.starts + places[:, 1], missing)

    def _record(self, number: int) -> bytes:
        return self.text[self.starts[number] : self.ends[number]].rstrip(b"\r\n")

    def _hide(self, records: np.ndarray) -> None:
        """Hide the secrets of some records; `hidden`: offsets of the hidden bytes in the text."""
        if len(records):
            text = bytearray(self.padded)
            for record in records:
                start, end = int(self.starts[record]), int(self.ends[record])
                text[start:end] = hide_secrets(self.text[start:end])
            self.padded = bytes(text)
            self.text, self.raw = self.padded[: len(self.text)], np.frombuffer(self.padded, np.uint8)
        self.hidden = np.flatnonzero(self.raw == HIDDEN[0]) if len(records) else np.zeros(0, np.int64)

    def _plans(self, numbers: np.ndarray, distinct: pa.Array) -> tuple[np.ndarray, list[Shape]]:
        """For each record the number of its plan, and the plans: one for a shape, or one for a record if a literal digit decides."""
        _, first = np.unique(numbers, return_index=True)
        plans = []
        for number, record in enumerate(first):
            has_head = bool(self.heads[record])
            key = (self.envelope.name, has_head, distinct[number].as_py())
            plan = self.cache.get(key)
            if plan is None:
                text = self._record(int(record))
                hides = may_hold_secrets(text)
                plan = shape_of(hide_secrets(text) if hides else text, has_head, self.envelope, self.known)
                plan.hides = hides
                if len(self.cache) < 200_000 and len(key[2]) < 20_000:
                    self.cache[key] = plan
            plans.append(plan)
        self._hide(np.flatnonzero(np.array([plan.hides for plan in plans])[numbers]))
        doubtful = np.flatnonzero(np.array([plan.recheck for plan in plans])[numbers])
        if len(doubtful):
            numbers = numbers.copy()
            for record in doubtful:
                plans.append(shape_of(self._record(int(record)), bool(self.heads[record]), self.envelope, self.known))
                numbers[record] = len(plans) - 1
        return numbers, plans

    def _entries(self) -> None:
        """`fields`: the map of every record; also, flat: `keys` (number), `values` and `owners` (record) of each entry."""
        names = sorted({key for plan in self.plans for key in plan.keys})
        self.names = {name: n for n, name in enumerate(names)}
        sizes = np.array([len(plan.keys) for plan in self.plans], np.int64)
        begins = np.concatenate(([0], np.cumsum(sizes)))[:-1]
        flat_keys = np.array([self.names[key] for plan in self.plans for key in plan.keys], np.int64)
        flat_spans = np.array([span for plan in self.plans for span in plan.spans], np.int64).reshape(-1, 2)
        counts = sizes[self.shape]
        offsets = np.concatenate(([0], np.cumsum(counts)))
        self.owners = np.repeat(np.arange(self.count), counts)
        entry = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts) + begins[self.shape[self.owners]]
        self.keys = flat_keys[entry] if len(entry) else np.zeros(0, np.int64)
        spans = flat_spans[entry] if len(entry) else np.zeros((0, 2), np.int64)
        self.values = self._texts(self.starts[self.owners] + spans[:, 0], self.starts[self.owners] + spans[:, 1])
        picked = [form for plan in self.plans for form in plan.picked]
        if any(picked):
            chosen = [(n, picked[e]) for n, e in enumerate(entry) if picked[e]]
            texts = self.values.to_pylist()
            for n, form in chosen:
                name = names[self.keys[n]]
                texts[n] = b",".join(form.picks[name].findall(texts[n].encode())).decode()
            self.values = pa.array(texts, pa.string())
        keys = pa.array(names, pa.string()).take(pa.array(self.keys))
        self.fields = pa.MapArray.from_arrays(pa.array(offsets.astype(np.int32)), keys, self.values)

    def _field(self, name: str) -> tuple[np.ndarray, pa.Array]:
        """(record, value) of all entries of one field."""
        if name not in self.names:
            return np.zeros(0, np.int64), pa.array([], pa.string())
        at = np.flatnonzero(self.keys == self.names[name])
        return self.owners[at], self.values.take(pa.array(at))

    def _utc(self, local: np.ndarray, timed: np.ndarray) -> tuple[np.ndarray, pa.Array]:
        """Milliseconds since 1970 UTC, and the zone by which each was computed."""
        utc, code = np.zeros(self.count, np.int64), np.zeros(self.count, np.int64)
        names: list[str] = []
        of_piece = [piece.reader.task.zones for piece in self.pieces]
        for zones in set(of_piece):
            mine = np.array([zones == other for other in of_piece])[self.piece]
            offsets = zone_offsets(zones, local[mine])
            utc[mine] = local[mine] - offsets.first
            if (offsets.first != offsets.second).any():
                differ = np.zeros(self.count, np.int64)
                differ[mine] = offsets.first - offsets.second
                utc += self._turned_back(local, timed, differ)
            code[mine] = len(names) + offsets.zone
            names += [name for _, name in zones]
        return utc, words(names, code)

    def _turned_back(self, local: np.ndarray, timed: np.ndarray, differ: np.ndarray) -> np.ndarray:
        """Milliseconds to add to records of the second pass of an hour that the clock shows twice.  The source gets a doubt if the order does not
        tell the pass, and if the clock skips a time.  `differ`: by how much later the second pass is; below 0 for a skipped time."""
        added = np.zeros(self.count, np.int64)
        for piece, first, last in zip(self.pieces, self.first, self.last, strict=True):
            here = first + np.flatnonzero(timed[first : last + 1])
            reader = piece.reader
            if (differ[here] > 0).any():
                if reader.clock.latest is None and reader.task.start and piece.lines is None:
                    reader.read_clock()
                second = reader.clock.passes(local[here], differ[here] > 0)
                added[here[second]] = differ[here[second]]
                if not reader.clock.is_told:
                    reader.doubts.add(
                        f"the clock shows {shown_day(local[here[differ[here] > 0][0]])} an hour twice, and the hour is ambiguous; taken as the first"
                    )
            elif len(here):
                reader.clock.latest, reader.clock.was_doubled = int(local[here[-1]]), False
            if (differ[here] < 0).any():
                reader.doubts.add(
                    f"times that the clock skips {shown_day(local[here[differ[here] < 0][0]])}: another zone, or a wrong clock"
                )
        return added

    def _unknown(self, recognised: np.ndarray, timed: np.ndarray) -> list[tuple[int, str] | None]:
        """Of each piece of which less than half is recognised: how many records have its commonest unknown shape, and one of them."""
        out: list[tuple[int, str] | None] = []
        for piece, first, last in zip(self.pieces, self.first, self.last, strict=True):
            here, heads = slice(first, last + 1), self.heads[first : last + 1]
            if heads.any() and not timed[here].any():
                piece.reader.doubts.add("its lines have no time, so nothing tells when it happened")
            unknown = np.flatnonzero(heads & ~recognised[here])
            if 2 * recognised[here].sum() >= last + 1 - first or not len(unknown):
                out.append(None)
                continue
            _, places, counts = np.unique(self.shape[here][unknown], return_index=True, return_counts=True)
            commonest = int(np.argmax(counts))
            text = self._record(int(first + unknown[places[commonest]])).split(b"\n", 1)[0]
            out.append((int(counts[commonest]), shown(text)[:160]))
        return out

    def _resolutions(self, timed: np.ndarray) -> pa.Array:
        """Of the time of each record; null where it has none."""
        of_piece = np.array([piece.reader.resolution_ms for piece in self.pieces], np.int32)
        return pa.array(of_piece[self.piece], mask=~timed)

    def _days(self, days: np.ndarray, timed: np.ndarray) -> np.ndarray:
        """The day of every record; one without a time takes that of its neighbour."""
        at = np.maximum.accumulate(np.where(timed, np.arange(self.count), -1))
        known = at >= self.first[self.piece]
        out = np.where(known, days[at], 0)
        for piece, first, last in zip(self.pieces, self.first, self.last, strict=True):
            reader = piece.reader
            if not known[first]:
                mine = known[first : last + 1]
                found = int(out[first + np.argmax(mine)]) if mine.any() else (reader.task.ingested_at.date() - EPOCH).days
                out[first : last + 1][~mine] = found if reader.day is None else reader.day
            if known[last]:
                reader.day = int(out[last])
        return out

    def _nodes(self) -> tuple[pa.Array, pa.Array, pa.Array]:
        """The node that wrote each record: the one that the record names, else the last one that was named, unless another program's logger printed it;
        how it is known, and the process that wrote it where it is not known."""
        readers = [piece.reader for piece in self.pieces]
        known = [reader.node_known_by for reader in readers]
        said = self._said()
        at = np.maximum.accumulate(np.where(said >= 0, np.arange(self.count), -1))
        has = at >= self.first[self.piece]
        before = np.array([-1 if reader.node is None else reader.node for reader in readers], np.int64)
        node = np.where(has, said[at], before[self.piece])
        for reader, last in zip(readers, self.last, strict=True):
            if has[last]:
                reader.node, reader.node_known_by = int(node[last]), "neighbour"
        speaker = np.array([plan.speaker for plan in self.plans], np.int64)[self.shape]
        is_others = (speaker == Speaker.OTHER) & (said < 0)
        node = np.where(is_others, -1, node)
        by = np.where(said >= 0, 1, np.where(is_others, 2, np.where(has, 0, 3 + self.piece)))
        known_by = words(["neighbour", "content", None, *known], by)
        # Of a file that other programs write, only what a node's own logger printed is a node's.
        takes_nodes = np.array([reader.task.takes_nodes for reader in readers])[self.piece]
        is_unnumbered = (node < 0) & ((speaker == Speaker.NODE) | (takes_nodes & ~is_others))
        writers = words([None, *(reader.task.writer for reader in readers)], np.where(is_unnumbered, 1 + self.piece, 0))
        return pa.array(node.astype(np.int32), mask=node < 0), known_by, writers

    def _said(self) -> np.ndarray:
        """The node that each record names as its writer; -1 if it names none."""
        said = np.full(self.count, -1, np.int64)
        places = np.array([plan.node or (-1, -1) for plan in self.plans], np.int64)[self.shape]
        records = np.flatnonzero(places[:, 0] >= 0)
        if len(records):
            texts = self._texts(self.starts[records] + places[records, 0], self.starts[records] + places[records, 1])
            said[records] = [int(t) if t.isdigit() and len(t) < 10 else -1 for t in texts.to_pylist()]
        return said

    def _topics(self) -> pa.Array:
        """The topic that each record mentions, from its prefix or its body."""
        records, texts = self._field("topic")
        place = np.full(self.count, -1, np.int64)
        place[records] = np.arange(len(records))
        return texts.take(pa.array(place, mask=place < 0))

    def _partitions(self) -> pa.Array:
        """The partition that each record mentions."""
        partitions = np.full(self.count, -1, np.int64)
        records, texts = self._field("partition")
        if len(records):
            partitions[records] = [int(t) if t.isdigit() and len(t) < 10 else -1 for t in texts.to_pylist()]
        return pa.array(partitions.astype(np.int32), mask=partitions < 0)


def raw_row(
    reader: Reader, known: Catalogue, outcome: str, fault: str, offset: int, raw_text: bytes = b"", length: int = 0
) -> pa.RecordBatch:
    """A row for bytes that gave no records: why, and the bytes as text."""
    task = reader.task
    row = dict.fromkeys(SCHEMA.names) | {
        "cluster_id": task.cluster_id,
        "source_id": task.source_id,
        "byte_offset": offset,
        "byte_length": length,
        "source_path": task.shown,
        "batch_id": task.batch_id,
        "ingested_at": task.ingested_at,
        "event_date": task.ingested_at.date() if reader.day is None else EPOCH + dt.timedelta(days=reader.day),
        "body": fault,
        "raw_text": shown(hide_secrets(raw_text)),
        "catalogue_version": known.version,
        "outcome": outcome,
    }
    return pa.RecordBatch.from_pylist([row], schema=SCHEMA)


def cut_row(reader: Reader, known: Catalogue) -> pa.RecordBatch:
    """A row of length 0 that says why a source could not be read further."""
    return raw_row(reader, known, CUT, reader.fault or "", reader.end)


def failed_row(piece: Piece, known: Catalogue, fault: str) -> pa.RecordBatch:
    """A row with a whole piece on which our own code failed: it can be recognised again when the fault is fixed."""
    if piece.lines is None:
        return raw_row(piece.reader, known, FAILED, fault, piece.offset, piece.text, len(piece.text))
    lengths = int(piece.lines.lengths.sum())
    return raw_row(piece.reader, known, FAILED, fault, int(piece.lines.starts[0]), b"\n".join(piece.lines.raw), lengths)


def read_tasks(
    tasks: Iterable[Task],
    counted: dict[str, Counted] | None = None,
    cache: Cache | None = None,
    beside: Callable[[Batch, pa.RecordBatch], None] | None = None,
) -> Iterator[pa.RecordBatch]:
    """All records of some sources as batches of SCHEMA of about CHUNK bytes of text; `counted` is filled by source id.  `beside` takes from each batch
    what else is in its text.

    A fault in one source ends, or marks, that source alone.
    """
    known = catalogue()
    cache = {} if cache is None else cache
    counted = {} if counted is None else counted
    waiting: list[Piece] = []

    def batch(pieces: list[Piece]) -> Iterator[pa.RecordBatch]:
        before = [(piece.reader.node, piece.reader.node_known_by, piece.reader.day) for piece in pieces]
        try:
            made = Batch(pieces, known, cache)
            table = made.table()
        except Exception as error:  # one source's fault must not stop the others
            for piece, (node, known_by, day) in zip(pieces, before, strict=True):
                piece.reader.node, piece.reader.node_known_by, piece.reader.day = node, known_by, day
            if len(pieces) > 1:
                for piece in pieces:
                    yield from batch([piece])
                return
            (piece,), fault = pieces, fault_of(error)
            count = counted[piece.reader.task.source_id]
            count.failed, count.records = fault, count.records + 1
            yield failed_row(piece, known, fault)
            return
        for reader, records, recognised, unknown in made.counts:
            count = counted[reader.task.source_id]
            count.unknown = max(filter(None, (count.unknown, unknown)), default=None)
            count.records += records
            count.recognised += recognised
            count.last_node, count.last_known_by = reader.node, reader.node_known_by
            count.doubts |= reader.doubts
        if beside is not None:
            beside(made, table)
        yield table

    cut: list[Reader] = []
    for task in sorted(tasks, key=lambda task: task.envelope):
        reader = Reader(task)
        count = counted.setdefault(task.source_id, Counted(end=task.start, last_node=task.node_id, last_known_by=task.node_known_by))
        for piece in pieces_of(reader):
            full = sum(len(other.text) for other in waiting) + len(piece.text) > cutting.CHUNK
            other = waiting and (
                waiting[0].reader.envelope is not piece.reader.envelope or (waiting[0].lines is None) != (piece.lines is None)
            )
            if waiting and (full or other or any(one.reader is piece.reader for one in waiting)):
                yield from batch(waiting)
                waiting = []
            waiting.append(piece)
        count.end, count.changed, count.lacks_end = reader.end, reader.changed, reader.lacks_end
        count.tail_hash = tail_hash(task.path, reader.end, task.expected)
        count.failed = count.failed or reader.failed
        if reader.fault:
            count.fault = reader.fault
            if not reader.lacks_end:
                cut.append(reader)
    if waiting:
        yield from batch(waiting)
    for reader in cut:
        yield cut_row(reader, known)
