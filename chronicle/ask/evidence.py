"""`chronicle evidence KEY`: the raw lines behind a row of any fact, read straight from the Delta tables, without a session."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from chronicle.build.versions import Record
from ingestion.warehouse import Warehouse, opened

# (source_path, byte_offset) of a record.
Place = tuple[str, int]
# Tables of bronze that hold evidence, and their column with the time.
BRONZE = {"log_records": "logged_at", "capture_rows": "captured_at", "metric_samples": "sampled_at"}


@dataclass(frozen=True, order=True)
class Line:
    """A raw record: a log record, what a capture states, or a sample; `at`: its time, UTC, as text to sort by."""

    at: str
    source_path: str
    byte_offset: int
    raw_text: str
    node_id: int | None = field(compare=False)


def evidence(place: Warehouse, key: str) -> tuple[str, list[Line]] | None:
    """(table, its records in order of time) for the key of a row of any fact; None if no fact has it."""
    for name, table in facts(place):
        dataset = table.to_pyarrow_dataset()
        key_column = dataset.schema.names[0]
        found = dataset.to_table(columns=["cluster_id", "evidence"], filter=pc.field(key_column) == key).to_pylist()
        if found:
            # The node of a capture may have become known after it was read.
            nodes = {(record["source_path"], record["byte_offset"]): record["node_id"] for record in found[0]["evidence"]}
            return name, sorted(
                replace(line, node_id=nodes[line.source_path, line.byte_offset])
                for line in lines(place, found[0]["cluster_id"], set(nodes))
            )
    return None


def fact_keys(place: Warehouse, start: str) -> list[str]:
    """The keys of rows of any fact that begin so, in order."""
    found: set[str] = set()
    for _, table in facts(place):
        dataset = table.to_pyarrow_dataset()
        column = dataset.schema.names[0]
        those = dataset.to_table(columns=[column], filter=pc.starts_with(pc.field(column), start))
        found.update(those[column].to_pylist())
    return sorted(found)


def facts(place: Warehouse) -> Iterator[tuple[str, DeltaTable]]:
    """(name, table) of every table of marts whose rows have evidence."""
    folder, record = place.folder / "marts", Record.of(place)
    for name in sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []:
        table = record.table(place, "marts", name)
        if table is not None and "evidence" in [field.name for field in table.schema().fields]:
            yield f"marts.{name}", table


def lines(place: Warehouse, cluster: str, places: set[Place], days: tuple[dt.date, dt.date] | None = None) -> list[Line]:
    """The records of a cluster at those places, wherever in bronze they are, each once; `days`: only of files with those days."""
    found = set()
    for table, at in BRONZE.items():
        if DeltaTable.is_deltatable(place.bronze(table)):
            found |= {line_of(row, at) for row in rows(place.bronze(table), at, cluster, places, days)}
    return list(found)


def rows(path: str, at: str, cluster: str, places: set[Place], days: tuple[dt.date, dt.date] | None) -> Iterable[dict[str, Any]]:
    """Rows of a bronze table at those places.  Texts are only read from files that hold one of them."""
    dataset = opened(path).to_pyarrow_dataset()
    there = (
        (pc.field("cluster_id") == cluster)
        & pc.field("source_path").isin(sorted({path for path, _ in places}))
        & pc.field("byte_offset").isin(pa.array(sorted({offset for _, offset in places}), pa.int64()))
    )
    said = ["metric", "attribute", "labels", "value", "unit"] if "metric" in dataset.schema.names else ["raw_text"]
    files = pc.field("cluster_id") == cluster
    if days:
        files &= (pc.field("event_date") >= days[0]) & (pc.field("event_date") <= days[1])
    for fragment in dataset.get_fragments(filter=files):
        if fragment.count_rows(filter=there):
            found = fragment.to_table(columns=["source_path", "byte_offset", "node_id", at, *said], filter=there)
            yield from (row for row in found.to_pylist() if (row["source_path"], row["byte_offset"]) in places)


def line_of(row: dict[str, Any], at: str) -> Line:
    """A record as a line of text; a sample as its metric with attribute, labels, value and unit."""
    text = row["raw_text"] if "raw_text" in row else sample_text(row)
    moment = row[at].replace(tzinfo=None).isoformat(sep=" ", timespec="milliseconds") if row[at] else ""
    return Line(moment, row["source_path"], row["byte_offset"], text or "", row["node_id"])


def sample_text(row: dict[str, Any]) -> str:
    """A sample of a metric in words."""
    labels = ", ".join(f"{name}={value}" for name, value in sorted(row["labels"] or []))
    parts = [row["metric"], row["attribute"], f"{{{labels}}}" if labels else None, "=", row["value"], row["unit"]]
    return " ".join(str(part) for part in parts if part is not None)
