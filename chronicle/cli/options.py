"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

WarehouseOption = Annotated[
    str, typer.Option("--warehouse", "-w", envvar="CHRONICLE_WAREHOUSE", help="Folder or URI of the warehouse.", metavar="DIR|URI")
]


MemoryOption = Annotated[
    str, typer.Option("--memory", envvar="CHRONICLE_MEMORY", help="Heap of the JVM, as Java writes it.", metavar="SIZE")
]


DEFAULT_WAREHOUSE, DEFAULT_MEMORY = "./warehouse", "2g"
