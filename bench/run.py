"""`make bench`: all measurements, each in a process of its own, as one table that also goes to docs/benchmarks.md.

`BENCH=quick` takes minutes, `BENCH=full` hours; `ONLY=NAME,…` runs some; CHRONICLE_ENGINE=plain measures the other engine.  The page shows the last figures of each measurement and size, which
`bench/measured.jsonl` keeps, with their day.  What fails or takes longer than its limit is a row that says so.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime as dt
import importlib
import itertools
import json
import os
import platform
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from bench.measurements import MEASUREMENTS, Row, Size, Stand
from chronicle.project import PROJECT
from chronicle.spark.engine import LOCAL, chosen

# The modules of measurements, in the order of the table; a new one is named here.
MODULES = ("reading", "executors", "builds", "arrivals", "changes", "following")
PAGE = PROJECT / "docs" / "benchmarks.md"
MEASURED = PROJECT / "bench" / "measured.jsonl"
FULL_LIMITS = 20


def load() -> None:
    for name in MODULES:
        importlib.import_module(f"bench.{name}")


def ordered() -> list[str]:
    """The names of measurements in the order of the table, whichever module was loaded first."""
    return sorted(MEASUREMENTS, key=lambda name: MODULES.index(MEASUREMENTS[name].measure.__module__.rpartition(".")[2]))


def one(folder: Path, name: str, size: Size, cores: int, out: Path) -> None:
    """Do one measurement in this process; its rows go to a file as soon as they are there."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    stand = Stand(folder)
    try:
        for row in MEASUREMENTS[name].measure(stand, *size):
            row.cores, row.engine = cores, row.engine or chosen().name
            with out.open("a") as file:
                file.write(json.dumps(dataclasses.asdict(row)) + "\n")
    finally:
        stand.close()


def measured(folder: Path, name: str, size: Size, cores: int, limit: int) -> list[Row]:
    """Do one measurement in a process of its own; if it fails, its last row says so."""
    out = folder / "rows.jsonl"
    out.unlink(missing_ok=True)
    # Left over by a measurement that was stopped.
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
        rows.append(Row(name, ", ".join(map(str, size)), cores=cores, engine=chosen().name, says=failure))
    return rows


@dataclasses.dataclass(frozen=True)
class Measured:
    """What a measurement gave for a size on some cores with an engine, on a day (UTC), at a commit, and on what machine."""

    name: str
    size: list[Any]
    cores: int
    day: str
    commit: str
    rows: list[Row]
    engine: str = LOCAL.name
    machine: str = ""

    @property
    def what(self) -> tuple[Any, ...]:
        """What a newer measurement has to be of to take its place."""
        return self.name, self.size, self.cores, self.engine

    @property
    def place(self) -> tuple[int, int, int, str]:
        """Its place on the page: by measurement, size, cores and engine; measurements that no longer exist come last."""
        names = ordered()
        if self.name not in names:
            return len(names), 0, self.cores, self.engine
        sizes = [list(size) for size in (*MEASUREMENTS[self.name].quick, *MEASUREMENTS[self.name].full)]
        return names.index(self.name), sizes.index(self.size) if self.size in sizes else len(sizes), self.cores, self.engine


def held(file: Path) -> list[Measured]:
    """What was measured until now."""
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    return [Measured(**{**found, "rows": [Row(**row) for row in found["rows"]]}) for found in map(json.loads, lines)]


def with_new(known: Iterable[Measured], new: Measured) -> list[Measured]:
    """Measurements in the order of the page, the new one in the place of an older one of the same."""
    return sorted([*(one for one in known if one.what != new.what), new], key=lambda one: one.place)


def commit() -> str:
    """The commit that is checked out; empty where there is none."""
    found = subprocess.run(["git", "-C", str(PROJECT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return found.stdout.strip()


@dataclasses.dataclass(frozen=True)
class Form:
    """How a table of the page is printed.

    cells: by the name of each column, what to print for a row
    texts: the columns that hold text; all others are numbers, and aligned to the right
    says: the text above the table
    """

    cells: dict[str, Callable[[Row], str]]
    texts: tuple[str, ...]
    says: str = ""

    def lines(self, rows: Iterable[Row]) -> Iterator[str]:
        """The rows as Markdown, line by line."""
        yield "| " + " | ".join(self.cells) + " |"
        yield "| " + " | ".join("---" if name in self.texts else "---:" for name in self.cells) + " |"
        yield from map(self.line, rows)

    def line(self, row: Row) -> str:
        return "| " + " | ".join(cell(row) for cell in self.cells.values()) + " |"


def number(value: float | None, digits: int = 0) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


def speed(row: Row) -> float | None:
    """Megabytes in a second."""
    return row.megabytes / row.seconds if row.megabytes and row.seconds else None


def without_bars(row: Row) -> str:
    return row.says.replace("|", "/")


FORMS = {
    "work": Form(
        {
            "what": lambda row: row.what,
            "of": lambda row: row.of,
            "cores": lambda row: str(row.cores),
            "engine": lambda row: row.engine,
            "s": lambda row: number(row.seconds, 1),
            "CPU s": lambda row: number(row.cpu_seconds, 1),
            "MB/s": lambda row: number(speed(row), 1),
            "records": lambda row: number(row.records),
            "peak GiB": lambda row: number(row.peak_bytes / 2**30 if row.peak_bytes else None, 2),
            "executions": lambda row: number(row.executions),
            "rows read": lambda row: number(row.rows_read),
            "": without_bars,
        },
        ("what", "of", "engine", ""),
    ),
    "changes": Form(
        {
            "table": lambda row: row.what,
            "of": lambda row: row.of,
            "rows before": lambda row: number(row.rows),
            "changed": lambda row: number(row.changed),
            "gone": lambda row: number(row.gone),
            "columns, with the rows in which they differ": without_bars,
        },
        ("table", "of", "columns, with the rows in which they differ"),
        "Rows that were there before a day arrived: how many of them it changed, and how many it removed. A row is known by its key; where a table has"
        "\nnone, a changed row counts as gone. Views are not compared, and tables of which no row changed are one line. The tests' clusters are real ones"
        "\n(`tests/fixtures/lab`) whose logs of minutes or hours are stretched, and cut before their last day.",
    ),
}


def form_of(name: str) -> str:
    """The form of a measurement's rows."""
    return MEASUREMENTS[name].table if name in MEASUREMENTS else "work"


def tables(some: Iterable[Measured]) -> str:
    """The rows of measurements, a table for each form."""
    by_place = sorted(some, key=lambda one: one.place)
    found = ""
    for name, form in FORMS.items():
        rows = [row for one in by_place if form_of(one.name) == name for row in one.rows]
        if rows:
            found += "\n" + (f"{form.says}\n\n" if form.says else "") + "\n".join(form.lines(rows)) + "\n"
    return found


def of_both(measured: Iterable[Measured]) -> str:
    """A table of what was measured with both engines, on the same cores; empty if nothing was."""
    found: dict[tuple[str, str, int], dict[str, tuple[Row, str]]] = defaultdict(dict)
    for one in sorted(measured, key=lambda one: one.place):
        for row in one.rows:
            if row.seconds:
                found[row.what, row.of, row.cores][row.engine] = (row, one.commit)
    engines = list(dict.fromkeys(engine for rows in found.values() for engine in rows))
    lines = [
        f"| {what} | {of} | {cores} | "
        + " | ".join(f"{number(rows[name][0].seconds, 1)} ({rows[name][1]})" if name in rows else "" for name in engines)
        + " |"
        for (what, of, cores), rows in found.items()
        if len(rows) > 1
    ]
    if not lines:
        return ""
    heads = [f"| what | of | cores | {' | '.join(f'{name}, s' for name in engines)} |", f"|---|---|---:|{'---:|' * len(engines)}"]
    return "\n## Both engines\n\nSeconds, and the commit at which they were measured.\n\n" + "\n".join([*heads, *lines]) + "\n"


def machine() -> str:
    """The machine and what ran on it."""
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    models = {line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")}
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ", ".join(f"{name} {metadata.version(name)}" for name in ("pyspark", "delta-spark", "duckdb"))
    return f"{len(os.sched_getaffinity(0))} cores ({', '.join(sorted(models)) or platform.machine()}), {memory:.0f} GiB, {platform.system()}; Python {platform.python_version()}, {packages}"


def page(measured: Sequence[Measured]) -> str:
    """docs/benchmarks.md."""
    newest_first = sorted(measured, key=lambda one: (one.day, one.commit, one.machine), reverse=True)
    measured_then = ""
    for (day, at, on), some in itertools.groupby(newest_first, lambda one: (one.day, one.commit, one.machine)):
        measured_then += f"\n## Measured on {day}, commit {at}\n\nOn {on or 'a machine that was not noted'}.\n{tables(some)}"
    return f"""# Benchmarks

`make bench` writes this page: the last figures of each measurement and size. Each measurement has a process of its own (`bench/`). The logs are made from the
catalogue's forms (`bench/fleet.py`), except where examples are named.

*s*: seconds on the clock; *CPU s*: processor seconds of Python, Java and workers; *peak GiB*: the most memory that they held at once meanwhile, looked at each
second, what processes share counted once; *executions*, *rows read*: of Spark for its statements, rows that its stages took from files.
{of_both(measured)}{measured_then}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="?", default="quick", choices=("quick", "full"))
    parser.add_argument("--folder", type=Path, default=PROJECT / ".cache" / "bench", help="where logs and warehouses are kept")
    parser.add_argument("--only", help="names of measurements, separated by commas")
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--measured", type=Path, default=MEASURED)
    parser.add_argument("--one")
    parser.add_argument("--size", type=json.loads, default=[])
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    load()
    if given.one:
        one(given.folder, given.one, tuple(given.size), given.cores, given.out)
        return
    names = given.only.split(",") if given.only else ordered()
    if unknown := set(names) - set(MEASUREMENTS):
        raise SystemExit(f"bench: no measurement '{sorted(unknown)[0]}'; there are {', '.join(ordered())}")
    given.folder.mkdir(parents=True, exist_ok=True)
    is_quick = given.sizes == "quick"
    known, now = held(given.measured), commit()
    for name in names:
        wanted, form = MEASUREMENTS[name], FORMS[form_of(name)]
        for size in wanted.quick if is_quick else wanted.full:
            for cores in (given.cores,) if is_quick else wanted.cores:
                made = measured(given.folder, name, size, cores, wanted.limit * (1 if is_quick else FULL_LIMITS))
                for row in made:
                    print(form.line(row), flush=True)
                known = with_new(
                    known, Measured(name, list(size), cores, f"{dt.datetime.now(dt.UTC):%Y-%m-%d}", now, made, chosen().name, machine())
                )
                given.measured.write_text("".join(json.dumps(dataclasses.asdict(one)) + "\n" for one in known), "utf-8")
                given.page.write_text(page(known), "utf-8")


if __name__ == "__main__":
    main()
