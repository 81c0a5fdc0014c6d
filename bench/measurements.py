"""The form of all measurements: a function of a stand and a size that yields rows, run in a process of its own.

A stand is where a measurement works: it has the logs of fleets, made once for each size, empty warehouses, and the clock.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from statistics import median_high
from typing import TYPE_CHECKING, Any

from bench.fleet import Fleet, write_fleet
from chronicle.build import build as building
from chronicle.spark.engine import chosen
from chronicle.spark.internals.executions import noting
from chronicle.spark.processes import stat, tree
from chronicle.spark.session import Server, Work, command_options, start, stop
from ingestion.ingest import ingest
from ingestion.outcome import Outcome
from ingestion.sources.discover import Options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TICKS = os.sysconf("SC_CLK_TCK")
# How the folders of a fleet are laid out.
LAYOUT = "{cluster}/input/{node}/**"
# The time at the beginning of a line.
TIME = re.compile(rb"(?<=^\[)\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.MULTILINE)
NOTES = {"spark.ui.retainedStages": "100000", "spark.sql.ui.retainedExecutions": "100000"}


@dataclass
class Row:
    """A line of a table: `what` was done to `of`; what is None was not measured.  `peak_bytes`: the most memory that was held at once meanwhile;
    `rows`: those of a table before something arrived; `changed`: of these with other values; `gone`: of these no longer there; `engine`: which of
    the two built tables, where any were built."""

    what: str
    of: str = ""
    seconds: float | None = None
    cpu_seconds: float | None = None
    megabytes: float | None = None
    records: int | None = None
    peak_bytes: int | None = None
    executions: int | None = None
    rows_read: int | None = None
    rows: int | None = None
    changed: int | None = None
    gone: int | None = None
    says: str = ""
    cores: int = 0
    engine: str = ""


def cpu_seconds() -> float:
    """Processor time that this process and its descendants have used."""
    total = 0.0
    for process in tree(os.getpid()):
        with suppress(OSError):
            # Its own, and that of its children that have ended.
            total += sum(map(int, stat(process)[11:15])) / TICKS
    return total


def memory_held(process: int) -> int:
    """Bytes of memory (resident) that a process and its descendants hold.  What they share counts once: a worker is a fork of another."""
    held = 0
    for one in tree(process):
        with suppress(OSError):
            found = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{one}/smaps_rollup").read_text(), re.MULTILINE)
            held += int(found[1]) * 1024 if found else 0
    return held


class MemoryWatch(threading.Thread):
    """Looks every second how much memory this process and its descendants hold.  `peak_bytes`: the most that was seen."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.over = threading.Event()
        self.peak_bytes = 0

    def look(self) -> None:
        self.peak_bytes = max(self.peak_bytes, memory_held(os.getpid()))

    def run(self) -> None:
        while not self.over.wait(1):
            self.look()

    def stop(self) -> int:
        self.over.set()
        self.join()
        self.look()
        return self.peak_bytes


@contextmanager
def taken(row: Row) -> Iterator[Row]:
    """Fill in the seconds, processor seconds and peak memory of what is done within."""
    watch, used, began = MemoryWatch(), cpu_seconds(), time.perf_counter()
    watch.start()
    try:
        yield row
        row.seconds, row.cpu_seconds = time.perf_counter() - began, cpu_seconds() - used
    finally:
        row.peak_bytes = watch.stop()


@dataclass
class Stand:
    """Where a measurement works: below `folder`, whose logs are kept for the next."""

    folder: Path
    used: list[Path] = field(default_factory=list)

    def logs(self, fleet: Fleet) -> Path:
        """The folder of a fleet's logs, a folder for each cluster; made if it is not there."""
        here = Path(__file__).parent
        made_by = b"".join(path.read_bytes() for path in sorted(here.iterdir()) if path.suffix in (".py", ".yml"))
        place = self.folder / "fleets" / hashlib.sha256(repr(fleet).encode() + made_by).hexdigest()[:12]
        if not (place / "done").exists():
            shutil.rmtree(place, ignore_errors=True)
            write_fleet(place, fleet)
            (place / "done").touch()
        return place

    def copy_of(self, place: Path) -> Path:
        """A copy to change."""
        copy = self.empty("copy")
        shutil.copytree(place, copy)
        return copy

    def empty(self, name: str) -> Path:
        """A path where nothing exists yet; it is deleted after the measurement."""
        place = self.folder / "work" / name
        shutil.rmtree(place, ignore_errors=True)
        self.used.append(place)
        return place

    def session(self, warehouse: Path, paths: Sequence[str] = (), java: tuple[str, ...] | None = None) -> SparkSession:
        """The session of a command that reads some paths, except that Spark keeps more than its last thousand executions.
        `java`: Java's options, if not those of that command; the first call in a process decides."""
        options = java or command_options(str(warehouse), Work(paths))
        return start(str(warehouse), server=Server(NOTES, options), engine=chosen())

    def ingest(self, warehouse: Path, folder: Path, row: Row, layout: str | None = LAYOUT) -> Outcome:
        """Read logs into a warehouse, and fill in what it took."""
        options = Options(paths=[str(folder)], layout=layout, timezone="UTC")
        with taken(row):
            outcome = ingest(lambda: self.session(warehouse, options.paths), str(warehouse), options, tell=lambda text: None)
        row.megabytes, row.records = outcome.bytes_read / 1e6, outcome.records
        row.says = f"{outcome.recognised / max(1, outcome.records):.1%} recognised"
        return outcome

    def build(self, warehouse: Path, row: Row) -> Row:
        """Build what is new in a warehouse, and fill in what it took."""
        spark = self.session(warehouse)
        with noting(spark) as what, taken(row):
            outcome = building.build(spark, str(warehouse))
        row.executions, row.rows_read = what.executions, what.rows_read
        row.says = f"{len(outcome.models)} models made"
        return row

    def command(self, words: Sequence[str]) -> Row:
        """Run a command of chronicle in a process of its own.  The session of this one ends: two would share the processors."""
        stop()
        row = Row("")
        with taken(row):
            subprocess.run([sys.executable, "-m", "chronicle", *words], check=True, stdout=subprocess.DEVNULL)
        # The command does not wait for its JVM, so Linux does not count what that used.
        row.cpu_seconds = None
        return row

    def close(self) -> None:
        stop()
        for place in self.used:
            shutil.rmtree(place, ignore_errors=True)


def append(later: Path, logs: Path, hours: int = 0) -> None:
    """Let logs grow: files of the same names get the later lines, files that are not there appear.  The times of these lines are put off by some
    hours."""

    def put_off(time: re.Match[bytes]) -> bytes:
        return str(dt.datetime.fromisoformat(time[0].decode()) + dt.timedelta(hours=hours)).encode()

    for path in sorted(later.rglob("*")):
        if path.is_file():
            target = logs / path.relative_to(later)
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("ab") as file:
                file.write(TIME.sub(put_off, path.read_bytes()))


def pieces(folders: Iterable[Path], minutes: int) -> list[dict[Path, bytes]]:
    """The lines of logs by the minutes in which they were written, the earliest first; of each file, named by its folder and its place there.
    What follows a line without a time is written with it."""
    found: dict[int, dict[Path, bytes]] = defaultdict(dict)
    for folder in folders:
        for path in sorted(file for file in folder.rglob("*") if file.is_file()):
            text, file = path.read_bytes(), folder.name / path.relative_to(folder)
            times = list(TIME.finditer(text))
            begins = [text.rfind(b"\n", 0, written.start()) + 1 for written in times]
            for written, begin, end in zip(times, begins, [*begins[1:], len(text)], strict=True):
                at = dt.datetime.fromisoformat(written[0].decode()).replace(tzinfo=dt.UTC)
                here = found[int(at.timestamp()) // (60 * minutes)]
                here[file] = here.get(file, b"") + text[begin:end]
    return [found[number] for number in sorted(found)]


def middle(rows: Sequence[Row], row: Row) -> Row:
    """Fill in the medians of what was measured for each of some rows."""
    for figure in (one.name for one in fields(Row) if one.default is None):
        values = [value for one in rows if (value := getattr(one, figure)) is not None]
        setattr(row, figure, median_high(values) if values else None)
    return row


Size = tuple[Any, ...]
Measure = Callable[..., Iterator[Row]]


@dataclass(frozen=True)
class Measurement:
    """`quick`, `full`: the sizes of a quick and of a full run; `limit`: seconds that a size may take in a quick run, and twenty times as
    many in a full one; `cores`: how many it is given, each in turn, in a full run (a quick one has all); `table`: the kind of table that its rows
    make (`bench/run.py`)."""

    measure: Measure
    quick: tuple[Size, ...]
    full: tuple[Size, ...]
    limit: int
    cores: tuple[int, ...]
    table: str = "work"


MEASUREMENTS: dict[str, Measurement] = {}


def measurement(
    quick: tuple[Size, ...], full: tuple[Size, ...], *, limit: int = 180, cores: tuple[int, ...] = (2,), table: str = "work"
) -> Callable[[Measure], Measure]:
    """Makes a function of a stand and a size a measurement under its own name."""

    def add(measure: Measure) -> Measure:
        MEASUREMENTS[measure.__name__] = Measurement(measure, quick, full, limit, cores, table)
        return measure

    return add
