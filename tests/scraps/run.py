"""Small files as people paste them, and the facts that each must give: `python -m tests.scraps.run [--only NAME,…] [--folder F] [--built]`.

Each file of `inputs/` is loaded by its name alone into a cluster of its own; `expected.yml` says which rows its tables must have, and which must be
empty.  A file called `nothing-…` has nothing to say: it must give no row of the tables in NOTHING.
"""

from __future__ import annotations

import argparse
import datetime as dt
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from ingestion.sql_text import literal
from tests import duck
from tests.lab import Lab

HERE = Path(__file__).parent
INPUTS = HERE / "inputs"
WAREHOUSE = "warehouse"
# Tables of which a file with nothing to say must have no row.
NOTHING = (
    "fct_controllerless_windows",
    "fct_epoch_gaps",
    "fct_isr_changes",
    "fct_leaderless_windows",
    "fct_log_dir_failures",
    "fct_process_failures",
    "fct_process_stalls",
    "fct_session_expiries",
    "fct_thread_deadlocks",
    "fct_under_replicated_windows",
    "fct_write_refusals_hourly",
)
# How a text begins of which a value need only contain the rest.
WITHIN = "…"

Row = Mapping[str, Any]


def expected() -> dict[str, dict[str, Any]]:
    """What each file must say, by its name."""
    content: dict[str, dict[str, Any]] = yaml.safe_load((HERE / "expected.yml").read_text(encoding="utf-8"))
    return content


def names(only: str | None = None) -> list[str]:
    """The files, or those of them that a list names."""
    chosen = only.split(",") if only else sorted(path.name for path in INPUTS.iterdir())
    return [name for name in chosen if (INPUTS / name).is_file()]


def built(folder: Path, some: Collection[str]) -> Path:
    """The files in a warehouse below a folder, each in a cluster of its name."""
    lab = Lab(folder, str(folder / WAREHOUSE))
    for name in some:
        lab.load(name, INPUTS / name, timezone=None)
    lab.build()
    return folder / WAREHOUSE


def wrong(warehouse: Path, some: Collection[str]) -> Iterator[str]:
    """A line for each row that is missing, and for each that must not be."""
    asked = expected()
    tables: dict[str, list[Row]] = {}
    for name in some:

        def rows(table: str, cluster: str = name) -> list[Row]:
            if table not in tables:
                tables[table] = rows_of(warehouse, table)
            return [row for row in tables[table] if row["cluster_id"] == cluster]

        entry = asked[name]
        for table, wanted in (pair for fact in entry.get("rows", ()) for pair in fact.items()):
            there = rows(table)
            if not any(has(row, wanted) for row in there):
                shown = [{column: row.get(column) for column in wanted} for row in there]
                yield f"{name}: no row of {table} with {wanted}; there are {shown}"
        counts = dict(entry.get("counts", {}))
        if name.startswith("nothing-"):
            counts |= dict.fromkeys(NOTHING, 0)
            if incidents := [row["summary"] for row in rows("fct_incidents") if not row["is_maintenance"]]:
                yield f"{name}: {incidents}"
        for table, count in counts.items():
            if len(rows(table)) != count:
                yield f"{name}: {len(rows(table))} rows of {table}, not {count}"


def rows_of(warehouse: Path, table: str) -> list[Row]:
    """All rows of a mart; none of one that is not there."""
    if not (warehouse / "marts" / table).is_dir():
        return []
    answer = duck.connect().execute(f"select * from delta_scan({literal(str(warehouse / 'marts' / table))})")
    columns = [column[0] for column in answer.description]
    return [dict(zip(columns, values, strict=True)) for values in answer.fetchall()]


def has(row: Row, wanted: Row) -> bool:
    """Whether a row has the wanted values."""
    return all(column in row and is_alike(row[column], value) for column, value in wanted.items())


def is_alike(value: object, wanted: object) -> bool:
    """Whether a value is as it is written in the file: times in UTC to the millisecond, a part of a text behind `…`."""
    if isinstance(value, dt.datetime):
        utc = value.astimezone(dt.UTC) if value.tzinfo else value
        return f"{utc:%Y-%m-%d %H:%M:%S}.{utc.microsecond // 1000:03}" == wanted
    if isinstance(wanted, str) and wanted.startswith(WITHIN):
        return isinstance(value, str) and wanted.removeprefix(WITHIN) in value
    return value == wanted


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests.scraps.run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="NAME,…", help="only these files")
    parser.add_argument("--folder", type=Path, help="where the warehouse stays; without it it is deleted")
    parser.add_argument("--built", action="store_true", help="compare with what an earlier run left in the folder")
    given = parser.parse_args()
    some = names(given.only)
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        if not given.built:
            shutil.rmtree(folder / WAREHOUSE, ignore_errors=True)
            built(folder, some)
        lines = list(wrong(folder / WAREHOUSE, some))
    print(*lines, f"{len(some)} files, {len({line.split(':')[0] for line in lines})} of them wrong", sep="\n")
    raise SystemExit(1 if lines else 0)


if __name__ == "__main__":
    main()
