"""The processes of a command: its own, Java, and the workers that Spark starts."""

from __future__ import annotations

import contextlib
from pathlib import Path


def tree(process: int) -> list[int]:
    """Ids of a process and of all its descendants, each after its parent; of that process alone if the system has no /proc."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            children.setdefault(int(stat(int(entry.name))[1]), []).append(int(entry.name))
    found = [process]
    for parent in found:
        found += children.get(parent, [])
    return found


def stat(process: int) -> list[str]:
    """The fields of /proc/PID/stat that follow the process's name: state, parent, … (proc(5)).  Raises OSError."""
    # The name may have blanks and parentheses of its own.
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
