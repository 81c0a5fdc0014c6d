"""The two engines that build tables, and which of them a command takes.

`local` makes small builds fast on one machine: our own runner, with classes of ours in the JVM, and tables that it commits itself.
`plain` is dbt with Spark's and Delta's public API: any Spark, unmodified, wherever its executors and the warehouse are.
Both make equal tables (`tests/flow/test_plain_engine.py`, `.ci/nightly`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from chronicle.spark import master as masters

ENGINE = "CHRONICLE_ENGINE"


@dataclass(frozen=True)
class Engine:
    """What an engine can and needs.  `has_own_classes`: its JVM has classes of ours; `is_in_place`: it writes tables where they stay, also in a
    bucket, where the other builds in a copy on this machine's disk."""

    name: str
    has_own_classes: bool
    is_in_place: bool


LOCAL = Engine("local", has_own_classes=True, is_in_place=False)
PLAIN = Engine("plain", has_own_classes=False, is_in_place=True)
ENGINES = {engine.name: engine for engine in (LOCAL, PLAIN)}


def chosen() -> Engine:
    """The engine of this process: the one that `--engine` or CHRONICLE_ENGINE names, else `local` on this machine's cores and `plain` on any other Spark.
    Raises masters.BadMaster."""
    master, given = masters.master(), os.environ.get(ENGINE)
    if not given:
        return LOCAL if masters.is_local(master) else PLAIN
    if given not in ENGINES:
        raise masters.BadMaster(f"{given}: no engine of builds; use {' or '.join(ENGINES)}")
    if given == LOCAL.name and not masters.is_local(master):
        raise masters.BadMaster(
            f"the local engine builds on this machine's cores, not on {master}; leave out --engine, or use --engine plain"
        )
    return ENGINES[given]
