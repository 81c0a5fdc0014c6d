"""Full load = any sequence of partial loads: `python -m tests.partial [--cases 200] [--seed 1] [--folder F]`.

Each case is a cluster whose logs arrive in pieces (`tests.partial_cases`): files that grow to the middle of a line, rotated pieces in any
order, days that come late, lines and files that come twice, over minutes or months.  All cases lie in one warehouse: in each round some of
them get their next pieces, and one build updates what these touch.  In the end a second warehouse gets all files at once and one full build;
every mart has to be the same, value by value, and so do the rows of bronze.

Some things may legitimately differ: numbers and clocks of ingestions, which are not compared (`tests.equal`), and the path that evidence names, if
a file was read under an earlier name, or is one of two that begin alike, or one of two that hold the same line and was first read when it had few
bytes.  So no file is renamed here, no two files of a node begin alike, except for whole copies that come after their originals, and files that
share lines arrive with all the bytes that identify them; `tests/flow/test_partial_loads.py` renames and packs files.  A file that grows is fresh
until it is complete, so its last line waits.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from chronicle.build import comparison, maintenance, runner, steps, writer
from chronicle.build.dbt_runs import WHILE_BUILDING
from chronicle.build.outcome import Outcome
from chronicle.spark.engine import ENGINE, ENGINES, LOCAL, Engine
from ingestion import ingest as ingesting
from ingestion.warehouse import Warehouse
from tests.equal import Pair, Renames, Verdict
from tests.lab import Lab
from tests.partial_cases import Archive, Case, Scale, archives, made
from tests.rotations import Here

# The time of change of files that are complete (2020); all others count as still being written.
LONG_AGO = 1_600_000_000
SETTLED_AFTER = 3600.0
# These depend on how much of a file was there when it was first read: its id is made of its first bytes, at most 1024, and its node may have been
# known by its folder before a line named it.
LEFT_OUT = ("source_id", "node_known_by")
ROWS_OF_A_FILE = 256
ROWS_OF_BRONZE = ("log_records", "capture_rows", "metric_samples")


@dataclass
class Loads:
    """The cases' files in one folder, as far as they have arrived, and the warehouses beside it.  `engine`: builds what arrives in pieces; `built`: the
    outcome of the last build."""

    folder: Path
    cases: Sequence[Case]
    engine: Engine = LOCAL
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    built: Outcome | None = None

    def deliver(self, round_: int) -> list[Case]:
        """Write the files of a round.  Returns the cases that got something."""
        for case in self.cases:
            for path, content, is_whole in case.arriving(round_):
                file = self.folder / "files" / case.name / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
                if is_whole:
                    os.utime(file, (LONG_AGO, LONG_AGO))
        return [case for case in self.cases if round_ in case.rounds]

    def ingest(self, warehouse: str, cases: Sequence[Case]) -> int:
        """Ingest the files of some cases.  Returns the number of records."""
        began, records = time.monotonic(), 0
        for case in cases:
            options = ingesting.Options(
                [str(self.folder / "files" / case.name)], cluster=case.name, timezone="UTC", settled_after=SETTLED_AFTER
            )
            records += ingesting.ingest(Here, self.place(warehouse), options, tell=lambda text: None).records
        self.seconds["ingest"] += time.monotonic() - began
        return records

    def build(self, warehouse: str, engine: Engine = LOCAL) -> list[str] | None:
        """Build what is new, each table of only those clusters in which it may differ, in small files, so that some are linked, and compare few
        clusters at a time; compact bronze and delete all replaced files.  Returns the clusters that were built; None: all."""
        began = time.monotonic()
        with (
            mock.patch.dict(os.environ, {ENGINE: engine.name}),
            mock.patch.dict(WHILE_BUILDING, {"spark.sql.files.maxRecordsPerFile": str(ROWS_OF_A_FILE)}),
            mock.patch.object(writer, "FILE", ROWS_OF_A_FILE),
            mock.patch.object(runner, "LARGE", 0),
            mock.patch.object(comparison, "MOST_AT_ONCE", ROWS_OF_A_FILE),
            mock.patch.multiple(steps, ROW_GROUP=ROWS_OF_A_FILE, FILE=8 * ROWS_OF_A_FILE),
        ):
            self.built = Lab(self.folder, self.place(warehouse)).build()
        with mock.patch.multiple(maintenance, MANY=4, MOST_LEFT=0, HOURS_OF_ONE_THAT_STAYS=0):
            list(maintenance.maintained(Warehouse.at(self.place(warehouse)), is_staying=True))
        self.seconds["build"] += time.monotonic() - began
        return self.built.clusters

    def place(self, warehouse: str) -> str:
        return str(self.folder / warehouse)

    def differences(self, one: str, other: str) -> list[Verdict]:
        """Tables that are not the same in two warehouses."""
        return [verdict for verdict in verdicts(Path(self.place(one)), Path(self.place(other))) if verdict.differences]


def verdicts(old: Path, new: Path) -> Iterator[Verdict]:
    """One verdict per table of two warehouses; bronze is compared value by value too, except for each run's notes about files."""
    pair = Pair(old, new, Renames(), LEFT_OUT)
    for name in ROWS_OF_BRONZE:
        yield pair.compared(name, old / "bronze" / name, new / "bronze" / name)
    yield from (verdict for verdict in pair.verdicts() if not verdict.table.startswith("bronze."))


def run(loads: Loads, rounds: int) -> Iterator[str]:
    """Deliver, ingest and build in rounds into `partial`, and all at once into `full`.  Yields a line for each."""
    if loads.engine is not LOCAL:
        # Java that is started for the other engine has no classes of ours, which all at once is built with.
        Lab(loads.folder, loads.place("full")).spark  # noqa: B018
    for number in range(rounds):
        cases = loads.deliver(number)
        if not cases:
            continue
        began = time.monotonic()
        records = loads.ingest("partial", cases)
        built = loads.build("partial", loads.engine)
        clusters = "all clusters" if built is None else f"{len(built)} clusters"
        yield f"round {number + 1}: {len(cases)} cases, {records:,} records, {clusters} built in {time.monotonic() - began:.1f} s"
    began = time.monotonic()
    records = loads.ingest("full", loads.cases)
    loads.build("full")
    yield f"all at once: {records:,} records, built in {time.monotonic() - began:.1f} s"


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests.partial", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=Scale.rounds, help="deliveries of a case at most")
    parser.add_argument("--only", metavar="CASE,…", help="of the cases only these, for example case-017")
    parser.add_argument("--kilobytes", type=int, default=Scale.most_bytes // 1000, help="logs of a case at most")
    parser.add_argument("--days", type=float, default=Scale.most_days, help="days that a history is stretched to at most")
    parser.add_argument("--grain", type=float, metavar="SECONDS", help="length of a rotated piece; without it, by chance")
    parser.add_argument("--archives", type=Path, action="append", default=[], metavar="FOLDER", help="of more archives of logs")
    parser.add_argument("--folder", type=Path, help="where files and warehouses stay; without it they are deleted")
    parser.add_argument(
        "--engine", choices=ENGINES, default=LOCAL.name, help="who builds what arrives in pieces; all at once is built by local"
    )
    given = parser.parse_args()
    scale = Scale(given.rounds, given.kilobytes * 1000, given.days, int(given.grain * 1000) if given.grain else None)
    found = archives(*given.archives)
    only = set(given.only.split(",")) if given.only else None
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        for name in ("files", "partial", "full"):
            shutil.rmtree(folder / name, ignore_errors=True)
        raise SystemExit(
            tried(
                folder,
                [case for case in made_cases(given.cases, given.seed, found, scale) if not only or case.name in only],
                scale,
                ENGINES[given.engine],
            )
        )


def made_cases(count: int, seed: int, found: list[Archive], scale: Scale) -> Iterator[Case]:
    return (made(number, seed, found, scale) for number in range(count))


def tried(folder: Path, cases: list[Case], scale: Scale, engine: Engine) -> int:
    """Run cases and print the result.  Returns the exit code."""
    stories = {case.name: case.story for case in cases}
    for name, story in stories.items():
        print(f"{name}: {story}")
    loads = Loads(folder, cases, engine)
    for line in run(loads, scale.rounds):
        print(line, flush=True)
    different = loads.differences("full", "partial")
    for verdict in different:
        print(verdict)
    print(f"{len(cases)} cases, {loads.seconds['ingest']:.0f} s of ingestion, {loads.seconds['build']:.0f} s of builds: ", end="")
    print(f"{len(different)} tables differ" if different else "all tables are equal")
    for name in sorted({cluster for verdict in different for cluster in verdict.clusters}):
        tables = [verdict.table for verdict in different if name in verdict.clusters]
        print(f"{name} ({stories.get(name, 'not a case')}): {', '.join(tables)}")
        print(f"    again, alone: python -m tests.partial {' '.join([*without_only(sys.argv[1:]), '--only', name])}")
    return 1 if different else 0


def without_only(arguments: list[str]) -> list[str]:
    """Arguments of a command without `--only` and what follows it."""
    if "--only" not in arguments:
        return arguments
    at = arguments.index("--only")
    return arguments[:at] + arguments[at + 2 :]


if __name__ == "__main__":
    main()
