"""The command `follow`, and what other commands may ask of it.  It parses arguments and calls, as those of `cli` do."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Annotated, Any

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
from chronicle.cli.work import Wanted, build_new, build_wanted, has_nothing_new, read_in
from chronicle.output.console import tell
from ingestion.reading.objects import is_uri

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from chronicle.staying.requests import Request
    from ingestion.sources.discover import Options


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
    """Ingest what is appended and build what it feeds, again and again, until Ctrl-C. Other commands on the warehouse use its JVM."""
    from chronicle.follow import follow as following
    from chronicle.serve.serve import Options as Served
    from ingestion.sources.discover import Options

    interrupts.keeps("ingested data is kept, tables are those of the last complete build; `chronicle follow` continues from there")
    options = Options(paths, cluster, node, layout, timezone, settled_after, pattern, is_followed=True)
    served = Served(port=port) if serve else None
    following.follow(warehouse, options, every, memory=memory, served=served, work=work_of(warehouse), tell=tell)


def work_of(warehouse: str) -> dict[str, Any]:
    """What other commands may ask of a process that follows, by name."""
    from ingestion.sources.discover import Options

    def read(spark: SparkSession, request: Request) -> dict[str, Any]:
        outcome = read_in(Options(**request.values), warehouse, lambda: spark, request.say)
        return {"clusters": sorted(outcome.clusters), "failed": outcome.failed}

    def run(spark: SparkSession, request: Request) -> dict[str, Any]:
        done = read(spark, request)
        build_new(lambda: spark, warehouse, request.say)
        return done

    def build(spark: SparkSession, request: Request) -> None:
        wanted, out = Wanted(**request.values), io.StringIO()
        if has_nothing_new(warehouse, wanted, request.say):
            # The last round has built it meanwhile.
            return
        build_wanted(spark, warehouse, wanted, request.say, out)
        request.out(out.getvalue())

    return {"ingest": read, "run": run, "build": build}


def asked(options: Options) -> dict[str, Any]:
    """Options of `ingest` for another process, whose current folder may be another."""
    values = {name: value for name, value in vars(options).items() if name != "placeholders"}
    return {**values, "paths": [path if is_uri(path) else os.path.abspath(path) for path in options.paths]}
