"""Measures builds: cold and warm, by history, by clusters, on one and two cores, and the size of their plans."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from bench.fleet import Fleet
from bench.measurements import Row, Stand, measurement
from bench.plan import BUSY, SMALL
from chronicle.project import PROJECT
from chronicle.spark.session import COMMAND_OPTIONS


@measurement(quick=((),), full=((),), limit=300)
def cold_and_warm(stand: Stand) -> Iterator[Row]:
    """The logs of `make run`: in a new process, and again in another warehouse of the same process."""
    of = "examples/orders"
    first = stand.empty("cold")
    read = Row("ingest, cold (with the session's start)", of)
    stand.ingest(first, PROJECT / "examples" / "orders", read, layout=None)
    yield read
    second = stand.empty("warm")
    shutil.copytree(first, second)
    yield stand.build(first, Row("build, cold", of))
    yield stand.build(second, Row("build, warm (second in the process)", of))


@measurement(quick=(), full=((),), limit=300)
def staying(stand: Stand) -> Iterator[Row]:
    """The logs of `make run` again and again in a process with the options of a long-lived one, each time in a warehouse of its own: after some
    builds Java's second compiler has compiled what they need."""
    of, builds = "examples/orders, in a process that stays", 10
    first = stand.empty("1")
    stand.session(first, java=COMMAND_OPTIONS)
    stand.ingest(first, PROJECT / "examples" / "orders", Row(""), layout=None)
    others = [stand.empty(str(number)) for number in range(2, builds + 1)]
    for other in others:
        shutil.copytree(first, other)
    for number, warehouse in enumerate((first, *others), 1):
        row = stand.build(warehouse, Row(f"build {number} of {builds}", of))
        if number in (1, 2, 6, builds):
            yield row


@measurement(quick=((30,),), full=((1,), (30,), (365,)), cores=(1, 2))
def by_history(stand: Stand, days: int) -> Iterator[Row]:
    """One broker of a busy cluster."""
    yield from built(stand, Fleet(days=days, rotation="day", kept=(1,), plan=BUSY, has_truth=False), f"{days} days of one broker")


@measurement(quick=((20, 7),), full=((1, 365), (20, 365), (200, 365)), cores=(1, 2))
def by_clusters(stand: Stand, clusters: int, days: int) -> Iterator[Row]:
    """Small clusters."""
    of = f"{days} days of {clusters} cluster{'s' if clusters > 1 else ''}"
    yield from built(stand, Fleet(clusters=clusters, days=days, rotation="day", plan=SMALL, has_truth=False), of)


def built(stand: Stand, fleet: Fleet, of: str) -> Iterator[Row]:
    """Ingest and build a fleet in a process that has done nothing else."""
    warehouse = stand.empty("built")
    read = Row("ingest, cold (with the session's start)", of)
    stand.ingest(warehouse, stand.logs(fleet), read)
    yield read
    row = stand.build(warehouse, Row("build, cold", of))
    row.records = read.records
    yield row
