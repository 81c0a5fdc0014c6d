"""What only the company knows of its clusters and topics: files in the folder `company` of a warehouse, which take the place of the seeds of the same
names, empty in the project.  `docs/company.md` is the page for operators.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from chronicle.build.dbt_runs import BuildFailed
from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    from chronicle.build.compiled import Model

FOLDER = "company"
# By seed: the columns that may not be given twice, and those that may not be empty.
SEEDS = {
    "cluster_attributes": (("cluster_id",), ("cluster_id",)),
    "topic_owners": (("cluster_id", "topic_pattern"), ("topic_pattern", "owner")),
}


def file_of(place: Warehouse, seed: str) -> Path:
    """Where an operator puts the rows of a seed."""
    return place.folder / FOLDER / f"{seed}.csv"


def given(place: Warehouse) -> dict[str, str]:
    """The SHA-256 of each file that is there, by its seed."""
    files = {seed: file_of(place, seed) for seed in SEEDS}
    return {seed: hashlib.sha256(file.read_bytes()).hexdigest() for seed, file in files.items() if file.is_file()}


def rows(place: Warehouse, seed: Model, empty: pa.Table) -> pa.Table:
    """The rows of a seed: those of the warehouse's file if there is one, else those of the project (`empty`), whose columns and types they have.  Columns that the
    file lacks are null.  Raises BuildFailed that names the file, the line and what is accepted."""
    if seed.name not in SEEDS or not (file := file_of(place, seed.name)).is_file():
        return empty
    names = empty.column_names
    header, *lines = _lines(file) or [(1, [])]
    found = [name.strip() for name in header[1]]
    if unknown := [name for name in found if name not in names]:
        raise BuildFailed(f"{file}: unknown column {unknown[0]!r}; use {', '.join(names)}")
    once, filled = SEEDS[seed.name]
    if missing := [name for name in filled if name not in found]:
        raise BuildFailed(f"{file}: there is no column {missing[0]}; the first line has to name the columns: {', '.join(names)}")
    known: dict[tuple[str | None, ...], int] = {}
    cells: dict[str, list[str | None]] = {name: [] for name in names}
    for number, line in lines:
        if len(line) != len(found):
            raise BuildFailed(f"{file}: line {number} has {len(line)} cells; the first line names {len(found)} columns")
        row = dict.fromkeys(names) | {name: cell.strip() or None for name, cell in zip(found, line, strict=True)}
        if bare := [name for name in filled if row[name] is None]:
            raise BuildFailed(f"{file}: line {number} has no {bare[0]}")
        if (target := row.get("slo_target")) is not None and not _is_ratio(target):
            raise BuildFailed(f"{file}: line {number}: slo_target is {target!r}; use a ratio between 0 and 1, as 0.999")
        key = tuple(row[name] for name in once)
        if key in known:
            raise BuildFailed(f"{file}: lines {known[key]} and {number} have the same {' and '.join(once)}")
        known[key] = number
        for name in names:
            cells[name].append(row[name])
    return pa.table({name: pc.cast(pa.array(cells[name], pa.string()), empty.schema.field(name).type) for name in names})


def _lines(file: Path) -> list[tuple[int, list[str]]]:
    """The lines of a file that are not blank, with their numbers."""

    def numbered(reader: Iterator[list[str]]) -> Iterator[tuple[int, list[str]]]:
        for line in reader:
            if any(cell.strip() for cell in line):
                yield reader.line_num, line  # type: ignore[attr-defined]

    try:
        # Spreadsheets begin a file with a byte order mark.
        text = file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BuildFailed(f"{file}: byte {error.start} is not UTF-8; save the file as CSV in UTF-8") from error
    return list(numbered(csv.reader(text.splitlines(keepends=True))))


def _is_ratio(text: str) -> bool:
    try:
        return 0 <= float(text) <= 1
    except ValueError:
        return False
