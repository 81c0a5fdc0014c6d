"""The cached rows of `bronze.sources` that later runs need give the same result as all of its rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from ingestion import ingest as ingesting
from ingestion.sources import kept
from ingestion.sources.discover import Options
from ingestion.warehouse import Warehouse
from tests.python.test_records import line
from tests.rotations import Here

RUNS = 9


@pytest.fixture(autouse=True)
def least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "LEAST", 3)


def load(place: Warehouse, logs: Path) -> int:
    found = ingesting.ingest(Here, place.root, Options([str(logs)], cluster="c", timezone="UTC", settled_after=0), tell=lambda text: None)
    return found.records


def append(logs: Path, number: int) -> None:
    with (logs / "server.log").open("a") as file:
        file.write(line(number, f"[KafkaServer id=7] record {number}"))


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "notes.txt").write_text("no log\n")
    return folder


@pytest.fixture
def place(tmp_path: Path, logs: Path) -> Warehouse:
    """A warehouse after some runs, each of which found one more line; the log rotates once."""
    place = Warehouse.at(str(tmp_path / "warehouse"))
    for number in range(RUNS):
        append(logs, number)
        assert load(place, logs) == 1
        if number == 4:
            (logs / "server.log").rename(logs / "server.log.1")
    return place


def rows(place: Warehouse) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = kept.rows(place.bronze("sources"), place.work / "sources").to_pylist()
    return found


def written(place: Warehouse) -> int:
    return DeltaTable(place.bronze("sources")).to_pyarrow_table().num_rows


def test_few_rows_say_what_all_say(place: Warehouse, logs: Path) -> None:
    assert (place.work / "sources").exists()
    # Nine rows of the log, one under its other name, one of the notes.
    assert written(place) == 11
    assert len(rows(place)) < 11
    every = kept.newer(DeltaTable(place.bronze("sources")))
    assert {row["source_path"]: row["end_offset"] for row in rows(place)} == {
        row["source_path"]: row["end_offset"] for row in every.to_pylist()
    }
    assert load(place, logs) == 0
    append(logs, 30)
    assert load(place, logs) == 1


@pytest.mark.parametrize("content", [b"", b"no table", b"ARROW1\0\0"])
def test_a_damaged_file_is_no_harm(place: Warehouse, logs: Path, content: bytes) -> None:
    (place.work / "sources").write_bytes(content)
    assert load(place, logs) == 0
    append(logs, 30)
    assert load(place, logs) == 1


def test_rows_that_are_gone_are_not_known(place: Warehouse, logs: Path) -> None:
    """A log whose rows were deleted is read again."""
    for table in ("log_records", "sources"):
        DeltaTable(place.bronze(table)).delete("source_path like '%server.log%'" if table == "sources" else None)
    assert load(place, logs) == RUNS


def test_another_table_has_nothing_of_the_one_before(place: Warehouse, logs: Path, tmp_path: Path) -> None:
    """A new warehouse with an old working folder."""
    other = Warehouse.at(str(tmp_path / "other"))
    other.work.mkdir(parents=True)
    (other.work / "sources").write_bytes((place.work / "sources").read_bytes())
    assert load(other, logs) == RUNS
