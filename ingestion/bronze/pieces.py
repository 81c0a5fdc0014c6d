"""Cuts log files into pieces of complete records, plain or out of their wrappers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ingestion.bronze.tasks import Task, writer_of
from ingestion.reading import linear
from ingestion.reading.files import BROKEN, Changed, chunks, fault_of
from ingestion.reading.zones import ALWAYS, Clock, fixed_offset, is_mirrored, zone_offsets
from ingestion.records.clues import clock_millis, zone_between
from ingestion.records.envelope import REWRITTEN, Envelope, envelope_named
from ingestion.records.nature import is_of_other_program, naming
from ingestion.records.split import LONGEST_RECORD, local_millis, mask, record_starts, valid_text
from ingestion.records.streams import Line, Stream, Streams, Wrapping
from ingestion.sources import owners

CHUNK = 8 << 20
PADDING = 256
# The node in the name of a pod or container.
NODE_IN_NAME = linear.compile(r"(?:^|[-_/])(?:kafka|broker|controller|node|kraft)[\w.]*?[-_]?(\d{1,9})(?:[^\w.]|\Z)")


class Reader:
    """Reads one source as pieces; `node` and `day` are those of the last record that a batch took.  `changed`: reading ended because the file
    became another one; its last record is then held back, since its rest is in a file of another name."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.envelope = envelope_named(task.envelope)
        self.node, self.node_known_by = task.node_id, task.node_known_by
        self.day: int | None = None
        self.fault: str | None = None
        self.failed: str | None = None
        self.changed = False
        self.end = task.start
        self.resolution_ms = 1 if self.envelope.has_millis else 1000
        self.clock = Clock()
        self.doubts: set[str] = set()

    def read_clock(self) -> None:
        """Restore the clock of an earlier run's end, from the records before the task's start."""
        begin = max(0, self.task.start - CHUNK)
        try:
            text = b"".join(
                chunks(self.task.path, begin, self.task.start, CHUNK, self.task.expected and replace(self.task.expected, tail_hash=None))
            )
        except (*BROKEN, Changed):
            return
        starts = record_starts(np.frombuffer(mask(text), np.uint8), self.envelope.template)
        raw = np.frombuffer(text + b"\n" * PADDING, np.uint8)
        local, timed = local_millis(raw, starts + self.envelope.time_at, self.envelope.has_millis)
        offsets = zone_offsets(self.task.zones, local[timed])
        self.clock.passes(local[timed], offsets.first > offsets.second)

    def pieces(self) -> Iterator[Piece]:
        """All whole records, plain or out of their wrappers."""
        return self._rewritten() if self.task.envelope == REWRITTEN.name else self._plain()

    def _rewritten(self) -> Iterator[Piece]:
        streams = Streams(self.task.wrapping, self.task.start, lambda: self.lacks_end)
        readers: dict[str, Reader] = {}
        read = self._chunks()
        for stream, lines in streams.take(iter(lambda: self._next(read), b"")):
            reader = readers.get(stream.name)
            if reader is None:
                reader = readers[stream.name] = Reader(task_of_stream(self.task, stream, lines))
            reader.resolution_ms = stream.resolution
            yield piece_of(reader, lines)
        self.end, self.failed = streams.end, streams.failed

    @property
    def lacks_end(self) -> bool:
        """Whether the rest of the last record comes later: the file became another one, still grows, or is compressed and incomplete."""
        return self.changed or (self.task.holds_last and bool(self.fault) == self.task.compressed)

    def _plain(self) -> Iterator[Piece]:
        """All whole records from the task's start to its end; the last one is held back where the file still grows."""
        read = self._chunks()
        carry, chunk = b"", self._next(read)
        while True:
            following = self._next(read) if chunk else b""
            data, is_last, chunk = carry + chunk, not following, following
            keep = len(data)
            if not is_last or self.lacks_end:
                keep = last_start(data, self.envelope)
                if not keep and len(data) >= 4 * LONGEST_RECORD:
                    # An overlong record is cut into pieces, so that it cannot fill the memory.
                    keep = len(data) // LONGEST_RECORD * LONGEST_RECORD
            if keep:
                yield Piece(self, valid_text(data[:keep]), self.end)
                self.end += keep
            if is_last:
                return
            carry = data[keep:]

    def _chunks(self) -> Iterator[bytes]:
        return chunks(self.task.path, self.task.start, self.task.end, CHUNK, self.task.expected)

    def _next(self, read: Iterator[bytes]) -> bytes:
        try:
            return next(read, b"")
        except Changed:
            self.changed = True
            return b""
        except BROKEN as error:
            self.fault = fault_of(error)
            return b""


@dataclass(frozen=True)
class Piece:
    """Whole records of one source, in valid UTF-8; `offset`: where it begins there."""

    reader: Reader
    text: bytes
    offset: int
    lines: Lines | None = None


NO_TIME = np.iinfo(np.int64).min


@dataclass(frozen=True)
class Lines:
    """The physical lines of a rewritten piece: where each begins in the piece and in the file, its length there, its bytes, and the time that is around
    it (NO_TIME: none)."""

    begins: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray
    raw: list[bytes]
    millis: np.ndarray


def piece_of(reader: Reader, lines: list[Line]) -> Piece:
    """Lines of complete records, out of their wrappers, as a piece."""
    texts = [valid_text(line.text.encode("utf-8", "replace")) + b"\n" for line in lines]
    lengths = np.array([len(text) for text in texts], np.int64)
    physical = Lines(
        np.cumsum(lengths) - lengths,
        np.array([line.start for line in lines], np.int64),
        np.array([line.end - line.start for line in lines], np.int64),
        [valid_text(line.raw) for line in lines],
        np.array([NO_TIME if line.millis is None else line.millis for line in lines], np.int64),
    )
    return Piece(reader, b"".join(texts), 0, physical)


def task_of_stream(task: Task, stream: Stream, lines: list[Line]) -> Task:
    """The task for one stream of a file: its layout, its node and its zone by what it says itself."""
    assert stream.envelope is not None
    text = "\n".join(line.text for line in lines).encode("utf-8", "replace")
    is_other = bool(stream.name) and (owners.is_others(stream.name) or is_of_other_program(stream, text))
    node, known_by = node_of_stream(task, stream, lines, text, is_other)
    zones, zone_known_by = task.zones, task.zone_known_by
    if stream.is_utc:
        zones, zone_known_by = ((ALWAYS, "UTC"),), "content"
    elif zone_known_by != "given":
        # The wrapper has the time in UTC in addition to the line's own.
        for line in lines:
            local = clock_millis(line.text[stream.envelope.time_at :][:23].encode("utf-8", "replace")) if line.is_head else None
            zone = zone_between(local, line.millis) if local is not None and line.millis is not None else None
            if local is not None and zone:
                known = int(zone_offsets(zones, np.array([local])).first[0])
                if zone_known_by == "default" or is_mirrored(known, fixed_offset(zone)):
                    zones, zone_known_by = ((ALWAYS, zone),), "evidence"
                break
    return replace(
        task,
        envelope=stream.envelope.name,
        node_id=node,
        node_known_by=known_by,
        zones=zones,
        zone_known_by=zone_known_by,
        wrapping=Wrapping(),
        takes_nodes=task.takes_nodes and not is_other,
        writer=writer_of(task.shown, stream.name),
    )


def node_of_stream(task: Task, stream: Stream, lines: list[Line], text: bytes, is_other: bool) -> tuple[int | None, str | None]:
    """The node of a stream and how it is known: as its lines say, or those of its writer in the file's first bytes; else its name; else that of the
    file, unless several programs write into it, of which each has to say who it is.  `text`: its lines; `is_other`: whether another program than a node
    writes it."""
    assert stream.envelope is not None
    named, told = naming(stream.envelope, text, 0), dict(task.writers)
    if named:
        return named[1], "content"
    if is_other:
        return None, None
    if (node := told.get(stream.writer)) is not None:
        return node, "content"
    is_alone = len(told) < 2 and stream.writer in (*told, "")
    number = NODE_IN_NAME.search(stream.name) if is_alone or any(line.is_head for line in lines) else None
    if number and task.takes_nodes and numbers_nodes(stream.name, number, told):
        return int(number[1]), "stream"
    return (task.node_id, task.node_known_by) if is_alone or task.node_known_by == "path" else (None, None)


def numbers_nodes(name: str, number: re.Match[str], told: dict[str, int | None]) -> bool:
    """Whether the number in the name of a stream is a node's.  Compose numbers the containers of a service from 1, so a 1 at the end of a name says
    nothing by itself: only if other writers have names that differ in the number alone.  It says nothing either if a writer names another node than
    its name has.  `told`: the writers, with the node that each names."""
    begin, end = number.span(1)
    alike = {}
    for writer, node in told.items():
        other = NODE_IN_NAME.search(writer)
        if other and (writer[: other.start(1)], first(writer[other.end(1) :])) == (name[:begin], first(name[end:])):
            alike[int(other[1])] = node
    if any(node not in (None, numbered) for numbered, node in alike.items()):
        return False
    return number[1] != "1" or end < len(name) or len(alike.keys() | {1}) > 1


def first(name: str) -> str:
    """The part of a name before what a writer is within it: the host of a program, the pod of a container."""
    return name.split("/", 1)[0]


def last_start(data: bytes, envelope: Envelope) -> int:
    """The offset of the last record in some bytes; 0 if none begins after the first byte."""
    # It is nearly always in the last few lines: masking the whole again would cost as much as reading it.
    for size in (64 << 10, len(data)):
        begin = max(0, len(data) - size)
        starts = record_starts(np.frombuffer(mask(data[begin:]), np.uint8), envelope.template)
        # The bytes looked at may begin anywhere in a line.
        starts = starts[starts > 0]
        if len(starts):
            return begin + int(starts[-1])
        if not begin:
            break
    return 0


def whole_end(task: Task) -> int:
    """The byte up to which the records of a plain source that may still grow are complete.  Raises OSError."""
    if task.envelope == REWRITTEN.name:
        reader = Reader(replace(task, holds_last=True))
        for _ in reader.pieces():
            pass
        return reader.end
    begin = max(task.start, task.end - CHUNK)
    found = last_start(b"".join(chunks(task.path, begin, task.end, CHUNK)), envelope_named(task.envelope))
    return begin + found if found else task.start


def pieces_of(reader: Reader) -> Iterator[Piece]:
    """The pieces of a source, up to a fault of our own code in cutting them."""
    try:
        yield from reader.pieces()
    except Exception as error:  # one source's fault must not stop the others
        reader.fault = reader.failed = fault_of(error)
