"""The views and tables of a build in a session (`chronicle/build/session_tables.py`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from chronicle.build.session_tables import SessionTables, in_sql
from tests.lab import set_to_build

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME = "made_words"


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SessionTables]:
    with set_to_build(spark):
        session = SessionTables(spark)
        yield session
        session.drop("bronze", NAME)
        spark.catalog.dropTempView("words")


def words(spark: SparkSession, folder: Path, *texts: str) -> Path:
    spark.createDataFrame([(text,) for text in texts], "word string").write.mode("overwrite").parquet(str(folder))
    return folder


def test_a_table_replaces_a_view_and_a_view_a_table(spark: SparkSession, session: SessionTables, tmp_path: Path) -> None:
    found = []
    for _ in range(2):
        session.view("bronze", NAME, "select 'of a view' as word")
        found.append(spark.table(f"bronze.{NAME}").first())
        session.table("bronze", NAME, words(spark, tmp_path / "words", "of a table"), "word string")
        found.append(spark.table(f"bronze.{NAME}").first())
    assert [row and row.word for row in found] == ["of a view", "of a table"] * 2


def test_what_the_session_had_before_is_replaced_too(spark: SparkSession, session: SessionTables, tmp_path: Path) -> None:
    session.view("bronze", NAME, "select 1 as number")
    later = SessionTables(spark)
    later.table("bronze", NAME, words(spark, tmp_path / "words", "a", "b"), "word string")
    assert spark.table(f"bronze.{NAME}").count() == 2
    later.drop("bronze", NAME)
    later.drop("bronze", NAME)
    assert not spark.catalog.tableExists(f"bronze.{NAME}")


@pytest.mark.parametrize("columns", ["word string", ""])
def test_a_table_has_the_rows_that_its_folder_has_when_it_is_registered(
    spark: SparkSession, session: SessionTables, tmp_path: Path, columns: str
) -> None:
    for texts in (["a"], ["b", "c"]):
        session.table("bronze", NAME, words(spark, tmp_path / "words", *texts), columns)
        assert sorted(row.word for row in spark.table(f"bronze.{NAME}").collect()) == texts


def test_a_view_has_the_rows_of_its_query(spark: SparkSession, session: SessionTables, tmp_path: Path) -> None:
    session.table("bronze", NAME, words(spark, tmp_path / "words", "a", "b"), "word string")
    columns = session.temporary_view("words", f"with given as (select * from bronze.{NAME}) select a.word from given as a, given as b")
    assert in_sql(columns) == "`word` string"
    rows = spark.sql("with twice as (select * from words) select word, count(*) as n from twice group by word")
    assert sorted((row.word, row.n) for row in rows.collect()) == [("a", 2), ("b", 2)]
