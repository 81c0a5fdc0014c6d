"""`chronicle follow`: ingests what is appended and builds what it feeds, again and again, in one process with one JVM.

The state is in the warehouse, as it is for every command, so a process that was killed continues where it was.  A failure is reported in one
line and retried.  Between two rounds other commands may write to the warehouse.
"""

from __future__ import annotations

import datetime as dt
import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from chronicle.build import build as building
from chronicle.build.changes import is_current
from chronicle.build.maintenance import maintain_one
from chronicle.output.console import Progress, in_one_line, show_bytes
from chronicle.serve import serve as serving
from chronicle.spark import session
from ingestion import ingest as ingesting
from ingestion.lease import Busy, locked
from ingestion.reading import objects
from ingestion.reading.objects import is_service, is_uri
from ingestion.sources import services
from ingestion.sources.discover import find_files
from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ingestion.outcome import Outcome
    from ingestion.sources.discover import Options

# A failure is retried after one round, then after twice as long each time, up to this.
MOST_SECONDS = 300.0
# Time between two steps of maintenance. One thing is done at a time, so that no round waits for long.
MAINTAINED_SECONDS = 30.0

# (device, inode, size, time of change) of each file.
Marks = dict[str, tuple[int, int, int, int]]


class CannotFollow(RuntimeError):
    """The process cannot start or go on; the text says why."""


@dataclass
class Follower:
    """State that is kept from round to round.  `due`: when to look again at files that are unchanged on disk; `said`: lines of the last look,
    which are not printed again."""

    warehouse: str
    options: Options
    every: float
    spark: SparkSession
    tell: Callable[[str], None]
    marks: Marks | None = None
    due: float | None = None
    failures: int = 0
    failed: str = ""
    wait_until: float = 0.0
    said: set[str] = field(default_factory=set)
    maintained: float = field(default_factory=time.monotonic)

    def round(self) -> None:
        """Ingest and build what is new; a failure is reported and retried later."""
        if time.monotonic() < self.wait_until:
            return
        try:
            self._work()
            self.failures, self.failed = 0, ""
        except Exception as error:
            if not session.is_up():
                raise CannotFollow("Java has ended; see the error above") from error
            self.marks = None
            if isinstance(error, Busy):
                # Another command is at work, which need not be reported.
                return
            self.failures += 1
            self.wait_until = time.monotonic() + min(self.every * 2 ** (self.failures - 1), MOST_SECONDS)
            if (text := in_one_line(error)) != self.failed:
                self.tell(f"{clock()} {text}; trying again")
            self.failed = text

    def _work(self) -> None:
        began = time.monotonic()
        marks = marks_of(self.options.paths, self.warehouse)
        records = 0
        if marks != self.marks or (self.due is not None and time.monotonic() >= self.due):
            outcome = self._take_in() if marks else None
            records = outcome.records if outcome else 0
            # Files that were held back, or could not be read, need not change on disk before they are tried again.
            again = outcome and (outcome.waiting or outcome.failed or outcome.changed)
            self.marks, self.due = marks, time.monotonic() + max(self.every, self.options.settled_after) if again else None
        ingested = time.monotonic() - began
        place = Warehouse.at(self.warehouse)
        if not is_current(self.warehouse) and any(Path(place.root, "bronze").glob("log_records/*.parquet")):
            built = building.build(self.spark, self.warehouse, progress=Progress("building", "models"))
            self.tell(
                f"{clock()} {records:,} records, {len(built.models)} models in {time.monotonic() - began:.1f} s (ingest {ingested:.1f} s)"
            )
        elif records:
            self.tell(f"{clock()} {records:,} records in {ingested:.1f} s")
        if time.monotonic() - self.maintained > MAINTAINED_SECONDS:
            maintain_one(place)
            self.maintained = time.monotonic()

    def _take_in(self) -> Outcome | None:
        lines: set[str] = set()

        def once(text: str) -> None:
            lines.add(text)
            if text not in self.said:
                self.tell(text)

        try:
            return ingesting.ingest(lambda: self.spark, self.warehouse, self.options, tell=once, progress=show_bytes)
        except FileNotFoundError as error:
            # Folders come and go.
            once(str(error))
            return None
        finally:
            self.said = lines


def follow(
    warehouse: str,
    options: Options,
    every: float,
    *,
    memory: str,
    served: serving.Options | None,
    tell: Callable[[str], None],
) -> None:
    """Follow the files of `options` until a signal ends the process.  `served`: how SQL is served from the same JVM (None: not).
    Raises CannotFollow, Busy where another process follows, or what `serve` and `session.start` raise."""
    ingesting.must_exist(options.paths)
    place, began = Warehouse.at(warehouse), time.monotonic()
    if not place.is_local:
        raise CannotFollow(f"{place.root}: only a warehouse in a folder can be followed")
    with ExitStack() as stack:
        place.work.mkdir(parents=True, exist_ok=True)
        stack.enter_context(locked(place.work / "following", place.root, "following into"))
        beside = stack.enter_context(serving.Beside(place, served)) if served else None
        spark = session.start(warehouse, memory=memory, server=beside.server if beside else session.Server({}, session.COMMAND_OPTIONS))
        if beside:
            beside.listen(spark)
        where = f", serving {beside.url}" if beside else ""
        tell(f"following {', '.join(options.paths)} every {every:g} s into {place.root}{where} (up in {time.monotonic() - began:.1f} s)")
        follower = Follower(warehouse, options, every, spark, tell)
        following = time.monotonic()
        while True:
            follower.round()
            if beside:
                beside.renew()
            following = max(following + every, time.monotonic())
            time.sleep(max(0.0, following - time.monotonic()))


def marks_of(paths: list[str], warehouse: str) -> Marks:
    """The files below the paths as they are on disk, without opening any."""
    found: Marks = {}
    for given in paths:
        if is_service(given):
            found |= {name: (0, 0, number, 0) for name, number in services.marks(given).items()}
            continue
        if is_uri(given):
            found |= {uri: (0, hash(status.mark), status.size, int(status.modified * 1e9)) for uri, status in objects.below(given)}
            continue
        for path in find_files(given, warehouse):
            try:
                status = os.stat(path)
            except OSError:
                continue
            found[path] = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    return found


def clock() -> str:
    return f"{dt.datetime.now(dt.UTC):%H:%M:%S}"
