"""Batches of bronze: each has a note before its tables are committed, and a batch whose note cannot be read afterwards is undone."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable

from ingestion.bronze import write
from ingestion.delta_files import Added
from ingestion.sources import kept
from ingestion.warehouse import Damaged, opened

COLUMNS: write.Columns = [("cluster_id", pa.string(), "cluster"), ("batch_id", pa.int64(), "batch")]
TABLES = ("log_records", "sources")


def files(warehouse: Path, batch_id: int) -> dict[str, list[Added]]:
    """A file with one row of a batch for each table, as workers write it."""
    added = {}
    for table in TABLES:
        file = write.File(f"{warehouse}/bronze/{table}", write.schema_of(COLUMNS))
        file.write(pa.RecordBatch.from_pylist([{"cluster_id": "a", "batch_id": batch_id}], schema=write.schema_of(COLUMNS)))
        added[table] = [file.close()]
    return added


def batches(warehouse: Path, table: str) -> list[int]:
    return sorted(DeltaTable(f"{warehouse}/bronze/{table}").to_pyarrow_table()["batch_id"].to_pylist())


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    for table in TABLES:
        write.create(f"{tmp_path}/bronze/{table}", COLUMNS, "table of a test")
    write.commit_batch(str(tmp_path), 1, files(tmp_path, 1))
    return tmp_path


def torn_note(warehouse: Path, batch_id: int, *committed: str) -> None:
    """Leave what a power cut may leave: some tables committed, and only the beginning of the note."""
    for table, added in files(warehouse, batch_id).items():
        if table in committed:
            write.commit(f"{warehouse}/bronze/{table}", added, batch_id)
    note = warehouse / "bronze" / write.NOTES / f"{batch_id}.json"
    note.parent.mkdir(exist_ok=True)
    note.write_text('{"log_records": [{"name": "part\x00')


@pytest.mark.parametrize("committed", [(), ("log_records",)])
def test_a_batch_whose_note_is_damaged_is_undone(warehouse: Path, committed: tuple[str, ...]) -> None:
    torn_note(warehouse, 2, *committed)
    (line,) = write.complete(str(warehouse))
    assert "2.json: damaged" in line and "batch 2 was undone" in line
    assert [batches(warehouse, table) for table in TABLES] == [[1], [1]]
    assert write.complete(str(warehouse)) == []
    # The number is used up: every table must accept the next batch.
    newest = max(write.last_batch(f"{warehouse}/bronze/{table}") for table in TABLES)
    write.commit_batch(str(warehouse), newest + 1, files(warehouse, newest + 1))
    assert [batches(warehouse, table) for table in TABLES] == [[1, newest + 1]] * 2


def test_a_batch_that_is_complete_stays_though_its_note_is_damaged(warehouse: Path) -> None:
    torn_note(warehouse, 2, *TABLES)
    assert len(write.complete(str(warehouse))) == 1
    assert [batches(warehouse, table) for table in TABLES] == [[1, 2], [1, 2]]


@pytest.mark.parametrize("torn", [b'{"add": {"path": "part-\x00', b"\x00" * 200])
def test_a_torn_log_names_its_table_and_what_to_do(warehouse: Path, torn: bytes) -> None:
    newest = sorted((warehouse / "bronze/sources/_delta_log").glob("*.json"))[-1]
    newest.write_bytes(torn)
    with pytest.raises(Damaged, match=r"bronze/sources: the table's log cannot be read .*restore the folder from a backup"):
        kept.newer(opened(f"{warehouse}/bronze/sources"))


def test_rows_without_a_day_are_found_by_readers_that_leave_out_files(tmp_path: Path) -> None:
    columns: write.Columns = [("cluster_id", pa.string(), "cluster"), ("event_date", pa.date32(), "day")]
    table, schema, day = str(tmp_path / "bronze" / "log_records"), write.schema_of(columns), dt.date(2026, 5, 7)
    write.create(table, columns, "table of a test")
    file = write.File(table, schema)
    file.write(pa.RecordBatch.from_pylist([{"cluster_id": "a", "event_date": day}, {"cluster_id": "a"}], schema=schema))
    write.commit(table, [file.close()], 1)
    rows = DeltaTable(table).to_pyarrow_dataset()
    assert rows.to_table(filter=pc.field("event_date").is_null()).num_rows == 1
    assert rows.to_table(filter=pc.field("event_date") == day).num_rows == 1
