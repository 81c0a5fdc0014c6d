"""Compare two warehouses value by value: `python -m tests.equal OLD NEW [--renames FILE]`.

Every mart, dimension and report is compared as a multiset of rows, so neither the order of rows nor the layout of files counts; doubles
have to be equal to the last bit.  Bronze tables are compared by their number of rows per cluster.  One line per table; the exit code
is 1 if anything differs.  Nothing here needs a JVM.
"""

from __future__ import annotations

import argparse
import os.path
import re
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from ingestion.sql_text import literal
from tests import duck

BRONZE = "bronze"
# Views and steps: their differences show in the published tables.
NOT_PUBLISHED = {BRONZE, "staging", "intermediate"}
# Columns, of all tables or of one, that may differ between two runs over the same files.
RUN_DEPENDENT = {
    "batch_id": "counts the runs of `ingest`",
    "ingested_at": "the clock of the run that read the record",
    "first_ingested_at": "the clock of the run that read the file first",
    "last_ingested_at": "the clock of the run that last read something new",
    "fct_sources.modified_at": "a checkout or a copy sets a file's time of change",
    "fct_sources.source_key": "a hash of the path; the path itself is compared",
}
# Paths are compared without the common prefix of their cluster: the folder in which the files were read.
PATH = "source_path"
EXAMPLES = 3
SHOWN_CHARACTERS = 100


@dataclass(frozen=True)
class Renames:
    """Old names to new ones: `table` and `table.column`, where `*.column` means the column of every table."""

    names: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> Renames:
        """From Markdown tables of which the first two cells are the old and the new name."""
        found = {}
        for line in text.splitlines():
            cells = [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]
            if line.lstrip().startswith("|") and len(cells) >= 2 and all(re.fullmatch(r"[\w.*]+", cell) for cell in cells[:2]):
                found[cells[0]] = cells[1]
        return cls(found)

    def table(self, old: str) -> str:
        return self.names.get(old, old)

    def column(self, table: str, old: str) -> str:
        """New name of a column; `table` is the old name of its table."""
        for place in (table, self.table(table), "*"):
            if (new := self.names.get(f"{place}.{old}")) is not None:
                return new.rpartition(".")[2]
        return old


@dataclass
class Verdict:
    """The content of a table's line: its rows in NEW, and the differences.  `clusters`: those whose rows differ."""

    table: str
    rows: int = 0
    differences: list[str] = field(default_factory=list)
    clusters: list[str] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        line = f"{self.table:<48} {self.rows:>9} rows  " + ("; ".join(self.differences) or "equal")
        return "\n".join([line, *(f"    {example}" for example in self.examples)])


class Pair:
    """Both warehouses in one DuckDB session, as the sides `old` and `new`.  `left_out`: more columns, as in RUN_DEPENDENT."""

    def __init__(self, old: Path, new: Path, renames: Renames, left_out: Collection[str] = ()) -> None:
        self.session = duck.connect()
        self.roots = {"old": old, "new": new}
        self.renames = renames
        self.left_out = {*RUN_DEPENDENT, *left_out}
        for side, root in self.roots.items():
            self._note_path_prefixes(side, root / BRONZE / "sources")

    def verdicts(self) -> Iterator[Verdict]:
        for name in sorted({table.name for root in self.roots.values() for table in (root / BRONZE).glob("*") if is_table(table)}):
            yield self._counted(name)
        old, new = ({table.name: table for table in published(root)} for root in self.roots.values())
        old = {self.renames.table(name): table for name, table in old.items()}
        for name in sorted(old.keys() | new.keys()):
            yield self.compared(name, old.get(name), new.get(name))

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return self.session.execute(query).fetchall()

    def _note_path_prefixes(self, side: str, sources: Path) -> None:
        paths: dict[str, set[str]] = defaultdict(set)
        if is_table(sources):
            for cluster, path in self.rows(f"select distinct cluster_id, {PATH} from delta_scan({literal(str(sources))})"):
                paths[cluster].add(os.path.dirname(path))
        # A URI has two slashes that paths do not.
        prefixes = {cluster: os.path.commonpath(folders).replace(":/", "://", 1) for cluster, folders in paths.items()}
        self.session.execute(f"create table {side}_prefixes (cluster_id varchar, prefix varchar)")
        if prefixes:
            self.session.executemany(f"insert into {side}_prefixes values (?, ?)", list(prefixes.items()))

    def _counted(self, name: str) -> Verdict:
        counts: dict[str, dict[str, int]] = {
            side: dict(self.rows(f"select cluster_id, count(*) from delta_scan({literal(str(root / BRONZE / name))}) group by cluster_id"))
            if is_table(root / BRONZE / name)
            else {}
            for side, root in self.roots.items()
        }
        old, new = counts["old"], counts["new"]
        verdict = Verdict(f"{BRONZE}.{name}", sum(new.values()))
        different = sorted(cluster for cluster in old.keys() | new.keys() if old.get(cluster, 0) != new.get(cluster, 0))
        if different:
            verdict.differences.append(f"{sum(old.values())} rows in OLD; {len(different)} clusters differ")
            verdict.clusters = different
            verdict.examples = [f"{cluster}: {old.get(cluster, 0)} -> {new.get(cluster, 0)}" for cluster in different[:EXAMPLES]]
        return verdict

    def compared(self, name: str, old: Path | None, new: Path | None) -> Verdict:
        """One table, value by value.  `old`, `new`: its folders (None: it is not there)."""
        if old is None or new is None:
            there = old or new
            assert there is not None
            [(rows,)] = self.rows(f"select count(*) from delta_scan({literal(str(there))})")
            return Verdict(f"{there.parent.name}.{name}", rows, ["only in OLD" if new is None else "only in NEW"])
        verdict = Verdict(f"{new.parent.name}.{name}")
        if old.parent.name != new.parent.name:
            verdict.differences.append(f"in schema {old.parent.name} of OLD")
        columns = {"old": {self.renames.column(old.name, column): (column, kind) for column, kind in self._columns(old).items()}}
        columns["new"] = {column: (column, kind) for column, kind in self._columns(new).items()}
        for this, other, label in (("old", "new", "OLD"), ("new", "old", "NEW")):
            if alone := [column for column in columns[this] if column not in columns[other]]:
                verdict.differences.append(f"columns only in {label}: {', '.join(alone)}")
        shared = [column for column in columns["new"] if column in columns["old"] and not self.left_out & {column, f"{name}.{column}"}]
        retyped = {column for column in shared if columns["old"][column][1] != columns["new"][column][1]}
        for column in sorted(retyped):
            verdict.differences.append(f"{column}: {columns['old'][column][1]} -> {columns['new'][column][1]}")
        for side, table in (("old", old), ("new", new)):
            values = ", ".join(f"{self._value(columns[side], column, as_text=column in retyped)} as {quoted(column)}" for column in shared)
            join = f"left join {side}_prefixes using (cluster_id)" if "cluster_id" in columns[side] else ""
            self.session.execute(f"create or replace temp table {side} as select {values} from delta_scan({literal(str(table))}) {join}")
        [(old_rows,)], [(verdict.rows,)] = self.rows("select count(*) from old"), self.rows("select count(*) from new")
        if old_rows != verdict.rows:
            verdict.differences.append(f"{old_rows} rows in OLD")
        self.session.execute("create or replace temp table lost as select * from old except all select * from new")
        self.session.execute("create or replace temp table gained as select * from new except all select * from old")
        [(lost,)], [(gained,)] = self.rows("select count(*) from lost"), self.rows("select count(*) from gained")
        if lost or gained:
            verdict.differences.append(f"{lost} rows only in OLD, {gained} only in NEW")
            verdict.examples = self._examples(shared)
            if "cluster_id" in shared:
                both = "select cluster_id from lost union select cluster_id from gained"
                verdict.clusters = [cluster for (cluster,) in self.rows(f"{both} order by cluster_id")]
        return verdict

    def _columns(self, table: Path) -> dict[str, str]:
        described = self.rows(f"describe select * from delta_scan({literal(str(table))})")
        return {name: kind for name, kind, *_ in described}

    def _value(self, columns: dict[str, tuple[str, str]], column: str, *, as_text: bool) -> str:
        name, kind = columns[column]
        value = quoted(name)
        if "cluster_id" in columns and name == PATH:
            value = relative(value)
        elif "cluster_id" in columns and kind.startswith("STRUCT(") and kind.endswith("[]") and f"{PATH} VARCHAR" in kind:
            value = f"list_transform({value}, lambda item: struct_update(item, {PATH} := {relative(f'item.{PATH}')}))"
        return f"cast({value} as varchar)" if as_text else value

    def _examples(self, columns: list[str]) -> list[str]:
        """Rows with the same key side by side, with the values that changed; otherwise rows that only one side has."""
        key = columns[0]
        held = {side: self.session.execute(f"select * from {side} order by all limit 1000").fetchall() for side in ("lost", "gained")}
        paired = []
        gained = {row[0]: row for row in held["gained"]}
        for row in held["lost"]:
            if row[0] is not None and (other := gained.get(row[0])) is not None:
                changes = (
                    f"{column}: {shown(before)} -> {shown(after)}"
                    for column, before, after in zip(columns, row, other, strict=True)
                    if before != after
                )
                paired.append(f"{key} {row[0]}: " + ", ".join(changes))
        alone = [
            f"only in {label}: "
            + ", ".join(f"{column}={shown(value)}" for column, value in zip(columns, row, strict=True) if value is not None)
            for side, label in (("lost", "OLD"), ("gained", "NEW"))
            for row in held[side][:EXAMPLES]
        ]
        return (paired or alone)[:EXAMPLES]


def is_table(folder: Path) -> bool:
    return any((folder / "_delta_log").glob("*.json"))


def published(root: Path) -> list[Path]:
    """Folders of all tables that people read."""
    return [table for table in sorted(root.glob("*/*")) if table.parent.name not in NOT_PUBLISHED and is_table(table)]


def relative(path: str) -> str:
    """SQL: a path without the prefix of its cluster."""
    return f"case when starts_with({path}, prefix) then substr({path}, length(prefix) + 1) else {path} end"


def shown(value: object) -> str:
    said = str(value)
    return said if len(said) <= SHOWN_CHARACTERS else said[: SHOWN_CHARACTERS - 1] + "…"


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def compare(old: Path, new: Path, renames: Renames | None = None) -> Iterator[Verdict]:
    """One verdict per table of either warehouse.  Raises FileNotFoundError if a folder holds no published table."""
    for root in (old, new):
        if not published(root):
            raise FileNotFoundError(f"{root}: no published tables there")
    return Pair(old, new, renames or Renames()).verdicts()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.equal", description="Compare the published tables of two warehouses, value by value.")
    parser.add_argument("old", type=Path, metavar="OLD", help="a warehouse folder")
    parser.add_argument("new", type=Path, metavar="NEW", help="another")
    parser.add_argument("--renames", type=Path, metavar="FILE", help="Markdown table: old name | new name, of tables and of table.column")
    given = parser.parse_args(arguments)
    try:
        verdicts = compare(given.old, given.new, Renames.read(given.renames.read_text()) if given.renames else None)
    except OSError as error:
        parser.error(str(error))
    compared = different = 0
    for verdict in verdicts:
        print(verdict, flush=True)
        compared += 1
        different += bool(verdict.differences)
    print(f"{compared} tables compared, {different} differ")
    return 1 if different else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except duckdb.Error as error:
        sys.exit(f"tests.equal: {error}")
