"""The command `follow`.  It parses arguments and calls, as those of `cli` do."""

from __future__ import annotations

from typing import Annotated

import typer

from chronicle.cli import interrupts
from chronicle.cli.options import (
    DEFAULT_MEMORY,
    DEFAULT_WAREHOUSE,
    ClusterOption,
    LayoutOption,
    MasterOption,
    MemoryOption,
    NodeOption,
    PathsArgument,
    PatternOption,
    SettledOption,
    TimezoneOption,
    WarehouseOption,
)
from chronicle.output.console import tell


def follow(
    paths: PathsArgument,
    every: Annotated[float, typer.Option(help="Seconds from one look at the files to the next.", min=1, metavar="SECONDS")] = 10,
    serve: Annotated[bool, typer.Option("--serve", help="Also serve BI tools from the same JVM, read-only, on this machine.")] = False,
    port: Annotated[int, typer.Option(help="Port of --serve.", min=1, max=65535)] = 10000,
    cluster: ClusterOption = None,
    node: NodeOption = None,
    layout: LayoutOption = None,
    timezone: TimezoneOption = None,
    pattern: PatternOption = None,
    settled_after: SettledOption = 5,
    warehouse: WarehouseOption = DEFAULT_WAREHOUSE,
    memory: MemoryOption = DEFAULT_MEMORY,
    master: MasterOption = None,
) -> None:
    """Ingest what is appended and build what it feeds, again and again, until Ctrl-C."""
    from chronicle.follow import follow as following
    from chronicle.serve.serve import Options as Served
    from ingestion.sources.discover import Options

    interrupts.keeps("ingested data is kept, tables are those of the last complete build; `chronicle follow` continues from there")
    options = Options(paths, cluster, node, layout, timezone, settled_after, pattern, is_followed=True)
    served = Served(port=port) if serve else None
    following.follow(warehouse, options, every, memory=memory, served=served, tell=tell)
