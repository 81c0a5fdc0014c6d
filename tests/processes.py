"""Processes of tests: settings for those that stay, and whether they have ended."""

from __future__ import annotations

from pathlib import Path

from chronicle.spark import master as masters
from chronicle.spark.processes import stat

# Java's second compiler would take a fifth of these tests' CPU, for code that runs a few times.
FIRST_COMPILER = {masters.SETTINGS: str(Path(__file__).with_name("first_compiler.conf"))}


def alive(process: int) -> bool:
    """Whether a process lives; a zombie does not."""
    try:
        return stat(process)[0] != "Z"
    except OSError:
        return False
