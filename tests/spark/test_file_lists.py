"""Delta tables are read by lists of their files (`chronicle/build/file_lists.py`) as Delta itself reads them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from chronicle.build.file_lists import LIST, FileLists
from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DAYS = [dt.date(2026, 3, day) for day in (1, 2, 3)]
TEN = dt.time(10, 0, 0, 500)
QUERIES = (
    "select * from {t}",
    "select count(*) from {t}",
    "select id from {t} where event_date = date'2026-03-02'",
    "select id from {t} where event_date in (date'2026-03-01', date'2026-03-03') and id > 1",
    "select id from {t} where event_date is null",
    "select id from {t} where event_date > date'2026-03-01'",
    "select id from {t} where event_date >= date'2026-03-02'",
    "select id from {t} where logged_at >= timestamp'2026-03-02 10:00:00.000400'",
    "select id from {t} where logged_at = timestamp'2026-03-02 10:00:00.000500'",
    "select id from {t} where logged_at >= cast(null as timestamp)",
    "select id from {t} where logged_at is null",
    "select id from {t} where batch_id > 10",
    "select id from {t} where batch_id = 11 or batch_id > 19",
    "select id from {t} where batch_id > cast(null as bigint)",
    "select event_date, sum(size(places)) from {t} group by event_date",
    "select a.id, b.id from {t} a join {t} b on a.event_date = b.event_date",
)


def rows(start: int, days: list[dt.date | None]) -> pa.Table:
    numbers = list(range(start, start + len(days)))
    return pa.table(
        {
            "id": pa.array(numbers, pa.int64()),
            "batch_id": pa.array(numbers, pa.int64()),
            "event_date": pa.array(days, pa.date32()),
            # Half a millisecond after ten, which statistics truncate.
            "logged_at": pa.array([day and dt.datetime.combine(day, TEN, dt.UTC) for day in days], pa.timestamp("us", "UTC")),
            "places": pa.array([[{"path": f"/a {number}", "at": number}] for number in numbers]),
        }
    )


def plain(found: DataFrame) -> list[str]:
    """Rows sorted by their values; the columns of a partitioned table may come in another order."""
    return sorted(str(sorted(zip(found.columns, row, strict=True), key=str)) for row in found.collect())


@pytest.fixture(params=["plain", "parted"])
def table(request: pytest.FixtureRequest, spark: SparkSession, warehouse: str) -> Iterator[str]:
    """Name of a Delta table of three commits, the second of which replaced a day."""
    name, parts = f"listed_{request.param}", ["event_date"] if request.param == "parted" else None
    path = Warehouse.at(warehouse).table("bronze", name)
    write_deltalake(path, rows(0, [*DAYS, None]), partition_by=parts, mode="overwrite")
    write_deltalake(path, rows(10, [DAYS[1], DAYS[1]]), partition_by=parts, mode="overwrite", predicate="event_date = '2026-03-02'")
    write_deltalake(path, rows(20, [DAYS[2]]), partition_by=parts, mode="append")
    yield name
    spark.sql(f"drop table if exists bronze.{name}")


@pytest.mark.parametrize("query", QUERIES)
def test_a_list_gives_the_rows_that_delta_gives(spark: SparkSession, warehouse: str, table: str, query: str) -> None:
    place = Warehouse.at(warehouse)
    wanted = plain(spark.sql(query.format(t=f"delta.`{place.table('bronze', table)}`")))
    lists = FileLists(spark, place)
    try:
        name = lists.show("bronze", table)
        assert spark.conf.get(f"{LIST}bronze.{table}")
        found = spark.sql(query.format(t=name))
        assert plain(found) == wanted
        assert "PreparedDeltaFileIndex" not in str(found._jdf.queryExecution().executedPlan())
    finally:
        lists.forget()


def test_a_newer_version_is_read_once_it_is_shown(spark: SparkSession, warehouse: str, table: str) -> None:
    place = Warehouse.at(warehouse)
    lists = FileLists(spark, place)
    try:
        name = lists.show("bronze", table, known_as="other")
        assert name == "bronze.`other`"
        write_deltalake(place.table("bronze", table), rows(30, [DAYS[0]]), mode="append")
        assert spark.table("bronze.other").count() == 6
        lists.show("bronze", table, known_as="other")
        assert spark.table("bronze.other").count() == 7
    finally:
        lists.forget()
    assert "other" not in {row.tableName for row in spark.sql("show tables in bronze").collect()}


def test_other_files_in_the_folder_are_not_read(spark: SparkSession, warehouse: str, table: str) -> None:
    """Files of earlier versions stay in a table's folder until they are vacuumed."""
    place = Warehouse.at(warehouse)
    held = DeltaTable(place.table("bronze", table))
    on_disk = [path for path in Path(place.table("bronze", table)).rglob("*.parquet") if "_delta_log" not in path.parts]
    assert len(on_disk) > len(held.file_uris())
    lists = FileLists(spark, place)
    try:
        files = spark.table(lists.show("bronze", table)).selectExpr("input_file_name() as file").distinct()
        assert files.count() == len(held.file_uris())
    finally:
        lists.forget()


@pytest.mark.parametrize("condition", ["logged_at >= timestamp'2026-03-02 10:00:00.000500'", "batch_id > 1"])
def test_files_of_other_times_and_batches_are_not_read(spark: SparkSession, warehouse: str, condition: str) -> None:
    place = Warehouse.at(warehouse)
    path = place.table("bronze", "listed_times")
    for day in DAYS:
        write_deltalake(path, rows(day.day, [day]), mode="append" if day.day > 1 else "overwrite")
    lists = FileLists(spark, place)
    try:
        found = spark.sql(f"select id from {lists.show('bronze', 'listed_times')} where {condition}")
        assert sorted(row.id for row in found.collect()) == [2, 3]
        scan = found._jdf.queryExecution().executedPlan().collectLeaves().head()
        assert scan.metrics().apply("numFiles").value() == 2
    finally:
        lists.forget()


def test_a_file_that_has_vanished_is_an_error_and_not_missing_rows(spark: SparkSession, warehouse: str, table: str) -> None:
    place = Warehouse.at(warehouse)
    lists = FileLists(spark, place)
    try:
        name = lists.show("bronze", table)
        Path(DeltaTable(place.table("bronze", table)).file_uris()[0]).unlink()
        with pytest.raises(Exception, match=r"FAILED_READ_FILE|does not exist"):
            spark.table(name).collect()
    finally:
        lists.forget()
