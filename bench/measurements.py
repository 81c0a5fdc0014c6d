"""The form that all measurements have: a function of a stand and a size that gives rows, run in a process of its own.

A stand is where a measurement works: it has the logs of fleets, made once for each size, empty warehouses, and the clock.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.fleet import Fleet, write_fleet
from chronicle.build import build as building
from chronicle.spark.session import peak_memory_bytes, start, stop
from ingestion.ingest import ingest
from ingestion.sources.discover import Options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Row:
    """A line of the table: `what` was done to `how_much`; what is None was not measured."""

    what: str
    how_much: str
    seconds: float | None = None
    cpu_seconds: float | None = None
    megabytes: float | None = None
    records: int | None = None
    peak_bytes: int | None = None
    rows_read: int | None = None
    plan_nodes: int | None = None
    statements: int | None = None
    says: str = ""


def cpu_seconds() -> float:
    """Processor time that this process and all that live below it have used."""
    times: dict[int, float] = {}
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(entry.name))
            # Its own, and that of children that have ended.
            times[int(entry.name)] = sum(map(int, fields[11:15])) / TICKS
    total, due = 0.0, [os.getpid()]
    while due:
        process = due.pop()
        total += times.get(process, 0.0)
        due += children.get(process, [])
    return total


@dataclass
class Stand:
    """Where a measurement works: below `folder`, which is kept for the next."""

    folder: Path
    spark: SparkSession | None = None
    used: list[Path] = field(default_factory=list)

    def logs(self, fleet: Fleet) -> Path:
        """The folder of a fleet's logs, a folder for each cluster; made if it is not there."""
        said = repr(fleet) + "".join(path.read_text() for path in sorted(Path(__file__).parent.iterdir()) if path.suffix in (".py", ".yml"))
        place = self.folder / "fleets" / hashlib.sha256(said.encode()).hexdigest()[:12]
        if not (place / "done").exists():
            shutil.rmtree(place, ignore_errors=True)
            write_fleet(place, fleet)
            (place / "done").touch()
        return place

    def warehouse(self, name: str) -> str:
        """An empty warehouse."""
        place = self.folder / "warehouses" / name
        shutil.rmtree(place, ignore_errors=True)
        self.used.append(place)
        return str(place)

    def session(self, warehouse: str) -> SparkSession:
        self.spark = start(warehouse)
        return self.spark

    def ingest(self, warehouse: str, paths: list[Path], cluster: str | None = None, layout: str | None = None) -> Any:
        """Read logs into a warehouse; the outcome as `chronicle ingest` has it."""
        options = Options(paths=list(map(str, paths)), cluster=cluster, layout=layout, timezone="UTC")
        return ingest(lambda: self.session(warehouse), warehouse, options, tell=lambda text: None)

    def build(self, warehouse: str, row: Row) -> Row:
        """Build what is new in a warehouse, and fill in what it took."""
        spark = self.session(warehouse)
        with taken(row):
            outcome = building.build(spark, warehouse)
        row.says = f"{len(outcome.models)} models, {outcome.seconds:.1f} s of them"
        return row

    def close(self) -> None:
        stop()
        for place in self.used:
            shutil.rmtree(place, ignore_errors=True)


@contextmanager
def taken(row: Row) -> Iterator[None]:
    """Fill in the seconds, processor seconds and peak memory of what is done within."""
    used, began = cpu_seconds(), time.perf_counter()
    yield
    row.seconds, row.cpu_seconds = time.perf_counter() - began, cpu_seconds() - used
    row.peak_bytes = peak_memory_bytes()


Measure = Callable[[Stand, int], Iterator[Row]]


@dataclass(frozen=True)
class Measurement:
    """`quick` and `full`: its sizes in a quick and in a full run; `limit`: seconds that one size may take in a quick run (six times as many in a full one);
    `cores`: how many it is given, each in turn."""

    name: str
    measure: Measure
    quick: tuple[int, ...]
    full: tuple[int, ...]
    limit: int = 150
    cores: tuple[int, ...] = (2,)


MEASUREMENTS: dict[str, Measurement] = {}


def measurement(quick: tuple[int, ...], full: tuple[int, ...] | None = None, **others: Any) -> Callable[[Measure], Measure]:
    """Makes a function of a stand and a size one of the measurements, under the function's name."""

    def add(measure: Measure) -> Measure:
        MEASUREMENTS[measure.__name__] = Measurement(measure.__name__, measure, quick, full or quick, **others)
        return measure

    return add


def as_json(row: Row) -> dict[str, Any]:
    return dataclasses.asdict(row)
