"""What a file is, by its content: found to inspected.  No Spark here."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import dataclass, replace

from ingestion import captures
from ingestion.reading.files import FINGERPRINT, fault_of, open_bytes
from ingestion.records.clues import clock_millis, first_node, zone_between
from ingestion.records.envelope import DIGITS, REWRITTEN, Envelope, find_envelope
from ingestion.records.unwrap import Stream, Streams, find_pattern, find_wrappers
from ingestion.sources import owners
from ingestion.sources.kinds import kind_of_logger, kinds_by_name, kinds_of_others
from ingestion.sources.names import stem
from ingestion.sources.stages import BINARY, EMPTY, FAILED, GROWING, MISSING, REFUSED, TO_READ, UNKNOWN, UNREADABLE, Found, Inspected, grown

SAMPLE = 64 << 10
# What a file is shows in its first lines already.
LOOK = 8 << 10
# Prose in which captures are pasted: what nothing else knows.
DOCUMENT = "document"

GC_UNIFIED = re.compile(rb"^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.,]\d{3}([+-]\d{4})\](?:\[[^\]\n]*\])*\[(?:gc|safepoint)", re.M)
GC_JDK8 = re.compile(rb"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.,]\d{3}([+-]\d{4}): \d+[.,]\d+: \[(?:GC|Full GC)", re.M)
START_TIME = re.compile(rb"INFO Kafka startTimeMs: (\d{13}) ")


@dataclass(frozen=True)
class Ends:
    """The first and the last bytes of a file that was opened, and what its file system says of it.  `end` is empty for a gzip; `size`: None
    for a gzip; where there is nothing to look at, `outcome` and `reason` say so."""

    text: bytes = b""
    end: bytes = b""
    size: int | None = None
    disk_size: int | None = None
    modified: float = 0.0
    compressed: bool = False
    outcome: str = TO_READ
    reason: str | None = None


@dataclass(frozen=True)
class Nature:
    """What a file is.  Fields of the same name are those of `Inspected`; `text`: the lines that tell of nodes; `ends_in_lines`: whether it
    is torn where its last line has no end."""

    kind: str = "unknown"
    outcome: str = TO_READ
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


def inspect(found: Found, pattern: str | None = None) -> Inspected:
    """Look at the first bytes of a file and say what it is; every fault, ours too, becomes an outcome with its reason.

    `pattern`: a layout of the user's, as log4j writes it.
    """
    if found.refused is not None:
        return inspected(found, Ends(), Nature(outcome=REFUSED, reason=found.refused))
    try:
        ends = ends_of(found.path)
        return inspected(found, ends, nature_of(found.shown, ends, pattern))
    except FileNotFoundError:
        return inspected(found, Ends(), Nature(outcome=MISSING, reason="no such file or folder"))
    except OSError as error:
        return inspected(found, Ends(), Nature(outcome=UNREADABLE, reason=f"cannot be read: {error.strerror or error}"))
    except Exception as error:  # one file's fault must not stop the others
        return inspected(found, Ends(), Nature(outcome=FAILED, reason=fault_of(error)))


def inspected(found: Found, ends: Ends, nature: Nature) -> Inspected:
    """A file with what was seen of it."""
    tells = tells_of(nature)
    mentions = ((0, tells.own),) if nature.capture and tells.own is not None else nature.mentions
    return grown(
        Inspected,
        found,
        outcome=nature.outcome,
        reason=nature.reason,
        size=ends.size,
        disk_size=ends.disk_size,
        modified=ends.modified,
        compressed=ends.compressed,
        begin=len(BOM_UTF8) if ends.text.startswith(BOM_UTF8) else 0,
        head=ends.text[:FINGERPRINT],
        ends_torn=nature.ends_in_lines and bool(ends.end) and not ends.end.endswith(b"\n"),
        kind=nature.kind,
        layout=nature.layout,
        envelope=nature.envelope,
        wrappers=nature.wrappers,
        pattern=nature.pattern,
        capture=nature.capture,
        mentions=mentions,
        first_at=nature.first_at,
        evidence=nature.evidence,
        tells=tells,
        host=tells.host if nature.capture else None,
        seen_as=None,
    )


def tells_of(nature: Nature) -> owners.Tells:
    """What the beginning of a file tells of nodes and hosts; a client's log tells nothing, for its cluster may be another."""
    if not nature.text or (nature.capture is None and nature.kind in kinds_of_others()):
        return owners.Tells()
    is_of_node = captures.is_of_node(nature.capture) if nature.capture else True
    nodes = {node for _, node in nature.mentions}
    own = next(iter(nodes)) if len(nodes) == 1 else None
    return owners.tells(nature.text.decode("utf-8", "replace").replace("\r\n", "\n"), nature.kind, own, is_of_node)


def ends_of(path: str) -> Ends:
    """The ends of a file.  Raises OSError."""
    status = os.stat(path)
    if status.st_size == 0:
        return Ends(size=0, disk_size=0, modified=status.st_mtime, outcome=EMPTY, reason="the file is empty")
    with open_bytes(path) as file:
        # Of the file that was opened: the name may be another's by now.
        status = os.fstat(file.fileno())
        ends = Ends(size=status.st_size, disk_size=status.st_size, modified=status.st_mtime)
        text = bytearray()
        if not isinstance(file, gzip.GzipFile):
            while len(text) < SAMPLE and (piece := file.read(SAMPLE)):
                text += piece
            file.seek(max(0, status.st_size - SAMPLE))
            return replace(ends, text=bytes(text), end=file.read(SAMPLE))
        try:
            while len(text) < SAMPLE and (piece := file.read1(SAMPLE)):
                text += piece
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            if not text:
                return replace(ends, compressed=True, outcome=UNREADABLE, reason=f"the gzip cannot be read: {error}")
        return replace(ends, text=bytes(text), size=None, compressed=True)


def nature_of(shown: str, ends: Ends, pattern: str | None) -> Nature:
    """What a file is, by its name and its ends."""
    text = ends.text
    if not text:
        return (
            Nature(outcome=ends.outcome, reason=ends.reason)
            if ends.reason
            else Nature(outcome=EMPTY, reason="the file is empty once decompressed")
        )
    if encoding := foreign_encoding(text):
        return Nature("binary", BINARY, encoding)
    envelope = find_envelope(text[:LOOK]) or find_envelope(text) or (find_envelope(ends.end) if not ends.compressed else None)
    if envelope is None or (pattern and find_pattern(text[:LOOK].decode("utf-8", "replace").split("\n"), pattern)):
        if b"\0" in text or text.decode("utf-8", "replace").count("\ufffd") > len(text) // 20:
            return Nature("binary", BINARY, "the file is binary")
        found = captured(shown, text)
        if found is None or found.kind == DOCUMENT:
            found = rewritten(shown, text, pattern) or found
        return found or Nature(outcome=UNKNOWN, reason="no known layout frames any of its lines, and it is no known capture")
    # The output of a tool, with warnings of its own log above it.
    found = captured(shown, text, is_log=True)
    if found is not None:
        return found
    if not envelope.begins(text.lstrip().split(b"\n", 1)[0]) and not text[:1].isspace():
        # Prose in which log lines are pasted among other things; a log that begins with a warning of the JVM is none.
        found = captured(shown, text)
        if found is not None and found.kind == DOCUMENT:
            return found
    return Nature(
        kind=kind_of(shown, text[:LOOK], envelope),
        layout=envelope.name,
        envelope=envelope.name,
        mentions=mentions(envelope, text, ends.end),
        first_at=line_time(text, 0, envelope),
        evidence=zone_evidence(text, envelope),
        text=text,
    )


def foreign_encoding(sample: bytes) -> str | None:
    """What a text is that is neither ASCII nor UTF-8, or has line ends of old Macs, and how to convert it; None where it is no such text."""
    zeros = sorted((sample[::2].count(0), sample[1::2].count(0)))
    if sample.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) or (zeros[1] > len(sample) // 3 and zeros[0] < len(sample) // 20):
        return "the file is UTF-16, as PowerShell's > writes it; convert it: iconv -f UTF-16 -t UTF-8"
    if sample.count(b"\r") > 1 and b"\n" not in sample and find_envelope(sample.replace(b"\r", b"\n")):
        return "its lines end with a carriage return alone; convert it: tr '\\r' '\\n'"
    return None


def kind_of(path: str, sample: bytes, envelope: Envelope) -> str:
    """What a log is, by the loggers that its first records name; `kafka_stdout` where families meet that files keep apart."""
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
    """(local ms, node) where a file first names the node that writes it, and near its end; none where it names none."""
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
    """(local ms, offset) for every place of a sample that shows the local clock beside UTC.

    GC logs print the offset; from Kafka 2.3 the line `Kafka startTimeMs` prints UTC milliseconds beside a local time.
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


def captured(shown: str, sample: bytes, *, is_log: bool = False) -> Nature | None:
    """A capture of a kind that some module knows, or a document with captures in it; `is_log`: beside lines of a log."""
    found = captures.detect(sample.removeprefix(BOM_UTF8).decode("utf-8", "replace"), os.path.basename(shown), is_log=is_log)
    if found is None:
        return None
    kind = found[1]
    evidence = zone_evidence(sample[:LOOK], None)
    return Nature(
        kind=kind,
        capture=kind,
        first_at=evidence[0][0] if evidence and kind in GROWING else 0,
        evidence=evidence,
        text=sample,
        # A document of JSON need not end with a line's end.
        ends_in_lines=kind in GROWING,
    )


def rewritten(shown: str, sample: bytes, pattern: str | None) -> Nature | None:
    """A log whose lines are wrapped, JSON or of a layout without fixed width; None where its lines are no records even so."""
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
