"""Lines that something else has wrapped, and layouts of no fixed width: rewritten so that records can be found in them.

No Spark here.  A wrapped file holds one or more streams (containers, hosts, files of a collector).  Each of its lines is
taken out of its wrappers; a line of JSON with a level of its own, or one that a pattern cuts, becomes a line of the
layout `rewritten`.  The records' raw text stays that of the file.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ingestion.reading.catalogue_files import CATALOGUE, read_yaml
from ingestion.reading.files import fault_of
from ingestion.recognition.forms import MARK
from ingestion.records.envelope import REWRITTEN, Envelope, find_envelope
from ingestion.records.patterns import Cut, Pattern, compile_pattern, millis_of
from ingestion.records.split import LONGEST_RECORD, whole

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
PARTS = {
    "time": r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)[T ](?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?"
    r"(?P<offset>Z|[+-]\d\d:?\d\d)?",
    "short_time": r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d",
    "stream": r"[\w.\-/]+",
    "output": r"stdout|stderr",
    "flag": r"[PF](?::\S*)?",
    "program": r"[^\s:\[]+(?:\[\d+\])?",
    "priority": r"<\d{1,3}>1",
    "process": r"\S+",
    "message_id": r"\S+",
    "structured": r"-|(?:\[(?:[^\]\\]|\\.)*\])+",
    "message": r".*",
}
TIME = re.compile(PARTS["time"] + r"\Z")
# Share of the sample's lines that must have a wrapper; stack traces of a careless collector may lack it.
MOST = 0.8
DEEPEST = 4
# A stream in which none of so many lines is framed is taken to have no records.
MOST_UNFRAMED = 10_000
MOST_UNFRAMED_BYTES = 4 << 20
JSON = "json"
# The years 1 to 9999, which Python's dates know.
FIRST_MILLIS, LAST_MILLIS = -62_135_596_800_000, 253_402_300_799_999


@dataclass(frozen=True)
class Inner:
    """A line out of one wrapper.  `millis`: UTC, if the wrapper states it; `cut`: its parts, if it is a record of JSON."""

    text: str
    stream: str = ""
    millis: int | None = None
    goes_on: bool = False
    cut: Cut | None = None


@lru_cache(maxsize=1)
def wrappers() -> dict[str, re.Pattern[str] | dict[str, list[list[str]]]]:
    """Name → expression of a line, in the order of the file; for JSON the paths of its parts."""
    out: dict[str, Any] = {}
    for name, entry in read_yaml(CATALOGUE / "wrappers.yml").items():
        if "fields" in entry:
            out[name] = {part: [path.split(".") for path in paths] for part, paths in entry["fields"].items() if part != "__line__"}
            continue
        expression, at = [], 0
        for mark in MARK.finditer(entry["line"]):
            expression.append(re.sub(r"(?:\\ )+", "[ ]+", re.escape(entry["line"][at : mark.start()])))
            part = PARTS[mark[1]]
            expression.append(part if mark[1] == "time" else f"(?P<{mark[1]}>{part})")
            at = mark.end()
        # Collectors strip blanks at the end of a line, and with them the one before an empty message.
        text = "".join(expression).replace("[ ]+(?P<message>.*)", "(?:[ ](?P<message>.*))?")
        out[name] = re.compile(text + r"\Z", re.S)
    return out


def unwrap_line(name: str, line: str) -> Inner | None:
    """A line without one wrapper; None if it does not have it."""
    wrapper = wrappers()[name]
    if isinstance(wrapper, dict):
        return unwrap_json(line, wrapper)
    match = wrapper.match(line)
    if match is None:
        return None
    parts = match.groupdict()
    millis, is_utc = millis_of(parts)
    flag = parts.get("flag") or ""
    return Inner(parts.get("message") or "", parts.get("stream") or "", millis if is_utc else None, flag.startswith("P"))


def unwrap_json(line: str, paths: dict[str, list[list[str]]]) -> Inner | None:
    """The message of a JSON object, or its parts where it has a level of its own."""
    if not line.lstrip().startswith("{"):
        return None
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None

    def part(name: str) -> Any:
        found = next((value for path in paths[name] if (value := at_path(content, path)) not in (None, "")), None)
        return whole(found) if isinstance(found, str) else found

    message = part("message")
    if message is None:
        return None
    message = message if isinstance(message, str) else json.dumps(message)
    stream = "/".join(str(value) for value in (part("stream"), part("path")) if value is not None and not isinstance(value, (dict, list)))
    millis = millis_of_json(part("time"))
    level, logger = part("level"), part("logger")
    if isinstance(level, str) and logger and millis is not None and not is_framed(message):
        trace = part("trace")
        if isinstance(trace, dict):
            trace = trace.get("extendedStackTrace") or trace.get("message") or trace.get("localizedMessage")
        if isinstance(trace, list):
            trace = "\n".join(str(frame) for frame in trace)
        text = f"{message}\n{whole(str(trace))}" if trace else message
        cut = Cut(millis, True, level.upper().replace("WARNING", "WARN"), str(logger), part("thread") and str(part("thread")), text)
        return Inner(text, stream, millis, cut=cut)
    # A line that Docker has cut (16 KiB) lacks its line end.
    goes_on = "log" in content and "stream" in content and not message.endswith("\n")
    return Inner(message.removesuffix("\n").removesuffix("\r"), stream, millis, goes_on)


def is_framed(text: str) -> bool:
    """Whether a text is itself a line of a known layout."""
    return find_envelope(text.split("\n", 1)[0].encode("utf-8", "replace")) is not None


def at_path(content: dict[str, Any], path: list[str]) -> Any:
    """A value by its path, written as nested objects or as one key with dots."""
    dotted = ".".join(path)
    if dotted in content:
        return content[dotted]
    value: Any = content
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return value


def millis_of_json(value: Any) -> int | None:
    """UTC milliseconds of a time as JSON logs have them: ISO 8601, or a number of seconds, milliseconds, micro- or nanoseconds since 1970;
    None if it is neither."""
    if isinstance(value, dict) and "epochSecond" in value:
        seconds, nanos = number_of(value["epochSecond"]), number_of(value.get("nanoOfSecond", 0))
        return None if seconds is None or nanos is None or not 0 <= seconds < 1e11 else int(seconds) * 1000 + int(nanos) // 1_000_000
    if isinstance(value, str) and not re.fullmatch(r"\d+(?:\.\d+)?", value):
        match = TIME.match(value)
        millis, is_utc = millis_of(match.groupdict()) if match else (None, False)
        return millis if is_utc else None
    number = number_of(value)
    for limit, scale in ((1e11, 1000.0), (1e14, 1.0), (1e17, 1e-3), (1e20, 1e-6)):
        if number is not None and 0 < number < limit:
            return int(number * scale)
    return None


def number_of(value: Any) -> float | None:
    """A finite number, or the text of one; None for everything else."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def find_wrappers(sample: bytes) -> tuple[str, ...]:
    """The wrappers around the lines of a sample, outermost first; none if it is plain."""
    lines = [line for line in sample.decode("utf-8", "replace").split("\n")[:200] if line.strip()]
    found: list[str] = []
    while lines and len(found) < DEEPEST and find_envelope("\n".join(lines).encode()) is None:
        for name in wrappers():
            inner = [unwrap_line(name, line) for line in lines]
            if sum(one is not None for one in inner) >= MOST * len(lines):
                break
        else:
            break
        found.append(name)
        lines = [one.text for one in inner if one is not None and one.text.strip() and one.cut is None]
    return tuple(found)


def unwrap(names: tuple[str, ...], line: str) -> Inner:
    """A line out of all its wrappers; one that lacks them stays as it is."""
    inner, stream, millis, goes_on = Inner(line), [], None, False
    for name in names:
        found = unwrap_line(name, inner.text)
        if found is None:
            break
        inner = found
        stream += [found.stream] if found.stream else []
        millis = found.millis if millis is None else millis
        goes_on |= found.goes_on
        if found.cut:
            break
    text = ANSI.sub("", inner.text) if "\x1b" in inner.text else inner.text
    return Inner(text.removesuffix("\r"), "/".join(stream), millis, goes_on, inner.cut)


@lru_cache(maxsize=1)
def patterns() -> tuple[Pattern, ...]:
    """The patterns of `envelopes.yml`."""
    content = read_yaml(CATALOGUE / "envelopes.yml")
    return tuple(compile_pattern(entry["pattern"], name) for name, entry in content.items() if "pattern" in entry)


def find_pattern(lines: Iterable[str], given: str | None = None) -> Pattern | None:
    """The pattern that cuts most of some lines (only the user's, if given, which need not have a level); None if none cuts any."""
    lines = [line for line in lines if line.strip()]
    choices = [compile_pattern(given)] if given else list(patterns())
    best, most = None, 0
    for pattern in choices:
        count = sum(cut is not None and (given is not None or cut.level is not None) for cut in map(pattern.cut, lines))
        if count > most:
            best, most = pattern, count
    return best


def rewritten(cut: Cut) -> str:
    """A record as a line, with its continuation lines, of the layout `rewritten`."""
    at = "0000-00-00 00:00:00,000"
    if cut.millis is not None and FIRST_MILLIS <= cut.millis <= LAST_MILLIS:
        seconds, rest = divmod(cut.millis, 1000)
        days, second = divmod(seconds, 86_400)
        at = f"{_day(days)} {second // 3600:02}:{second // 60 % 60:02}:{second % 60:02},{rest:03}"
    return f"[{at}] {cut.level or ''} \x02{cut.thread or ''}\x02{cut.logger or ''}\x02{cut.message}"


@lru_cache(maxsize=4096)
def _day(days: int) -> str:
    return (dt.date(1970, 1, 1) + dt.timedelta(days=days)).isoformat()


@dataclass
class Line:
    """A physical line and its text within a stream.  `start` and `end`: bytes in the file."""

    text: str
    start: int
    end: int
    raw: bytes
    millis: int | None
    is_head: bool


class Stream:
    """The lines of one stream of a file: how they are framed, and those that wait for the end of their record."""

    def __init__(self, name: str, given: str | None) -> None:
        self.name = name
        self.given = given
        self.envelope: Envelope | None = None
        self.pattern: Pattern | None = None
        self.waiting: list[Line] = []
        self.parts: list[tuple[str, int, bytes]] = []
        self.is_utc = False
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
        self.is_utc |= inner.cut is not None
        self.waiting.append(Line(text if inner.cut is None else rewritten(inner.cut), start, end, raw, inner.millis, inner.cut is not None))

    def frame(self, is_last: bool) -> None:
        """Find out how the waiting lines are framed, as soon as one is, and mark those that begin a record."""
        if self.envelope is None:
            lines = [line.text for line in self.waiting[:400]]
            is_json = any(line.is_head for line in self.waiting)
            plain = None if is_json or self.given else find_envelope("\n".join(lines).encode("utf-8", "replace"))
            if plain is None:
                self.pattern = find_pattern(lines, self.given)
            if plain or self.pattern or is_json or is_last or len(self.waiting) > MOST_UNFRAMED or self.size > MOST_UNFRAMED_BYTES:
                self.envelope = plain or REWRITTEN
            else:
                return
        first, self.framed = self.framed, len(self.waiting)
        for line in self.waiting[first:]:
            if line.is_head:
                continue
            if self.pattern is not None:
                cut = self.pattern.cut(line.text)
                if cut is not None:
                    line.text, line.is_head = rewritten(cut), True
                    self.is_utc |= cut.is_utc
            elif self.envelope is not None:
                line.is_head = self.envelope.begins(line.text.encode("utf-8", "replace"))

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

    def __init__(self, names: tuple[str, ...], given: str | None, start: int, holds_last: Callable[[], bool]) -> None:
        self.names, self.given, self.end, self.holds_last = names, given, start, holds_last
        self.failed: str | None = None
        self.streams: dict[str, Stream] = {}

    def take(self, chunks: Iterator[bytes]) -> Iterator[tuple[Stream, list[Line]]]:
        """(stream, lines of complete records), chunk by chunk; within each stream in the order of the file."""
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
            stream = self.streams.get(inner.stream)
            if stream is None:
                stream = self.streams[inner.stream] = Stream(inner.stream, self.given)
            stream.add(inner, offset + at, offset + end, raw)
            at = end


def whole_before(lines: list[Line], end: int) -> list[Line]:
    """The lines of the records that lie wholly before a byte."""
    late = next((n for n, line in enumerate(lines) if line.start >= end), len(lines))
    if late < len(lines) and not lines[late].is_head:
        late = next((n for n in range(late - 1, -1, -1) if lines[n].is_head), 0)
    return lines[:late]
