"""Small files of bronze are made few, and builds see nothing new in that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from chronicle.build import changes, compaction
from chronicle.build.changes import arrivals, built_from, changed_files, has_lost_rows, is_current
from chronicle.build.compaction import compact
from ingestion import ingest as ingesting
from ingestion.sources.discover import Options
from ingestion.warehouse import Warehouse, only_writer
from tests.python.test_records import line
from tests.rotations import Here

RUNS = 7


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "MANY", 5)
    monkeypatch.setattr(changes, "project_hash", lambda project: "as it is")


def load(place: Warehouse, logs: Path, number: int) -> None:
    """A run that finds one more line."""
    logs.mkdir(exist_ok=True)
    with (logs / "server.log").open("a") as file:
        file.write(line(number, f"[KafkaServer id=7] record {number}"))
    ingesting.ingest(Here, place.root, Options([str(logs)], cluster="c", timezone="UTC", settled_after=0), tell=lambda text: None)


@pytest.fixture
def place(tmp_path: Path) -> Warehouse:
    """A warehouse after some runs, all of which are built."""
    place = Warehouse.at(str(tmp_path / "warehouse"))
    for number in range(RUNS):
        load(place, tmp_path / "logs", number)
    place.work.mkdir(exist_ok=True)
    place.built.write_text(built_from(place))
    return place


def rows(place: Warehouse, table: str) -> list[Any]:
    return sorted(map(repr, DeltaTable(place.bronze(table)).to_pyarrow_table().to_pylist()))


def files(place: Warehouse, table: str) -> int:
    return len(DeltaTable(place.bronze(table)).file_uris())


def test_few_files_hold_the_same_rows(place: Warehouse) -> None:
    before = {table: rows(place, table) for table in ingesting.TABLES}
    assert files(place, "log_records") == RUNS
    assert compact(place) == ["log_records", "sources"]
    assert {table: rows(place, table) for table in ingesting.TABLES} == before
    assert files(place, "log_records") == files(place, "sources") == 1
    assert is_current(place.root)
    assert compact(place) == []
    # Builds choose files by what is stated of them.
    stated = pa.table(DeltaTable(place.bronze("log_records")).get_add_actions(flatten=True)).to_pylist()[0]
    assert (stated["num_records"], stated["min.cluster_id"], stated["max.batch_id"]) == (RUNS, "c", RUNS)
    assert str(stated["min.event_date"]) == "2020-05-15" and stated["null_count.event_date"] == 0


def test_what_arrives_behind_is_new(place: Warehouse, tmp_path: Path) -> None:
    compact(place)
    load(place, tmp_path / "logs", 30)
    found = arrivals(place, built_from(place))
    assert found is not None and found.clusters == ["c"] and found.tables == {"log_records", "sources"}
    assert found.begins["log_records"].second == 30
    assert len(rows(place, "log_records")) == RUNS + 1


def test_a_compaction_that_was_killed_before_it_was_noted_adds_nothing(
    place: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = place.built.read_text()
    compact(place)
    place.built.write_text(built)
    assert not is_current(place.root) and not has_lost_rows(place)
    found = arrivals(place, built_from(place))
    assert found is not None and found.tables == frozenset()
    load(place, tmp_path / "logs", 30)
    found = arrivals(place, built_from(place))
    assert found is not None and found.begins["log_records"].second == 30


def test_files_that_are_gone_are_lost_all_the_same(place: Warehouse) -> None:
    version = DeltaTable(place.bronze("log_records")).version()
    compact(place)
    DeltaTable(place.bronze("log_records")).delete("byte_offset = 0")
    added, lost = changed_files(place.bronze("log_records"), version)
    assert added and lost


def test_what_is_not_built_is_not_compacted(place: Warehouse, tmp_path: Path) -> None:
    load(place, tmp_path / "logs", 30)
    assert compact(place) == [] and files(place, "log_records") == RUNS + 1


def test_while_another_writes_there_is_another_time(place: Warehouse) -> None:
    with only_writer(place):
        assert compact(place) == []
    assert compact(place) == ["log_records", "sources"]
