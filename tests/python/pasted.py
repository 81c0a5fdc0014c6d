"""Reads a text as ingestion does, as a file that somebody saved."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

from ingestion.bronze.shares import read_all
from ingestion.bronze.tasks import Counted, task_of
from ingestion.sources.identify import identify
from ingestion.sources.inspect import inspect
from ingestion.sources.resolve import place
from ingestion.sources.stages import TO_READ, Found, Identified

NOW = dt.datetime(2026, 11, 22, tzinfo=dt.UTC)
Rows = list[dict[str, Any]]


def source_of(folder: Path, text: str, name: str = "post.txt") -> Identified:
    """A text as a file, on its way to be read."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    (source,) = identify(place([inspect(Found.at(str(path), "c1"))]))
    return source


def tables_of(folder: Path, text: str, name: str = "post.txt", node: int | None = None) -> tuple[dict[str, Rows], Counted]:
    """The rows of each table that a text gives, and their counts.  `node`: that of the file, as `--node` says it."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    (source,) = identify(place([inspect(Found.at(str(path), "c1", node))]))
    counted: dict[str, Counted] = {}
    out: dict[str, Rows] = {}
    tasks = [task_of(source, False, 1, NOW)] if source.outcome == TO_READ else []
    for table, batch in read_all(tasks, counted):
        out.setdefault(table, []).extend(batch.to_pylist())
    return out, counted.get(source.source_id, Counted())


def records_of(folder: Path, text: str, name: str = "post.txt", node: int | None = None) -> Rows:
    """The records of a log that a text gives; each has the bytes of the file at its place."""
    records = tables_of(folder, text, name, node)[0].get("log_records", [])
    data = text.encode()
    for record in records:
        printed = record["raw_text"].encode()
        assert data[record["byte_offset"] :][: len(printed)].replace(b"\r\n", b"\n") == printed or b"\n" in printed
    return records


def said(records: Rows) -> list[tuple[str | None, int | None, str | None]]:
    """(event, node, time of day in UTC) of each record."""
    return [(record["event_type"], record["node_id"], record["logged_at"] and f"{record['logged_at']:%T.%f}"[:12]) for record in records]
