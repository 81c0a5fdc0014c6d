"""Looks at a text as a log: its kind, how its records are framed, and what they tell of nodes and clocks."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ingestion.reading.names import stem
from ingestion.records.clues import clock_millis, first_node, zone_between
from ingestion.records.envelope import DIGITS, REWRITTEN, Envelope
from ingestion.records.kinds import kind_of_logger, kinds_by_name
from ingestion.records.unwrap import Stream, Streams, find_wrappers

# The first lines already show what a file is.
LOOK = 8 << 10
GC_UNIFIED = re.compile(rb"^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.,]\d{3}([+-]\d{4})\](?:\[[^\]\n]*\])*\[(?:gc|safepoint)", re.M)
GC_JDK8 = re.compile(rb"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.,]\d{3}([+-]\d{4}): \d+[.,]\d+: \[(?:GC|Full GC)", re.M)
START_TIME = re.compile(rb"INFO Kafka startTimeMs: (\d{13}) ")


@dataclass(frozen=True)
class Nature:
    """What a file is.  `mentions`: (local ms, node) where it names the node that writes it; `first_at`: local ms of its first record;
    `evidence`: (local ms, '+05:30') where it shows its clock together with UTC; `text`: the lines that tell of nodes; `ends_in_lines`: whether it
    is torn if its last line has no end."""

    kind: str = "unknown"
    outcome: str = "read"
    reason: str | None = None
    layout: str | None = None
    envelope: str | None = None
    wrappers: tuple[str, ...] = ()
    pattern: str | None = None
    capture: str | None = None
    mentions: tuple[tuple[int, int], ...] = ()
    first_at: int = 0
    evidence: tuple[tuple[int, str], ...] = ()
    text: bytes = b""
    ends_in_lines: bool = True


def framed(shown: str, text: bytes, end: bytes, envelope: Envelope) -> Nature:
    """A log whose records are in the file as they were printed."""
    return Nature(
        kind=kind_of(shown, text[:LOOK], envelope),
        layout=envelope.name,
        envelope=envelope.name,
        mentions=mentions(envelope, text, end),
        first_at=line_time(text, 0, envelope),
        evidence=zone_evidence(text, envelope),
        text=text,
    )


def rewritten(shown: str, sample: bytes, pattern: str | None) -> Nature | None:
    """A log whose lines are wrapped, JSON or of a layout without fixed width; None if its lines are still not records."""
    sample = sample[: sample.rfind(b"\n") + 1] or sample
    names = find_wrappers(sample[:LOOK])
    found: dict[str, tuple[Stream, bytes]] = {}
    for stream, lines in Streams(names, pattern, 0, lambda: False).take(iter([sample])):
        if any(line.is_head for line in lines):
            text = "\n".join(line.text for line in lines).encode("utf-8", "replace")
            found[stream.name] = (stream, text)
    if not found:
        return None
    stream, text = max(found.values(), key=lambda pair: len(pair[1]))
    assert stream.envelope is not None
    inner = stream.pattern.name if stream.pattern else "json" if stream.envelope is REWRITTEN else stream.envelope.name
    return Nature(
        kind=kind_of(shown, text[:LOOK], stream.envelope),
        layout=" in ".join((inner, *(name for name in reversed(names) if name != inner))),
        envelope=REWRITTEN.name,
        wrappers=names,
        pattern=pattern,
        mentions=tuple(mention for stream, text in found.values() if stream.envelope for mention in mentions(stream.envelope, text, b"")),
        first_at=line_time(text, 0, stream.envelope),
        evidence=zone_evidence(text, stream.envelope) if not stream.is_utc else (),
        text=text,
    )


def kind_of(path: str, sample: bytes, envelope: Envelope) -> str:
    """The kind of a log, by the loggers of its first records; `kafka_stdout` if it mixes loggers that Kafka writes to separate files."""
    found: dict[str, int] = {}
    for line in sample.split(b"\n"):
        cut = envelope.cut(line)
        if cut and "logger" in cut:
            kind = kind_of_logger(line[slice(*cut["logger"])].decode("utf-8", "replace"))
            if kind:
                found[kind] = found.get(kind, 0) + 1
    if envelope.name.startswith("zookeeper") or set(found) == {"zookeeper_log"}:
        return "zookeeper_log"
    if "kafka_server_log" in found and (path.endswith(".out") or {"kafka_controller_log", "kafka_state_change_log"} & set(found)):
        return "kafka_stdout"
    if {"kafka_client_log", "kafka_connect_log"} & set(found) and len(found) > 1 and "kafka_server_log" in found:
        return "kafka_server_log"
    return max(found, key=lambda kind: found[kind]) if found else kinds_by_name().get(stem(path), "log4j_log")


def mentions(envelope: Envelope, head: bytes, tail: bytes) -> tuple[tuple[int, int], ...]:
    """(local ms, node) where a file first names the node that writes it, and near its end; none if it names none."""
    found = ((head, first_node(head[:LOOK]) or first_node(head)), (tail, first_node(tail, max(0, len(tail) - LOOK))))
    return tuple((line_time(text, named[0], envelope), named[1]) for text, named in found if named)


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

    GC logs print the offset; from Kafka 2.3 the line `Kafka startTimeMs` prints UTC milliseconds along with a local time.
    """
    for pattern in (GC_UNIFIED, GC_JDK8):
        match = pattern.search(sample) if envelope is None else None
        local = clock_millis(match[0].lstrip(b"[")) if match else None
        if match and local is not None:
            return ((local, match[1].decode()),)
    out = []
    if envelope is not None:
        for match in START_TIME.finditer(sample):
            local = clock_millis(sample[sample.rfind(b"\n", 0, match.start()) + 1 + envelope.time_at :][:23])
            zone = zone_between(local, int(match[1])) if local is not None else None
            if local is not None and zone:
                out.append((local, zone))
    return tuple(out)
