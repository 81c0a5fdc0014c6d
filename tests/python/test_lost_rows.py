"""A folder that does not show all files that were written fails the build: rows that are not found must not become facts that never were."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, Schema

from chronicle.build.publish import LostRows, Mart, commit_all, described, replace_days
from chronicle.build.runner import Runner
from ingestion.warehouse import Warehouse

COLUMNS = Schema.from_json(
    described({"type": "struct", "fields": [{"name": "id", "type": "long", "nullable": True, "metadata": {}}]}, {"id": "A number."})
)


def write(folder: Path, *files: int) -> Path:
    """Write files of so many rows each into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, rows in enumerate(files):
        pq.write_table(pa.table({"id": range(rows)}), folder / f"part-{number}.parquet")
    return folder


class Session:
    """A runner and a session that finds so many rows in each table."""

    def __init__(self, rows: int) -> None:
        self.told: list[int] = []
        self._rows_in: dict[str, int] = {}
        self.spark = SimpleNamespace(table=lambda name: SimpleNamespace(isEmpty=lambda: not rows))

    def note(self, folder: Path, written: int | None) -> None:
        Runner._note(cast(Any, self), cast(Any, SimpleNamespace(table="marts.fct")), folder, written)

    def _tell_of(self, model: Any, rows: int, folder: Path) -> None:
        self.told.append(rows)


def test_what_spark_wrote_is_found(tmp_path: Path) -> None:
    session = Session(5)
    for written in (5, None):
        session.note(write(tmp_path / "step", 2, 3), written)
    session.note(write(tmp_path / "empty", 0), 0)
    assert session.told == [5, 5, 0]


@pytest.mark.parametrize("found", [[], [2]])
def test_fewer_rows_than_spark_wrote_are_an_error_and_not_told_to_readers(found: list[int], tmp_path: Path) -> None:
    session = Session(5)
    with pytest.raises(LostRows, match=f"5 rows were written into {tmp_path}/step, and the files that are found there have {sum(found)}"):
        session.note(write(tmp_path / "step", *found), 5)
    assert session.told == []


def test_where_nobody_says_what_was_written_spark_is_asked_before_a_table_is_called_empty(tmp_path: Path) -> None:
    with pytest.raises(LostRows, match="Spark finds rows in"):
        Session(5).note(write(tmp_path / "step"), None)
    session = Session(0)
    session.note(write(tmp_path / "step"), None)
    assert session.told == [0]


def test_a_mart_whose_files_are_not_all_there_is_not_published(tmp_path: Path) -> None:
    place = Warehouse.at(str(tmp_path))
    mart = Mart("marts", "fct", write(tmp_path / "aside", 2), place.table("marts", "fct"), COLUMNS, "", rows=5)
    with pytest.raises(LostRows):
        commit_all(place, [mart])
    assert not DeltaTable.is_deltatable(mart.table)


def test_days_whose_files_are_not_all_there_are_not_replaced(tmp_path: Path) -> None:
    model = cast(Any, SimpleNamespace(partition_by=["event_date"], description=""))
    columns = Schema.from_json(
        COLUMNS.to_json().replace('"fields":[', '"fields":[{"name":"event_date","type":"date","nullable":true,"metadata":{}},')
    )
    table = str(tmp_path / "table")
    write(tmp_path / "aside/event_date=2026-05-01", 2)
    with pytest.raises(LostRows):
        replace_days(table, tmp_path / "aside", model, columns, None, 5)
    assert DeltaTable(table).to_pyarrow_table().num_rows == 0
    write(tmp_path / "aside/event_date=2026-05-01", 2, 3)
    replace_days(table, tmp_path / "aside", model, columns, None, 5)
    assert DeltaTable(table).to_pyarrow_table().num_rows == 5
