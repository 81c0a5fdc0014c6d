"""Measures ingestion with executors of a standalone Spark, and the driver's own part in it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.fleet import Fleet
from bench.measurements import LAYOUT, Row, Stand, measurement, taken
from chronicle.spark import master as masters
from tests.cluster.parts import Cluster


@measurement(quick=((25, 1), (25, 2)), full=((120, 1), (120, 2), (480, 1), (480, 2), (480, 4)), limit=180)
def by_executors(stand: Stand, days: int, executors: int) -> Iterator[Row]:
    """A generated cluster of three brokers, read by so many executors of one core each."""
    logs = stand.logs(Fleet(days=days, rotation="day", has_truth=False))
    size = sum(path.stat().st_size for path in logs.rglob("input/*/**/*") if path.is_file())
    cluster, warehouse = Cluster(stand.empty("cluster"), executors), stand.empty("executors")
    try:
        row = Row(f"ingest, {executors} executor{'s' if executors > 1 else ''}", f"a cluster's {days} days", megabytes=size / 1e6)
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
