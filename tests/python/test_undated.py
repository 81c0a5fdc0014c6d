"""Rows without a time that arrive beside dated ones in a partial build are not lost to those who read them."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

from chronicle.build.change_tracker import ChangeTracker
from chronicle.build.changes import Arrivals, arrivals, built_from
from chronicle.build.compiled import Model, Part, Project
from chronicle.build.previous import Previous
from chronicle.build.tables import Tables
from ingestion.warehouse import Warehouse

FIRST, SECOND = (dt.datetime(2026, 5, day, 12, tzinfo=dt.UTC) for day in (1, 2))
SINCE = "select * from step where at >= '/* since 0 seconds */'"


def written(folder: Path, *rows: tuple[str, dt.datetime | None]) -> Path:
    """(name, time) of each row of a cluster, as a Parquet table in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    names, times = zip(*rows, strict=True)
    columns = {"cluster_id": ["c"] * len(rows), "name": names, "at": pa.array(times, pa.timestamp("us", "UTC"))}
    pq.write_table(pa.table(columns), folder / "part-0.parquet")
    return folder


@pytest.fixture
def project() -> Project:
    columns = {name: (kind, "") for name, kind in (("cluster_id", "string"), ("name", "string"), ("at", "timestamp"))}
    step = Model("step", "intermediate", "step", "table", "", (), ("log_records",), "step.sql", columns=columns, at="at")
    reads: dict[str, list[str] | None] = {"step": None}
    fct = Model("fct", "marts", "fct", "stable_table", SINCE, ("step",), (), "fct.sql", columns=columns, at="at", columns_read=reads)
    return Project({"step": step, "fct": fct}, Path())


def tracker(place: Warehouse, project: Project) -> ChangeTracker:
    arrived = Arrivals(["c"], {"log_records": {"c"}}, {"log_records": SECOND})
    return ChangeTracker(project, arrived, Previous(place, ["c"], cast(Any, None)), Tables(place, project))


@pytest.mark.parametrize("part", [None, Part(SECOND, "")])
def test_a_step_that_gained_a_row_without_a_time_differs_and_its_readers_are_made_whole(
    part: Part | None, tmp_path: Path, project: Project
) -> None:
    place = Warehouse.at(str(tmp_path))
    found = tracker(place, project)
    written(place.kept_steps / "intermediate/step", ("old", FIRST), ("old", SECOND))
    made = written(tmp_path / "made", ("old", FIRST), ("old", SECOND), ("new", None))
    found.compare(project.models["step"], made, part)
    assert found.tables["step"].changed and found.tables["step"].changed_since is None


def test_beside_a_dated_row_too(tmp_path: Path, project: Project) -> None:
    place = Warehouse.at(str(tmp_path))
    found = tracker(place, project)
    written(place.kept_steps / "intermediate/step", ("old", FIRST), ("old", SECOND))
    made = written(tmp_path / "made", ("old", FIRST), ("old", SECOND), ("new", SECOND), ("new", None))
    found.compare(project.models["step"], made, Part(SECOND, ""))
    assert found.tables["step"].changed and found.changed_since(["step"]) is None
    # A dated row alone says from when on readers differ.
    made = written(tmp_path / "made", ("old", FIRST), ("old", SECOND), ("new", SECOND))
    found = tracker(place, project)
    found.compare(project.models["step"], made, Part(SECOND, ""))
    assert found.changed_since(["step"]) == SECOND


@pytest.mark.parametrize(("days", "begins"), [([SECOND.date()], {"capture_rows": SECOND.replace(hour=0)}), ([SECOND.date(), None], {})])
def test_a_row_of_bronze_without_a_day_may_matter_at_any_time(days: list[Any], begins: dict[str, Any], tmp_path: Path) -> None:
    place = Warehouse.at(str(tmp_path))

    def arrive(day: dt.date | None) -> None:
        rows = pa.table({"cluster_id": ["c"], "event_date": pa.array([day], pa.date32())})
        write_deltalake(place.bronze("capture_rows"), rows, mode="append")

    arrive(FIRST.date())
    place.work.mkdir()
    place.built.write_text(built_from(place))
    for day in days:
        arrive(day)
    found = arrivals(place, built_from(place))
    assert found and found.begins == begins
    assert json.loads(built_from(place))["bronze"] == {"capture_rows": len(days)}
