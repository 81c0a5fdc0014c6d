"""What a JVM printed into the output of a program, between the records of its log, to `bronze.capture_rows`.

The lines stay in the raw text of the record that they follow.  One without a time has that of this record.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ingestion.bronze.capture_rows import SCHEMAS, row_of
from ingestion.bronze.log_records import Batch
from ingestion.bronze.pieces import Piece
from ingestion.bronze.tasks import Counted
from ingestion.captures import About, Line, Row
from ingestion.captures._within_log import rows_within
from ingestion.reading.zones import zone_of
from ingestion.records.redact import shown

TABLE = "capture_rows"
FROM_RECORD = "it has no time; that of the log's record before it is taken"


@dataclass
class Beside:
    """Collects the rows of JVMs from batches of a log; `counted` is filled."""

    counted: dict[str, Counted]
    rows: list[dict[str, Any]] = field(default_factory=list)

    def take(self, made: Batch, table: pa.RecordBatch) -> None:
        """Look at the records of a batch."""
        for record in np.flatnonzero(np.array([plan.is_followed for plan in made.plans])[made.shape]).tolist():
            self.rows += self.rows_of(made, table, made.pieces[made.piece[record]], record)

    def rows_of(self, made: Batch, table: pa.RecordBatch, piece: Piece, record: int) -> Iterator[dict[str, Any]]:
        """The rows from the lines after the first of one record."""
        task = piece.reader.task
        lines = lines_of(made, piece, record, table["byte_offset"][record].as_py())
        node = table["node_id"][record].as_py()
        at = table["logged_at"][record].as_py()
        after = None if at is not None or record + 1 >= made.count else table["logged_at"][record + 1].as_py()
        count = self.counted[task.source_id]
        found = rows_within(lines, About(task.shown, None, zone_of(task.zones[0][1])))
        for kind, row in timed(found, at or after):
            count.records += 1
            count.recognised += 1
            of_row = replace(task, capture=kind, node_id=node, node_known_by=None if node is None else "content")
            yield row_of(row, count.records, of_row)

    def batches(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """(table, batch) of what was collected, which is forgotten."""
        if self.rows:
            yield TABLE, pa.RecordBatch.from_pylist(self.rows, schema=SCHEMAS[TABLE])
            self.rows = []


def lines_of(made: Batch, piece: Piece, record: int, offset: int) -> list[Line]:
    """The lines of a record after its first, or all of one without a head, with their places in the file.  `offset`: that of the record."""
    start, end = int(made.starts[record]), int(made.ends[record])
    begin = int(made.begins[made.piece[record]])
    out, at = [], start
    for line in made.text[start:end].split(b"\n"):
        if line and (at > start or not made.heads[record]):
            place = offset + at - start
            if piece.lines is not None:
                entry = int(np.searchsorted(piece.lines.begins, at - begin, side="right")) - 1
                place = int(piece.lines.starts[entry])
            out.append(Line(place, shown(line).removesuffix("\r")))
        at += len(line) + 1
    return out


def timed(found: Iterable[tuple[str, Row]], at: dt.datetime | None) -> Iterator[tuple[str, Row]]:
    """Rows; those without a time from that of the record that they follow on: as far apart as their uptimes, else one after the other."""
    first: float | None = None
    spent = 0.0
    for kind, row in found:
        if row.at is None and at is not None:
            # The header of a log is of the JVM's start, however long ago that was.
            uptime = row.fields.get("uptime_ms") if "duration_ms" in row.fields else None
            first = float(uptime) if first is None and uptime else first
            later = float(uptime) - (first or 0) if uptime else spent
            row = replace(row, at=at + dt.timedelta(milliseconds=max(later, 0)), at_known_by="content", warnings=(FROM_RECORD,))
        spent += float(row.fields.get("duration_ms", 0))
        yield kind, row
