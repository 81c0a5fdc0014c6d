"""Rows that a build carries over from the previous one: those of other clusters, and those before a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chronicle.build import steps
from chronicle.build.steps import Carried, carry, largest, values_in

Row = tuple[str | None, int]
FILES = st.lists(st.lists(st.tuples(st.sampled_from(["a", "b", "c", "ab", None]), st.integers(0, 9)), max_size=9), min_size=1, max_size=6)
BUILT = pc.field("cluster_id").isin(["b"])
LATER = pc.field("at") >= 5
# The rows of other clusters are kept, or the earlier ones of the cluster that is built.
OTHERS: tuple[Any, ...] = (~BUILT, lambda cluster: cluster != "b")
BEFORE: tuple[Any, ...] = (BUILT & ~LATER, lambda cluster: cluster == "b", lambda clusters: LATER)


def written(folder: Path, *files: list[Row]) -> ds.Dataset:
    folder.mkdir()
    for number, rows in enumerate(files):
        columns = {"cluster_id": pa.array([row[0] for row in rows], pa.string()), "at": pa.array([row[1] for row in rows], pa.int64())}
        pq.write_table(pa.table(columns), folder / f"part-{number}.parquet")
    return ds.dataset(folder, format="parquet")


def rows_in(folder: Path) -> list[Row]:
    rows = ds.dataset(sorted(map(str, folder.glob("*.parquet"))), format="parquet").to_table().to_pylist() if any(folder.iterdir()) else []
    return sorted(((row["cluster_id"], row["at"]) for row in rows), key=str)


def linked(folder: Path) -> int:
    return sum(file.stat().st_nlink > 1 for file in folder.iterdir())


@pytest.fixture(autouse=True)
def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "ROW_GROUP", 4)
    monkeypatch.setattr(steps, "FILE", 16)


@given(FILES)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_rows_that_are_kept_are_taken_over_whatever_the_files(tmp_path_factory: pytest.TempPathFactory, files: list[list[Row]]) -> None:
    place = tmp_path_factory.mktemp("rows")
    rows = written(place / "held", *files)
    every = [row for file in files for row in file]
    for name, how, wanted in (
        ("others", OTHERS, [row for row in every if row[0] != "b"]),
        ("before", (*BEFORE, pc.field("at") >= 3), [row for row in every if row[0] == "b" and row[1] < 5]),
    ):
        folder = place / name
        folder.mkdir()
        carried = carry(Carried(rows, place / "held", *how), folder, name, ["at"] if name == "before" else [])
        assert rows_in(folder) == sorted(wanted, key=str)
        assert carried == len(wanted)


def test_a_file_whose_rows_are_all_kept_is_linked_unless_it_is_small(tmp_path: Path) -> None:
    others, mixed, small = [("a", 1), ("a", 2), ("c", 3)], [("a", 1), ("b", 2), ("c", 3)], [("a", 1)]
    rows = written(tmp_path / "held", others, mixed, small)
    (tmp_path / "made").mkdir()
    carry(Carried(rows, tmp_path / "held", *OTHERS), tmp_path / "made", "others")
    # By its statistics the first file, from a to c, may also hold b.
    assert linked(tmp_path / "made") == 1
    rows = written(tmp_path / "sorted", [("a", 1), ("a", 2), ("a", 3)], [("b", 2), ("b", 3)], small)
    (tmp_path / "again").mkdir()
    carry(Carried(rows, tmp_path / "sorted", *OTHERS), tmp_path / "again", "others")
    assert (linked(tmp_path / "again"), len(list((tmp_path / "again").iterdir()))) == (1, 2)


@pytest.mark.parametrize(
    ("count", "order", "wanted"), [(3, ["at"], [4, 4, 4]), (4, ["at"], [16]), (6, ["at"], [4, 4, 16]), (4, [], [4, 4, 4, 4])]
)
def test_files_that_fill_one_become_one_where_readers_choose(tmp_path: Path, count: int, order: list[str], wanted: list[int]) -> None:
    files = [[("a", at) for at in (number, number + 10, number + 20, number + 30)] for number in range(count)]
    rows = written(tmp_path / "held", *files)
    (tmp_path / "made").mkdir()
    carry(Carried(rows, tmp_path / "held", *OTHERS), tmp_path / "made", "others", order)
    made = {file: pq.ParquetFile(file) for file in (tmp_path / "made").iterdir()}
    assert sorted(groups.metadata.num_rows for groups in made.values()) == wanted
    assert rows_in(tmp_path / "made") == sorted((row for rows in files for row in rows), key=str)
    for groups in made.values():
        assert groups.num_row_groups == groups.metadata.num_rows // 4
        assert groups.read()["at"].to_pylist() == sorted(groups.read()["at"].to_pylist())


@pytest.mark.parametrize("order", [[], ["cluster_id", "at"]])
def test_recent_rows_have_files_of_their_own_so_that_the_next_build_links_older_ones(tmp_path: Path, order: list[str]) -> None:
    def carried(held: Path, since: int, to: Path) -> None:
        to.mkdir()
        at = pc.field("at")
        carry(
            Carried(ds.dataset(held, format="parquet"), held, at < since, bool, lambda _: at >= since, at >= since - 3), to, "before", order
        )

    written(tmp_path / "held", [("b", at) for at in range(10)])
    carried(tmp_path / "held", 9, tmp_path / "first")
    assert sorted(pq.read_table(file)["at"].to_pylist() for file in (tmp_path / "first").iterdir()) == [[0, 1, 2, 3, 4, 5], [6, 7, 8]]
    carried(tmp_path / "first", 8, tmp_path / "second")
    assert rows_in(tmp_path / "second") == [("b", at) for at in range(8)] and linked(tmp_path / "second") == 1


def test_rows_of_a_delta_table_are_linked_by_the_names_of_its_log(tmp_path: Path) -> None:
    table, folder = tmp_path / "fct", tmp_path / "made"
    write_deltalake(str(table), pa.table({"cluster_id": ["b"] * 4, "at": [1, 2, 3, 4]}))
    write_deltalake(str(table), pa.table({"cluster_id": ["b"] * 4, "at": [3, 4, 5, 6]}), mode="append")
    folder.mkdir()
    rows = DeltaTable(str(table)).to_pyarrow_dataset()
    carry(Carried(rows, table, *BEFORE), folder, "before")
    assert linked(folder) == 1
    assert rows_in(folder) == [("b", 1), ("b", 2), ("b", 3), ("b", 3), ("b", 4), ("b", 4)]


def test_where_files_cannot_be_linked_they_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: Path, target: Path) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(Path, "hardlink_to", refused)
    rows = written(tmp_path / "held", [("a", 1), ("a", 2), ("a", 3)])
    (tmp_path / "made").mkdir()
    carry(Carried(rows, tmp_path / "held", *OTHERS), tmp_path / "made", "others")
    assert rows_in(tmp_path / "made") == [("a", 1), ("a", 2), ("a", 3)]


def test_what_is_written_anew_is_in_order_and_in_groups_that_are_skipped_together(tmp_path: Path) -> None:
    rows = written(tmp_path / "held", [("b", 4), ("b", 1), ("b", 3), ("b", 9), ("b", 2), ("b", 0)])
    (tmp_path / "made").mkdir()
    carry(Carried(rows, tmp_path / "held", *BEFORE), tmp_path / "made", "before", ["cluster_id", "at"])
    [file] = (tmp_path / "made").iterdir()
    groups = pq.ParquetFile(file)
    assert [groups.read_row_group(number)["at"].to_pylist() for number in range(groups.num_row_groups)] == [[0, 1, 2, 3], [4]]


def test_the_values_of_a_column_are_read_of_new_files_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    values_of = steps.values_of
    monkeypatch.setattr(steps, "values_of", lambda file, column: read.append(file.name) or values_of(file, column))

    def put(name: str, *values: str | None) -> None:
        pq.write_table(pa.table({"event_type": pa.array(values, pa.string())}), tmp_path / name)

    put("made.parquet", "a", "b", "a")
    put("none.parquet")
    assert values_in(tmp_path, "event_type") == {"a", "b"}
    (tmp_path / "kept.parquet").hardlink_to(tmp_path / "made.parquet")
    (tmp_path / "made.parquet").unlink()
    put("made.parquet", "c", None)
    assert values_in(tmp_path, "event_type") == {"a", "b", "c", None}
    (tmp_path / "kept.parquet").unlink()
    assert values_in(tmp_path, "event_type") == {"c", None}
    assert sorted(read) == ["made.parquet", "made.parquet", "none.parquet"]


def test_the_largest_value_of_a_column_is_known_with_statistics_and_without(tmp_path: Path) -> None:
    (tmp_path / "some").mkdir()
    values = pa.table({"batch_id": pa.array([3, None, 7], pa.int64())})
    pq.write_table(values, tmp_path / "some" / "1.parquet", row_group_size=1)
    pq.write_table(values.slice(0, 0), tmp_path / "some" / "2.parquet")
    assert largest(ds.dataset(tmp_path / "some", format="parquet"), "batch_id") == 7
    pq.write_table(pa.table({"batch_id": [9]}), tmp_path / "some" / "3.parquet", write_statistics=False)
    pq.write_table(pa.table({"batch_id": pa.array([None], pa.int64())}), tmp_path / "some" / "4.parquet")
    assert largest(ds.dataset(tmp_path / "some", format="parquet"), "batch_id") == 9
    assert largest(ds.dataset(tmp_path / "some" / "4.parquet", format="parquet"), "batch_id") is None
