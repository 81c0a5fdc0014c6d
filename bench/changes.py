"""Measures which rows of a history change when a day arrives on top of it: for each stored table, how many of the rows that were there, and in which
columns."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import yaml

from bench.arrivals import set_apart
from bench.fleet import Fleet
from bench.journal import DAY_MS
from bench.measurements import Row, Stand, append, measurement
from bench.plan import BUSY, SMALL, TEN
from chronicle.project import PROJECT
from ingestion.sql_text import literal
from ingestion.warehouse import SCHEMAS
from tests import duck
from tests.partial_cases import FIRST_DAY, archives, joined, logs_and_others, moved, within

# Fleets by what their row of the table calls them.
FLEETS = {
    "one broker": Fleet(kept=(1,), plan=BUSY),
    "10 brokers": Fleet(plan=TEN),
    "20 small clusters": Fleet(clusters=20, plan=SMALL),
}
# Clusters that really ran, with all their incidents, their clocks stretched over the days: the logs that the tests have.
REAL = "the tests' clusters"
# Bytes of a real cluster's logs at most.
MOST_BYTES = 500_000
BEFORE, AFTER = "before", "after"


@dataclass(frozen=True)
class Change:
    """What happened to the rows that a table had before.

    rows: how many there were
    changed: how many of them have other values now
    gone: how many are missing: their key is not there any more, or, if the table has no key, no equal row is
    columns: by column, in how many rows its value changed, the most frequent first
    """

    table: str
    rows: int
    changed: int
    gone: int
    columns: dict[str, int]

    @property
    def is_one(self) -> bool:
        """Whether any row changed."""
        return self.changed + self.gone > 0

    @property
    def says(self) -> str:
        """The columns that differ, with their rows."""
        return ", ".join(f"{name} {rows:,}" for name, rows in self.columns.items())


@measurement(
    quick=(("one broker", 30),),
    full=(("one broker", 30), ("one broker", 275), ("10 brokers", 30), ("20 small clusters", 90), (REAL, 30)),
    limit=400,
    table="changes",
)
def rows_that_change(stand: Stand, what: str, days: int) -> Iterator[Row]:
    """A day on top of a history, all tables compared before and after."""
    logs, later = stretched(stand, days) if what == REAL else set_apart(stand, day_after(FLEETS[what], days))
    warehouse, copy = stand.empty("changed"), stand.empty("as-it-was")
    stand.ingest(warehouse, logs, Row(""))
    stand.build(warehouse, Row(""))
    shutil.copytree(warehouse, copy)
    for lines in sorted(later.iterdir()):
        append(lines, logs / lines.name / "input")
    stand.ingest(warehouse, logs, Row(""))
    stand.build(warehouse, Row(""))
    found, of = list(changes(copy, warehouse)), f"1 day on {days} days of {what}"
    for change in found:
        if change.is_one:
            yield Row(change.table, of, rows=change.rows, changed=change.changed, gone=change.gone, says=change.says)
    others = [change for change in found if not change.is_one]
    yield Row(f"{len(others)} other tables", of, rows=sum(change.rows for change in others), changed=0, gone=0)


def day_after(fleet: Fleet, days: int) -> Fleet:
    """The fleet over some days and one more, whose lines come later."""
    return replace(fleet, days=days + 1, rotation="day", has_truth=False, later_ms=DAY_MS)


def stretched(stand: Stand, days: int) -> tuple[Path, Path]:
    """The logs of the clusters that really ran, stretched over some days, and a folder with their lines of the day after."""
    logs, later = stand.empty("copy"), stand.empty("later")
    for archive in archives():
        files = within(logs_and_others(archive.files())[0], MOST_BYTES, None)
        times = [at for lines in files.values() for at, _ in lines]
        first, factor = min(times), (days + 1) * DAY_MS / max(max(times) - min(times), 1)
        for path, lines in moved(files, lambda at, first=first, factor=factor: FIRST_DAY + round((at - first) * factor)).items():
            for place, part in (
                (logs / archive.name / "input", [line for line in lines if line[0] < FIRST_DAY + days * DAY_MS]),
                (later / archive.name, [line for line in lines if line[0] >= FIRST_DAY + days * DAY_MS]),
            ):
                if part:
                    (place / path).parent.mkdir(parents=True, exist_ok=True)
                    (place / path).write_bytes(joined(part))
    return logs, later


def changes(before: Path, after: Path) -> Iterator[Change]:
    """How each table of the first warehouse changed, in the order of layers and names."""
    keys = keys_of(PROJECT / "models")
    for schema in SCHEMAS[1:]:
        for table in sorted(path.name for path in (before / schema).glob("*") if is_table(path)):
            if is_table(after / schema / table):
                yield changed(before / schema / table, after / schema / table, keys.get(table, []))


def is_table(folder: Path) -> bool:
    """Whether a folder is a Delta table or has Parquet files."""
    return (folder / "_delta_log").is_dir() or any(folder.glob("**/*.parquet"))


def keys_of(folder: Path) -> dict[str, list[str]]:
    """The key of each model, as its .yml says: the columns of its test `unique_key`, a column that is `unique`, or its grain."""
    found = {}
    for file in sorted(folder.rglob("*.yml")):
        for model in (yaml.safe_load(file.read_text("utf-8")) or {}).get("models", []):
            tests = [
                test["unique_key"]["arguments"]["columns"]
                for test in model.get("data_tests", [])
                if isinstance(test, dict) and "unique_key" in test
            ]
            unique = [[column["name"]] for column in model.get("columns", []) if "unique" in column.get("data_tests", [])]
            grain = model.get("config", {}).get("meta", {}).get("grain", [])
            found[model["name"]] = next(iter([*tests, *unique, grain]))
    return found


def changed(before: Path, after: Path, key: Sequence[str]) -> Change:
    """Compare a table before and after.  If no key identifies its rows, only how many rows are gone is known."""
    session = duck.connect()
    for name, folder in ((BEFORE, before), (AFTER, after)):
        scan = "delta_scan" if (folder / "_delta_log").is_dir() else "read_parquet"
        place = folder if scan == "delta_scan" else folder / "**" / "*.parquet"
        session.execute(f"create view {name} as from {scan}({literal(str(place))})")
    columns = columns_of(session, BEFORE)
    both = [name for name in columns_of(session, AFTER) if name in columns]
    rows = one(session, f"select count(*) from {BEFORE}")
    if not key or not set(key) <= set(both) or not all(is_unique(session, name, key) for name in (BEFORE, AFTER)):
        names = ", ".join(f'"{name}"' for name in both)
        return Change(
            before.name,
            rows,
            0,
            one(session, f"select count(*) from (select {names} from {BEFORE} except all select {names} from {AFTER})"),
            {},
        )
    others = [name for name in both if name not in key]
    same_key = " and ".join(f'old."{name}" is not distinct from new."{name}"' for name in key)
    differ = {name: f'old."{name}" is distinct from new."{name}"' for name in others}
    counts = [f"count(*) filter (where {condition})" for condition in [" or ".join(differ.values()) or "false", *differ.values()]]
    found = session.execute(f"select count(*), {', '.join(counts)} from {BEFORE} old join {AFTER} new on {same_key}").fetchone()
    assert found is not None
    by_column = {name: count for name, count in zip(others, found[2:], strict=True) if count}
    return Change(before.name, rows, found[1], rows - found[0], dict(sorted(by_column.items(), key=lambda pair: -pair[1])))


def columns_of(session: duckdb.DuckDBPyConnection, table: str) -> list[str]:
    return [name for name, *_ in session.execute(f"describe {table}").fetchall()]


def is_unique(session: duckdb.DuckDBPyConnection, table: str, key: Sequence[str]) -> bool:
    """Whether no two rows have the same key."""
    names = ", ".join(f'"{name}"' for name in key)
    return one(session, f"select count(*) from (select {names} from {table} group by all having count(*) > 1)") == 0


def one(session: duckdb.DuckDBPyConnection, query: str) -> int:
    """The number that a query gives."""
    found = session.execute(query).fetchone()
    assert found is not None
    return int(found[0])
