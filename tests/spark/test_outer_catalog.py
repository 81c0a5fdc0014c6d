"""Published tables in a schema of another catalog: registered once, removed with their tables, and other people's tables stay untouched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from chronicle.spark.outer_catalog import CannotRegister, is_below, is_same, register

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMES = [("marts", "fct_one"), ("reports", "rpt_two")]


@pytest.fixture
def root(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    """A warehouse of two tables, and an empty schema."""
    for schema, name in NAMES:
        spark.sql(f"select 7 as seven, '{name}' as name").write.format("delta").save(str(tmp_path / schema / name))
    spark.sql(f"create schema others location '{tmp_path}/others'")
    yield str(tmp_path)
    spark.sql("drop schema others cascade")


def known(spark: SparkSession) -> list[str]:
    return sorted(row.tableName for row in spark.sql("show tables in others").collect() if not row.isTemporary)


def test_tables_are_known_under_their_names(spark: SparkSession, root: str) -> None:
    assert register(spark, NAMES, root, "others") == (["others.fct_one", "others.rpt_two"], [])
    assert spark.sql("select seven, name from others.fct_one").collect() == [(7, "fct_one")]
    assert register(spark, NAMES, f"file:{root}", "others") == (["others.fct_one", "others.rpt_two"], [])
    assert register(spark, NAMES, root, "spark_catalog.others")[1] == []
    assert known(spark) == ["fct_one", "rpt_two"]


def test_tables_that_are_no_more_go(spark: SparkSession, root: str) -> None:
    register(spark, NAMES, root, "others")
    spark.sql(f"create table others.theirs (id int) using parquet location '{root}-theirs'")
    spark.sql("create view others.seen as select 1 as one")
    assert register(spark, NAMES[:1], root, "others") == (["others.fct_one"], ["others.rpt_two"])
    assert known(spark) == ["fct_one", "seen", "theirs"]
    # The table itself stays where it is.
    assert Path(root, "reports", "rpt_two", "_delta_log").is_dir()


def test_what_somebody_else_has_named_so_stays(spark: SparkSession, root: str) -> None:
    spark.sql(f"create table others.rpt_two (id int) using parquet location '{root}-theirs'")
    with pytest.raises(CannotRegister, match=r"others\.rpt_two is a table at .*theirs, not .*rpt_two"):
        register(spark, NAMES, root, "others")


def test_a_schema_is_made_by_its_owner(spark: SparkSession, root: str) -> None:
    with pytest.raises(CannotRegister, match="no schema nowhere; make it there"):
        register(spark, NAMES, root, "nowhere")


def test_places_are_compared_by_what_they_are() -> None:
    assert is_same("file:/a/b", "/a/b") and is_same("file:///a/b/", "/a/b") and is_same("s3a://bucket/a", "s3://bucket/a")
    assert not is_same("s3://bucket/a", "s3://other/a") and not is_same("s3://bucket/a", "/a") and not is_same("", "/a")
    assert is_below("file:/a/b/c", "/a/b") and not is_below("/a/bc", "/a/b") and not is_below("", "/a/b")
