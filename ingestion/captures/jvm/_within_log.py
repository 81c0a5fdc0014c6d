"""What a JVM prints into the output of a program, between the records of its log: pauses, dumps of threads, the head of a fatal error report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ingestion.captures import UNREAD, About, Line, Row
from ingestion.captures.jvm import gc_log, hs_err, thread_dump
from ingestion.captures.jvm._gc_jdk8 import FLAGS, STOPPED
from ingestion.captures.jvm._gc_unified import split
from ingestion.captures.jvm._thread_text import DATE, DEADLOCK, FULL

# One of these is in every text with such lines; none has a digit.
NEEDLES = (
    *(b"[gc", b"[safepoint", b"[GC", b"[Full GC", b"] GC(", b"application threads were stopped: ", b"CommandLine flags: "),
    *(b"Full thread dump", b"Java-level deadlock", b"# A fatal error has been detected", b"# There is insufficient memory for the Java"),
)
MOST_CHARACTERS = 2000


def rows_within(lines: Sequence[Line], about: About) -> Iterator[tuple[str, Row]]:
    """(kind of capture, row) of all that a JVM printed among the lines that follow the first of a record; what it did not print gives no row."""
    for kind, part in parts_of(lines):
        for row in {"gc_log": gc_log, "hs_err": hs_err, "thread_dump": thread_dump}[kind].read(kind, part, about):
            if row.kind != UNREAD:
                yield kind, row


def parts_of(lines: Sequence[Line]) -> Iterator[tuple[str, list[Line]]]:
    """The lines that a JVM printed, by the kind of capture that they are: each from its first line up to that of another kind."""
    kind, part = "", list[Line]()
    for n, line in enumerate(lines):
        text = line.text[:MOST_CHARACTERS]
        is_dated = DATE.match(text) and n + 1 < len(lines) and FULL.match(lines[n + 1].text[:MOST_CHARACTERS])
        found = "thread_dump" if is_dated else kind_of_line(text)
        if kind == "hs_err" and found is None and not hs_err.goes_on(text):
            found = ""
        if found is not None and found != kind:
            if kind:
                yield kind, part
            kind, part = found, []
        if kind:
            part.append(line)
    if kind:
        yield kind, part


def kind_of_line(text: str) -> str | None:
    """The kind of capture that a line begins; None if it may be anything."""
    if FULL.match(text) or DEADLOCK.match(text):
        return "thread_dump"
    if hs_err.BEGINNING.match(text):
        return "hs_err"
    if gc_log.STRONG.match(text) or STOPPED.match(text) or FLAGS.match(text) or is_unified(text):
        return "gc_log"
    return None


def is_unified(text: str) -> bool:
    """Whether a line is one of unified logging about collections and safepoints, with its decorations."""
    if not text.startswith("["):
        return False
    parts = split(text)
    if parts is None:
        return False
    decorations, message = parts
    tags = decorations.tags or ""
    return tags.startswith(("gc", "safepoint")) or bool(re.match(r"GC\(\d+\) ", message))
