"""Files and folders are moved to another file system as well, because `.dbt`, or a schema, may be a mount of its own."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from chronicle.build import unfinished
from chronicle.build.publish import Mart, commit_all
from ingestion.moves import move
from ingestion.warehouse import Warehouse
from tests.python.test_lost_rows import COLUMNS


@pytest.fixture(autouse=True)
def two_file_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`.dbt` lies on another file system than the rest."""

    def apart(rename: Any) -> Any:
        def renamed(path: Any, to: Any, **given: Any) -> Any:
            if (".dbt" in Path(path).parts) != (".dbt" in Path(to).parts):
                raise OSError(errno.EXDEV, "Invalid cross-device link")
            return rename(path, to, **given)

        return renamed

    monkeypatch.setattr(os, "replace", apart(os.replace))
    monkeypatch.setattr(os, "rename", apart(os.rename))


def test_a_mart_is_published(tmp_path: Path) -> None:
    place = Warehouse.at(str(tmp_path))
    aside = place.building / "marts/fct"
    aside.mkdir(parents=True)
    for number in range(2):
        pq.write_table(pa.table({"id": [number]}), aside / f"part-{number}.parquet")
    commit_all(place, [Mart("marts", "fct", aside, place.table("marts", "fct"), COLUMNS, "", rows=2)])
    table = Path(place.table("marts", "fct"))
    assert sorted(DeltaTable(table).to_pyarrow_table()["id"].to_pylist()) == [0, 1]
    assert {path.suffix for path in table.iterdir() if path.is_file()} == {".parquet"} and not aside.exists()


def test_steps_go_aside_and_come_back(tmp_path: Path) -> None:
    place = Warehouse.at(str(tmp_path))
    step, kept = Path(place.table("intermediate", "int_step")), place.kept_steps / "intermediate/int_step"
    step.mkdir(parents=True)
    (step / "rows.parquet").write_text("old")
    kept.parent.mkdir(parents=True)
    move(step, kept)
    assert (kept / "rows.parquet").read_text() == "old" and not step.exists()
    place.unfinished.write_text('{"built": "{\\"made_by\\": \\"mine\\"}", "versions": {}}')
    unfinished.take_back(place, "mine")
    assert (step / "rows.parquet").read_text() == "old" and not kept.exists()
    assert [path.name for path in step.parent.iterdir()] == ["int_step"]


def test_a_move_that_is_cut_off_leaves_all_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, to = tmp_path / ".dbt/rows.parquet", tmp_path / "rows.parquet"
    file.parent.mkdir()
    file.write_text("all of it")

    def half(path: Path, other: Path) -> None:
        Path(other).write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched, pytest.raises(OSError, match="No space left"):
        patched.setattr(shutil, "copyfile", half)
        move(file, to)
    assert file.read_text() == "all of it" and not to.exists()
    move(file, to)
    assert to.read_text() == "all of it" and not file.exists()
