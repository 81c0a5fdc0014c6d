"""Looks at a text as a log: its kind, how its records are framed, and what they tell of nodes and clocks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ingestion.reading.names import stem
from ingestion.records.clues import clock_millis, first_node, zone_between
from ingestion.records.derive import derive
from ingestion.records.envelope import DIGITS, REWRITTEN, Envelope
from ingestion.records.exports import LINES, entries_of
from ingestion.records.kinds import NO_KIND, is_of_application, kind_of_logger, kinds_by_name, kinds_of_libraries, kinds_of_others
from ingestion.records.patterns import compile_pattern
from ingestion.records.streams import PLAIN, Line, Stream, Streams, Wrapping
from ingestion.records.unwrap import unwrap, wrappers_of

# The first lines already show what a file is.
LOOK = 8 << 10
# Places in which an application's lines look as if they named a node, before the search is given up.
MOST_NAMINGS = 20
GC_UNIFIED = re.compile(rb"^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.,]\d{3}([+-]\d{4})\](?:\[[^\]\n]*\])*\[(?:gc|safepoint)", re.M)
GC_JDK8 = re.compile(rb"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.,]\d{3}([+-]\d{4}): \d+[.,]\d+: \[(?:GC|Full GC)", re.M)
# UTC milliseconds that are taken, and printed, at the time of the line: by a process when it starts (from 2.3), by ZooKeeper for a node that a broker
# has just made there (2.2 to 3.9), by a broker for one that it wants to make and finds (to 1.0).
CLOCKS = (
    re.compile(rb"Kafka startTimeMs: (\d{13})\b"),
    re.compile(rb"Stat of the created znode at \S+ is: \d+,\d+,(\d{13}),"),
    re.compile(rb'conflict in /(?:controller|brokers/ids/\d+) data: \{[^\n}]{0,200}?"timestamp":"(\d{13})"'),
)


@dataclass(frozen=True)
class Nature:
    """What a file is.  `layout_known_by`: content, given or derived; `wrapping`: how records are found in it if it is not plain; `writers`: who writes into
    it, each with the node that it names (None: it names none, or several); `mentions`: (local ms, node) where it names the node that writes it; `first_at`:
    local ms of its first record; `evidence`: (local ms, '+05:30') where it shows its clock together with UTC; `is_utc`: whether its records are in UTC, as
    each of them says; `shows_utc`: whether each shows its clock together with UTC; `text`: the lines that tell of nodes; `ends_in_lines`: whether it
    is torn if its last line has no end."""

    kind: str = "unknown"
    outcome: str = "read"
    reason: str | None = None
    layout: str | None = None
    layout_known_by: str | None = None
    envelope: str | None = None
    wrapping: Wrapping = PLAIN
    writers: tuple[tuple[str, int | None], ...] = ()
    capture: str | None = None
    mentions: tuple[tuple[int, int], ...] = ()
    first_at: int = 0
    evidence: tuple[tuple[int, str], ...] = ()
    is_utc: bool = False
    shows_utc: bool = False
    text: bytes = b""
    ends_in_lines: bool = True


def framed(shown: str, text: bytes, end: bytes, envelope: Envelope) -> Nature:
    """A log whose records are in the file as they were printed."""
    named = namings(envelope, text, end)
    samples = [text[:LOOK], end[-LOOK:], *(line_at(part, at) for part, at, _ in named)]
    return Nature(
        kind=kind_of(shown, samples, envelope, bool(named)),
        layout=envelope.name,
        layout_known_by="content",
        envelope=envelope.name,
        mentions=mentions(envelope, named),
        first_at=line_time(text, 0, envelope),
        evidence=zone_evidence(text, envelope),
        text=text,
    )


def rewritten(shown: str, sample: bytes, wrapping: Wrapping) -> Nature | None:
    """A log whose lines are wrapped, exported, JSON or of a layout without fixed width; None if its lines are still not records.  `wrapping`: without its
    wrappers."""
    sample = sample[: sample.rfind(b"\n") + 1] or sample
    wrapping = replace(wrapping, wrappers=wrappers_around(sample, wrapping))
    found: dict[str, tuple[Stream, bytes]] = {}
    heads: list[Line] = []
    for stream, lines in Streams(wrapping, 0, lambda: False).take(iter([sample])):
        if any(line.is_head for line in lines):
            heads += [line for line in lines if line.is_head]
            text = "\n".join(line.text for line in lines).encode("utf-8", "replace")
            found[stream.name] = (stream, text)
    if not found:
        derived = None if wrapping.pattern or wrapping.derived else derived_from(sample, wrapping)
        return rewritten(shown, sample, replace(wrapping, derived=derived)) if derived else None
    kinds = {name: kind_of_stream(stream, text, shown) for name, (stream, text) in found.items()}
    # The longest of a node, if there is one: each stream is read as what it is.
    longest = max(found, key=lambda name: (kinds[name] not in kinds_of_others(), len(found[name][1])))
    stream, text = found[longest]
    assert stream.envelope is not None
    named = {
        name: mentions(stream.envelope, namings(stream.envelope, text, b"")) for name, (stream, text) in found.items() if stream.envelope
    }
    return Nature(
        kind=kinds[longest],
        layout=" in ".join(layout_words(stream, wrapping)) + (", newest first" if wrapping.export and wrapping.export.newest_first else ""),
        layout_known_by=known_by(stream),
        envelope=REWRITTEN.name,
        wrapping=wrapping,
        writers=writers_of((stream, named[name]) for name, (stream, _) in found.items()),
        mentions=tuple(mention for some in named.values() for mention in some),
        first_at=line_time(text, 0, stream.envelope),
        evidence=zone_evidence(text, stream.envelope) if not stream.is_utc else (),
        is_utc=all(stream.is_utc for stream, _ in found.values()),
        shows_utc=all(line.millis is not None for line in heads),
        text=text,
    )


def derived_from(sample: bytes, wrapping: Wrapping) -> str | None:
    """The layout of the lines of a sample, as they are or out of their wrappers, as a pattern that was derived."""
    lines = sample.decode("utf-8", "replace").split("\n")
    if wrapping.export is not None and wrapping.export.kind != LINES:
        lines = [line for entry in entries_of(wrapping.export, sample) for line in entry.inner.text.split("\n")]
    return (derive(unwrap(wrapping.wrappers, line).text for line in lines) if wrapping.wrappers else None) or derive(lines)


def layout_words(stream: Stream, wrapping: Wrapping) -> list[str]:
    """The layout of a stream's records, and what is around it, from the inside out."""
    assert stream.envelope is not None
    if stream.pattern is not None:
        inner = stream.pattern.text if stream.pattern.name == "derived" else stream.pattern.name
    else:
        inner = "json" if stream.envelope is REWRITTEN else stream.envelope.name
    around = [*reversed(wrapping.wrappers), *([wrapping.export.kind] if wrapping.export and wrapping.export.kind != LINES else [])]
    # Objects of an export that have a level and a logger are records as those of JSON logs are.
    inner = "fields" if inner == "json" and wrapping.export and wrapping.export.kind != LINES else inner
    return [inner, *(name for name in around if name != inner)]


def known_by(stream: Stream) -> str:
    """How the layout of a stream is known."""
    names = {"given": "given", "derived": "derived"}
    return names.get(stream.pattern.name, "content") if stream.pattern is not None else "content"


def writers_of(streams: Iterable[tuple[Stream, tuple[tuple[int, int], ...]]]) -> tuple[tuple[str, int | None], ...]:
    """Who writes into a file, each with the node that it names, if it names one alone."""
    nodes: dict[str, set[int]] = {}
    for stream, named in streams:
        nodes.setdefault(stream.writer, set()).update(node for _, node in named)
    return tuple((writer, next(iter(some)) if len(some) == 1 else None) for writer, some in sorted(nodes.items()))


def wrappers_around(sample: bytes, wrapping: Wrapping) -> tuple[str, ...]:
    """The wrappers around the lines of a sample, outermost first.  A pattern that cuts the lines as they are makes them plain: the time at which it
    begins is no collector's."""
    if wrapping.export is not None and wrapping.export.kind != LINES:
        inner = [entry.inner for entry in entries_of(wrapping.export, sample) if entry.content is not None]
        lines = [one.text for one in inner if one.cut is None]
    else:
        lines = sample[:LOOK].decode("utf-8", "replace").split("\n")
    names = wrappers_of(lines)
    if not (wrapping.pattern or wrapping.derived) or not names:
        return names
    layout = compile_pattern(wrapping.pattern or wrapping.derived or "")
    counts = [sum(layout.cut(unwrap(names[:depth], line).text) is not None for line in lines) for depth in range(len(names) + 1)]
    return names[: counts.index(max(counts))] if any(counts) else names


def kind_of_stream(stream: Stream, text: bytes, shown: str) -> str:
    """The kind of one stream of a wrapped file.  `text`: its first lines, out of their wrappers; `shown`: the name of the file."""
    assert stream.envelope is not None
    named = namings(stream.envelope, text, b"")
    samples = [text[:LOOK], text[-LOOK:], *(line_at(text, at) for text, at, _ in named)]
    return kind_of(shown, samples, stream.envelope, bool(named))


def is_of_other_program(stream: Stream, text: bytes) -> bool:
    """Whether a stream is of another program than a node; libraries that nodes use alone do not say so."""
    return kind_of_stream(stream, text, "") in kinds_of_others() - kinds_of_libraries()


def kind_of(path: str, samples: Iterable[bytes], envelope: Envelope, names_node: bool) -> str:
    """The kind of a log, by the loggers in some samples of it; `kafka_stdout` if it mixes loggers that Kafka writes to separate files.

    Of the programs that write it, a node counts before others: their records are told apart one by one.  `names_node`: whether a line names
    the node that writes it.
    """
    found = Counter(filter(None, (kind_of_logger(logger) for sample in samples for logger in loggers_in(sample, envelope))))
    of_nodes = {kind: count for kind, count in found.items() if kind not in kinds_of_others()}
    of_others = {kind: count for kind, count in found.items() if kind not in of_nodes and kind not in kinds_of_libraries()}
    by_name = kinds_by_name().get(stem(path))
    if "kafka_server_log" in of_nodes and (path.endswith(".out") or {"kafka_controller_log", "kafka_state_change_log"} & set(of_nodes)):
        return "kafka_stdout"
    if of_nodes:
        return max(of_nodes, key=lambda kind: of_nodes[kind])
    if names_node and (found or envelope.name.startswith("zookeeper")):
        return by_name if by_name and by_name not in kinds_of_others() else "kafka_server_log"
    if envelope.name.startswith("zookeeper"):
        return "zookeeper_log"
    if of_others:
        return max(of_others, key=lambda kind: of_others[kind])
    return by_name or next(iter(found), NO_KIND)


def loggers_in(sample: bytes, envelope: Envelope) -> Iterator[str]:
    """The loggers of the records in a sample."""
    for line in sample.split(b"\n"):
        cut = envelope.cut(line)
        if cut and "logger" in cut:
            yield line[slice(*cut["logger"])].decode("utf-8", "replace")


def namings(envelope: Envelope, head: bytes, tail: bytes) -> list[tuple[bytes, int, int]]:
    """(text, offset, node) where a file first names the node that writes it, and where near its end; none if it names none."""
    found = ((head, naming(envelope, head, 0)), (tail, naming(envelope, tail, max(0, len(tail) - LOOK))))
    return [(text, *named) for text, named in found if named]


def naming(envelope: Envelope, text: bytes, start: int) -> tuple[int, int] | None:
    """(offset, node) where a text first names its node from an offset on, in the first LOOK bytes if they do.  What the loggers of an application
    print does not count."""
    for _ in range(MOST_NAMINGS):
        named = first_node(text[start : start + LOOK], 0)
        named = (named[0] + start, named[1]) if named else first_node(text, start)
        if named is None or not any(map(is_of_application, loggers_in(line_at(text, named[0]), envelope))):
            return named
        start = named[0] + 1
    return None


def line_at(text: bytes, at: int) -> bytes:
    """The line of a text that an offset lies in."""
    end = text.find(b"\n", at)
    return text[text.rfind(b"\n", 0, at) + 1 : len(text) if end < 0 else end]


def mentions(envelope: Envelope, named: list[tuple[bytes, int, int]]) -> tuple[tuple[int, int], ...]:
    """(local ms, node) of the places where a file names its node."""
    return tuple((line_time(text, at, envelope), node) for text, at, node in named)


def line_time(text: bytes, at: int, envelope: Envelope) -> int:
    """Local time of the record around or after an offset, in ms; 0 where there is none."""
    size = len(envelope.template)

    def begins(start: int) -> bool:
        return text[start : start + size].translate(DIGITS) == envelope.template

    start = text.rfind(b"\n", 0, at) + 1
    while start and not begins(start):
        start = text.rfind(b"\n", 0, start - 1) + 1
    while not begins(start):
        start = text.find(b"\n", start) + 1
        if not start:
            return 0
    return clock_millis(text[start + envelope.time_at : start + size + 32]) or 0


def zone_evidence(sample: bytes, envelope: Envelope | None) -> tuple[tuple[int, str], ...]:
    """(local ms, offset) for every place of a sample that shows the local clock together with UTC.

    GC logs print the offset, `envelope` None; logs print UTC milliseconds along with a local time.
    """
    if envelope is None:
        for pattern in (GC_UNIFIED, GC_JDK8):
            match = pattern.search(sample)
            local = clock_millis(match[0].lstrip(b"[")) if match else None
            if match and local is not None:
                return ((local, match[1].decode()),)
        return ()
    out = []
    for match in (match for pattern in CLOCKS for match in pattern.finditer(sample)):
        local = clock_millis(sample[sample.rfind(b"\n", 0, match.start()) + 1 + envelope.time_at :][:23])
        zone = zone_between(local, int(match[1])) if local is not None else None
        if local is not None and zone:
            out.append((local, zone))
    return tuple(out)
