"""Queries over few bytes run in one task (`chronicle/spark/jvm/OneTask.scala`), those over many rows use generated code; rows stay the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from chronicle.build.dbt_runs import ONE_TASK, WHILE_BUILDING
from chronicle.build.generated_code import CODE, MANY_ROWS, GeneratedCode
from chronicle.spark.internals.java_objects import session_of
from ingestion.warehouse import rows_of
from tests.lab import set_to_build

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERIES = {
    "joins of all kinds": """
        select a.id, b.kind, c.kind as other from few.orders a join few.kinds b on a.kind = b.kind left join few.kinds c on a.id = c.id
        union all select a.id, b.kind, null from few.orders a full join few.kinds b on a.id = b.id""",
    "semi and anti joins": """
        select id from few.orders a where exists (select 1 from few.kinds b where b.kind = a.kind and b.id > 3)
        union all select id from few.orders a where not exists (select 1 from few.kinds b where b.kind = a.kind)""",
    "a join with a condition": "select a.id, b.id as before from few.orders a left join few.kinds b on a.kind = b.kind and b.id < a.id",
    "no equality to join by": "select a.id, b.id as before from few.orders a join few.kinds b on b.id < a.id",
    "an anti join that minds nulls": "select id from few.orders where id not in (select id from few.kinds where id > 4)",
    "windows over aggregates": """
        select kind, number, row_number() over (order by number desc, kind) as place, lag(number) over (order by kind) as before
        from (select kind, count(*) as number, count(distinct id) as ids from few.orders group by kind)""",
    "lists in order": "select kind, sort_array(collect_set(id)) as ids, max_by(id, id) as last from few.orders group by kind",
    "aggregates of some rows each": """
        select kind, count(*) filter (where id > 30) as late, sum(id) filter (where id < 30) as early, min(id) as first from few.orders group by kind""",
    "aggregates of texts, sorted": "select id % 3 as third, max(kind) as last, min_by(kind, struct(id, kind)) as first from few.orders group by id % 3",
    "objects of some rows": """
        select kind, size(collect_list(id) filter (where id % 2 = 0)) as even, percentile_approx(id, 0.5) as middle, count(*) as number
        from few.orders group by kind""",
    "an aggregate of all rows": "select count(*) as number, max(kind) as last, array_sort(collect_set(kind)) as kinds from few.orders",
    "distinct and not": "select kind, count(distinct id % 4) as fourths, sum(id) as total, max(kind) as last from few.orders group by kind",
    "several that are distinct": "select count(distinct kind) as kinds, count(distinct id) as ids, sum(id) as total from few.orders",
    "an aggregate of aggregates": """
        select number, count(*) as kinds from (select kind, count(*) as number from few.orders group by kind) group by number""",
    "one row of many": "select id from few.orders order by kind, id limit 3",
    "a query within": "select id, (select max(id) from few.kinds) as most from few.orders where id > (select min(id) from few.kinds)",
    "an aggregate over tables of several sizes": """
        select count(*), sum(number), max(place) from (
            select kind, number, row_number() over (partition by kind order by id) as place from (
                select kind, id, count(*) as number from few.orders group by kind, id
                union all select kind, id, count(*) as number from few.kinds group by kind, id))""",
    "two tables that are counted and compared": """
        select count(*), sum(e) from (select kind, sum(e) as e, sum(f) as f from (
            select kind, count(*) as e, 0 as f from few.orders group by kind
            union all select kind, 0 as e, count(*) as f from few.kinds group by kind) group by kind) where e <> f""",
    "windows over counts of several tables": """
        select number, sum(number) over (order by number) as so_far, count(*) over () as rows from (
            select count(*) as number from few.orders union all select count(*) from few.kinds)""",
    "windows of one order": """
        select kind, id, place, max(place) over (partition by kind order by id, day) as most from (
            select *, row_number() over (partition by kind, id order by day) as place from (
                select kind, id, explode(array(3, 1, 2)) as day from few.orders))""",
    "a window over a join with a window": """
        select id, place, other, max(place) over (partition by other order by id, day) as most from (
            select a.id, a.day, a.place, b.id as other
            from (
                select kind, id, day, row_number() over (partition by kind order by id, day) as place from (
                    select kind, id, explode(array(3, 1, 2)) as day from few.orders)) a
            join few.kinds b on a.kind = b.kind)""",
    # Beyond 128 groups Spark writes what it has aside, and merges it in the end.
    "sets of rows, for many groups": """
        select day, size(collect_set(struct(id % 2 as half, array(kind) as kinds))) as number
        from (select *, explode(sequence(1, 300)) as day from few.orders) group by day""",
    "no rows": "select a.kind, count(*) from few.orders a join few.kinds b on a.id = b.id where a.id > 1000 group by a.kind",
}


@pytest.fixture(scope="module")
def few(spark: SparkSession, warehouse: str) -> Iterator[SparkSession]:
    spark.sql(f"create schema if not exists few location '{warehouse}/few'")
    # Several files each, so that there are partitions to merge.
    spark.range(0, 60, 1, 5).selectExpr("id", "concat('k', id % 7) as kind").write.saveAsTable("few.orders", format="parquet")
    spark.range(0, 9, 1, 3).selectExpr("id", "if(id = 4, null, concat('k', id)) as kind").write.saveAsTable("few.kinds", format="parquet")
    with set_to_build(spark):
        yield spark
    spark.sql("drop schema few cascade")


def stages_of(spark: SparkSession, query: str, folder: Path) -> tuple[list[tuple[object, ...]], int]:
    """The rows of a query written as a table, and the stages that Spark ran for it."""
    spark.sparkContext.setJobGroup(folder.name, query)
    try:
        spark.sql(f"create table few.made using parquet location '{folder}' as {query}")
        tracker = spark.sparkContext.statusTracker()
        jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(folder.name)]
        ran = sum(len(job.stageIds) for job in jobs if job)
        return sorted(map(tuple, spark.table("few.made").collect()), key=str), ran
    finally:
        spark.sql("drop table if exists few.made")
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", QUERIES)
def test_one_task_gives_the_same_rows(few: SparkSession, name: str, tmp_path: Path) -> None:
    few.conf.set(ONE_TASK, "0")
    wanted, before = stages_of(few, QUERIES[name], tmp_path / f"{name} in several")
    few.conf.set(ONE_TASK, WHILE_BUILDING[ONE_TASK])
    found, now = stages_of(few, QUERIES[name], tmp_path / f"{name} in one")
    assert found == wanted
    assert now <= before
    if name in ("joins of all kinds", "semi and anti joins", "a join with a condition", "windows over aggregates", "lists in order"):
        assert now == 1 < before


def planned(spark: SparkSession, query: str, most: str = WHILE_BUILDING[ONE_TASK]) -> str:
    """The plan of a query, if it may read so many bytes in one task."""
    spark.conf.set(ONE_TASK, most)
    try:
        return str(session_of(spark).sql(query).queryExecution().executedPlan())
    finally:
        spark.conf.set(ONE_TASK, WHILE_BUILDING[ONE_TASK])


@pytest.mark.parametrize(
    ("name", "aggregates"),
    [
        ("aggregates of some rows each", 1),
        ("aggregates of texts, sorted", 1),
        ("objects of some rows", 1),
        ("an aggregate of aggregates", 2),
    ],
)
def test_an_aggregate_is_one_step(few: SparkSession, name: str, aggregates: int) -> None:
    """Spark plans two, with an exchange between them."""
    assert planned(few, QUERIES[name]).count("Aggregate(") == aggregates
    assert planned(few, QUERIES[name], "0").count("Aggregate(") == 2 * aggregates


def test_rows_are_brought_together_once_and_sorted_once(few: SparkSession) -> None:
    """Spark brings rows together by the key of each window, also where there is one partition, and sorts them again after that."""

    def operators(most: str) -> Counter[str]:
        return Counter(re.findall(r" (Sort|Exchange) ", planned(few, QUERIES["windows of one order"], most)))

    assert operators("0") == {"Sort": 2, "Exchange": 2}
    assert operators(WHILE_BUILDING[ONE_TASK]) == {"Sort": 1}
    # Too much for one task.
    assert operators("100") == {"Sort": 1, "Exchange": 1}


@pytest.mark.parametrize("most", ["smaller", "larger"])
def test_parts_of_a_plan_may_read_too_much(few: SparkSession, warehouse: str, most: str, tmp_path: Path) -> None:
    """First only one table is small enough; then each is, but not both together."""
    sizes = sorted(sum(file.stat().st_size for file in Path(warehouse, "few", name).glob("*.parquet")) for name in ("orders", "kinds"))
    bytes_allowed = {"smaller": sizes[0], "larger": sizes[1]}[most]
    assert sizes[0] < sizes[1]
    for name, query in QUERIES.items():
        few.conf.set(ONE_TASK, "0")
        wanted, _ = stages_of(few, query, tmp_path / f"{name} in several")
        few.conf.set(ONE_TASK, str(bytes_allowed))
        try:
            assert stages_of(few, query, tmp_path / f"{name} up to {most}")[0] == wanted, name
        finally:
            few.conf.set(ONE_TASK, WHILE_BUILDING[ONE_TASK])


def test_what_reads_more_keeps_its_exchanges(few: SparkSession, tmp_path: Path) -> None:
    few.conf.set(ONE_TASK, "0")
    _, before = stages_of(few, QUERIES["joins of all kinds"], tmp_path / "several")
    few.conf.set(ONE_TASK, "100")
    try:
        _, now = stages_of(few, QUERIES["joins of all kinds"], tmp_path / "too much for one")
    finally:
        few.conf.set(ONE_TASK, WHILE_BUILDING[ONE_TASK])
    assert now == before


def test_code_is_compiled_while_something_large_is_read(few: SparkSession) -> None:
    code = GeneratedCode(few)

    def is_on() -> bool:
        return all(few.conf.get(key) == value for key, value in CODE.items())

    with code.where_worth_it(MANY_ROWS):
        assert not is_on()
    with code.where_worth_it(MANY_ROWS + 1):
        assert is_on()
        with code.where_worth_it(MANY_ROWS + 1):
            pass
        # The other statement still runs.
        assert is_on()
    assert not is_on()


def test_rows_are_those_of_the_newest_version(few: SparkSession, tmp_path: Path) -> None:
    assert rows_of(tmp_path / "nothing") == 0
    for rows in (1000, 7):
        few.range(rows).write.format("delta").mode("overwrite").save(str(tmp_path / "delta"))
        few.range(rows).write.mode("overwrite").parquet(str(tmp_path / "parquet"))
        assert rows_of(tmp_path / "delta") == rows_of(tmp_path / "parquet") == rows


def test_many_steps_find_room_in_one_task(few: SparkSession) -> None:
    """Each sort and each sum takes a page of the task's memory before its first row."""

    def joined(first: int, last: int) -> str:
        if first == last:
            return f"(select id, sum(id + {first}) as total from few.orders group by id)"
        middle = (first + last) // 2
        one, other = joined(first, middle), joined(middle + 1, last)
        return f"(select one.id, one.total + other.total as total from {one} one join {other} other on one.id = other.id)"

    before = few.conf.get("spark.sql.autoBroadcastJoinThreshold")
    few.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    try:
        row = few.sql(f"select count(*) as rows, sum(total) as total from {joined(0, 127)}").first()
    finally:
        few.conf.set("spark.sql.autoBroadcastJoinThreshold", before)
    # 128 times the sum of 0 to 59, and 60 times the sum of 0 to 127.
    assert (row.rows, row.total) == (60, 128 * 1770 + 60 * 8128)
