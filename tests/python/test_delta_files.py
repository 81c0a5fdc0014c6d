"""What a commit says of files that are there already."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable, Schema, write_deltalake

from ingestion.delta_files import Added, add, statistics

COLUMNS = pa.schema(
    [
        ("cluster_id", pa.string()),
        ("started_date", pa.date32()),
        ("lines", pa.list_(pa.struct([("cluster_id", pa.string()), ("logged_date", pa.date32())]))),
    ]
)
MAY, JUNE = dt.date(2026, 5, 7), dt.date(2026, 6, 8)
Row = tuple[str | None, dt.date | None]


def written(file: Path, *rows: Row) -> Path:
    lines = [{"cluster_id": "other", "logged_date": dt.date(1999, 1, 1)}]
    of_rows = [{"cluster_id": cluster, "started_date": day, "lines": lines} for cluster, day in rows]
    pq.write_table(pa.Table.from_pylist(of_rows, COLUMNS), file, row_group_size=1)
    return file


def said(file: Path) -> tuple[dict[str, str], dict[str, str]]:
    found = statistics(pq.read_metadata(file))
    return found["minValues"], found["maxValues"]


def test_the_least_and_greatest_cluster_and_day_are_those_of_the_table_itself(tmp_path: Path) -> None:
    file = written(tmp_path / "rows.parquet", ("b", JUNE), ("a", MAY), (None, None))
    assert said(file) == ({"cluster_id": "a", "started_date": "2026-05-07"}, {"cluster_id": "b", "started_date": "2026-06-08"})


def test_nothing_is_said_of_columns_that_are_empty_or_have_no_statistics(tmp_path: Path) -> None:
    assert said(written(tmp_path / "nulls.parquet", ("a", None))) == ({"cluster_id": "a"}, {"cluster_id": "a"})
    assert said(written(tmp_path / "none.parquet")) == ({}, {})
    # Arrow leaves out what is longer than 4 KB; the other group's cluster is not all there is.
    assert said(written(tmp_path / "long.parquet", ("a", MAY), ("z" * 5000, MAY))) == (
        {"started_date": "2026-05-07"},
        {"started_date": "2026-05-07"},
    )


def test_rows_without_a_day_or_cluster_are_found_beside_files_that_are_left_out(tmp_path: Path) -> None:
    table = str(tmp_path / "table")
    DeltaTable.create(table, Schema.from_arrow(COLUMNS))
    files = [
        Added.moved(written(tmp_path / "one.parquet", ("a", MAY), (None, MAY)), table),
        Added.moved(written(tmp_path / "two.parquet", ("b", None), ("b", JUNE)), table),
    ]
    add(DeltaTable(table), files, "append", Schema.from_arrow(COLUMNS))
    one, two = (file.name for file in files)

    def replaced(where: str) -> set[Row]:
        write_deltalake(DeltaTable(table), COLUMNS.empty_table(), mode="overwrite", predicate=where)
        rows = DeltaTable(table).to_pyarrow_table(columns=["cluster_id", "started_date"]).to_pylist()
        return {(row["cluster_id"], row["started_date"]) for row in rows}

    assert replaced("cluster_id in ('b') and started_date is null") == {("a", MAY), (None, MAY), ("b", JUNE)}
    names = {Path(name).name for name in DeltaTable(table).file_uris()}
    assert one in names
    assert two not in names
    assert replaced("cluster_id is null") == {("a", MAY), ("b", JUNE)}
    assert replaced(f"cluster_id in ('a') and started_date >= date '{MAY}'") == {("b", JUNE)}
