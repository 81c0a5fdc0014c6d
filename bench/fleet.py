"""Logs of a fleet that never ran, with their truth: `python -m bench.fleet FOLDER --clusters N --brokers M --days D --seed S`."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import time
from pathlib import Path

from bench.journal import DAY_MS, Journal
from bench.zookeeper import Cluster, Plan


def make(
    folder: Path,
    name: str,
    release: str,
    brokers: int,
    days: int,
    seed: int,
    start: int,
    rotation: str = "hour",
    kept: list[int] | None = None,
    plan: Plan | None = None,
) -> tuple[int, int]:
    """Write one cluster below `folder`/`name`; (bytes, records)."""
    plan = plan or Plan(brokers=brokers)
    place = folder / name
    journal = Journal(place / "input", list(range(1, brokers + 1)), rotation, kept)
    cluster = Cluster(name, release, seed, start, journal, plan)
    cluster.live(days)
    journal.close(place / "truth")
    manifest = {
        "id": name,
        "kafka_version": release,
        "mode": "zookeeper",
        "timezone": "UTC",
        "start_ms": start,
        "end_ms": start + days * DAY_MS,
        "seed": seed,
        "nodes": sorted(journal.kept),
    }
    (place / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    return journal.written, journal.records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--clusters", type=int, default=1)
    parser.add_argument("--brokers", type=int, default=3)
    parser.add_argument("--days", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--release", default="2.8.2")
    parser.add_argument("--start", type=dt.date.fromisoformat, default=dt.date(2026, 1, 1))
    parser.add_argument("--rotation", default="hour", choices=("hour", "day"))
    parser.add_argument("--kept", type=int, nargs="*", help="the nodes whose files are written; all if left out")
    parser.add_argument("--plan", type=json.loads, default={}, help='fields of a cluster\'s plan as JSON, such as {"flaps": 6}')
    given = parser.parse_args()
    start = int(dt.datetime.combine(given.start, dt.time(), dt.UTC).timestamp() * 1000)
    began = time.perf_counter()
    written = records = 0
    for number in range(1, given.clusters + 1):
        some = make(
            given.folder,
            f"cluster-{number:03d}",
            given.release,
            given.brokers,
            given.days,
            given.seed,
            start,
            given.rotation,
            given.kept,
            Plan(brokers=given.brokers, **given.plan),
        )
        written, records = written + some[0], records + some[1]
    took = time.perf_counter() - began
    print(f"{written / 1e6:.0f} MB, {records:,} records, {took:.1f} s, {written / 1e6 / took:.0f} MB/s")


if __name__ == "__main__":
    main()
