"""A year of a fleet, made from a small warehouse: keys still match across its tables."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from tests import fleet

NOON = dt.datetime(2026, 3, 4, 12, tzinfo=dt.UTC)


def write(place: Path, rows: list[dict[str, Any]]) -> None:
    write_deltalake(str(place), pa.Table.from_pylist(rows))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[fleet.Repetition]]:
    """Two clusters, repeated five times under three names."""
    small, large = tmp_path_factory.mktemp("small"), tmp_path_factory.mktemp("large") / "fleet"
    both = [(cluster, number) for cluster in ("a", "b") for number in range(1001)]
    record = {"event_date": NOON.date(), "logged_at": NOON, "raw_text": "said"}
    write(
        small / "bronze/log_records", [record | {"cluster_id": cluster, "source_id": f"{cluster}{number % 3}"} for cluster, number in both]
    )
    write(small / "marts/fct_one", [{"one_key": f"{c}-1", "cluster_id": c, "began_at": NOON, "began_date": NOON.date()} for c in "ab"])
    write(
        small / "marts/fct_many",
        [
            {"many_key": f"{c}{n}", "one_key": f"{c}-1", "cluster_id": c, "cause_key": None if n == 1 else "none", "n": n}
            for c in "ab"
            for n in (1, 2)
        ],
    )
    write(small / "marts/dim_dates", [{"event_date": NOON.date()}])
    return large, fleet.make(str(small), str(large), clusters=3, records=5 * 1001)


def rows(place: Path, name: str) -> list[dict[str, Any]]:
    return DeltaTable(str(place / name)).to_pyarrow_table().to_pylist()


@pytest.mark.long
def test_there_are_as_many_records_and_clusters_as_were_asked_for(made: tuple[Path, list[fleet.Repetition]]) -> None:
    place, found = made
    records = rows(place, "bronze/log_records")
    assert len(records) == 5 * 1001
    assert {row["cluster_id"] for row in records} == {one.name for one in found} == {"a-01", "b-01", "a-02"}
    assert fleet.rows(str(place)) == {"bronze.log_records": 5005, "marts.dim_dates": 1, "marts.fct_many": 10, "marts.fct_one": 5}


def test_keys_are_new_in_each_repetition_and_still_find_each_other(made: tuple[Path, list[fleet.Repetition]]) -> None:
    place, _ = made
    ones, many = rows(place, "marts/fct_one"), rows(place, "marts/fct_many")
    assert len({row["one_key"] for row in ones}) == 5
    assert len({row["many_key"] for row in many}) == 10
    owners = {row["one_key"]: row["cluster_id"] for row in ones}
    assert [row for row in many if owners.get(row["one_key"]) != row["cluster_id"]] == []
    assert [row["cause_key"] is None for row in many] == [row["n"] == 1 for row in many]
    assert sorted(row["n"] for row in many) == [1] * 5 + [2] * 5


def test_times_move_by_whole_days_within_the_year(made: tuple[Path, list[fleet.Repetition]]) -> None:
    place, _ = made
    for row in rows(place, "marts/fct_one"):
        assert row["began_at"].date() == row["began_date"]
        assert row["began_at"].time() == dt.time(12)
        assert fleet.UNTIL - dt.timedelta(days=fleet.DAYS) < row["began_date"] <= fleet.UNTIL
    assert rows(place, "marts/dim_dates") == [{"event_date": NOON.date()}]
