"""Small files of bronze are compacted, files that no version needs are deleted, and builds see nothing new in either."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from chronicle.build import changes, maintenance, versions
from chronicle.build.changes import arrivals, built_from, changed_files, has_lost_rows, has_others, is_current
from chronicle.build.maintenance import kept_by_one_that_stays, maintain, maintain_one, maintained
from ingestion import ingest as ingesting
from ingestion.sources.discover import Options
from ingestion.warehouse import Warehouse, only_writer
from tests.python.test_records import line
from tests.rotations import Here

RUNS = 7


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "MANY", 5)
    monkeypatch.setattr(changes, "fingerprint", lambda project: "as it is")


def load(place: Warehouse, logs: Path, number: int) -> None:
    """Run an ingestion that finds one more line."""
    logs.mkdir(exist_ok=True)
    with (logs / "server.log").open("a") as file:
        file.write(line(number, f"[KafkaServer id=7] record {number}"))
    ingesting.ingest(Here, place.root, Options([str(logs)], cluster="c", timezone="UTC", settled_after=0), tell=lambda text: None)


@pytest.fixture
def place(tmp_path: Path) -> Warehouse:
    """A warehouse after some runs, all of them built."""
    place = Warehouse.at(str(tmp_path / "warehouse"))
    for number in range(RUNS):
        load(place, tmp_path / "logs", number)
    place.work.mkdir(exist_ok=True)
    place.built.write_text(built_from(place))
    return place


def rows(place: Warehouse, table: str) -> list[Any]:
    return sorted(map(repr, DeltaTable(place.bronze(table)).to_pyarrow_table().to_pylist()))


def staying(place: Warehouse) -> None:
    """Do all maintenance of a process that stays."""
    list(maintained(place, is_staying=True))


def long_ago(place: Warehouse) -> None:
    """Make the files of all tables two hours old."""
    for file in Path(place.root).rglob("*.parquet"):
        os.utime(file, (0, file.stat().st_mtime - 7200))


def files(place: Warehouse, table: str) -> int:
    return len(DeltaTable(place.bronze(table)).file_uris())


def test_few_files_hold_the_same_rows(place: Warehouse) -> None:
    before = {table: rows(place, table) for table in ingesting.TABLES}
    assert files(place, "log_records") == RUNS
    maintain(place)
    assert {table: rows(place, table) for table in ingesting.TABLES} == before
    assert files(place, "log_records") == files(place, "sources") == 1
    assert is_current(place.root)
    version = DeltaTable(place.bronze("sources")).version()
    maintain(place)
    assert DeltaTable(place.bronze("sources")).version() == version
    # Builds select files by their statistics.
    stated = pa.table(DeltaTable(place.bronze("log_records")).get_add_actions(flatten=True)).to_pylist()[0]
    assert (stated["num_records"], stated["min.cluster_id"], stated["max.batch_id"]) == (RUNS, "c", RUNS)
    assert str(stated["min.event_date"]) == "2020-05-15" and stated["null_count.event_date"] == 0


def test_what_arrives_behind_is_new(place: Warehouse, tmp_path: Path) -> None:
    maintain(place)
    load(place, tmp_path / "logs", 30)
    found = arrivals(place, built_from(place))
    assert found is not None and found.clusters == ["c"] and found.tables == {"log_records": {"c"}, "sources": {"c"}}
    assert found.begins["log_records"].second == 30
    assert len(rows(place, "log_records")) == RUNS + 1


def test_a_compaction_that_was_killed_before_it_was_noted_adds_nothing(
    place: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = place.built.read_text()
    maintain(place)
    place.built.write_text(built)
    assert not is_current(place.root) and not has_lost_rows(place)
    found = arrivals(place, built_from(place))
    assert found is not None and found.tables == {}
    load(place, tmp_path / "logs", 30)
    found = arrivals(place, built_from(place))
    assert found is not None and found.begins["log_records"].second == 30


def test_clusters_are_all_that_there_are_or_some_of_them(place: Warehouse, tmp_path: Path) -> None:
    assert not has_others(place, ["c"]) and not has_others(place, ["b", "c"])
    assert has_others(place, ["b"])
    # Nothing says so.
    assert has_others(Warehouse.at(str(tmp_path / "empty")), ["c"])


def test_files_that_are_gone_are_lost_all_the_same(place: Warehouse) -> None:
    version = DeltaTable(place.bronze("log_records")).version()
    maintain(place)
    DeltaTable(place.bronze("log_records")).delete("byte_offset = 0")
    changed = changed_files(place.bronze("log_records"), version)
    assert changed and all(changed)


def test_what_is_not_built_is_not_compacted(place: Warehouse, tmp_path: Path) -> None:
    load(place, tmp_path / "logs", 30)
    maintain(place)
    assert files(place, "log_records") == RUNS + 1


def test_while_another_writes_there_is_another_time(place: Warehouse) -> None:
    with only_writer(place):
        maintain(place)
        assert files(place, "log_records") == RUNS
    maintain(place)
    assert files(place, "log_records") == 1


def test_a_version_that_the_log_no_longer_tells_is_not_known(place: Warehouse) -> None:
    table = DeltaTable(place.bronze("log_records"))
    table.create_checkpoint()
    for commit in Path(place.bronze("log_records"), "_delta_log").glob("*.json"):
        if int(commit.stem) < table.version():
            commit.unlink()
    assert changed_files(place.bronze("log_records"), 1) is None
    assert changed_files(place.bronze("log_records"), table.version()) == (set(), set())
    place.built.write_text(json.dumps({"project": "as it is", "bronze": {"log_records": 1}}))
    assert has_lost_rows(place) and arrivals(place, built_from(place)) is None


def test_files_that_no_version_needs_are_deleted(place: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a week, or after the retention of a process that stays; so are files that no commit names."""
    monkeypatch.setattr(maintenance, "MOST_LEFT", 5)
    table = place.table("marts", "fct_a")

    def replaced(number: int, build: str) -> None:
        write_deltalake(table, pa.table({"n": [number]}), mode="overwrite", commit_properties=versions.of_build(build))

    def data_files() -> int:
        return len(list(Path(table).glob("*.parquet")))

    for number in range(12):
        replaced(number, "whole")
    Path(table, "part-of-a-killed-build.parquet").write_bytes(b"")
    # The twelfth version is of the same build, as the first months that a build commits are part of the whole.
    versions.Record("whole", {"marts.fct_a": 10}).write(place)
    maintain(place)
    staying(place)
    assert data_files() == 13
    long_ago(place)
    staying(place)
    # Each file was replaced a moment ago; the one that no commit names is two hours old.
    assert data_files() == 12
    assert kept_by_one_that_stays().items() <= DeltaTable(table).metadata().configuration.items()
    monkeypatch.setattr(maintenance, "HOURS_OF_ONE_THAT_STAYS", 0)
    staying(place)
    assert data_files() == 1 and DeltaTable(table).to_pyarrow_table()["n"].to_pylist() == [11]
    versions.Record("whole", {"marts.fct_a": DeltaTable(table).version()}).write(place)
    monkeypatch.setattr(maintenance, "MOST_LEFT", 0)
    replaced(12, "killed")
    staying(place)
    known = versions.Record.of(place).table(place, "marts", "fct_a")
    assert known is not None and known.to_pyarrow_table()["n"].to_pylist() == [11]


def test_a_process_that_stays_does_one_thing_at_a_time(place: Warehouse) -> None:
    maintain_one(place)
    assert sorted([files(place, "log_records"), files(place, "sources")]) == [1, RUNS]
    maintain_one(place)
    assert files(place, "log_records") == files(place, "sources") == 1
    assert is_current(place.root)


def test_a_day_of_commits_is_kept_in_the_log(place: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Later appends clear the log: delta-rs does it with each checkpoint."""
    table, log = place.bronze("log_records"), Path(place.bronze("log_records"), "_delta_log")
    monkeypatch.setattr(maintenance, "MOST_LEFT", 0)
    long_ago(place)
    staying(place)
    for file in log.iterdir():
        os.utime(file, (0, file.stat().st_mtime - 2 * 86_400))
    before = DeltaTable(table).version()
    for _ in range(21):
        DeltaTable(table).alter.set_table_properties({"delta.checkpointInterval": "10"})
    assert min(int(file.stem) for file in log.glob("*.json")) >= before
    assert len(rows(place, "log_records")) == RUNS
