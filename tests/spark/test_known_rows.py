"""Relations known to be empty, and files of small tables, leave the plan during analysis (`chronicle/spark/jvm/KnownRows.scala`), and answers stay the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.dataset as ds
import pytest

from chronicle.build.needs import Needs, is_met

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVENTS, NOTHING, FEW = "known.events", "known.nothing", "known.few"
SETTINGS = {f"chronicle.rows.{EVENTS}": "kind=born,died", f"chronicle.rows.{NOTHING}": "none", f"chronicle.rows.{FEW}": "view rows_of_few"}
# Query → whether the plan still reads anything of the tables.
QUERIES = {
    f"select * from {EVENTS} where kind = 'born'": True,
    f"select * from {EVENTS} where kind in ('moved', 'died')": True,
    f"select * from {EVENTS} where kind in ('moved', 'wed')": False,
    f"select * from {EVENTS} where id > 1 and (kind = 'moved' or kind = 'wed' and id > 2)": False,
    f"select * from {EVENTS} where kind = 'moved' or id = 1": True,
    # These are no longer the values of the table's column.
    f"select * from (select id, concat(kind, 'x') as kind from {EVENTS}) where kind = 'bornx'": True,
    f"select * from {EVENTS} where kind is null": True,
    f"select count(*) from {NOTHING}": False,
    f"select kind, count(*) from {NOTHING} group by kind": False,
    f"select distinct id from {NOTHING}": False,
    f"select a.id, b.kind from {EVENTS} a join {NOTHING} b on a.id = b.id": False,
    f"select a.id, b.kind from {EVENTS} a left join {NOTHING} b on a.id = b.id": True,
    f"select a.id, b.kind from {EVENTS} a left join {EVENTS} b on a.id = b.id and b.kind = 'moved'": True,
    f"select a.id from {EVENTS} a left anti join {NOTHING} b on a.id = b.id": True,
    f"select id from {EVENTS} union all select id from {NOTHING}": True,
    f"select * from {FEW} where id > 1": False,
    f"select a.id, b.id from {FEW} a join {FEW} b on a.id = b.id + 1": False,
    f"select kind, count(*) from {FEW} group by kind having count(*) > (select min(id) from {FEW})": False,
    f"select a.id, b.kind from {EVENTS} a left join {FEW} b on a.id = b.id": True,
    f"with a as (select * from {NOTHING}), b as (select * from a where id > 0) select id, row_number() over (order by id) from b": False,
}


@pytest.fixture(scope="module")
def known(spark: SparkSession, warehouse: str) -> Iterator[SparkSession]:
    spark.sql(f"create schema if not exists known location '{warehouse}/known'")
    for table, rows in ((EVENTS, "(1, 'born'), (2, 'died')"), (NOTHING, "(1, 'x')"), (FEW, "(1, 'born'), (2, 'died'), (3, 'born')")):
        spark.sql(f"create or replace temporary view given as select * from values {rows} as given (id, kind)")
        spark.sql(f"create table {table} using parquet as select * from given {'where false' if table == NOTHING else ''}")
    spark.createDataFrame(spark.table(FEW).toArrow(), schema=spark.table(FEW).schema).createOrReplaceTempView("rows_of_few")
    yield spark
    spark.catalog.dropTempView("rows_of_few")
    spark.sql("drop schema known cascade")


@pytest.mark.parametrize("query", QUERIES)
def test_what_needs_rows_that_are_not_there_has_none(known: SparkSession, query: str) -> None:
    """By the text of a query (`chronicle/build/needs.py`)."""
    need = Needs({EVENTS: "events", NOTHING: "nothing", FEW: "few"}, {"events": "kind"}).of(query)
    held = {"events": {"born", "died"}, "nothing": set[str](), "few": {"born", "died"}}
    if not is_met(need, lambda name, values: bool(held[name]) if values is None else bool(held[name].intersection(values))):
        assert not known.sql(query).collect()


@pytest.mark.parametrize(("query", "reads"), QUERIES.items())
def test_rows_that_cannot_be_are_not_read(known: SparkSession, query: str, reads: bool) -> None:
    wanted = sorted(map(tuple, known.sql(query).collect()), key=str)
    for key, value in SETTINGS.items():
        known.conf.set(key, value)
    try:
        found = known.sql(query)
        assert sorted(map(tuple, found.collect()), key=str) == wanted
        plan = found._jdf.queryExecution().analyzed().toString()
        assert ("Relation spark_catalog.known" in plan) is reads, plan
    finally:
        for key in SETTINGS:
            known.conf.unset(key)


def test_a_table_that_is_missing_is_said_to_be(known: SparkSession) -> None:
    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND"):
        known.sql(f"select a.id from known.gone a join {EVENTS} b on a.id = b.id where a.kind = 'moved' and b.kind = 'born'")


def test_rows_given_to_spark_are_those_of_the_file(known: SparkSession, tmp_path: Path) -> None:
    """Of each type that tables have, and null."""
    types = "a string, b boolean, c int, d bigint, e double, f date, g timestamp, h array<string>, i map<string, string>, j array<struct<k: int, l: timestamp>>"
    full = "'é', true, 1, 9000000000, 0.1, date'1969-12-31', timestamp'2026-03-29 02:30:00.123456 UTC', array('x', null), map('k', null), array(struct(1, timestamp'1970-01-01 00:00:00 UTC'))"
    from pyspark.sql.types import StructType

    folder, nothing = tmp_path / "types", ", ".join(["null"] * 10)
    known.sql(f"select * from values ({full}), ({nothing}) as t (a, b, c, d, e, f, g, h, i, j)").to(
        StructType.fromDDL(types)
    ).write.parquet(str(folder))
    read = known.read.parquet(str(folder))
    given = known.createDataFrame(ds.dataset(folder, format="parquet").to_table(), schema=read.schema)
    assert given.schema == read.schema
    assert sorted(map(str, given.collect())) == sorted(map(str, read.collect()))
    assert "LocalTableScan" in given._jdf.queryExecution().executedPlan().toString()
