"""`make bench`: all measurements, each in a process of its own, as one table that also goes to docs/benchmarks.md.

`BENCH=quick` takes minutes, `BENCH=full` hours; `ONLY=NAME,…` runs some and leaves the page as it is.  What fails or takes longer than its limit is a row that says so.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime as dt
import importlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

from bench.measurements import MEASUREMENTS, Row, Size, Stand
from chronicle.project import PROJECT

# The modules of measurements, in the order of the table; a new one is named here.
MODULES = ("reading", "builds", "arrivals", "following")
PAGE = PROJECT / "docs" / "benchmarks.md"
FULL_LIMITS = 20


def load() -> None:
    for name in MODULES:
        importlib.import_module(f"bench.{name}")


def one(folder: Path, name: str, size: Size, cores: int, out: Path) -> None:
    """Do one measurement in this process; its rows go to a file as soon as they are there."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    stand = Stand(folder)
    try:
        for row in MEASUREMENTS[name].measure(stand, *size):
            row.cores = cores
            with out.open("a") as file:
                file.write(json.dumps(dataclasses.asdict(row)) + "\n")
    finally:
        stand.close()


def measured(folder: Path, name: str, size: Size, cores: int, limit: int) -> list[Row]:
    """Do one measurement in a process of its own; what it could not do is its last row."""
    out = folder / "rows.jsonl"
    out.unlink(missing_ok=True)
    # What a measurement that was stopped has left.
    shutil.rmtree(folder / "work", ignore_errors=True)
    said = folder / "said.txt"
    words = [sys.executable, "-m", "bench.run", "--folder", str(folder), "--one", name, "--size", json.dumps(size), "--cores", str(cores)]
    failure = ""
    with said.open("w") as file:
        # The JVM ends when this process does, and the workers with it.
        process = subprocess.Popen([*words, "--out", str(out)], stdout=file, stderr=subprocess.STDOUT)
        try:
            if code := process.wait(limit):
                last = [line for line in said.read_text(errors="replace").splitlines() if line.strip()]
                failure = f"failed with code {code}: {last[-1][:200] if last else 'nothing was said'}"
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            failure = f"stopped: it took longer than {limit} s"
    rows = [Row(**json.loads(line)) for line in out.read_text().splitlines()] if out.exists() else []
    if failure:
        rows.append(Row(name, ", ".join(map(str, size)), cores=cores, says=failure))
    return rows


COLUMNS = ("what", "of", "cores", "s", "CPU s", "MB/s", "records", "peak GiB", "executions", "rows read", "plan nodes", "")


def cells(row: Row) -> list[str]:
    """A row as the table shows it."""

    def number(value: float | None, digits: int = 0) -> str:
        return "" if value is None else f"{value:,.{digits}f}"

    speed = row.megabytes / row.seconds if row.megabytes and row.seconds else None
    return [
        row.what,
        row.of,
        str(row.cores),
        number(row.seconds, 1),
        number(row.cpu_seconds, 1),
        number(speed, 1),
        number(row.records),
        number(row.peak_bytes / 2**30 if row.peak_bytes else None, 2),
        number(row.executions),
        number(row.rows_read),
        number(row.plan_nodes),
        row.says.replace("|", "/"),
    ]


def table(rows: list[Row]) -> str:
    """The rows as Markdown."""
    right = "| " + " | ".join("---" if name in ("what", "of", "") else "---:" for name in COLUMNS) + " |"
    return "\n".join(["| " + " | ".join(COLUMNS) + " |", right, *("| " + " | ".join(cells(row)) + " |" for row in rows)])


def machine() -> str:
    """The machine and what ran on it."""
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    models = {line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")}
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ", ".join(f"{name} {metadata.version(name)}" for name in ("pyspark", "delta-spark", "duckdb"))
    return f"{len(os.sched_getaffinity(0))} cores ({', '.join(sorted(models)) or platform.machine()}), {memory:.0f} GiB, {platform.system()}; Python {platform.python_version()}, {packages}"


def page(rows: list[Row], size: str, seconds: float, loads: tuple[float, float]) -> str:
    """docs/benchmarks.md."""
    return f"""# Benchmarks

`make bench` wrote this page on {dt.datetime.now(dt.UTC):%Y-%m-%d}: sizes `{size}`, {seconds / 60:.0f} minutes. Each measurement has a process of its own (`bench/`). The logs are made from the
catalogue's forms (`bench/fleet.py`), except where examples are named.

Machine: {machine()}. Load at the beginning and the end: {loads[0]:.1f}, {loads[1]:.1f}.

*s*: seconds on the clock; *CPU s*: processor seconds of Python, Java and workers; *peak GiB*: the most memory that they have held until then, each at its own peak, summed (of
`follow`: at once, in those minutes); *executions*, *rows
read*, *plan nodes*: of Spark for its statements, rows that its stages took from files, nodes of analysed plans.

{table(rows)}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="?", default="quick", choices=("quick", "full"))
    parser.add_argument("--folder", type=Path, default=PROJECT / ".cache" / "bench", help="where logs and warehouses are kept")
    parser.add_argument("--only", help="names of measurements, separated by commas")
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--one")
    parser.add_argument("--size", type=json.loads, default=[])
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    load()
    if given.one:
        one(given.folder, given.one, tuple(given.size), given.cores, given.out)
        return
    names = given.only.split(",") if given.only else list(MEASUREMENTS)
    if unknown := set(names) - set(MEASUREMENTS):
        raise SystemExit(f"bench: no measurement '{sorted(unknown)[0]}'; there are {', '.join(MEASUREMENTS)}")
    given.folder.mkdir(parents=True, exist_ok=True)
    is_quick = given.sizes == "quick"
    rows: list[Row] = []
    began, load_before = time.monotonic(), os.getloadavg()[0]
    print("| " + " | ".join(COLUMNS) + " |")
    for name in names:
        wanted = MEASUREMENTS[name]
        for size in wanted.quick if is_quick else wanted.full:
            for cores in (given.cores,) if is_quick else wanted.cores:
                made = measured(given.folder, name, size, cores, wanted.limit * (1 if is_quick else FULL_LIMITS))
                for row in made:
                    print("| " + " | ".join(cells(row)) + " |", flush=True)
                rows += made
    if not given.only:
        given.page.write_text(page(rows, given.sizes, time.monotonic() - began, (load_before, os.getloadavg()[0])))


if __name__ == "__main__":
    main()
