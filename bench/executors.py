"""Measures ingestion and builds with executors of a standalone Spark, and the driver's own part in them; and simulates builds with more."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from bench.event_log import Reader, events
from bench.fleet import Fleet
from bench.measurements import LAYOUT, Row, Stand, measurement, taken
from bench.plan import SMALL
from bench.simulate import LANES, Model, dag_of, facts, of_a_terabyte
from chronicle.build import build as building
from chronicle.build.compiled import compiled
from chronicle.project import PROJECT
from chronicle.spark import engine
from chronicle.spark import master as masters
from chronicle.spark.session import stop
from ingestion.warehouse import Warehouse, rows_of
from tests.cluster.parts import Cluster


def executors_of(some: int) -> str:
    return f"{some} executor{'s' if some > 1 else ''}"


def size_of(logs: Path) -> int:
    """Bytes of a fleet's logs."""
    return sum(path.stat().st_size for path in logs.rglob("input/*/**/*") if path.is_file())


@measurement(quick=((25, 1), (25, 2)), full=((120, 1), (120, 2), (480, 1), (480, 2), (480, 4)), limit=180)
def by_executors(stand: Stand, days: int, executors: int) -> Iterator[Row]:
    """A generated cluster of three brokers, read by so many executors of one core each."""
    logs = stand.logs(Fleet(days=days, rotation="day", has_truth=False))
    cluster, warehouse = Cluster(stand.empty("cluster"), executors), stand.empty("executors")
    try:
        row = Row(f"ingest, {executors_of(executors)}", f"a cluster's {days} days", megabytes=size_of(logs) / 1e6)
        with taken(row):
            said = ingested(cluster, logs, warehouse)
    finally:
        cluster.close()
    found = re.search(r"([\d,]+) new records", said)
    assert found is not None, said
    row.records = int(found[1].replace(",", ""))
    parts = [f"{part} {seconds} s" for part, seconds in re.findall(r"^(\w[\w ]*?)\s+(\d+\.\d+)$", said, re.MULTILINE)]
    bronze = sum(path.stat().st_size for path in warehouse.rglob("*.parquet"))
    row.says = f"{', '.join(parts)}; {bronze / 1e6:.0f} MB of bronze"
    yield row


# Facts of a subject each, whose steps are some of the largest.
SOME = "fct_leader_elections fct_isr_changes fct_offsets_topic_growth_hourly"


@measurement(
    quick=((20, 7, 1, SOME), (20, 7, 2, SOME)),
    full=((20, 90, 1, SOME), (20, 90, 2, SOME), (200, 365, 1, ""), (200, 365, 2, "")),
    limit=400,
)
def build_by_executors(stand: Stand, clusters: int, days: int, executors: int, marts: str) -> Iterator[Row]:
    """Small clusters, read at once and built by the plain engine on so many executors of one core each; and from the event log of that build, the same
    with more cores.  `marts`: they and all that they are made of (empty: everything)."""
    logs = stand.logs(Fleet(clusters=clusters, days=days, rotation="day", plan=SMALL, has_truth=False))
    warehouse, of = stand.empty("built"), f"{days} days of {clusters} clusters" + (f": {marts} and what they need" if marts else "")
    # In a process of its own: this one's session will be that of the executors.
    stand.command(["ingest", str(logs), "--layout", LAYOUT, "--timezone", "UTC", "--warehouse", str(warehouse)])
    records = rows_of(Warehouse.at(str(warehouse)).bronze("log_records"))
    log = stand.folder / "event-logs" / "-".join(map(str, (clusters, days, executors, *marts.split())))
    row = Row(f"build, {executors_of(executors)}", of, records=records, engine=engine.PLAIN.name)
    with on_cluster(stand, executors, log):
        built(stand, warehouse, row, marts)
    yield from simulated(log, row, size_of(logs))


def simulated(log: Path, row: Row, size: int) -> Iterator[Row]:
    """A build of which there is an event log, with what limited it, and the same with more cores.  `size`: bytes of the logs that were built."""
    model = Model(Reader(dag := dag_of(compiled(PROJECT))).read(events(log)), dag)
    row.says = "; ".join([*facts(model), of_a_terabyte(model.run, size)])
    yield row
    for lanes in model.lanes(LANES):
        for one in model.simulated(lanes):
            says = f"{one.speed_up:.1f} times as fast, efficiency {one.efficiency:.2f}"
            what = f"build, {executors_of(one.cores)}, {lanes} at once, simulated"
            yield Row(what, row.of, one.seconds, records=row.records, says=says, engine=row.engine)


@contextmanager
def on_cluster(stand: Stand, executors: int, log: Path) -> Iterator[None]:
    """Let the sessions within have executors of a standalone Spark, build with the plain engine, and write an event log into an empty folder."""
    shutil.rmtree(log, ignore_errors=True)
    log.mkdir(parents=True)
    cluster = Cluster(stand.empty("cluster"), executors)
    try:
        settings = cluster.settings()
        # The tests have 2 partitions, which would keep no more than two executors busy; Spark's own number is 200.
        own = f"spark.sql.shuffle.partitions 200\nspark.eventLog.enabled true\nspark.eventLog.dir {log.resolve().as_uri()}\n"
        settings.write_text(settings.read_text() + own)
        chosen = {masters.MASTER: cluster.master, masters.SETTINGS: str(settings), engine.ENGINE: engine.PLAIN.name}
        with mock.patch.dict(os.environ, chosen):
            yield
            # The log is complete when its session has ended.
            stop()
    finally:
        cluster.close()


def built(stand: Stand, warehouse: Path, row: Row, marts: str) -> None:
    """Build some marts of a warehouse, or everything, with the name of each model in the description of its jobs."""
    spark, select = stand.session(warehouse), " ".join(f"+{mart}" for mart in marts.split()) or None
    with taken(row):
        building.build(spark, str(warehouse), select=select, progress=lambda number, of, what: spark.sparkContext.setJobDescription(what))


def ingested(cluster: Cluster, logs: Path, warehouse: Path) -> str:
    """The output of the command that reads some logs."""
    command = [
        sys.executable,
        "-m",
        "chronicle",
        "ingest",
        str(logs),
        "-w",
        str(warehouse),
        "--layout",
        LAYOUT,
        "--timezone",
        "UTC",
        "--profile",
    ]
    environment = os.environ | {masters.MASTER: cluster.master, masters.SETTINGS: str(cluster.settings())}
    return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
