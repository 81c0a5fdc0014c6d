"""Layouts of log lines: found once per file, then every record is cut by the same frame.

Source of the layouts: `catalogue/envelopes.yml`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ingestion.reading import linear
from ingestion.reading.catalogue_files import CATALOGUE, CatalogueError, read_yaml
from ingestion.recognition.forms import MARK

DIGITS = bytes(0x30 if 0x30 <= n <= 0x39 else n for n in range(256))
PARTS = {
    "time": r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[,.]\d{3})?",
    "level": r"TRACE|DEBUG|INFO|WARN|ERROR|FATAL",
    "logger": r"[\w.$/\-]+",
    "thread": r"[^\n]*?",
    "myid": r"\d*",
    "source_line": r"\d+|\?",
}
# Where the message ends in layouts that print nothing after it: a stack trace begins, or what a JVM prints of itself.
TRACE = linear.compile(
    rb"\n(?:\s+at |Caused by: |[\w.$]+(?:Exception|Error|Throwable)\b|\[[\d.,TZ:+-]+s?\]\[|[\d.,TZ:+-]+: (?:[\d.,]+: )?\[(?:Full )?GC|\[(?:Full )?GC|#[ \r\n]"
    rb"|(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\r?\n)?Full thread dump )"
)


@dataclass(frozen=True)
class Envelope:
    """One layout: `template` is the fixed beginning of a record with every digit as 0, `head` and `tail` the frame."""

    name: str
    means: str
    template: bytes
    time_at: int
    has_millis: bool
    head: re.Pattern[bytes]
    tail: linear.Pattern | None

    def begins(self, line: bytes) -> bool:
        """Whether a line begins a record."""
        return line[: len(self.template)].translate(DIGITS) == self.template

    def cut(self, record: bytes) -> dict[str, tuple[int, int]] | None:
        """Spans of level, logger, thread and message in a record; None if the frame does not fit."""
        head = self.head.match(record)
        if head is None:
            return None
        spans = {name: head.span(name) for name in head.groupdict() if name != "time"}
        end = None
        if self.tail is not None:
            # From the blank before the message on: a message may be empty (a stack trace alone, a line of a banner).
            tail = self.tail.search(record, head.end() - 1)
            if tail is not None:
                spans |= {name: tail.span(number) for name, number in self.tail.groupindex.items()}
                end = max(head.end(), tail.start())
        if end is None:
            trace = TRACE.search(record, head.end())
            end = trace.start() if trace else len(record)
        spans["message"] = (head.end(), end)
        return spans


def _pattern(text: str) -> str:
    out, at = [], 0
    for mark in MARK.finditer(text):
        # Padding of %-5p: any number of blanks where the example has some.
        out.append(re.sub(r"(?:\\ )+", r"[ ]+", re.escape(text[at : mark.start()])))
        out.append(f"(?P<{mark[1]}>{PARTS[mark[1]]})")
        at = mark.end()
    return "".join(out) + re.sub(r"(?:\\ )+", r"[ ]+", re.escape(text[at:]))


def compile_envelope(name: str, entry: dict[str, str], path: Path) -> Envelope:
    """Compile a layout.  Raises CatalogueError if the line has no time, level or message."""
    text = entry["line"]
    marks = {mark[1]: mark for mark in MARK.finditer(text)}
    for needed in ("time", "level", "message"):
        if needed not in marks:
            raise CatalogueError(path, int(entry["__line__"]), f"layout '{name}' marks no {needed}", f"mark it as <<{needed}=…>>")
    unknown = set(marks) - set(PARTS) - {"message"}
    if unknown:
        raise CatalogueError(path, int(entry["__line__"]), f"layout '{name}' marks {sorted(unknown)}", f"use {', '.join(PARTS)}")
    time, message = marks["time"], marks["message"]
    before = text[: time.start()]
    after = re.match(r"[^<]*", text[time.end() :])
    template = (before + time[2] + (after[0].split("  ")[0] if after else "")).encode().translate(DIGITS)
    tail = text[message.end() :]
    return Envelope(
        name=name,
        means=entry["means"],
        template=template,
        time_at=len(before),
        has_millis=len(time[2]) > 19,
        head=re.compile(_pattern(text[: message.start()]).encode()),
        # Connect prints the source line after the logger.  Only one blank before the tail is the layout's: more belong to the
        # message, as after an empty list at its end.
        tail=linear.compile(_pattern(tail).replace("[ ]+", "[ ]").replace(r"\)", r"(?::\d+)?\)", 1).encode() + rb"[ \t\r]*$", re.M)
        if tail
        else None,
    )


# The layout into which lines from wrappers, JSON and patterns are rewritten before they are read; control characters separate its parts.
REWRITTEN = Envelope(
    name="rewritten",
    means="A line that has been rewritten.",
    template=b"[0000-00-00 00:00:00,000] ",
    time_at=1,
    has_millis=True,
    head=re.compile(rf"\[(?P<time>{PARTS['time']})\] (?P<level>[A-Z]*) \x02(?P<thread>[^\x02]*)\x02(?P<logger>[^\x02]*)\x02".encode()),
    tail=None,
)


@lru_cache(maxsize=1)
def envelopes() -> tuple[Envelope, ...]:
    """All layouts, in the order of the file."""
    path = CATALOGUE / "envelopes.yml"
    return tuple(compile_envelope(name, entry, path) for name, entry in read_yaml(path).items() if "line" in entry)


def envelope_named(name: str) -> Envelope:
    """A layout by its name."""
    return next(envelope for envelope in (*envelopes(), REWRITTEN) if envelope.name == name)


def find_envelope(sample: bytes) -> Envelope | None:
    """The layout that frames most lines of a sample; None if none frames any."""
    lines = list(zip(sample.translate(DIGITS).split(b"\n"), sample.split(b"\n"), strict=True))
    best, most = None, 0
    for envelope in envelopes():
        count = sum(envelope.head.match(line) is not None for masked, line in lines if masked.startswith(envelope.template))
        if count > most:
            best, most = envelope, count
    return best
