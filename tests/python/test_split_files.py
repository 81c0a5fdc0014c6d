"""A large log that is read in parts gives the same rows as when it is read at once."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from ingestion import ingest as ingesting
from ingestion.bronze import parts, shares
from ingestion.bronze.executors import on_executors
from ingestion.bronze.tasks import Counted, Task
from ingestion.sources.discover import Options
from tests.rotations import Here

TRACE = "java.io.IOException: gone\n\tat kafka.A.b(A.scala:1)\n\tat kafka.A.c(A.scala:2)\n"


def log(nodes: list[int], begin: dt.datetime, count: int = 3000) -> str:
    """A log that a few nodes write, one after the other; with stack traces, and lines without a time after each start."""
    lines = []
    for number in range(count):
        at = begin + dt.timedelta(seconds=3 * number)
        node, is_first = nodes[number * len(nodes) // count], number * len(nodes) % count < len(nodes)
        stamp = f"[{at:%Y-%m-%d %H:%M:%S},{number % 1000:03}]"
        if is_first:
            lines.append(f"{stamp} INFO [KafkaServer id={node}] started (kafka.server.KafkaServer)\n")
        lines.append(f"{stamp} INFO record {number} (kafka.Some)\n" + (TRACE if number % 7 == 0 else ""))
    return "".join(lines)


def rows(folder: Path, text: str, name: str, timezone: str) -> tuple[list[Any], list[Any]]:
    (folder / "logs").mkdir(exist_ok=True)
    (folder / "logs" / "server.log").write_text(text)
    options = Options([str(folder / "logs")], cluster="c", timezone=timezone, settled_after=0)
    ingesting.ingest(Here, str(folder / name), options, tell=lambda line: None)
    bronze = folder / name / "bronze"
    records = DeltaTable(str(bronze / "log_records")).to_pyarrow_table().drop_columns(["ingested_at"]).sort_by("byte_offset")
    sources = DeltaTable(str(bronze / "sources")).to_pyarrow_table().drop_columns(["ingested_at", "modified_at"])
    return records.to_pylist(), sources.to_pylist()


@pytest.mark.parametrize("nodes", [[1], [1, 2], [3, 1, 3, 2, 3]], ids=str)
@pytest.mark.parametrize("begin", [dt.datetime(2026, 3, 1), dt.datetime(2025, 10, 26, 1, 30)], ids=["plain", "an hour twice"])
def test_parts_say_what_the_whole_says(nodes: list[int], begin: dt.datetime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = log(nodes, begin)
    at_once = rows(tmp_path, text, "whole", "Europe/Berlin")
    monkeypatch.setattr(parts, "PART_BYTES", 20_000)
    monkeypatch.setattr(parts, "WINDOW", 3_000)
    taken: list[int] = []
    read_shares = shares.read_shares
    monkeypatch.setattr(
        shares, "read_shares", lambda spark, to, tasks, *others: taken.append(len(tasks)) or read_shares(spark, to, tasks, *others)
    )
    assert rows(tmp_path, text, "parts", "Europe/Berlin") == at_once
    # The log was read in parts, and those after a change of the node were read again.
    assert taken[0] >= 5
    assert (len(taken) > 1) == (len(nodes) > 1)


def test_what_comes_behind_a_fault_does_not_count() -> None:
    def part(begin: int) -> Task:
        return Task("c", "s", "/log", begin, begin + 10, False, "", 1, "content", True, (), "", 1, dt.datetime.now(dt.UTC))

    three = [part(0), part(10), part(20)]
    read = [Counted(2, 1, begin + 10, 1, last_known_by="content", doubts={str(begin)}) for begin in (0, 10, 20)]
    assert parts.to_read_again(three, read) == []
    assert parts.together(three, read) == (3, Counted(6, 3, 30, 1, last_known_by="content", doubts={"0", "10", "20"}))
    cut = [read[0], Counted(1, 0, 15, 7, fault="OSError: gone"), read[2]]
    assert parts.to_read_again(three, cut) == []
    assert parts.together(three, cut) == (2, Counted(3, 1, 15, 7, fault="OSError: gone", doubts={"0"}))


def test_what_executors_make_comes_in_order() -> None:
    assert on_executors(Here(), str, [3, 1, 2]) == ["3", "1", "2"]
    assert on_executors(Here(), str, []) == []
