"""`make bench`: which rows of a table changed that were there before, and the key by which a row is known."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

from bench import measurements, run
from bench.changes import Change, changed, changes, keys_of, stretched
from bench.measurements import Row, Stand
from bench.run import Measured

OLD = {"cluster": ["a", "a", "b", None], "number": [1, 2, 1, 7], "count": [10, 20, 30, None], "evidence": [[1], [2], [], [7]]}
# The second row has another count and more evidence, the third other evidence; the fourth is gone, and there is a new one.
NEW = {"cluster": ["b", "a", "a", "c"], "number": [1, 1, 2, 1], "count": [30, 10, 21, 5], "evidence": [[3], [1], [2, 3], [9]]}


def parquet(folder: Path, rows: dict[str, list[object]]) -> Path:
    folder.mkdir(parents=True)
    pq.write_table(pa.table(rows), folder / "part.parquet")
    return folder


def delta(folder: Path, rows: dict[str, list[object]]) -> Path:
    write_deltalake(folder, pa.table(rows))
    return folder


@pytest.mark.parametrize("make", [parquet, delta])
def test_changed_columns_are_counted_by_key(tmp_path: Path, make: object) -> None:
    before, after = make(tmp_path / "before" / "steps", OLD), make(tmp_path / "after" / "steps", NEW)  # type: ignore[operator]
    change = changed(before, after, ["cluster", "number"])
    assert change == Change("steps", 4, 2, 1, {"evidence": 2, "count": 1})
    assert change.says == "evidence 2, count 1"


def test_without_a_key_rows_that_are_no_longer_as_they_were_are_gone(tmp_path: Path) -> None:
    before, after = parquet(tmp_path / "before", OLD), parquet(tmp_path / "after", NEW)
    for key in ([], ["cluster"], ["no_such_column"]):
        assert changed(before, after, key) == Change("before", 4, 0, 3, {})


def test_rows_that_are_twice_in_a_table_without_a_key_count_twice(tmp_path: Path) -> None:
    before, after = parquet(tmp_path / "before", {"a": [1, 1, 2]}), parquet(tmp_path / "after", {"a": [1, 2, 3]})
    assert changed(before, after, []).gone == 1


def test_all_stored_tables_are_compared_but_not_bronze(tmp_path: Path) -> None:
    for side, rows in (("before", OLD), ("after", NEW)):
        parquet(tmp_path / side / "intermediate" / "int_things", rows)
        delta(tmp_path / side / "marts" / "fct_things", rows)
        delta(tmp_path / side / "bronze" / "log_records", rows)
    parquet(tmp_path / "before" / "staging" / "stg_gone", OLD)
    assert [change.table for change in changes(tmp_path / "before", tmp_path / "after")] == ["int_things", "fct_things"]


def test_the_key_is_that_of_the_test_else_a_unique_column_else_the_grain(tmp_path: Path) -> None:
    (tmp_path / "models.yml").write_text(
        """
models:
  - name: of_test
    data_tests: [sound, {unique_key: {arguments: {columns: [a, b]}}}]
    columns: [{name: c, data_tests: [unique]}]
  - name: of_column
    config: {meta: {grain: [a, b]}}
    columns: [{name: b, data_tests: [not_null]}, {name: c, data_tests: [{accepted_values: {}}, unique]}]
  - name: of_grain
    config: {meta: {grain: [a, b]}}
  - name: of_nothing
"""
    )
    (tmp_path / "empty.yml").write_text("")
    assert keys_of(tmp_path) == {"of_test": ["a", "b"], "of_column": ["c"], "of_grain": ["a", "b"], "of_nothing": []}


def test_real_logs_are_stretched_and_cut_before_their_last_day(tmp_path: Path) -> None:
    logs, later = stretched(Stand(tmp_path), 30)
    names = {path.name for path in logs.iterdir()}
    assert len(names) > 5
    assert {path.name for path in later.iterdir()} <= names
    first = [text for path in logs.rglob("*") if path.is_file() for text in [path.read_text("utf-8", "replace")]]
    assert all("2026-01-20 00:" <= text.lstrip("[")[:14] < "2026-02-19" for text in first)
    last = [text for path in later.rglob("*") if path.is_file() for text in [path.read_text("utf-8", "replace")]]
    assert last
    assert all("2026-02-19" <= text.lstrip("[")[:10] <= "2026-02-20" for text in last)


def test_the_page_has_a_table_of_its_own_for_changes() -> None:
    run.load()
    row = Row("fct_things", "1 day on 30 days of one broker", rows=4000, changed=2, gone=1, says="evidence 2")
    text = run.page([Measured("rows_that_change", ["one broker", 30], 2, "2026-11-01", "c01", [row])])
    assert "| table | of | rows before | changed | gone | columns, with the rows in which they differ |" in text
    assert "| fct_things | 1 day on 30 days of one broker | 4,000 | 2 | 1 | evidence 2 |" in text
    assert "| what | of | cores |" not in text
    assert measurements.MEASUREMENTS["rows_that_change"].table in run.FORMS
