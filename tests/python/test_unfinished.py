"""The changes of a killed build are rolled back: steps, Delta tables and the notes about them; `tests/spark/test_macros.py` kills builds."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from chronicle.build import unfinished
from chronicle.build.versions import Record
from ingestion.warehouse import Warehouse

BUILT = json.dumps({"made_by": "mine", "bronze": {"log_records": 3}})
TABLES = [("staging", "events"), ("marts", "fct")]


@pytest.fixture
def place(tmp_path: Path) -> Warehouse:
    """A warehouse whose build was killed: a step was rebuilt, both tables are written, neither is published."""
    place = Warehouse.at(str(tmp_path / "warehouse"))
    for schema, name in TABLES:
        write_deltalake(place.table(schema, name), rows(1))
    Record("first", {"marts.fct": 0}).write(place)
    place.work.mkdir(parents=True)
    place.built.write_text(BUILT)
    unfinished.note(place, TABLES)
    place.built.unlink()
    (place.kept_steps / "intermediate/int_step").mkdir(parents=True)
    (place.kept_steps / "intermediate/int_step/old.parquet").touch()
    step = Path(place.table("intermediate", "int_step"))
    step.mkdir(parents=True)
    (step / "new.parquet").touch()
    for schema, name in TABLES:
        write_deltalake(place.table(schema, name), rows(2, 3), mode="overwrite")
    return place


def rows(*values: int) -> pa.Table:
    return pa.table({"n": list(values)})


def held(place: Warehouse, schema: str, name: str) -> list[int]:
    return DeltaTable(place.table(schema, name)).to_pyarrow_table()["n"].to_pylist()


def test_all_is_as_before_the_build(place: Warehouse) -> None:
    for _ in range(2):
        unfinished.take_back(place, "mine")
        assert [held(place, *table) for table in TABLES] == [[1], [1]]
        assert [file.name for file in Path(place.table("intermediate", "int_step")).iterdir()] == ["old.parquet"]
        assert place.built.read_text() == BUILT
        assert not place.unfinished.exists() and not place.kept_steps.exists()
        published = Record.of(place).table(place, "marts", "fct")
        assert published is not None and published.to_pyarrow_table()["n"].to_pylist() == [1]


def test_what_another_project_or_release_made_is_left_to_be_made_anew(place: Warehouse) -> None:
    unfinished.take_back(place, "other")
    assert [held(place, *table) for table in TABLES] == [[2, 3], [2, 3]]
    assert not place.built.exists() and not place.unfinished.exists() and not place.kept_steps.exists()


def test_where_files_are_gone_all_is_made_anew(place: Warehouse) -> None:
    table = DeltaTable(place.table("marts", "fct"))
    assert table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    unfinished.take_back(place, "mine")
    assert not place.built.exists() and not place.unfinished.exists()
