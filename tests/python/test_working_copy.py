"""The working copy in which a warehouse in an object store is built: downloads, uploads, and builds by several hosts."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from chronicle.ask.sql import answer
from chronicle.build import maintenance, versions, working_copy
from chronicle.build.working_copy import Copy, at_hand, brought
from ingestion import lease
from ingestion.warehouse import Warehouse
from tests.objects import Bucket


@pytest.fixture
def there(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> Warehouse:
    """A warehouse in a bucket, with a table of bronze."""
    monkeypatch.setattr(lease, "LOOK_SECONDS", 0.05)
    place = Warehouse.at(f"{bucket.uri}/warehouse")
    write_deltalake(place.bronze("log_records"), pa.table({"line": ["one"]}))
    return place


def as_host(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Act as this host, whose own files lie below its current folder."""
    (folder / name).mkdir(exist_ok=True)
    monkeypatch.chdir(folder / name)


def build(here: Warehouse, number: int) -> None:
    """Publish the rows of bronze, as a build does."""
    lines = DeltaTable(here.bronze("log_records")).to_pyarrow_table()
    versions.before(here)
    properties = versions.of_build(f"build-{number}")
    write_deltalake(here.table("marts", "fct_lines"), lines, mode="overwrite", commit_properties=properties)
    versions.after(here, versions.Record.of(here), f"build-{number}", [("marts", "fct_lines")])
    here.built.write_text(f"built {number}")


def lines(place: Warehouse) -> list[str]:
    found: list[str] = answer(place, "select line from fct_lines order by line")["line"].to_pylist()
    return found


def add(place: Warehouse, line: str) -> None:
    write_deltalake(place.bronze("log_records"), pa.table({"line": [line]}), mode="append")


def test_builds_are_put_back_and_only_what_is_new_is_brought(there: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_host("a", tmp_path, monkeypatch)
    told: list[str] = []
    with at_hand(there, told.append) as here:
        build(here, 1)
    assert lines(there) == ["one"]
    assert [line.split(" MB")[1] for line in told] == [f" from {there.root}", f" into {there.root}"]
    add(there, "two")
    fetched: list[str] = []
    get = Copy(there).files.get
    monkeypatch.setattr(Copy(there).files, "get", lambda found, to: fetched.extend(found) or get(found, to))
    with at_hand(there, told.append) as here:
        # A host continues from its own builds.
        assert here.built.read_text() == "built 1"
        build(here, 2)
    assert sorted(path.rsplit(".", 1)[1] for path in fetched) == ["json", "parquet"]
    assert lines(there) == ["one", "two"]
    assert DeltaTable(there.table("marts", "fct_lines")).version() == 1
    assert brought(there, told.append).root == here.root


def test_a_host_that_was_not_the_last_to_build_begins_anew(there: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, host in enumerate("aba", 1):
        as_host(host, tmp_path, monkeypatch)
        add(there, f"of build {number}")
        with at_hand(there, lambda line: None) as here:
            assert not here.built.exists()
            build(here, number)
    assert lines(there) == ["of build 1", "of build 2", "of build 3", "one"]
    assert DeltaTable(there.table("marts", "fct_lines")).version() == 2


def test_a_checkpoint_that_is_written_while_files_are_brought_is_not_read(
    there: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What names the last checkpoint is overwritten: read after the log was listed, it may name one that was not brought."""
    as_host("a", tmp_path, monkeypatch)
    add(there, "two")
    DeltaTable(there.bronze("log_records")).create_checkpoint()
    files = Copy(there).files
    get = files.get

    def get_late(found: list[str], to: list[str]) -> None:
        add(there, "three")
        DeltaTable(there.bronze("log_records")).create_checkpoint()
        get(found, to)

    with monkeypatch.context() as patched:
        patched.setattr(files, "get", get_late)
        here = brought(there, lambda line: None)
    table = DeltaTable(here.bronze("log_records"))
    assert (table.version(), sorted(table.to_pyarrow_table()["line"].to_pylist())) == (1, ["one", "two"])
    table = DeltaTable(brought(there, lambda line: None).bronze("log_records"))
    assert (table.version(), table.to_pyarrow_table().num_rows) == (2, 3)


def commit(place: Warehouse, batch: int, tables: tuple[str, ...] = ("log_records", "sources")) -> None:
    """Commit a row of a batch to tables of bronze."""
    for table in tables:
        write_deltalake(place.bronze(table), pa.table({"batch": [batch]}), mode="append")


def batches(place: Warehouse) -> dict[str, int]:
    return {name: DeltaTable(place.bronze(name)).to_pyarrow_table().num_rows for name in ("log_records", "sources")}


@pytest.fixture
def batched(bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Warehouse:
    """A warehouse in a bucket, with one batch in two tables of bronze."""
    monkeypatch.setattr(working_copy, "LOOK_SECONDS", 0.05)
    as_host("a", tmp_path, monkeypatch)
    place = Warehouse.at(f"{bucket.uri}/batched")
    commit(place, 1)
    return place


def test_tables_of_bronze_are_brought_as_they_are_at_one_moment(batched: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without that, a batch that is committed after `log_records` was listed is in `sources` alone: its files count as read, with no records."""
    log, asked = Copy._log, []

    def log_and_commit(copy: Copy, table: str) -> working_copy.Log:
        found = log(copy, table)
        asked.append(table)
        if len(asked) == 1:
            commit(batched, 2)
        return found

    monkeypatch.setattr(Copy, "_log", log_and_commit)
    assert batches(brought(batched, lambda line: None)) == {"log_records": 2, "sources": 2}


def test_a_batch_that_is_being_committed_is_waited_for(batched: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(batched, 2, ("log_records",))
    note = working_copy.notes_of(batched.root) / "2.json"
    note.write_text("{}")
    sleep = time.sleep

    def commit_meanwhile(seconds: float) -> None:
        if note.exists():
            commit(batched, 2, ("sources",))
            note.unlink()
        sleep(seconds)

    monkeypatch.setattr(working_copy.time, "sleep", commit_meanwhile)
    told: list[str] = []
    assert batches(brought(batched, told.append)) == {"log_records": 2, "sources": 2}
    assert told[0].endswith(f" MB from {batched.root}")


def test_a_batch_whose_ingestion_was_killed_is_said_to_be_incomplete(batched: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working_copy, "QUIET_SECONDS", 0.2)
    commit(batched, 2, ("log_records",))
    (working_copy.notes_of(batched.root) / "2.json").write_text("{}")
    told: list[str] = []
    assert batches(brought(batched, told.append)) == {"log_records": 2, "sources": 1}
    assert told[0].endswith("; a batch is only in part of its tables, until the next ingestion completes it")


@pytest.mark.parametrize("at", ["data", "log", "record"])
def test_a_build_that_was_killed_while_it_was_put_back(at: str, there: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_host("a", tmp_path, monkeypatch)
    with at_hand(there, lambda line: None) as here:
        build(here, 1)
    add(there, "two")

    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    def killed_at_record(path: str, *rest: Any, **more: Any) -> Any:
        if path.endswith("published.json"):
            raise KeyboardInterrupt
        return pipe_file(path, *rest, **more)

    def interrupted() -> None:
        with at_hand(there, lambda line: None) as here:
            build(here, 2)
            if at == "data":
                patched.setattr(Copy(there).files, "put", killed)
            elif at == "log":
                patched.setattr(working_copy, "put_new", killed)
            else:
                patched.setattr(Copy(there).files, "pipe_file", killed_at_record)

    pipe_file = Copy(there).files.pipe_file
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        interrupted()
    # Readers of the bucket still see the previous build's tables.
    assert lines(there) == ["one"]
    with at_hand(there, lambda line: None) as here:
        assert here.built.read_text() == "built 2"
        assert lines(there) == ["one", "two"]


def test_a_build_of_somebody_else_is_not_overwritten(there: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_host("a", tmp_path, monkeypatch)
    with at_hand(there, lambda line: None) as here:
        build(here, 1)
    with pytest.raises(ValueError, match="was written by somebody else meanwhile"), at_hand(there, lambda line: None) as here:
        write_deltalake(there.table("marts", "fct_lines"), pa.table({"line": ["theirs"]}), mode="append")
        build(here, 2)
    assert sorted(DeltaTable(there.table("marts", "fct_lines")).to_pyarrow_table()["line"].to_pylist()) == ["one", "theirs"]


def files(place: Warehouse) -> set[str]:
    folder = place.folder / "marts" / "fct_lines"
    return {str(path).rsplit("/fct_lines/", 1)[1] for path in folder.rglob("*") if path.is_file()}


def test_what_was_cleared_up_in_the_copy_goes_from_the_bucket(there: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_host("a", tmp_path, monkeypatch)
    monkeypatch.setattr(maintenance, "MOST_LEFT", 3)
    for number in range(5):
        with at_hand(there, lambda line: None) as here:
            build(here, number)
            DeltaTable(here.table("marts", "fct_lines")).alter.set_table_properties(
                {"delta.deletedFileRetentionDuration": "interval 0 hours", "delta.checkpointInterval": "4"}
            )
    assert files(there) == files(here) and lines(there) == ["one"]
    # The fifth build left as many files that the four before need.
    assert len([name for name in files(there) if name.endswith(".parquet") and "/" not in name]) == 1
    pointer = "marts/fct_lines/_delta_log/_last_checkpoint"
    assert (there.folder / pointer).read_bytes() == Path(here.root, pointer).read_bytes()
    # Files that somebody else has put there meanwhile stay.
    write_deltalake(there.table("marts", "fct_lines"), pa.table({"line": ["theirs"]}), mode="append")
    copy = Copy(there)
    assert working_copy.unneeded(copy._there("marts/fct_lines"), copy._here("marts/fct_lines")) == []


def test_a_warehouse_in_a_folder_is_used_as_it_is(tmp_path: Path) -> None:
    place = Warehouse.at(str(tmp_path))
    with at_hand(place, lambda line: None) as here:
        assert here is place
    assert brought(place, lambda line: None) is place
