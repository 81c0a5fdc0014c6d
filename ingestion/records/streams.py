"""Streams of records in a file whose lines are wrapped or exported, or of a layout without fixed width: rewritten so that records can be found.

No Spark here.  A wrapped file holds one or more streams (containers, hosts, programs, files of a collector).  Each of its lines is taken out of its
wrappers; a line of JSON with a level of its own, or one that a pattern cuts, becomes a line of the layout `rewritten`.  The records' raw text stays
that of the file.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from ingestion.reading.files import fault_of
from ingestion.records.envelope import REWRITTEN, Envelope
from ingestion.records.exports import Export, entries_of
from ingestion.records.framing import find_framing
from ingestion.records.patterns import Pattern, compile_pattern, rewritten
from ingestion.records.split import LONGEST_RECORD
from ingestion.records.system_lines import takes
from ingestion.records.unwrap import Inner, unwrap

# A stream in which none of so many lines is framed is taken to have no records.
MOST_UNFRAMED = 10_000
MOST_UNFRAMED_BYTES = 4 << 20
# Chunks of an export that are read at once: its last entry may be the first in time.
BLOCK_CHUNKS = 64
# Logs of a whole system, in which programs are told apart.
SYSTEM_LOGS = (("journal",), ("journal_full",), ("journal_json",), ("syslog",), ("syslog_5424",))


@dataclass(frozen=True)
class Wrapping:
    """How records are found in a file that is not plain.  `wrappers`: around each line, outermost first; `export`: how lines lie in an export;
    `pattern`: the user's layout, `derived`: one that was derived from the file."""

    wrappers: tuple[str, ...] = ()
    export: Export | None = None
    pattern: str | None = None
    derived: str | None = None

    @property
    def has_system(self) -> bool:
        """Whether it is the log of a whole system, with the lines of the kernel and of systemd."""
        return self.wrappers[:1] in SYSTEM_LOGS


PLAIN = Wrapping()


@dataclass
class Line:
    """A physical line and its text within a stream, which may be several lines where it is the entry of an export.  `start` and `end`: bytes in the
    file; `millis`, `resolution`: the time that is around it."""

    text: str
    start: int
    end: int
    raw: bytes
    millis: int | None
    is_head: bool
    resolution: int = 1


class Stream:
    """The lines of one stream of a file: how they are framed, and those that wait for the end of their record."""

    def __init__(self, name: str, writer: str, given: str | None, derived: str | None) -> None:
        self.name, self.writer = name, writer
        self.given, self.derived = given, derived
        self.envelope: Envelope | None = None
        self.pattern: Pattern | None = None
        self.waiting: list[Line] = []
        self.parts: list[tuple[str, int, bytes]] = []
        self.is_utc = False
        # Milliseconds between the times that its records tell: 1000 as long as all are whole seconds.
        self.resolution = 1000
        # How many of the waiting lines are framed, and how many bytes wait.
        self.framed = self.size = self.size_of_parts = 0

    @property
    def held_from(self) -> int | None:
        """Offset of the first waiting line or part; None if none waits."""
        starts = [self.waiting[0].start] * bool(self.waiting) + [part[1] for part in self.parts[:1]]
        return min(starts, default=None)

    def add(self, inner: Inner, start: int, end: int, raw: bytes) -> None:
        """Add a line; the parts of a split line are joined."""
        self.size += len(raw)
        if inner.goes_on and self.size_of_parts < LONGEST_RECORD:
            self.parts.append((inner.text, start, raw))
            self.size_of_parts += len(raw)
            return
        text = inner.text
        if self.parts:
            text, start = "".join(part for part, _, _ in self.parts) + text, self.parts[0][1]
            raw = b"\n".join([*(part for _, _, part in self.parts), raw])
            self.parts, self.size_of_parts = [], 0
        if inner.cut is not None:
            self.is_utc |= inner.cut.is_utc
            self.resolution = min(self.resolution, inner.cut.resolution)
            text = rewritten(inner.cut)
        self.waiting.append(Line(text, start, end, raw, inner.millis, inner.cut is not None, inner.resolution))

    def frame(self, is_last: bool) -> None:
        """Find out how the waiting lines are framed, as soon as one is, and mark those that begin a record."""
        if self.envelope is None:
            lines = [line.text for line in self.waiting[:400]]
            is_json = any(line.is_head for line in self.waiting)
            plain = None
            if self.given:
                pattern = compile_pattern(self.given)
                self.pattern = pattern if any(pattern.cut(line) for text in lines for line in text.split("\n")) else None
            elif not is_json:
                found = find_framing([line for text in lines for line in text.split("\n")], self.derived)
                plain, self.pattern = found.envelope, found.pattern
            if plain or self.pattern or is_json or is_last or len(self.waiting) > MOST_UNFRAMED or self.size > MOST_UNFRAMED_BYTES:
                self.envelope = plain or REWRITTEN
                if plain:
                    self.resolution = 1 if plain.has_millis else 1000
            else:
                return
        first, self.framed = self.framed, len(self.waiting)
        for line in self.waiting[first:]:
            if line.is_head:
                continue
            if self.pattern is not None:
                self._cut(line, self.pattern)
            elif self.envelope is not None:
                line.is_head = self.envelope.begins(line.text.encode("utf-8", "replace"))

    def _cut(self, line: Line, pattern: Pattern) -> None:
        """Rewrite the records in a line."""
        texts = line.text.split("\n")
        for number, text in enumerate(texts):
            cut = pattern.cut(text)
            if cut is None:
                continue
            if cut.millis is None and line.millis is not None:
                # The layout has no date; what is around the line has.
                cut = replace(cut, millis=line.millis, is_utc=True, resolution=line.resolution)
            texts[number] = rewritten(cut)
            line.is_head |= number == 0
            self.is_utc |= cut.is_utc
            if cut.millis is not None:
                self.resolution = min(self.resolution, cut.resolution)
        line.text = "\n".join(texts)

    def take(self, is_last: bool, holds_last: bool) -> list[Line]:
        """The lines of complete records; the last record is kept back while it may continue."""
        self.frame(is_last)
        end = len(self.waiting) if self.envelope else 0
        if self.envelope and (not is_last or holds_last):
            end = next((n for n in range(len(self.waiting) - 1, -1, -1) if self.waiting[n].is_head), 0)
            if not end and not is_last and self.size > 4 * LONGEST_RECORD:
                # An overlong record is cut, so that it cannot fill the memory.
                end = len(self.waiting)
        taken, self.waiting = self.waiting[:end], self.waiting[end:]
        self.framed = len(self.waiting) if self.envelope else 0
        self.size -= sum(len(line.raw) for line in taken)
        return taken


class Streams:
    """A wrapped file, stream by stream; `end`: the byte up to which its lines have been given out; `holds_last`, called at the file's end:
    whether the last record may be incomplete; `failed`: a fault of our own code, for which a line was taken as it is."""

    def __init__(self, wrapping: Wrapping, start: int, holds_last: Callable[[], bool]) -> None:
        self.wrapping, self.end, self.holds_last = wrapping, start, holds_last
        self.names, self.has_system = wrapping.wrappers, wrapping.has_system
        self.failed: str | None = None
        self.streams: dict[str, Stream] = {}

    def take(self, chunks: Iterator[bytes]) -> Iterator[tuple[Stream, list[Line]]]:
        """(stream, lines of complete records), chunk by chunk; within each stream in the order of the file, or of time if the newest came first."""
        if self.wrapping.export is not None:
            yield from self._take_export(self.wrapping.export, chunks)
            return
        carry, offset = b"", self.end
        chunk = next(chunks, b"")
        while chunk or carry:
            following = next(chunks, b"")
            data, is_last = carry + chunk, not following
            cut = len(data) if is_last else data.rfind(b"\n") + 1
            if not cut and len(data) > LONGEST_RECORD:
                cut = len(data)
            self._add(data[:cut], offset)
            carry, offset, chunk = data[cut:], offset + cut, following
            holds_last = is_last and self.holds_last()
            taken = [(stream, stream.take(is_last, holds_last)) for stream in self.streams.values()]
            self.end = offset
            if holds_last:
                # The next run reads from the first line that is held back: later lines of other streams wait, too.
                self.end = min((held for stream, _ in taken if (held := stream.held_from) is not None), default=offset)
                taken = [(stream, whole_before(lines, self.end)) for stream, lines in taken]
            yield from ((stream, lines) for stream, lines in taken if lines)

    def _take_export(self, export: Export, chunks: Iterator[bytes]) -> Iterator[tuple[Stream, list[Line]]]:
        """The same of an export, which nobody writes to any more: in blocks, each read whole."""
        while data := b"".join(islice(chunks, BLOCK_CHUNKS)):
            entries = list(entries_of(export, data, is_begin=self.end <= len(BOM_UTF8)))
            for entry in reversed(entries) if export.newest_first else entries:
                raw = data[entry.start : entry.end].rstrip(b"\r\n")
                try:
                    inner = unwrap(self.names, entry.text, entry.inner if entry.content is not None else None)
                except Exception as error:  # one entry's fault must not lose the others
                    inner, self.failed = Inner(entry.text), fault_of(error)
                self._stream(inner).add(inner, self.end + entry.start, self.end + entry.end, raw)
            self.end += len(data)
            taken = [(stream, stream.take(True, False)) for stream in self.streams.values()]
            yield from ((stream, lines) for stream, lines in taken if lines)

    def _add(self, data: bytes, offset: int) -> None:
        at = 0
        while at < len(data):
            # An overlong line is taken in parts, and stays as it is.
            end = min(data.find(b"\n", at) + 1 or len(data), at + LONGEST_RECORD // 2)
            raw = data[at:end].rstrip(b"\r\n")
            line = raw.decode("utf-8", "replace")
            try:
                inner = unwrap(self.names, line)
            except Exception as error:  # one line's fault must not lose the others
                inner, self.failed = Inner(line), fault_of(error)
            # The kernel's and systemd's lines are read as captures.
            if not (self.has_system and takes(line)):
                self._stream(inner).add(inner, offset + at, offset + end, raw)
            at = end

    def _stream(self, inner: Inner) -> Stream:
        stream = self.streams.get(inner.stream)
        if stream is None:
            stream = self.streams[inner.stream] = Stream(inner.stream, inner.writer, self.wrapping.pattern, self.wrapping.derived)
        return stream


def whole_before(lines: list[Line], end: int) -> list[Line]:
    """The lines of the records that lie wholly before a byte."""
    late = next((n for n, line in enumerate(lines) if line.start >= end), len(lines))
    if late < len(lines) and not lines[late].is_head:
        late = next((n for n in range(late - 1, -1, -1) if lines[n].is_head), 0)
    return lines[:late]
