"""Lines for people on standard error, and texts that a terminal can show."""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from typing import Any

# How often long work says where it is, if nobody looks on.
SILENT_SECONDS = 15
# Clears the current line of a terminal.
NEW_LINE = "\r\x1b[K"
# Characters that reverse or break a line, and invisible ones, with which two names would look the same; a joiner makes one sign of several
# and stays.
UNSEEN = "\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e0fff"
# Control characters, UNSEEN ones, and bytes of a name that are not UTF-8.
CONTROLS = re.compile(f"[\x00-\x1f\x7f-\x9f{UNSEEN}\ud800-\udfff]")
SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def visible(text: str, *, keep: str = "") -> str:
    """A text for a terminal: control characters as `\\x1b`, so that a name or a log line cannot steer it.  `keep`: those that stay."""
    return CONTROLS.sub(lambda found: found[0] if found[0] in keep else SHORT.get(found[0], escaped(found[0])), text)


def escaped(character: str) -> str:
    """A character by its number; a byte that is not UTF-8, which Python keeps as a surrogate, as that byte."""
    number = ord(character)
    number = number - 0xDC00 if 0xDC80 <= number <= 0xDCFF else number
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def as_json(value: Any) -> str:
    """A value on one line of JSON that a terminal can show: control characters as JSON escapes them.  Raises ValueError for NaN."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return CONTROLS.sub(lambda found: json.dumps(found[0])[1:-1], text)


def line(text: str) -> str:
    """A line for people as it is written to standard error; on a terminal it takes the place of a progress line."""
    return f"{NEW_LINE if sys.stderr.isatty() else ''}{visible(text)}\n"


def tell(text: str) -> None:
    """One line for people, on standard error: standard output belongs to results."""
    print(line(text), end="", file=sys.stderr, flush=True)


class Progress:
    """Long work as a share and a time: one line that renews itself on a terminal; elsewhere a line now and then.

    It is called when step `number` of `total` begins; which one that is, only profiles tell.
    """

    def __init__(self, doing: str, things: str) -> None:
        self.doing, self.things = doing, things
        self.began = self.told = time.monotonic()
        # Several threads report their steps.
        self.lock = threading.Lock()

    def __call__(self, number: int, total: int, what: str = "") -> None:
        with self.lock:
            now = time.monotonic()
            text = f"{self.doing}: {(number - 1) / total:.0%} of {total:,} {self.things if total > 1 else self.things.removesuffix('s')}, {now - self.began:.0f} s"
            if sys.stderr.isatty():
                print(f"{NEW_LINE}{text}", end="", file=sys.stderr, flush=True)
            elif now - self.told >= SILENT_SECONDS:
                self.told = now
                tell(text)


def show_bytes(files: int, size: int, part: float, seconds: float) -> None:
    """Progress of reading, on a terminal one line that renews itself."""
    if sys.stderr.isatty():
        text = f"reading: {part:.0%} of {files:,} files, {size / 1e6:,.0f} MB, {seconds:.0f} s"
        print(f"{NEW_LINE}{text}", end="", file=sys.stderr, flush=True)


def in_one_line(error: BaseException) -> str:
    """An error as one line.  Our own speak for themselves; for others the type is named, too."""
    text = re.split(r"\n\s*\n|\nJVM stacktrace|\n\s+at |\n== SQL", str(error).strip())[0]
    text = " ".join(text.split())
    ours = type(error).__module__.startswith(("chronicle.", "ingestion.")) or isinstance(
        error, ValueError | FileNotFoundError | ConnectionError
    )
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return text if ours and text else f"{type(error).__name__}: {text}" + (" (CHRONICLE_DEBUG=1 shows where)" if not ours else "")
