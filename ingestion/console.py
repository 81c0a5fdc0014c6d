"""What all commands share: options, and lines for people on standard error."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

WarehouseOption = Annotated[
    str, typer.Option("--warehouse", "-w", envvar="CHRONICLE_WAREHOUSE", help="Folder or URI of the warehouse.", metavar="DIR|URI")
]
MemoryOption = Annotated[
    str, typer.Option("--memory", envvar="CHRONICLE_MEMORY", help="Heap of the JVM, as Java writes it.", metavar="SIZE")
]
DEFAULT_WAREHOUSE, DEFAULT_MEMORY = "./warehouse", "2g"


def tell(text: str) -> None:
    """One line for people, on standard error: standard output belongs to results."""
    if sys.stderr.isatty():
        # Takes the place of a progress line.
        text = f"\r\x1b[K{text}"
    print(text, file=sys.stderr, flush=True)


def show_step(number: int, total: int, what: str) -> None:
    """How far long work has come: one line that renews itself on a terminal, plain lines elsewhere."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{number}/{total} {what}", end="", file=sys.stderr, flush=True)
    else:
        print(f"{number}/{total} {what}", file=sys.stderr, flush=True)
