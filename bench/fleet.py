"""Logs of a fleet that never ran, with what really happened: `python -m bench.fleet FOLDER --clusters N --brokers M --days D --seed S`.

Every cluster gets `input/` (a folder per node, as an operator would hand it over), `truth/` (as ZooKeeper's transactions or the metadata
log would tell it) and `manifest.json`.  The same seed gives the same bytes.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime as dt
import gc
import json
import os
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

from bench.journal import DAY_MS, HOUR_MS, ROTATIONS, ZOOKEEPER, Journal
from bench.kraft import CONTROLLERS, KraftCluster
from bench.plan import PLANS, Plan
from bench.voices import Voices
from bench.zookeeper import ZookeeperCluster
from ingestion.recognition.forms import release_order

BIRTH = dt.date(2026, 1, 1)


@dataclass(frozen=True)
class Fleet:
    """What is generated.  `later_ms`: the lines of so many last milliseconds go below `later/` instead of `input/`, in files of the same names;
    `kept`: nodes whose files are written (None: all); `has_truth`: whether `truth/` is."""

    clusters: int = 1
    days: int = 2
    seed: int = 1
    release: str = "2.8.2"
    birth: dt.date = BIRTH
    rotation: str = "hour"
    later_ms: int = 0
    kept: tuple[int, ...] | None = None
    has_truth: bool = True
    plan: Plan = field(default_factory=Plan)

    @property
    def is_kraft(self) -> bool:
        """Releases from 3.0 on are made without ZooKeeper."""
        return release_order(self.release) >= (3,)

    @property
    def nodes(self) -> tuple[int, ...]:
        return self.kept or (*(CONTROLLERS if self.is_kraft else (ZOOKEEPER,)), *self.plan.nodes)

    @property
    def start_ms(self) -> int:
        return int(dt.datetime.combine(self.birth, dt.time(), dt.UTC).timestamp() * 1000)

    @property
    def end_ms(self) -> int:
        return self.start_ms + self.days * DAY_MS


@cache
def voices_of(release: str, is_kraft: bool) -> Voices:
    """The voices of a release, cached: reading the catalogue takes as long as writing megabytes."""
    return Voices(release, is_kraft)


def write_cluster(folder: Path, fleet: Fleet, number: int) -> tuple[int, int]:
    """Write one cluster below a folder; (bytes, records)."""
    name = f"cluster-{number:03d}"
    journal = Journal(folder / name, fleet.nodes, fleet.rotation, fleet.end_ms - fleet.later_ms, fleet.end_ms, fleet.is_kraft)
    # Records are tuples by the hundred thousand, and none of them is garbage before it is written.
    gc.disable()
    kind = KraftCluster if fleet.is_kraft else ZookeeperCluster
    kind(name, fleet.release, fleet.seed, fleet.start_ms, journal, fleet.plan, voices_of(fleet.release, fleet.is_kraft)).live(fleet.days)
    gc.enable()
    journal.close(fleet.has_truth)
    manifest = {
        "id": name,
        "kafka_version": fleet.release,
        "mode": "isolated" if fleet.is_kraft else "zookeeper",
        "timezone": "UTC",
        "start_ms": fleet.start_ms,
        "end_ms": fleet.end_ms,
        "seed": fleet.seed,
        "nodes": sorted(journal.kept),
    }
    (folder / name / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    return journal.written, journal.records


def write_fleet(folder: Path, fleet: Fleet, processes: int = 2) -> tuple[int, int]:
    """Write all clusters below a folder; (bytes, records)."""
    folder.mkdir(parents=True, exist_ok=True)
    write = partial(write_cluster, folder, fleet)
    numbers = range(1, fleet.clusters + 1)
    if min(processes, fleet.clusters) < 2:
        made = [write(number) for number in numbers]
    else:
        with ProcessPoolExecutor(processes) as pool:
            made = list(pool.map(write, numbers, chunksize=max(1, fleet.clusters // 20)))
    return sum(size for size, _ in made), sum(records for _, records in made)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--clusters", type=int, default=1)
    parser.add_argument("--brokers", type=int, default=3)
    parser.add_argument("--days", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--release", default="2.8.2")
    parser.add_argument("--birth", type=dt.date.fromisoformat, default=BIRTH, help="first day (UTC)")
    parser.add_argument("--rotation", default="hour", choices=sorted(ROTATIONS))
    parser.add_argument("--later-hours", type=int, default=0, help="hours at the end that go below later/")
    parser.add_argument("--kept", type=int, nargs="*", help="nodes whose files are written; all if left out")
    parser.add_argument("--like", default="plain", choices=sorted(PLANS), help="the plan of every cluster")
    parser.add_argument("--plan", type=json.loads, default={}, help='what is other than in that plan, as JSON: {"flaps": 6}')
    parser.add_argument("--processes", type=int, default=min(2, os.cpu_count() or 1))
    given = parser.parse_args()
    fleet = Fleet(
        clusters=given.clusters,
        days=given.days,
        seed=given.seed,
        release=given.release,
        birth=given.birth,
        rotation=given.rotation,
        later_ms=given.later_hours * HOUR_MS,
        kept=tuple(given.kept) if given.kept else None,
        plan=dataclasses.replace(PLANS[given.like], brokers=given.brokers, **given.plan),
    )
    began = time.perf_counter()
    written, records = write_fleet(given.folder, fleet, given.processes)
    took = time.perf_counter() - began
    print(f"{written / 1e6:.0f} MB, {records:,} records, {took:.1f} s, {written / 1e6 / took:.0f} MB/s")


if __name__ == "__main__":
    main()
