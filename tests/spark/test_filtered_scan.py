"""Rows of files are chosen before they are copied (`chronicle/spark/jvm/FilteredScan.scala`); they stay the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from chronicle.build.dbt_runs import WHILE_BUILDING
from chronicle.spark.internals.java_objects import session_of
from tests.lab import set_to_build

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = """
    select
        id,
        if(id % 3 = 0, null, concat('k', id % 4)) as kind,
        cast(id as decimal(20, 3)) as price,
        timestamp'2026-01-01' + make_interval(0, 0, 0, id) as at,
        if(id % 5 = 0, null, struct(id as number, array(id, null) as others)) as line,
        map('a', concat('v', id)) as fields,
        date'2026-01-01' + cast(id % 2 as int) as day
    from range(40)
"""
CONDITIONS = {
    "a text": "kind = 'k1'",
    "a null": "kind is null",
    "several": "kind in ('k1', 'k3') and price > 7",
    "a field": "line.number > 20 and size(line.others) = 2",
    "a map": "fields['a'] like 'v1%'",
    "a lambda": "exists(line.others, x -> x > 30)",
    "a time": "at < timestamp'2026-01-09' or day = date'2026-01-02'",
    "a partition": "day = date'2026-01-02' and id > 7",
    "none": "id > 1000",
}


@pytest.fixture(scope="module")
def lines(spark: SparkSession, warehouse: str) -> Iterator[SparkSession]:
    spark.sql(f"create schema if not exists filtered location '{warehouse}/filtered'")
    spark.sql(f"create table filtered.lines using parquet as {ROWS}")
    spark.sql(f"create table filtered.days using parquet partitioned by (day) as {ROWS}")
    with set_to_build(spark):
        yield spark
    spark.sql("drop schema filtered cascade")


def asked(spark: SparkSession, query: str, *, has_code: bool = False) -> tuple[str, list[str]]:
    """The plan of a query and its rows, with generated code or without."""
    spark.conf.set("spark.sql.codegen.wholeStage", str(has_code).lower())
    try:
        plan = str(session_of(spark).sql(query).queryExecution().executedPlan())
        return plan, sorted(str(row) for row in spark.sql(query).collect())
    finally:
        spark.conf.set("spark.sql.codegen.wholeStage", WHILE_BUILDING["spark.sql.codegen.wholeStage"])


@pytest.mark.parametrize("table", ["lines", "days"])
@pytest.mark.parametrize("name", CONDITIONS)
def test_rows_that_are_chosen_first_are_those_that_a_filter_leaves(lines: SparkSession, table: str, name: str) -> None:
    query = f"select * from filtered.{table} where {CONDITIONS[name]}"
    (plan, found), (with_code, wanted) = asked(lines, query), asked(lines, query, has_code=True)
    assert "FilteredScan" in plan and "Filter (" not in plan
    assert "FilteredScan" not in with_code
    assert found == wanted and (name == "none") == (wanted == [])


def test_files_are_chosen_by_partition(lines: SparkSession) -> None:
    query = "select id, kind from filtered.days where day = date'2026-01-02' and kind = 'k1'"
    assert "PartitionFilters: [isnotnull(day" in asked(lines, query)[0]
    assert [row.id for row in lines.sql(query).collect()] == sorted(id_ for id_ in range(1, 40, 2) if id_ % 3 and id_ % 4 == 1)


@pytest.mark.parametrize("table", ["lines", "days"])
def test_a_query_within_a_filter_stays_there(lines: SparkSession, table: str) -> None:
    """Spark runs it before it runs the filter."""
    query = f"select id from filtered.{table} where day = (select max(day) from filtered.lines) and id > 30"
    (plan, found), (_, wanted) = asked(lines, query), asked(lines, query, has_code=True)
    assert "FilteredScan" not in plan.split("Subquery")[0]
    assert found == wanted == [f"Row(id={number})" for number in range(31, 40, 2)]


def test_rows_that_are_kept_for_later_are_copies(lines: SparkSession) -> None:
    """A reader of Parquet gives each row in the same place."""
    query = "select a.id, b.id as other from filtered.lines a join filtered.lines b on a.kind = b.kind where a.id > 20 and b.id < 20 order by 1, 2"
    (plan, found), (_, wanted) = asked(lines, query), asked(lines, query, has_code=True)
    assert plan.count("FilteredScan") == 2
    assert found == wanted and len(found) > 10
