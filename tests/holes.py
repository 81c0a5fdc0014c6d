"""Facts of a history with holes are a subset of the whole's: `python -m tests.holes [--cases 60] [--seed 1] [--only case-017] [--folder F]`.

Each case is a history of weeks, made of a real cluster's logs, and the same history with holes (`tests.holes_cases`): hours of one node, the
controller's log of one life, everything before a date, the moment between two lives of ZooKeeper, every third file, or one node, or two of
these.  Both are clusters of one warehouse, `case-017-whole` and `case-017-holes`, which is built once.  What remains of the facts must be of
the whole, or carry a warning (`tests.holes_facts` says what that means for each fact); all others are printed, by table, kind of hole and column.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ingestion.sql_text import literal
from tests import duck
from tests.holes_cases import Pair, Scale, made_pairs
from tests.holes_facts import FACTS, Compared, New, compared, incidents_compared
from tests.lab import Lab
from tests.partial import Loads
from tests.partial_cases import archives

WAREHOUSE = "warehouse"
INCIDENTS = "fct_incidents"
EXAMPLES = 4
Rows = dict[str, list[dict[str, Any]]]


@dataclass
class Tried:
    """The cases, and each one's comparison, by table."""

    pairs: Sequence[Pair]
    tables: dict[str, list[Compared]] = field(default_factory=dict)

    @property
    def new(self) -> Iterator[tuple[Pair, New]]:
        for pair in self.pairs:
            for table in self.tables[pair.name]:
                for row in table.new:
                    yield pair, row


def built(folder: Path, pairs: Sequence[Pair]) -> Path:
    """The cases in a warehouse below a folder."""
    loads = Loads(folder, [cluster for pair in pairs for cluster in (pair.whole, pair.holes)])
    loads.ingest(WAREHOUSE, loads.deliver(0))
    Lab(folder, loads.place(WAREHOUSE)).build()
    return Path(loads.place(WAREHOUSE))


def tried(warehouse: Path, pairs: Sequence[Pair]) -> Tried:
    """Compare the facts of all cases."""
    found = Tried(pairs)
    tables = {name: rows_of(warehouse, name) for name in (*FACTS, INCIDENTS)}
    for pair in pairs:
        whole, holes = ({name: rows.get(cluster.name, []) for name, rows in tables.items()} for cluster in (pair.whole, pair.holes))
        results = [compared(name, whole[name], holes[name], pair.clock.original) for name in FACTS]
        sound = {key for result in results for key in result.sound}
        found.tables[pair.name] = [*results, incidents_compared(whole[INCIDENTS], holes[INCIDENTS], sound)]
    return found


def rows_of(warehouse: Path, table: str) -> Rows:
    """Rows of a mart, by cluster."""
    answer = duck.connect().execute(f"select * from delta_scan({literal(str(warehouse / 'marts' / table))})")
    columns = [column[0] for column in answer.description]
    found: Rows = defaultdict(list)
    for values in answer.fetchall():
        row = dict(zip(columns, values, strict=True))
        found[row["cluster_id"]].append(row)
    return found


def told(found: Tried) -> Iterator[str]:
    """The result: a line per table, and the new facts by table, kind of hole and column."""
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    for tables in found.tables.values():
        for table in tables:
            sums[table.table].update(whole=table.whole, same=table.same, warned=table.warned, new=len(table.new))
    for name, counts in sums.items():
        if counts["whole"] or counts["new"]:
            yield f"{name:<34}{counts['whole']:>7} in the whole, {counts['same']:>7} remain, {counts['warned']:>5} with a warning, {counts['new']:>4} new"
    groups: dict[tuple[str, str, str], list[tuple[Pair, New]]] = defaultdict(list)
    for pair, row in found.new:
        groups[row.table, row.cause, " + ".join(pair.kinds)].append((pair, row))
    for (table, cause, kinds), rows in sorted(groups.items(), key=lambda group: (group[0][0], -len(group[1]))):
        yield f"{table}: {cause} ({kinds}): {len(rows)}"
        for pair, row in rows[:EXAMPLES]:
            yield f"    {pair.name} {row.said}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests.holes", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="CASE,…", help="of the cases only these, for example case-017")
    parser.add_argument("--kilobytes", type=int, default=Scale.most_bytes // 1000, help="logs of a case at most")
    parser.add_argument("--days", type=float, default=Scale.most_days, help="days that a history is stretched to at most")
    parser.add_argument("--archives", type=Path, action="append", default=[], metavar="FOLDER", help="of more archives of logs")
    parser.add_argument("--folder", type=Path, help="where files and warehouse stay; without it they are deleted")
    parser.add_argument("--built", action="store_true", help="compare what an earlier run with the same arguments left in the folder")
    given = parser.parse_args()
    numbers = [int(name.rpartition("-")[2]) for name in given.only.split(",")] if given.only else range(given.cases)
    pairs = made_pairs(numbers, given.seed, archives(*given.archives), Scale(given.kilobytes * 1000, given.days))
    for pair in pairs:
        print(f"{pair.name}: {pair.story}")
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        if not given.built:
            for name in ("files", WAREHOUSE):
                shutil.rmtree(folder / name, ignore_errors=True)
            built(folder, pairs)
        found = tried(folder / WAREHOUSE, pairs)
    for line in told(found):
        print(line)
    count = sum(1 for _ in found.new)
    print(f"{len(pairs)} cases in {time.monotonic() - began:.0f} s: {count} new facts without a warning")
    raise SystemExit(1 if count else 0)


if __name__ == "__main__":
    main()
