"""Measures `chronicle follow` while brokers write: how long a line waits until it is a fact, and the memory that this takes."""

from __future__ import annotations

import datetime as dt
import itertools
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.measurements import Row, Stand, measurement, memory_held
from chronicle.ask.tables import NotBuilt, Tables
from chronicle.project import PROJECT
from ingestion.warehouse import Warehouse

BROKERS = (1, 2, 3)
TEN_MINUTES = dt.timedelta(minutes=10)
# After the first build Java still compiles what all rounds do; a row of its own shows these minutes.
WARMING_UP = dt.timedelta(minutes=2)
STARTED = "[{at}] INFO [KafkaServer id={broker}] started (kafka.server.KafkaServer)\n"
SHRUNK = (
    "[{at}] INFO [Partition clicks-{partition} broker={broker}] Shrinking ISR from 1,2,3 to 1,2. Leader: (highWatermark: {n}, endOffset: {n})."
    " Out of sync replicas: (brokerId: 3, endOffset: {n}). (kafka.cluster.Partition)\n"
)
EXPANDED = "[{at}] INFO [Partition clicks-{partition} broker={broker}] Expanding ISR from 1,2 to 1,2,3 (kafka.cluster.Partition)\n"
ROLLED = (
    "[{at}] INFO [Log partition=audit-{partition}, dir=/srv/kafka/{broker}] Rolled new log segment at offset {n} in 2 ms. (kafka.log.Log)\n"
)


def written_at(moment: dt.datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S},{moment.microsecond // 1000:03}"


@dataclass
class Brokers(threading.Thread):
    """Three brokers that log so many bytes a second together.  Each second one of them changes an in-sync set.  `changes`: when."""

    folder: Path
    bytes_per_second: float = 1e6
    changes: list[dt.datetime] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)
    written: int = 0

    __hash__ = threading.Thread.__hash__

    def __post_init__(self) -> None:
        super().__init__(daemon=True)
        self.logs = {}
        for broker in BROKERS:
            folder = self.folder / f"broker-{broker}" / "logs"
            folder.mkdir(parents=True)
            self.logs[broker] = (folder / "server.log").open("a", encoding="utf-8", buffering=1)
            self.write(broker, STARTED.format(at=written_at(dt.datetime.now(dt.UTC)), broker=broker))

    def write(self, broker: int, text: str) -> None:
        self.logs[broker].write(text)
        self.logs[broker].flush()
        self.written += len(text)

    def change(self) -> None:
        """One change of an in-sync set, which is a fact by its time."""
        number = len(self.changes)
        now = dt.datetime.now(dt.UTC)
        form = SHRUNK if number // len(BROKERS) % 2 == 0 else EXPANDED
        broker = BROKERS[number % len(BROKERS)]
        self.write(broker, form.format(at=written_at(now), broker=broker, partition=number % len(BROKERS), n=number))
        self.changes.append(now.replace(microsecond=now.microsecond // 1000 * 1000))

    def run(self) -> None:
        began, changed, number = time.monotonic(), 0, 0
        while not self.stopped.wait(0.05):
            now, passed = written_at(dt.datetime.now(dt.UTC)), time.monotonic() - began
            while self.written < passed * self.bytes_per_second:
                broker = BROKERS[number % len(BROKERS)]
                lines = (ROLLED.format(at=now, broker=broker, partition=(number + line) % 12, n=number + line) for line in range(50))
                self.write(broker, "".join(lines))
                number += 50
            if passed > changed:
                changed += 1
                self.change()


class Following:
    """`chronicle follow` as a process of its own."""

    def __init__(self, logs: Path, warehouse: Path, said: Path, *options: str) -> None:
        line = [
            sys.executable,
            "-m",
            "chronicle",
            "follow",
            str(logs),
            "--cluster",
            "followed",
            "--timezone",
            "UTC",
            "-w",
            str(warehouse),
            *options,
        ]
        self.place, self.said = Warehouse.at(str(warehouse)), said
        self.published, self.known = 0, list[dt.datetime]()
        with said.open("w") as stderr:
            self.process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stderr=stderr, cwd=PROJECT)

    def changes(self) -> list[dt.datetime]:
        """The times of the changes that SQL knows, ascending; queried again only after a build has published, as queries disturb the measurement."""
        try:
            published = self.place.published.stat().st_mtime_ns
        except FileNotFoundError:
            return []
        if published != self.published:
            self.published, self.known = published, self._asked()
        return self.known

    def _asked(self) -> list[dt.datetime]:
        try:
            answer = Tables(self.place).table("select changed_at from marts.fct_isr_changes order by changed_at")
        except NotBuilt:
            # Before the first build.
            return []
        return [moment.astimezone(dt.UTC) for moment in answer["changed_at"].to_pylist()]

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(30)


@measurement(quick=((120,),), full=((3600,),), limit=300)
def follow(stand: Stand, seconds: int) -> Iterator[Row]:
    """Three brokers that write 1 MB/s together; each second one of them changes an in-sync set, and that is a fact."""
    place = stand.empty("followed")
    brokers = Brokers(place / "logs")
    brokers.start()
    following = Following(place / "logs", place / "warehouse", place / "said")
    waited: dict[dt.datetime, float] = {}
    held: list[tuple[dt.datetime, int]] = []
    before: set[dt.datetime] = set()
    end: float | None = None
    shown = 0
    try:
        while end is None or time.monotonic() < end:
            time.sleep(0.5)
            if following.process.poll() is not None:
                raise RuntimeError(following.said.read_text())
            known, now = following.changes(), dt.datetime.now(dt.UTC)
            if known and end is None:
                # Lines that were written before the first build waited for it.
                end, before = time.monotonic() + WARMING_UP.total_seconds() + seconds, set(known)
            if end:
                waited |= {change: (now - change).total_seconds() for change in known if change not in waited and change not in before}
                held.append((now, memory_held(following.process.pid)))
                # Ten minutes are shown when all that was written in them is a fact, so that an hour that is cut off has measured something.
                over = held[0][0] + WARMING_UP + (shown + 1) * TEN_MINUTES
                if now >= over and all(change in waited or change in before for change in [*brokers.changes] if change < over):
                    facts = {change: waited.pop(change) for change in [*waited] if change < over}
                    before |= facts.keys()
                    yield from by_ten_minutes(facts, held)
                    shown += 1
    finally:
        brokers.stopped.set()
        following.stop()
    yield from by_ten_minutes(waited, held)


def by_ten_minutes(waited: Mapping[dt.datetime, float], held: Sequence[tuple[dt.datetime, int]]) -> Iterator[Row]:
    """A row for each ten minutes.  `waited`: seconds from each change to the fact; `held`: bytes of memory at times, ascending."""
    began = held[0][0] + WARMING_UP

    def number_of(moment: dt.datetime) -> int:
        return max(-1, (moment - began) // TEN_MINUTES)

    for number, changes in itertools.groupby(sorted(waited), number_of):
        delays = sorted(waited[change] for change in changes)
        yield Row(
            "from line to fact, median",
            f"{'two minutes after the first build' if number < 0 else f'minutes {10 * number} to {10 * number + 10}'} of follow at 1 MB/s",
            seconds=delays[len(delays) // 2],
            records=len(delays),
            peak_bytes=max(size for at, size in held if number_of(at) == number),
            says=f"90% within {delays[len(delays) * 9 // 10]:.1f} s, all within {delays[-1]:.1f} s",
        )
