"""Standard input as a file: `chronicle run -` with lines piped or pasted into it."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

# Of the file, and of the cluster unless --cluster gives one.
NAME = "stdin"


def with_input(paths: list[str]) -> list[str]:
    """The paths, with standard input (`-`) as a file that is there until the command ends."""
    return click.get_current_context().with_resource(as_files(paths)) if "-" in paths else paths


@contextmanager
def as_files(paths: list[str]) -> Iterator[list[str]]:
    """The paths, with standard input as a file."""
    with tempfile.TemporaryDirectory(prefix="chronicle-") as folder:
        file = Path(folder) / NAME
        with file.open("wb") as out:
            shutil.copyfileobj(sys.stdin.buffer, out)
        yield [str(file) if path == "-" else path for path in paths]
