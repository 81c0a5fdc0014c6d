"""Plans that are kept from build to build give the rows that the tables have now (`chronicle/spark/internals/kept_plans.py`)."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql.types import StructType

from chronicle.build.file_lists import FileLists
from chronicle.spark import own_classes
from chronicle.spark.internals.executions import noting
from chronicle.spark.internals.kept_plans import KeptPlans
from ingestion.warehouse import Warehouse
from tests.lab import set_to_build

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

# Never analysed, because the plan kept for the key is used.
NO_QUERY = "there is no such query"
# Reads a table twice, within a subquery and for a group that is a structure.
LINES = """
    with words as (select * from bronze.kept_words)
    select one.id, struct(one.id as number, one.word) as line, max(struct(other.word)) as most, count(*) as lines
    from words as one
    inner join words as other on one.id = other.id
    where one.id in (select id from bronze.kept_words where word <> 'c')
    group by all
"""


@pytest.fixture
def plans(spark: SparkSession) -> Iterator[KeptPlans]:
    with set_to_build(spark):
        plans = KeptPlans(spark)
        yield plans
        for name in ("kept_words", "kept_made"):
            plans.forget("bronze", name)
        spark.catalog.dropTempView("kept_view")


def hold(spark: SparkSession, plans: KeptPlans, folder: Path, rows: str, kind: str = "using parquet") -> None:
    """Replace the table of words by the rows of a query."""
    plans.forget("bronze", "kept_words")
    shutil.rmtree(folder, ignore_errors=True)
    spark.sql(f"create table bronze.kept_words {kind} location '{folder}' as {rows}")


def made(
    spark: SparkSession,
    plans: KeptPlans,
    key: str | None,
    folder: Path,
    rows: str,
    clusters: list[str] | None = None,
    since: dt.datetime | None = None,
) -> list[Row]:
    """Make a table by the plan that is kept for a key, or from a query, of some clusters, from a time on.  Returns its rows."""
    plans.forget("bronze", "kept_made")
    shutil.rmtree(folder, ignore_errors=True)
    plans.table(key, "create table bronze.kept_made using parquet", str(folder), rows, clusters, since)
    return spark.table("bronze.kept_made").collect()


@pytest.mark.parametrize("parts", ["", "partitioned by (id)"])
def test_spark_says_how_many_rows_it_wrote(spark: SparkSession, plans: KeptPlans, tmp_path: Path, parts: str) -> None:
    hold(spark, plans, tmp_path / "words", "select id % 3 as id, 'a' as word from range(7)")
    for where, rows in (("true", 7), ("id = 0", 3), ("id > 9", 0)):
        plans.forget("bronze", "kept_made")
        shutil.rmtree(tmp_path / "made", ignore_errors=True)
        query = f"select word, id from bronze.kept_words where {where}"
        assert plans.table(where, f"create table bronze.kept_made using parquet {parts}", str(tmp_path / "made"), query).rows == rows


def test_the_columns_of_a_view_are_those_of_its_plan(spark: SparkSession, plans: KeptPlans, tmp_path: Path) -> None:
    hold(spark, plans, tmp_path / "words", "select 1 as id, 'a' as word")
    plans.view("columns", "kept_view", "select *, size(array(id)) as lines from bronze.kept_words")
    columns = plans.columns("kept_view")
    assert columns and StructType.fromJson(json.loads(columns)) == spark.table("kept_view").schema
    assert plans.columns("no_view") is None


@pytest.mark.parametrize("place", ["words", "other words"])
def test_a_view_has_the_rows_of_now(spark: SparkSession, plans: KeptPlans, tmp_path: Path, place: str) -> None:
    hold(spark, plans, tmp_path / "words", "select 1 as id, 'a' as word")
    plans.view(f"view {place}", "kept_view", LINES)
    assert [row.lines for row in spark.table("kept_view").collect()] == [1]
    hold(spark, plans, tmp_path / place, "select 1 as id, 'a' as word union all select 2, 'b' union all select 3, 'c'")
    plans.view(f"view {place}", "kept_view", NO_QUERY)
    assert sorted(row.id for row in spark.table("kept_view").collect()) == [1, 2]


@pytest.mark.parametrize("place", ["words", "other words"])
def test_a_table_has_the_rows_of_now(spark: SparkSession, plans: KeptPlans, tmp_path: Path, place: str) -> None:
    hold(spark, plans, tmp_path / "words", "select 1 as id, 'a' as word")
    (row,) = made(spark, plans, f"table {place}", tmp_path / "made", LINES)
    assert (row.id, row.line.word, row.most.word, row.lines) == (1, "a", "a", 1)
    hold(spark, plans, tmp_path / place, "select 1 as id, 'b' as word union all select 1, 'a'")
    rows = made(spark, plans, f"table {place}", tmp_path / "made elsewhere", NO_QUERY)
    assert sorted((row.line.word, row.most.word, row.lines) for row in rows) == [("a", "b", 2), ("b", "b", 2)]
    assert list((tmp_path / "made elsewhere").glob("*.parquet"))


FIRST = "select struct('a' as text, 1 as length) as word, 1 as id"
SOME = "select id, word.text from bronze.kept_words where id > 0 and id < (select max(id) from bronze.kept_words)"


@pytest.mark.parametrize("kind", ["parquet", "parquet partitioned by (id)", "delta", "delta partitioned by (id)"])
def test_what_the_optimiser_knew_of_a_table_is_not_kept(spark: SparkSession, plans: KeptPlans, tmp_path: Path, kind: str) -> None:
    """Neither the files that a filter leaves, nor the values of partitions; it leaves out columns and fields that are not read.  Of a Delta table it
    reads the largest value in the log."""
    again = SOME if "delta" in kind else NO_QUERY
    hold(spark, plans, tmp_path / "words", f"{FIRST} union all select struct('b', 1), 2", f"using {kind}")
    assert made(spark, plans, kind, tmp_path / "made", SOME) == [(1, "a")]
    hold(
        spark, plans, tmp_path / "words", f"{FIRST} union all select struct('b', 1), 7 union all select struct('c', 1), 8", f"using {kind}"
    )
    assert sorted(made(spark, plans, kind, tmp_path / "made", again)) == [(1, "a"), (7, "b")]
    hold(spark, plans, tmp_path / "words", f"select * from ({FIRST}) where id > 1", f"using {kind}")
    assert made(spark, plans, kind, tmp_path / "made", again) == []


def test_a_table_that_is_read_by_its_list_of_files_has_the_rows_of_now(
    spark: SparkSession, plans: KeptPlans, tmp_path: Path, warehouse: str
) -> None:
    lists, folder = FileLists(spark, Warehouse.at(warehouse)), Path(Warehouse.at(warehouse).table("bronze", "kept_words"))
    try:
        for ids, query, expected in (("1, 2", SOME, [1]), ("1, 7, 8", NO_QUERY, [1, 7])):
            lists.forget()
            hold(spark, plans, folder, f"select struct('a' as text) as word, id from (select explode(array({ids})) as id)", "using delta")
            plans.forget("bronze", "kept_words")
            lists.show("bronze", "kept_words")
            assert sorted(row.id for row in made(spark, plans, "listed", tmp_path / "made", query)) == expected
    finally:
        lists.forget()
        shutil.rmtree(folder, ignore_errors=True)


def test_a_table_with_partitions_is_made_by_a_plan_that_is_kept(spark: SparkSession, plans: KeptPlans, tmp_path: Path) -> None:
    for texts, query in (("'a'", "select word, id from bronze.kept_words"), ("null", NO_QUERY)):
        hold(spark, plans, tmp_path / "words", f"select 1 as id, cast({texts} as string) as word")
        plans.forget("bronze", "kept_made")
        shutil.rmtree(tmp_path / "made", ignore_errors=True)
        plans.table("days", "create table bronze.kept_made using parquet partitioned by (word)", str(tmp_path / "made"), query)
        rows = spark.read.parquet(str(tmp_path / "made")).collect()
        assert [(row.id, row.word) for row in rows] == [(1, {"'a'": "a", "null": None}[texts])]


def test_a_plan_that_reads_the_clock_is_not_kept(spark: SparkSession, plans: KeptPlans, tmp_path: Path) -> None:
    hold(spark, plans, tmp_path / "words", "select 1 as id, 'a' as word")
    query = "select id, current_timestamp() as now from bronze.kept_words"
    first, second = (made(spark, plans, "clock", tmp_path / "made", query) for _ in range(2))
    assert first[0].now < second[0].now


def test_a_query_that_cannot_be_analysed_says_why(spark: SparkSession, plans: KeptPlans, tmp_path: Path) -> None:
    hold(spark, plans, tmp_path / "words", "select 1 as id, 'a' as word")
    with pytest.raises(AnalysisException, match=r"UNRESOLVED_COLUMN.*`missing`"):
        made(spark, plans, "missing", tmp_path / "made", "select missing from bronze.kept_words")


def test_analysis_is_timed_unless_the_plan_was_kept(spark: SparkSession, plans: KeptPlans, tmp_path: Path) -> None:
    hold(spark, plans, tmp_path / "words", "select 1 as id, 'a' as word")
    for place in ("one", "other"):
        took = plans.table("times", "create table bronze.kept_made using parquet", str(tmp_path / place), LINES)
        assert (took.analysis > 0, took.planning > 0) == (place == "one", True)
        plans.forget("bronze", "kept_made")


def test_other_columns_are_analysed_again(spark: SparkSession, plans: KeptPlans, tmp_path: Path) -> None:
    query = "select id + 1 as next from bronze.kept_words"
    hold(spark, plans, tmp_path / "words", "select 1 as id, 'a' as word")
    assert made(spark, plans, "columns", tmp_path / "made", query) == [(2,)]
    hold(spark, plans, tmp_path / "words", "select cast(1 as bigint) as id, 'a' as word")
    assert made(spark, plans, "columns", tmp_path / "made", query) == [(2,)]
    assert dict(spark.table("bronze.kept_made").dtypes) == {"next": "bigint"}


def test_what_reads_more_than_tables_is_not_kept(spark: SparkSession, plans: KeptPlans, tmp_path: Path) -> None:
    hold(spark, plans, tmp_path / "words", "select 1 as id, 'a' as word")
    query = f"select count(*) as lines from parquet.`{tmp_path}/words`"
    assert made(spark, plans, "path", tmp_path / "made", query) == [(1,)]
    hold(spark, plans, tmp_path / "words", "select 1 as id, 'a' as word union all select 2, 'b'")
    assert made(spark, plans, "path", tmp_path / "made", query) == [(2,)]


@pytest.mark.parametrize("has_own_classes", [True, False])
def test_what_is_forgotten_keeps_its_files(
    spark: SparkSession, plans: KeptPlans, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_own_classes: bool
) -> None:
    hold(spark, plans, tmp_path / "words", "select 1 as id, 'a' as word")
    spark.sql("create view bronze.kept_made as select * from bronze.kept_words")
    if not has_own_classes:
        monkeypatch.setattr(own_classes, "jar", lambda: tmp_path / "no.jar")
    plans = KeptPlans(spark)
    for name in ("kept_made", "kept_words", "kept_words"):
        plans.forget("bronze", name)
        assert not spark.catalog.tableExists(f"bronze.{name}")
    assert list((tmp_path / "words").glob("*.parquet"))


def test_without_our_own_classes_all_is_done_in_sql(
    spark: SparkSession, plans: KeptPlans, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold(spark, plans, tmp_path / "words", "select 1 as id, 'a' as word")
    monkeypatch.setattr(own_classes, "jar", lambda: tmp_path / "no.jar")
    in_sql = KeptPlans(spark)
    in_sql.view("sql", "kept_view", "select id from bronze.kept_words")
    assert made(spark, in_sql, "sql", tmp_path / "made", "select id + 1 as next from kept_view") == [(2,)]


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_table_is_made_of_the_rows_of_some_clusters_wherever_they_are_read(
    spark: SparkSession, plans: KeptPlans, tmp_path: Path, is_kept: bool
) -> None:
    """The kept plan is that of all clusters.  In a scalar subquery the column with the cluster is not used."""
    hold(
        spark,
        plans,
        tmp_path / "words",
        "select * from values ('a', 1, 'x'), ('a', 2, 'y'), ('b', 3, 'x'), ('c''s', 4, 'x') as t (cluster_id, id, word)",
    )
    query = """
        select one.cluster_id, one.id, other.id as last, (select max(id) from bronze.kept_words) as highest
        from bronze.kept_words as one
        inner join bronze.kept_words as other on one.word = other.word
    """
    key, again = ("clusters", NO_QUERY) if is_kept else (None, query)

    def rows(text: str, clusters: list[str] | None) -> list[tuple[object, ...]]:
        return sorted(map(tuple, made(spark, plans, key, tmp_path / "made", text, clusters)))

    every = [("a", 1, 1, 4), ("a", 1, 3, 4), ("a", 1, 4, 4), ("a", 2, 2, 4), ("b", 3, 1, 4), ("b", 3, 3, 4), ("b", 3, 4, 4)]
    every += [("c's", 4, 1, 4), ("c's", 4, 3, 4), ("c's", 4, 4, 4)]
    assert rows(query, ["b"]) == [("b", 3, 3, 3)]
    assert rows(again, ["a"]) == [("a", 1, 1, 2), ("a", 2, 2, 2)]
    assert rows(again, None) == every
    assert rows(again, ["c's", "b"]) == [("b", 3, 3, 4), ("b", 3, 4, 4), ("c's", 4, 3, 4), ("c's", 4, 4, 4)]
    assert rows(again, []) == []


NOON = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)
TIMES = """
    select id, timestamp(at) as at, date(day) as day from values
    (1, '2026-05-01 10:59:59', '2026-05-01'), (2, '2026-05-01 11:00:00', '2026-05-01'), (3, null, '2026-05-01'), (4, null, '2026-05-02')
    as t (id, at, day)
"""


@pytest.mark.parametrize("is_kept", [True, False])
@pytest.mark.parametrize(
    ("condition", "at_noon", "at_midnight"),
    [
        ("at >= chronicle_since('1 hour')", [2], [1, 2]),
        ("at >= chronicle_since('3601 seconds')", [1, 2], [1, 2]),
        ("not (at >= chronicle_since('1 hour'))", [1], []),
        ("day >= chronicle_since_day()", [1, 2, 3, 4], [1, 2, 3, 4]),
        # The beginning of the day counts.
        ("day >= chronicle_since('0 seconds')", [4], [1, 2, 3, 4]),
        ("at >= chronicle_since('1 hour') or (at is null and day >= chronicle_since('0 seconds'))", [2, 4], [1, 2, 3, 4]),
        ("id in (select max(id) from bronze.kept_words where at >= chronicle_since('12 hours 1 second'))", [2], [2]),
    ],
)
def test_a_plan_leaves_open_from_which_time_on_a_table_is_made(
    spark: SparkSession, plans: KeptPlans, tmp_path: Path, condition: str, at_noon: list[int], at_midnight: list[int], *, is_kept: bool
) -> None:
    hold(spark, plans, tmp_path / "words", TIMES)
    query = f"select id from bronze.kept_words where {condition}"
    key, again = (condition, NO_QUERY) if is_kept else (None, query)
    for text, since, expected in ((query, NOON, at_noon), (again, NOON.replace(hour=0), at_midnight), (again, NOON, at_noon)):
        assert sorted(row.id for row in made(spark, plans, key, tmp_path / "made", text, since=since)) == expected


@pytest.mark.parametrize(
    "condition",
    [
        "at >= chronicle_since('1 hour')",
        "day >= chronicle_since_day()",
        "at >= chronicle_since('1 hour') or (at is null and day >= chronicle_since('0 seconds'))",
    ],
)
def test_rows_before_that_time_are_not_read(spark: SparkSession, plans: KeptPlans, tmp_path: Path, condition: str) -> None:
    hold(spark, plans, tmp_path / "words", TIMES)
    query = f"select id, at, day from bronze.kept_words where {condition}"
    for text, since, expected in ((query, NOON, 4), (NO_QUERY, NOON + dt.timedelta(days=2), 0)):
        with noting(spark) as what:
            made(spark, plans, f"read {condition}", tmp_path / "made", text, since=since)
        # What was made is read, too.
        assert what.rows_read - spark.table("bronze.kept_made").count() == expected
