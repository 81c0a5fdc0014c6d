"""Whether processes have ended, for tests that look for them in /proc."""

from __future__ import annotations

from chronicle.spark.processes import stat


def alive(process: int) -> bool:
    """Whether a process lives; one that has ended and that nobody has waited for does not."""
    try:
        return stat(process)[0] != "Z"
    except OSError:
        return False
