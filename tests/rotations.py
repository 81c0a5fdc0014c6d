"""A log that is written and rotated in every way while ingestion runs: each record has to be in bronze exactly once.

`python -m tests.rotations --seconds 600` runs it for longer than the tests do, and prints what was written, rotated and found.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from ingestion import ingest as ingesting

HEAD = "[2026-11-21 {:02}:{:02}:{:02},{:03}] INFO [ReplicaManager broker=1] record {} {} (kafka.server.ReplicaManager)\n"
BYTES_PER_SECOND = 2_000_000


class Here:
    """The parts of a Spark session that ingestion uses, in this process."""

    sparkContext = property(lambda self: self)
    defaultParallelism = 2
    master = "local[2]"
    conf = SimpleNamespace(get=lambda name, default: default, set=lambda name, value: None, unset=lambda name: None)

    def createDataFrame(self, rows: pa.Table) -> Here:
        self.rows = rows
        return self

    def mapInArrow(self, work: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]], schema: str) -> Here:
        self.rows = pa.Table.from_batches(made for batch in self.rows.to_batches(1) for made in work(iter([batch])))
        return self

    def toArrow(self) -> pa.Table:
        return self.rows


@dataclass
class Writer(threading.Thread):
    """Writes records with ascending numbers, in pieces that end anywhere, and rotates between two records."""

    folder: Path
    seed: int
    seconds: float
    every: float
    records: int = 0
    # Files rotated before this time have been read.
    read_before: float = 0.0
    rotations: Counter[str] = field(default_factory=Counter)
    failed: BaseException | None = None

    __hash__ = threading.Thread.__hash__

    def __post_init__(self) -> None:
        super().__init__(daemon=True)
        self.random = random.Random(self.seed)
        self.log = self.folder / "server.log"
        self.number = 0
        self.rotated: list[tuple[float, Path]] = []

    def run(self) -> None:
        try:
            end, due, written, began = time.monotonic() + self.seconds, time.monotonic() + self.every, 0, time.monotonic()
            file = os.open(self.log, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
            while time.monotonic() < end:
                text = "".join(self.lines(200)).encode()
                cut = self.random.randrange(len(text))
                for piece in (text[:cut], text[cut:]):
                    os.write(file, piece)
                    time.sleep(self.random.random() / 500)
                written += len(text)
                if time.monotonic() > due:
                    due += self.every * (0.5 + self.random.random())
                    self.rotate()
                    os.close(file)
                    file = os.open(self.log, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
                time.sleep(max(0, written / BYTES_PER_SECOND - (time.monotonic() - began)))
            os.close(file)
        except BaseException as error:
            self.failed = error

    def lines(self, count: int) -> Iterator[str]:
        for _ in range(count):
            seconds, millis = divmod(self.records, 1000)
            clock = (seconds // 3600 % 24, seconds // 60 % 60, seconds % 60, millis)
            yield HEAD.format(*clock, self.records, "x" * self.random.randrange(120))
            if self.random.random() < 0.02:
                yield "java.lang.IllegalStateException: odd\n\tat a.b.C.d(C.java:1)\n"
            self.records += 1

    def rotate(self) -> None:
        kind = self.random.choice(["hourly", "by size", "copytruncate", "compressed", "deleted", "restored"])
        self.rotations[kind] += 1
        getattr(self, "_" + kind.replace(" ", "_"))()

    def _named(self) -> Path:
        self.number += 1
        return self.folder / f"server.log.2026-11-{self.number // 24 + 1:02}-{self.number % 24:02}"

    def _in_pieces(self, to: Path, content: bytes) -> None:
        """Write a copy slowly, so that readers can see it half made."""
        with to.open("wb", buffering=0) as file:
            for start in range(0, len(content), 1 << 16):
                file.write(content[start : start + (1 << 16)])
                time.sleep(self.random.random() / 100)

    def _hourly(self) -> None:
        to = self._named()
        self.log.rename(to)
        self.rotated.append((time.monotonic(), to))

    def _by_size(self) -> None:
        numbered = sorted(self.folder.glob("server.log.?"), reverse=True)
        for path in numbered:
            path.rename(path.with_suffix(f".{int(path.suffix[1:]) + 1}"))
        self.rotated = [(at, path.with_suffix(f".{int(path.suffix[1:]) + 1}") if path in numbered else path) for at, path in self.rotated]
        self.log.rename(self.folder / "server.log.1")
        if (last := self.folder / "server.log.9").exists():
            to = self._named()
            last.rename(to)
            self.rotated = [(at, to if path == last else path) for at, path in self.rotated]
        self.rotated.append((time.monotonic(), self.folder / "server.log.1"))

    def _copytruncate(self) -> None:
        to = self._named()
        self._in_pieces(to, self.log.read_bytes())
        os.truncate(self.log, 0)
        self.rotated.append((time.monotonic(), to))

    def _compressed(self) -> None:
        """Rotate, and compress the oldest rotated file that is still plain, as logrotate does one rotation later."""
        plain = next((n for n, (_, path) in enumerate(self.rotated) if path.suffix != ".gz"), None)
        self._hourly()
        if plain is not None:
            path = self.rotated[plain][1]
            to = Path(f"{path}.gz")
            self._in_pieces(to, gzip.compress(path.read_bytes(), 1))
            path.unlink()
            # The last run may have seen it half made.
            self.rotated[plain] = (time.monotonic(), to)

    def _deleted(self) -> None:
        """Delete the oldest rotated file if it has been read, and rotate; a new file may get its inode."""
        if self.rotated and self.rotated[0][0] < self.read_before:
            self.rotated.pop(0)[1].unlink()
        self._hourly()

    def _restored(self) -> None:
        """A copy comes back under another name, as from a backup."""
        self._hourly()
        if self.rotated:
            path = self.random.choice(self.rotated)[1]
            to = self.folder / f"restored-{self.number}-{path.name}"
            shutil.copyfile(path, to)
            os.utime(to, (1_700_000_000, 1_700_000_000))


def run(folder: Path, seconds: float, seed: int, every: float = 0.7, pause: float = 0.0) -> tuple[Writer, list[int]]:
    """Write for this many seconds while ingestion continues; returns the writer and the numbers of the records in bronze, ascending."""
    (folder / "logs").mkdir()
    writer = Writer(folder / "logs", seed, seconds, every)
    warehouse = str(folder / "warehouse")

    def load(settled_after: float) -> None:
        options = ingesting.Options([str(folder / "logs")], cluster="rotating", timezone="UTC", settled_after=settled_after)
        began = time.monotonic()
        if not ingesting.ingest(Here, warehouse, options, tell=lambda text: None).changed:
            writer.read_before = began

    writer.start()
    while writer.is_alive():
        if writer.log.exists():
            load(60)
        time.sleep(pause)
    if writer.failed:
        raise writer.failed
    load(0)
    table = DeltaTable(f"{warehouse}/bronze/log_records").to_pyarrow_table(columns=["body", "outcome"])
    bodies = table["body"]
    orphans = table.filter(pc.equal(table["outcome"], "orphan")).num_rows
    assert not orphans, f"{orphans} records without their head"
    numbers = pc.cast(pc.struct_field(pc.extract_regex(bodies, r"record (?P<number>\d+) "), "number"), "int64")
    return writer, sorted(numbers.to_pylist())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=float, default=0.7, help="seconds between rotations, on average")
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between two ingestions")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        writer, numbers = run(Path(folder), given.seconds, given.seed, given.every, given.pause)
    missing, doubled = writer.records - len(set(numbers)), len(numbers) - len(set(numbers))
    print(f"{writer.records:,} records written, {sum(writer.rotations.values())} rotations: {dict(writer.rotations)}")
    print(f"{len(numbers):,} records in bronze: {missing} missing, {doubled} doubled")
    raise SystemExit(1 if missing or doubled else 0)


if __name__ == "__main__":
    main()
