"""`make bench-serve`: how long each chart's query takes at `chronicle serve`, on a year of a fleet, for 1, 4 and 16 clients.

The fleet (200 clusters, 10 million records) is made from a built warehouse (`tests/fleet.py`).  Prints p50 and p95 by chart; the plans of charts
whose p95 at 4 clients is over the goal go to a JSON file with all other figures.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import random
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from threading import Thread
from typing import Any

from chronicle.project import PROJECT
from chronicle.serve.client import connect
from dashboards.queries import queries
from tests import fleet
from tests.lab import filled
from tests.served import serving

GOAL_SECONDS, GOAL_CLIENTS = 1.0, 4
Key = tuple[str, str]


def of_the_lab(warehouse: Path) -> str:
    """The lab's clusters and the incidents, ingested and built unless they already are."""
    if not (warehouse / "reports").exists():
        with tempfile.TemporaryDirectory() as folder:
            lab = filled(Path(folder), str(warehouse))
            lab.build()
            lab.stop()
    return str(warehouse)


def client(port: int, rounds: int, seed: int, seconds: dict[Key, list[float]], faults: list[str]) -> None:
    """Ask every query `rounds` times on one connection, each time in another order."""
    try:
        cursor = connect("127.0.0.1", port).cursor()
    except Exception as error:
        faults.append(f"no connection: {error}")
        return
    order = queries()
    dice = random.Random(seed)
    for _ in range(rounds):
        dice.shuffle(order)
        for dashboard, chart, sql in order:
            began = time.perf_counter()
            try:
                cursor.execute(sql)
                cursor.fetchall()
            except Exception as error:
                faults.append(f"{dashboard}, {chart}: {' '.join(str(error).split())[:300]}")
            seconds[dashboard, chart].append(time.perf_counter() - began)


def measured(port: int, clients: int, samples: int) -> dict[Key, list[float]]:
    """Seconds of every query, at least `samples` of each, run by this many clients at the same time."""
    seconds: dict[Key, list[float]] = defaultdict(list)
    faults: list[str] = []
    rounds = math.ceil(samples / clients)
    threads = [Thread(target=client, args=(port, rounds, seed, seconds, faults)) for seed in range(clients)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise SystemExit("bench-serve: " + "\n".join(faults[:5]))
    print(f"{clients} clients: {rounds * clients * len(seconds):,} queries in {time.perf_counter() - began:.0f} s", file=sys.stderr)
    return {(dashboard, chart): seconds[dashboard, chart] for dashboard, chart, _ in queries()}


def percentile(values: list[float], part: float) -> float:
    """The least value that at least this part of all values does not exceed."""
    return sorted(values)[max(0, math.ceil(part * len(values)) - 1)]


def plans(port: int, slow: list[Key]) -> dict[Key, str]:
    """The plans of queries, by chart."""
    cursor = connect("127.0.0.1", port).cursor()
    found = {}
    for dashboard, chart, sql in queries():
        if (dashboard, chart) in slow:
            cursor.execute(f"explain formatted {sql}")
            found[dashboard, chart] = "\n".join(row[0] for row in cursor.fetchall())
    return found


def machine() -> str:
    """The machine that was measured: processor, cores, memory."""
    names = [line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GiB, load {os.getloadavg()[0]:.1f} at the start"
    )


def tell(results: dict[int, dict[Key, list[float]]]) -> list[Key]:
    """Print the table.  Returns the charts that miss the goal."""
    counts = sorted(results)
    width = max(len(chart) for _, chart in results[counts[0]])
    print("dashboard      " + "chart".ljust(width) + "".join(f"  {f'{n} clients p50':>14} {'p95':>6}" for n in counts))
    slow = []
    for key in results[counts[0]]:
        cells = [f"  {percentile(results[n][key], 0.5):14.2f} {percentile(results[n][key], 0.95):6.2f}" for n in counts]
        missed = GOAL_CLIENTS in results and percentile(results[GOAL_CLIENTS][key], 0.95) >= GOAL_SECONDS
        slow += [key] if missed else []
        print(f"{key[0]:<15}{key[1]:<{width}}{''.join(cells)}{'  over the goal' if missed else ''}")
    for n in counts:
        everything = [value for values in results[n].values() for value in values]
        print(f"all queries, {n} clients: p50 {percentile(everything, 0.5):.2f} s, p95 {percentile(everything, 0.95):.2f} s")
    return slow


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench-serve", description=__doc__)
    parser.add_argument(
        "warehouse", nargs="?", help="a warehouse that is built, of which the fleet is made; else the lab's clusters are built"
    )
    parser.add_argument(
        "--fleet", type=Path, default=PROJECT / ".cache/bench-fleet", help="where the fleet is made; taken as it is if it is there"
    )
    parser.add_argument("--clusters", type=int, default=200)
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--samples", type=int, default=20, help="least number of times that each query is asked")
    parser.add_argument("--memory", default="4g")
    parser.add_argument("--json", type=Path, default=PROJECT / ".cache/bench-serve.json")
    options = parser.parse_args()
    about: dict[str, Any] = {"machine": machine(), "memory": options.memory}
    if not (options.fleet / "reports/rpt_upgrade_exposure").exists():
        warehouse = options.warehouse or of_the_lab(PROJECT / ".cache/bench-lab")
        began = time.perf_counter()
        made = fleet.make(warehouse, str(options.fleet), clusters=options.clusters, records=options.records)
        print(f"made {len(made)} histories in {time.perf_counter() - began:.0f} s", file=sys.stderr)
    about["rows"] = fleet.rows(str(options.fleet))
    with serving(str(options.fleet), memory=options.memory) as served:
        port = served.port
        # Warm up first, so that no query pays for compilation and first reads; the second compiler takes minutes to do its part.
        measured(port, 1, 1)
        measured(port, 4, 12)
        results = {n: measured(port, n, options.samples) for n in options.clients}
        print(about["machine"])
        slow = tell(results)
        explained = plans(port, slow)
    charts = [
        {
            "dashboard": key[0],
            "chart": key[1],
            "clients": n,
            "samples": len(values),
            "p50": percentile(values, 0.5),
            "p95": percentile(values, 0.95),
        }
        for n, found in results.items()
        for key, values in found.items()
    ]
    told = about | {"charts": charts, "plans": {", ".join(key): plan for key, plan in explained.items()}}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    print(
        f"{len(charts) // len(results)} queries, {len(slow)} over {GOAL_SECONDS:g} s at {GOAL_CLIENTS} clients; plans and all figures in {options.json}"
    )


if __name__ == "__main__":
    main()
