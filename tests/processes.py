"""Processes of tests: what those that stay are started with, and whether they have ended."""

from __future__ import annotations

from pathlib import Path

from chronicle.spark import master as masters
from chronicle.spark.processes import stat

# Java's second compiler takes a fifth of what these tests cost, for code that runs a few times.
FIRST_COMPILER = {masters.SETTINGS: str(Path(__file__).with_name("first_compiler.conf"))}


def alive(process: int) -> bool:
    """Whether a process lives; one that has ended and that nobody has waited for does not."""
    try:
        return stat(process)[0] != "Z"
    except OSError:
        return False
