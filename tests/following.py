"""`chronicle follow` beside brokers that write: how long a line takes to become a fact, and how much memory that needs.

`python -m tests.following --seconds 300` writes the logs of three brokers, follows them, asks for the facts each half second, and prints percentiles,
memory and the rounds.  Other options are those of `chronicle follow`.
"""

from __future__ import annotations

import argparse
import datetime as dt
import itertools
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from chronicle.ask import without_java
from chronicle.project import PROJECT
from chronicle.spark.processes import tree
from ingestion.warehouse import Warehouse

BROKERS = (1, 2, 3)
TEN_MINUTES = dt.timedelta(minutes=10)
STARTED = "[{at}] INFO [KafkaServer id={broker}] started (kafka.server.KafkaServer)\n"
SHRUNK = (
    "[{at}] INFO [Partition clicks-{partition} broker={broker}] Shrinking ISR from 1,2,3 to 1,2. Leader: (highWatermark: {n}, endOffset: {n})."
    " Out of sync replicas: (brokerId: 3, endOffset: {n}). (kafka.cluster.Partition)\n"
)
EXPANDED = "[{at}] INFO [Partition clicks-{partition} broker={broker}] Expanding ISR from 1,2 to 1,2,3 (kafka.cluster.Partition)\n"
ROLLED = (
    "[{at}] INFO [Log partition=audit-{partition}, dir=/srv/kafka/{broker}] Rolled new log segment at offset {n} in 2 ms. (kafka.log.Log)\n"
)
ROUND = re.compile(r"(?P<records>[\d,]+) records, (?P<models>\d+) models in (?P<all>[\d.]+) s \(ingest (?P<ingest>[\d.]+) s\)")


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
        with said.open("w") as stderr:
            self.process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stderr=stderr, cwd=PROJECT)

    def changes(self) -> list[dt.datetime]:
        """The times of the changes that SQL knows, ascending."""
        try:
            answer = without_java.answer(self.place, "select changed_at from fct_isr_changes order by changed_at")
        except without_java.NotAlike:
            # Before the first build.
            return []
        return [moment.astimezone(dt.UTC) for moment in answer["changed_at"].to_pylist()]

    def memory(self) -> tuple[float, float]:
        """GB that this process and its JVM hold."""
        held = {}
        for process in tree(self.process.pid):
            try:
                status = Path(f"/proc/{process}/status").read_text()
            except OSError:
                continue
            held[process] = int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1e6 if "VmRSS" in status else 0.0
        own = held.pop(self.process.pid, 0.0)
        return own, sum(held.values())

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(30)

    def rounds(self) -> Iterator[dict[str, float]]:
        for found in ROUND.finditer(self.said.read_text()):
            yield {name: float(value.replace(",", "")) for name, value in found.groupdict().items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300, help="after the first build")
    parser.add_argument("--rate", type=float, default=1e6, help="bytes a second, of the three brokers together")
    parser.add_argument("--every", type=float, default=10)
    parser.add_argument("--memory", default="2g")
    given, more = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        brokers = Brokers(folder / "logs", given.rate)
        brokers.start()
        following = Following(
            folder / "logs", folder / "warehouse", folder / "said", "--every", str(given.every), "--memory", given.memory, *more
        )
        seen: dict[dt.datetime, float] = {}
        first, told = None, time.monotonic()
        while first is None or time.monotonic() < first + given.seconds:
            time.sleep(0.5)
            assert following.process.poll() is None, following.said.read_text()
            known, now = following.changes(), time.time()
            first = first or (time.monotonic() if known else None)
            for moment in known:
                # What was written before the first build waited for that.
                seen.setdefault(moment, now - moment.timestamp() if seen and first else float("nan"))
            if time.monotonic() > told + 30:
                told = time.monotonic()
                own, java = following.memory()
                print(
                    f"{brokers.written / 1e6:6.0f} MB written, {len(seen):5} of {len(brokers.changes):5} facts; {own:.2f} GB Python, {java:.2f} GB Java",
                    flush=True,
                )
        brokers.stopped.set()
        delays = sorted(delay for delay in seen.values() if delay == delay)
        code = following.stop()
        rounds = list(following.rounds())[1:]
        print(following.said.read_text())
        print(f"ended with {code}; {len(rounds)} rounds after the first, {sum(r['records'] for r in rounds):,.0f} records")
        for kind in ("all", "ingest"):
            values = sorted(r[kind] for r in rounds) or [0.0]
            print(f"{kind:7} of a round: median {values[len(values) // 2]:.1f} s, longest {values[-1]:.1f} s, sum {sum(values):.0f} s")
        for share in (0.5, 0.9, 0.99, 1.0):
            print(
                f"delay, {share:.0%} of {len(delays)}: {delays[max(0, round(share * len(delays)) - 1)]:.1f} s"
                if delays
                else "no facts after the first build"
            )
        for number, of in itertools.groupby(seen, lambda moment: (moment - next(iter(seen))) // TEN_MINUTES):
            part = sorted(seen[moment] for moment in of if seen[moment] == seen[moment])
            if part:
                print(
                    f"delay, minutes {10 * number:3} to {10 * number + 10:3}: median {part[len(part) // 2]:.1f} s, longest {part[-1]:.1f} s"
                )


if __name__ == "__main__":
    main()
