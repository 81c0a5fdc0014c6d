"""A folder that does not show all files that were written fails the build: rows that are not found must not become facts that never were."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, Schema

from chronicle.build.compiled import Model, Project
from chronicle.build.publish import LostRows, Mart, commit_all, described, replace_days
from chronicle.build.tables import Tables
from chronicle.build.writer import Writer
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


FCT = Model("fct", "marts", "fct", "stable_table", "", (), (), "fct.sql")


def noted(tmp_path: Path, folder: Path, written: int) -> tuple[int | None, dict[str, str]]:
    """How many rows are noted of a table in a folder into which Spark says that it wrote so many, and what it is told of them."""
    place, project, told = Warehouse.at(str(tmp_path)), Project({"fct": FCT}, Path()), dict[str, str]()
    spark = cast(Any, SimpleNamespace(conf=SimpleNamespace(set=told.__setitem__)))
    writer = Writer(spark, place, project, Tables(place, project), cast(Any, None), cast(Any, None))
    writer._note(FCT, folder, cast(Any, None), written)
    return writer.tables["fct"].rows, told


def test_what_spark_wrote_is_found(tmp_path: Path) -> None:
    assert noted(tmp_path, write(tmp_path / "step", 2, 3), 5) == (5, {})
    assert noted(tmp_path, write(tmp_path / "empty", 0), 0) == (0, {"chronicle.rows.marts.fct": "none"})


@pytest.mark.parametrize("found", [[], [2]])
def test_fewer_rows_than_spark_wrote_are_an_error(found: list[int], tmp_path: Path) -> None:
    with pytest.raises(LostRows, match=f"5 rows were written into {tmp_path}/step, and the files that are found there have {sum(found)}"):
        noted(tmp_path, write(tmp_path / "step", *found), 5)


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
