"""What a file is, by its content: found to inspected.  No Spark here."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from codecs import BOM_UTF8
from dataclasses import dataclass, replace

from backports.zstd import ZstdError, ZstdFile

from ingestion import captures
from ingestion.captures import document
from ingestion.reading import objects
from ingestion.reading.files import DECODED, FINGERPRINT, fault_of, is_compressed, open_bytes
from ingestion.reading.objects import is_uri
from ingestion.records.derive import derive
from ingestion.records.envelope import DIGITS, Envelope, find_envelope
from ingestion.records.exports import find_export
from ingestion.records.framing import by_envelope, find_framing
from ingestion.records.kinds import kinds_of_others
from ingestion.records.nature import LOOK, Nature, framed, rewritten, zone_evidence
from ingestion.records.patterns import compile_pattern
from ingestion.records.streams import Wrapping
from ingestion.sources import owners
from ingestion.sources.stages import BINARY, EMPTY, FAILED, GROWING, MISSING, REFUSED, TO_READ, UNKNOWN, UNREADABLE, Found, Inspected, grown

SAMPLE = 64 << 10
# The kind of prose into which captures are pasted, if no other module knows it.
DOCUMENT = "document"
# Captures in whose lines a log may be: prose, and a journal in which the kernel says more than Kafka.
OR_A_LOG = (DOCUMENT, "kernel_log")
# `%3|1498…|FAIL|rdkafka#producer-1| …`: level, time, facility, instance.
LIBRDKAFKA = re.compile(rb"^(?:.{0,80}\s)?%[0-7]\|\d{10}\.\d{3}\|[A-Z_]+\|[^|\n]+\| ", re.M)
# What people paste is smaller; and what most such texts have and few logs: an empty line between paragraphs, fences, quotes, cells.
MOST_PASTED = 1 << 20
PASTED = re.compile(rb"\n[ \t\r]{0,40}\n|\n[ ]{0,20}(?:```|~~~|\{code|\{noformat|\{quote|<pre|<br|>|\||\*)")


@dataclass(frozen=True)
class Ends:
    """The first and the last bytes of a file that was opened, and what its file system says of it.  `end` is empty and `size` None for one that is
    compressed or UTF-16; where there is nothing to look at, `outcome` and `reason` say so."""

    text: bytes = b""
    end: bytes = b""
    size: int | None = None
    disk_size: int | None = None
    modified: float = 0.0
    compressed: bool = False
    outcome: str = TO_READ
    reason: str | None = None


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
        layout_known_by=nature.layout_known_by,
        wrapping=nature.wrapping,
        writers=nature.writers,
        capture=nature.capture,
        mentions=mentions,
        first_at=nature.first_at,
        evidence=nature.evidence,
        is_utc=nature.is_utc,
        shows_utc=nature.shows_utc,
        tells=tells,
        host=tells.host if nature.capture else None,
        seen_as=None,
    )


def tells_of(nature: Nature) -> owners.Tells:
    """What the beginning of a file tells of nodes and hosts; a client's log tells nothing, because its cluster may be another."""
    if not nature.text or (nature.capture is None and nature.kind in kinds_of_others()):
        return owners.Tells()
    is_of_node = captures.is_of_node(nature.capture) if nature.capture else True
    nodes = {node for _, node in nature.mentions}
    own = next(iter(nodes)) if len(nodes) == 1 else None
    return owners.tells(nature.text.decode("utf-8", "replace").replace("\r\n", "\n"), nature.kind, own, is_of_node)


def ends_of(path: str) -> Ends:
    """The ends of a file.  Raises OSError."""
    size, modified = size_and_time(path)
    if size == 0:
        return Ends(size=0, disk_size=0, modified=modified, outcome=EMPTY, reason="the file is empty")
    with open_bytes(path, objects.ENDS_BUFFER) as file:
        if not is_uri(path):
            # Those of the opened file: the name may be another file's by now.
            status = os.fstat(file.fileno())
            size, modified = status.st_size, status.st_mtime
        ends = Ends(size=size, disk_size=size, modified=modified)
        text = bytearray()
        if not isinstance(file, DECODED):
            while len(text) < SAMPLE and (piece := file.read(SAMPLE)):
                text += piece
            file.seek(max(0, size - SAMPLE))
            return replace(ends, text=bytes(text), end=file.read(SAMPLE))
        try:
            while len(text) < SAMPLE and (piece := file.read1(SAMPLE)):
                text += piece
        except (EOFError, zlib.error, gzip.BadGzipFile, ZstdError) as error:
            if not text:
                kind = "zstd" if isinstance(file, ZstdFile) else "gzip"
                return replace(ends, compressed=True, outcome=UNREADABLE, reason=f"the {kind} cannot be read: {error}")
        return replace(ends, text=bytes(text), size=None, compressed=is_compressed(file))


def size_and_time(path: str) -> tuple[int, float]:
    """Bytes of a file or object, and seconds since 1970 of its last change.  Raises OSError."""
    if is_uri(path):
        known = objects.status(path)
        if known is None:
            raise FileNotFoundError(path)
        return known.size, known.modified
    status = os.stat(path)
    return status.st_size, status.st_mtime


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
    wrapping = Wrapping(pattern=pattern)
    export = find_export(text)
    if export is not None and (found := rewritten(shown, text, replace(wrapping, export=export))):
        return found
    envelope = find_envelope(text[:LOOK]) or find_envelope(text) or (find_envelope(ends.end) if ends.end else None)
    if envelope is None or (pattern and has_pattern(text[:LOOK], pattern)):
        if b"\0" in text or text.decode("utf-8", "replace").count("\ufffd") > len(text) // 20:
            return Nature("binary", BINARY, "the file is binary")
        found = captured(shown, text)
        if found is not None and found.kind == DOCUMENT and (log := by_content(shown, text, wrapping)):
            return log
        if found is None or (found.kind in OR_A_LOG and not (found.kind == DOCUMENT and is_document(text))):
            found = rewritten(shown, text, wrapping) or by_content(shown, text, wrapping) or found
        return found or Nature(outcome=UNKNOWN, reason=why_unknown(text))
    # The output of a tool, with warnings of its own log above it.
    found = captured(shown, text, is_log=True)
    if found is not None:
        return found
    if not envelope.begins(text.lstrip().split(b"\n", 1)[0]) and not text[:1].isspace():
        # Prose in which log lines are pasted among other things; a log that begins with a warning of the JVM is not prose.
        found = captured(shown, text)
        if found is not None and found.kind == DOCUMENT:
            return found
    if ends.size is not None and ends.size <= MOST_PASTED and may_be_pasted(text, envelope) and is_document(text):
        return capture_of(DOCUMENT, text)
    lines = text.split(b"\n")
    if not by_envelope(envelope, lines).is_understood:
        texts = [line.decode("utf-8", "replace") for line in lines[:400]]
        best = find_framing(texts)
        if not best.is_understood and (derived := derive(texts)):
            wrapping = replace(wrapping, derived=derived)
            best = find_framing(texts, derived)
        if best.envelope is not None:
            envelope = best.envelope
        elif best.pattern is not None and (found := rewritten(shown, text, wrapping)):
            return found
    return framed(shown, text, ends.end, envelope)


def is_document(text: bytes) -> bool:
    """Whether records of a log in a text are as people paste them."""
    return document.is_pasted(text.removeprefix(BOM_UTF8).decode("utf-8", "replace"))


def may_be_pasted(text: bytes, envelope: Envelope) -> bool:
    """Whether a text that a layout frames may not be as its program wrote it: a quick look, which nearly all logs pass."""
    if PASTED.search(text):
        return True
    masked = text.translate(DIGITS)
    starts = masked.count(b"\n" + envelope.template) + masked.startswith(envelope.template)
    if masked.count(envelope.template) > starts:
        return True
    # Lines that belong to no record as programs print them: the rest of lines that were broken.
    rest = sum(not line.startswith((envelope.template, b"\t", b" ", b"at ", b"Caused by")) for line in masked.split(b"\n") if line.strip())
    return 3 * rest >= starts


def by_content(shown: str, text: bytes, wrapping: Wrapping) -> Nature | None:
    """A log in a CSV whose head tells nothing; None if the text is none."""
    export = find_export(text, by_content=True)
    return rewritten(shown, text, replace(wrapping, export=export)) if export is not None else None


def has_pattern(sample: bytes, pattern: str) -> bool:
    """Whether the user's layout cuts some line of a sample."""
    layout = compile_pattern(pattern)
    return any(layout.cut(line) for line in sample.decode("utf-8", "replace").split("\n"))


def why_unknown(sample: bytes) -> str:
    """Why a text is not read."""
    if len(LIBRDKAFKA.findall(sample)) > 0:
        return (
            "lines of librdkafka, the client library of C, Python, Go and .NET: its messages are not read; only logs of Java programs are"
        )
    return "no known layout matches any of its lines, and it is not a known capture"


def foreign_encoding(sample: bytes) -> str | None:
    """A message for a text with the line ends of old Macs, and how to convert it; None for other texts."""
    if sample.count(b"\r") > 1 and b"\n" not in sample and find_envelope(sample.replace(b"\r", b"\n")):
        return "its lines end with a carriage return alone; convert it: tr '\\r' '\\n'"
    return None


def captured(shown: str, sample: bytes, *, is_log: bool = False) -> Nature | None:
    """A capture of a kind that some module knows, or a document with captures in it; `is_log`: together with lines of a log."""
    found = captures.detect(sample.removeprefix(BOM_UTF8).decode("utf-8", "replace"), os.path.basename(shown), is_log=is_log)
    return capture_of(found[1], sample) if found else None


def capture_of(kind: str, sample: bytes) -> Nature:
    """A capture of a known kind."""
    evidence = zone_evidence(sample[:LOOK], None)
    return Nature(
        kind=kind,
        capture=kind,
        first_at=evidence[0][0] if evidence and kind in GROWING else 0,
        evidence=evidence,
        text=sample,
        # A JSON document need not end with a line end.
        ends_in_lines=kind in GROWING,
    )
