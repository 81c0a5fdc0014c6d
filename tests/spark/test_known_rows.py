"""Relations known to be empty leave the plan during analysis (`chronicle/spark/jvm/KnownRows.scala`), and answers stay the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from chronicle.build.needs import Needs, is_met

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVENTS, NOTHING = "known.events", "known.nothing"
SETTINGS = {f"chronicle.rows.{EVENTS}": "kind=born,died", f"chronicle.rows.{NOTHING}": "none"}
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
    f"with a as (select * from {NOTHING}), b as (select * from a where id > 0) select id, row_number() over (order by id) from b": False,
}


@pytest.fixture(scope="module")
def known(spark: SparkSession, warehouse: str) -> Iterator[SparkSession]:
    spark.sql(f"create schema if not exists known location '{warehouse}/known'")
    for table, rows in ((EVENTS, "(1, 'born'), (2, 'died')"), (NOTHING, "(1, 'x')")):
        spark.sql(f"create or replace temporary view given as select * from values {rows} as given (id, kind)")
        spark.sql(f"create table {table} using parquet as select * from given {'where false' if table == NOTHING else ''}")
    yield spark
    spark.sql("drop schema known cascade")


@pytest.mark.parametrize("query", QUERIES)
def test_what_needs_rows_that_are_not_there_has_none(known: SparkSession, query: str) -> None:
    """By the text of a query (`chronicle/build/needs.py`)."""
    need = Needs({EVENTS: "events", NOTHING: "nothing"}, {"events": "kind"}).of(query)
    held = {"events": {"born", "died"}, "nothing": set[str]()}
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
