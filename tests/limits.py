"""Long files, many files, brackets without end, through the whole of ingestion, and a long listing of objects: `make limits`.

`python -m tests.limits --megabytes 1024 --files 100000 --brackets 1000000 --line 64 --objects 1000000` loads each of them in a process of its own, without Spark but
with the code of its workers, and prints processor time, elapsed time, peak memory and what was found.  `--only` takes some of the cases.
"""

from __future__ import annotations

import argparse
import datetime as dt
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from ingestion import ingest as ingesting
from ingestion.captures import modules
from ingestion.outcome import Outcome
from ingestion.recognition.recognise import catalogue
from ingestion.sources import earlier
from ingestion.sources.discover import discover
from ingestion.sources.seen import COARSEST_SECONDS
from ingestion.sources.stages import TO_READ
from tests import listing
from tests.rotations import Here

RECORD = "[2026-11-21 {:02}:{:02}:{:02},{:03}] INFO [ReplicaManager broker=1] record {} {} (kafka.server.ReplicaManager)\n"
HEAD = "[2026-11-21 09:46:30,143] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"


@dataclass(frozen=True)
class Sizes:
    """How much of everything: megabytes of one log, small files, brackets, megabytes of one line, objects in one folder."""

    megabytes: int = 1024
    files: int = 100_000
    brackets: int = 1_000_000
    line: int = 64
    objects: int = 1_000_000


@dataclass(frozen=True)
class Measured:
    """The cost of a load: processor time and elapsed time in seconds, peak memory of the process and its memory before, in bytes."""

    what: str
    size: int
    processor: float
    elapsed: float
    peak: int
    before: int
    outcome: Outcome

    def row(self) -> str:
        grown = max(0, self.peak - self.before) / 2**20
        states = ", ".join(f"{count:,} {state}" for state, count in self.outcome.files.items())
        return (
            f"| {self.what} | {self.size / 1e6:,.1f} | {self.processor:.1f} | {self.elapsed:.1f} | {grown:,.0f} | "
            f"{states}; {self.outcome.records:,} records |"
        )


def brackets(folder: Path, sizes: Sizes) -> None:
    """Brackets that are opened and never closed: in a log's line, in JSON, in Java's text of an object, in a document's fence."""
    many = sizes.brackets
    texts = {
        "1/server.log": HEAD * 3 + HEAD.replace("started", "[" * many) + HEAD.replace("started", "Foo(" + "a=[b={" * (many // 6)) + HEAD,
        "2/json.log": '{"@timestamp":"2026-11-21T09:46:30.143Z","message":"' + "[" * many + '"}\n' + '{"a":' * many + "\n",
        "3/answer.json": '{"request":{"type":"read"},"value":' + "[" * many + "\n",
        "4/deep.json": '{"a":' * many + "1" + "}" * many + "\n",
        "5/lines.json": '{"status":"ok"}\n' + "[\n" * (many // 2),
        "6/dump.txt": "KafkaConfig values: \n" + "Foo(a=" * (many // 6) + "\n",
        "7/note.md": "```\n" + "{" * many + "\n```\n" + "(" * many + "\n",
        "8/state.txt": "[" * many,
    }
    for name, text in texts.items():
        put(folder / name, text)


def one_line(folder: Path, sizes: Sizes) -> None:
    """Files without a line end, except for the first lines: as a log, as JSON, as text."""
    size = sizes.line << 20
    put(folder / "1/server.log", HEAD * 3 + HEAD[:-1] + "x" * size)
    put(folder / "2/answer.json", '{"request":{"type":"read"},"value":"' + "x" * size)
    put(folder / "3/text", "x y " * (size // 4))


def one_log(folder: Path, sizes: Sizes) -> None:
    """One long log."""
    path = folder / "server.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        written = number = 0
        while written < sizes.megabytes << 20:
            seconds = number // 1000
            lines = [
                RECORD.format(seconds // 3600 % 24, seconds // 60 % 60, seconds % 60, n, number + n, "x" * (n % 120)) for n in range(1000)
            ]
            written += file.write("".join(lines))
            number += 1000


def many_files(folder: Path, sizes: Sizes) -> None:
    """Small logs, in folders of a thousand."""
    for number in range(sizes.files):
        clock = (number // 3600 % 24, number // 60 % 60, number % 60, number % 1000)
        put(folder / f"{number // 1000:03}/server-{number:06}.log", "".join(RECORD.format(*clock, number, n) for n in range(3)))


def known_objects(count: int) -> earlier.Past:
    """What earlier runs found, if they have read this many objects."""
    same: dict[str, Any] = {
        "cluster_id": "limits",
        "outcome": TO_READ,
        "size_bytes": listing.SIZE,
        "modified_at": dt.datetime.fromisoformat(listing.MODIFIED),
        "clues": {"path_node": None},
    }
    columns = {name: pa.repeat(pa.scalar(value), count) for name, value in same.items()}
    paths = pa.array([f"s3://{listing.BUCKET}/{listing.name_of(number)}" for number in range(count)])
    return earlier.Past(pa.table({**columns, "source_path": paths}))


def list_objects(sizes: Sizes) -> list[Measured]:
    """Objects in one folder of a bucket, all but one of which were read before."""
    with listing.many_objects(sizes.objects) as uri:
        past = known_objects(sizes.objects - 1)
        before, processor, began = peak_bytes(), time.process_time(), time.monotonic()
        new = list(discover(ingesting.Options([uri], cluster="limits"), None, past.passes_by))
        took = time.process_time() - processor, time.monotonic() - began
    outcome = Outcome(passed_by=Counter({TO_READ: past.passed.total()}), states={found.shown: ["new"] for found in new})
    return [Measured("objects, listed", sizes.objects * listing.SIZE, *took, peak_bytes(), before, outcome)]


CASES: dict[str, tuple[str, Callable[[Path, Sizes], None]]] = {
    "brackets": ("brackets without end, eight files", brackets),
    "line": ("no line end, three files", one_line),
    "log": ("one log", one_log),
    "files": ("small files", many_files),
}
LISTING = "objects"


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    # Settled, and old enough to be recognised by its times.
    os.utime(path, (1_700_000_000, 1_700_000_000))


def load(what: str, folder: Path) -> Measured:
    """One ingestion of the folder's logs, measured in this process."""
    size = sum(path.stat().st_size for path in (folder / "logs").rglob("*") if path.is_file())
    options = ingesting.Options([str(folder / "logs")], cluster="limits", timezone="UTC", settled_after=0)
    before, processor, began = peak_bytes(), time.process_time(), time.monotonic()
    outcome = ingesting.ingest(Here, str(folder / "warehouse"), options, tell=lambda text: None)
    return Measured(what, size, time.process_time() - processor, time.monotonic() - began, peak_bytes(), before, outcome)


def peak_bytes() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10


def run(case: str, sizes: Sizes, scratch: str | None = None) -> list[Measured]:
    """A case: its first load, and a second look at the same files; for objects only their listing."""
    if case == LISTING:
        return list_objects(sizes)
    # Every worker loads these once; they are not measured.
    catalogue(), modules()
    what, make = CASES[case]
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        folder = Path(name)
        make(folder / "logs", sizes)
        # ctime cannot be set back, and files changed within the last seconds are looked at again.
        time.sleep(COARSEST_SECONDS + 0.1)
        return [load(what, folder), load(f"{what}, second look", folder)]


def show(case: str, sizes: Sizes, scratch: str | None) -> None:
    for measured in run(case, sizes, scratch):
        print(measured.row(), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=[*CASES, LISTING], action="append", help="a case; may be repeated")
    parser.add_argument("--scratch", help="folder for the files; by default the system's")
    for name, value in vars(Sizes()).items():
        parser.add_argument(f"--{name}", type=int, default=value)
    given = vars(parser.parse_args())
    cases, scratch = given.pop("only") or [*CASES, LISTING], given.pop("scratch")
    print("| what | MB | processor s | elapsed s | memory, MB more than at rest | found |")
    print("|---|---:|---:|---:|---:|---|", flush=True)
    failed = False
    for case in cases:
        process = multiprocessing.get_context("spawn").Process(target=show, args=(case, Sizes(**given), scratch))
        process.start()
        process.join()
        failed = failed or process.exitcode != 0
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
