"""Ctrl-C and SIGTERM: one line that says what is kept, no JVM left behind, exit code 130 or 143."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType

from chronicle.output.console import line

# How long a command may take to clean up; a thread that waits for a JVM that is gone would never end.
GRACE_SECONDS = 3
LINES = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}

_kept = ""
_received: int | None = None


def keeps(text: str) -> None:
    """Set what an interrupt will leave from here on: the line that reports it ends with this text."""
    global _kept
    _kept = text


def watch() -> None:
    """Take over both signals; main thread only.  A command that stays (`serve`) replaces them with its own."""
    for number in LINES:
        signal.signal(number, _stop)


def exit_code() -> int | None:
    """130 after Ctrl-C, 143 after SIGTERM, None if neither came."""
    return None if _received is None else 128 + _received


def settle() -> None:
    """Let the process end with the exit code that it is given.  Python ends it by SIGINT instead if a KeyboardInterrupt has passed through
    `exec` or `eval` of a text, even if it was caught outside; importing a module with dataclasses or named tuples runs such texts.  The next
    `eval` clears that state."""
    eval("None")


def _stop(number: int, frame: FrameType | None) -> None:
    global _received
    if _received is not None:
        os._exit(128 + number)
    _received = number
    # From here on only libraries would print, that others have ended.  Not through Python's own buffer: a thread may be writing to it.
    said = line(f"chronicle: {LINES[signal.Signals(number)]}{'; ' + _kept if _kept else ''}")
    stderr = os.dup(2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    os.write(stderr, said.encode())
    if session := sys.modules.get("chronicle.spark.session"):
        session.kill()
    end = threading.Timer(GRACE_SECONDS, os._exit, [128 + number])
    end.daemon = True
    end.start()
    raise KeyboardInterrupt
