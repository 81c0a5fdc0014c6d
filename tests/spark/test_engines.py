"""`chronicle sql` by Spark and by DataFusion: every query sent to DataFusion has Spark's answer, on rows made to show differences."""

from __future__ import annotations

import datetime as dt
import itertools
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from chronicle.ask import sql, without_java
from chronicle.output.values import cell
from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AT = dt.datetime(2026, 11, 21, 9, 47, 8, 946_001, tzinfo=dt.UTC)
TIMES = [
    AT,
    AT.replace(microsecond=0),
    dt.datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=dt.UTC),
    dt.datetime(2026, 11, 21, tzinfo=dt.UTC),
    None,
]
TEXTS = ["", "a", "A", "ä", "a%", "a_b", "it's", "é", "é", "zz", " a ", "10", "9", "\U0001f600", None]
BOTH = [
    "select * from fct_odd order by odd_key",
    "select odd_key, text from marts.fct_odd order by text, odd_key",
    "select odd_key, text from marts.fct_odd order by text desc, odd_key",
    "select odd_key, text from marts.fct_odd order by text nulls last, odd_key desc limit 7 offset 2",
    "select odd_key, number from fct_odd where number > 1 or number is null order by number desc, odd_key",
    "select odd_key from fct_odd where number in (1, -3) or number between 2 and 1000000000000 order by odd_key",
    "select odd_key from fct_odd where not number in (1, -3) order by odd_key",
    "select odd_key from fct_odd where number <> -3 and is_set is not true order by odd_key",
    "select odd_key from fct_odd where not is_set and is_set = false order by odd_key",
    "select text, count(*), count(number), sum(number), min(number), max(number), min(at), max(at), min(text), max(text) from fct_odd group by text",
    "select count(*) as n, sum(number) as s, min(is_set) as a, max(is_set) as b, min(day) as c, max(day) as d from fct_odd where number > 99999999999999999",
    "select small, count(distinct number) as n, count(distinct text) as t from fct_odd group by small order by n desc, small",
    "select small, count(*) filter (where is_set) as n, sum(number) filter (where text like 'a%') as s from fct_odd group by 1 order by 1",
    "select small, count(*) as n from fct_odd group by small having n > 1 order by n, small",
    "select small, count(*) as n from fct_odd group by small having count(*) > 1 and max(at) > '2026-01-01' order by 2 desc, 1",
    "select odd_key from fct_odd where at >= '2026-11-21 09:47' order by odd_key",
    "select odd_key from fct_odd where at < '2026-11-21' or at = '2026-11-21 09:47:08.946001' order by odd_key",
    "select odd_key from fct_odd where at between timestamp '2026-11-21 00:00:00' and timestamp '2026-11-21 09:47:08' order by odd_key",
    "select odd_key from fct_odd where day = '2026-11-21' or day < date '1970-01-01' order by odd_key",
    "select odd_key, cast(at as date) as on_day, date_trunc('hour', at) as hour, date_trunc('week', at) as week, date_trunc('MONTH', at) as month from fct_odd order by odd_key",
    "select date_trunc('day', at) as days, count(*) as n from fct_odd group by days order by days",
    "select odd_key, length(text) as long from fct_odd where text like 'a_%' or text like '_' or text like '%e%' order by odd_key",
    "select odd_key, coalesce(text, 'none') as t, nullif(number, 1) as n, nullif(text, 'a') as a from fct_odd order by odd_key",
    "select odd_key, case when number > 1 then 'many' when number = 1 then 'one' else null end as many, case when is_set then at end as since from fct_odd order by odd_key",
    "select sum(case when is_set then 1 else 0 end) as yes, sum(case when is_set then number end) as n from fct_odd",
    "select odd_key, row_number() over (partition by small order by text, odd_key) as r, rank() over (order by number) as p, dense_rank() over (order by text desc) as d"
    " from fct_odd order by odd_key",
    "select odd_key, lag(at) over (partition by small order by odd_key) as before, lead(number, 2) over (order by odd_key) as after,"
    " sum(number) over (partition by small order by odd_key) as total, count(*) over (partition by small) as n, max(text) over (order by small) as t from fct_odd order by 1",
    "with one as (select *, row_number() over (partition by small order by odd_key) as place from fct_odd) select odd_key, ratio, list, record from one where place = 1 order by odd_key",
    "with a as (select small, max(number) as most from fct_odd group by small), b as (select small as s, most from a where most is not null) select s, most from b order by s",
    "select a.odd_key, b.odd_key as other from fct_odd as a join fct_odd as b on a.number = b.number and a.odd_key < b.odd_key order by 1, 2",
    "select a.odd_key, b.title from fct_odd a left join dim_odd b on a.text = b.text order by a.odd_key, b.title",
    "select a.odd_key, b.title from fct_odd as a full join dim_odd as b on a.text = b.text order by a.odd_key, b.title",
    "select b.title, a.odd_key from fct_odd as a right outer join marts.dim_odd as b on a.text = b.text order by b.title, 2",
    "select a.small, b.title from (select distinct small from fct_odd) as a cross join dim_odd as b order by a.small, b.title",
    "select * from fct_odd as a join dim_odd as b on a.text = b.text order by odd_key, title",
    "select a.*, b.title from fct_odd as a join dim_odd as b on a.text = b.text order by odd_key, title",
    "select distinct small, is_set from fct_odd order by small, is_set",
    "select odd_key, 'x' as kind, 7 as n, true as yes, null as nothing, -1 as minus, date '2026-02-28' as day_then, timestamp '2026-02-28 12:00:00.5' as then from fct_odd order by odd_key limit 2",
    "SELECT odd_key FROM fct_odd WHERE NOT (is_set OR number = 1) -- a comment\nORDER BY odd_key;",
    "select \"text\" as t, odd_key from fct_odd order by odd_key",
    "select rpt_odd.title from reports.rpt_odd order by title",
]  # fmt: skip
SPARK_ALONE = [
    "select case when is_set then at else '2026-01-01' end as t from fct_odd",
    "select coalesce(at, '2026-01-01') as t from fct_odd",
    "select -number as t from fct_odd",
    "select count(distinct number, text) as t from fct_odd",
    "select odd_key from fct_odd where number not in (1, null)",
    "select odd_key from fct_odd where number in (1, small)",
    "select number / 2 as half from fct_odd",
    "select number + 1 as more from fct_odd",
    "select number % 2 as odd from fct_odd",
    "select avg(number) as a from fct_odd",
    "select round(ratio) as a from fct_odd",
    "select odd_key from fct_odd where ratio > 1",
    "select odd_key, ratio from fct_odd order by ratio",
    "select odd_key, ratio as r from fct_odd order by r",
    "select odd_key, ratio from fct_odd order by 2",
    "select max(ratio) as m from fct_odd",
    "select distinct ratio from fct_odd",
    "select ratio, count(*) from fct_odd group by ratio",
    "select distinct * from fct_odd",
    "with a as (select ratio as r, list as l from fct_odd) select max(r) as m from a",
    "select count(*) from fct_odd group by list",
    "select list[0] as f from fct_odd",
    "select record.a from fct_odd",
    "select odd_key from fct_odd where number = '1'",
    "select odd_key from fct_odd where text = 1",
    "select odd_key from fct_odd where at > '21 November'",
    "select odd_key from fct_odd where is_set = 1",
    "select odd_key from fct_odd where text in (select text from dim_odd)",
    "select (select max(number) from fct_odd) as m from dim_odd",
    "select odd_key from fct_odd union select title from dim_odd",
    "select odd_key from fct_odd a join dim_odd b using (text)",
    "select lower(text) as t from fct_odd",
    "select concat(text, odd_key) as t from fct_odd",
    "select text || odd_key as t from fct_odd",
    "select coalesce(number, text) as t from fct_odd",
    "select case when is_set then 1 else 'no' end as t from fct_odd",
    "select cast(number as string) as t from fct_odd",
    "select cast(at as bigint) as t from fct_odd",
    "select cast(text as date) as t from fct_odd",
    "select at - at as t from fct_odd",
    "select at + interval '1 day' as t from fct_odd",
    "select odd_key as Key from fct_odd",
    "select max(number) as number from fct_odd having number > 1",
    "select 'a\\tb' as t from fct_odd",
    "select odd_key from fct_odd where text = 'it''s'",
    "select 0.1 as t from fct_odd",
    "select odd_key from fct_odd where text rlike 'a'",
    "select odd_key from fct_odd limit 1 + 1",
    "select /*+ broadcast(b) */ odd_key from fct_odd",
    "select sum(number) over (order by odd_key rows between 1 preceding and current row) as t from fct_odd",
    "select length(number) as t from fct_odd",
    "select sum(text) as t from fct_odd",
    "select count(number, text) as t from fct_odd",
    "select odd_key from fct_odd lateral view explode(list) as e",
    "select odd_key from fct_odd tablesample (1 rows)",
    "select count(distinct text) from fct_odd",
    "select odd_key + 1 from fct_odd",
    "select 1 as one",
    "select * from bronze.sources",
    "select * from fct_nothing",
    "show tables in marts",
    "describe fct_odd",
    "insert into fct_odd select * from fct_odd",
    "drop table fct_odd",
    "select 1 as a from fct_odd; select 2 as a from fct_odd",
    "nonsense",
]  # fmt: skip


@pytest.fixture(scope="module")
def place(spark: SparkSession, warehouse: str) -> Warehouse:
    """Marts with every kind of column, nulls, and values that engines order or compare differently."""
    rows: list[dict[str, Any]] = []
    numbers = itertools.cycle([1, 2, None, -3, 2**40, 1, 10**17])
    ratios = itertools.cycle([0.1, -0.0, 0.0, float("nan"), None])
    for (key, text), number, at, ratio in zip(enumerate(TEXTS), numbers, itertools.cycle(TIMES), ratios, strict=False):
        rows.append(
            {"odd_key": f"{key:02}", "text": text, "number": number, "small": [1, 2, None][key % 3], "at": at, "day": at and at.date()}
        )
        rows[-1] |= {"is_set": [True, False, None, True][key % 4], "ratio": ratio, "list": [key, None], "record": {"a": key, "b": text}}
    kinds = {
        "odd_key": pa.string(),
        "text": pa.string(),
        "number": pa.int64(),
        "small": pa.int32(),
        "at": pa.timestamp("us", "UTC"),
        "day": pa.date32(),
    }
    kinds |= {
        "is_set": pa.bool_(),
        "ratio": pa.float64(),
        "list": pa.list_(pa.int64()),
        "record": pa.struct({"a": pa.int64(), "b": pa.string()}),
    }
    place = Warehouse.at(warehouse)
    write_deltalake(place.table("marts", "fct_odd"), pa.Table.from_pylist(rows, pa.schema(kinds)))
    titles = pa.table({"text": ["a", "a", "ä", None, "other"], "title": ["first", "second", "third", "fourth", None]})
    write_deltalake(place.table("marts", "dim_odd"), titles)
    write_deltalake(place.table("reports", "rpt_odd"), titles.select(["title"]))
    return place


def printed(answer: pa.Table) -> list[list[str]]:
    """Names of columns and values, as in CSV."""
    columns = [column.to_pylist(maps_as_pydicts="lossy") for column in answer.columns]
    return [answer.column_names, *([cell(value) for value in row] for row in zip(*columns, strict=True))]


@pytest.mark.parametrize("query", BOTH)
def test_datafusion_answers_as_spark_does(spark: SparkSession, place: Warehouse, query: str) -> None:
    ours, theirs = printed(without_java.answer(place, query)), printed(sql.ask(spark, place.root, query))
    if "order by" not in query.lower():
        ours[1:], theirs[1:] = sorted(ours[1:]), sorted(theirs[1:])
    assert ours == theirs


@pytest.mark.parametrize("query", SPARK_ALONE)
def test_the_rest_is_left_to_spark(place: Warehouse, query: str) -> None:
    with pytest.raises(without_java.NotAlike):
        without_java.answer(place, query)


def test_a_sum_that_overflows_is_left_to_spark(place: Warehouse) -> None:
    write_deltalake(place.table("marts", "fct_large"), pa.table({"n": pa.array([2**62, 2**62], pa.int64())}))
    with pytest.raises(without_java.NotAlike):
        without_java.answer(place, "select sum(n) as n from fct_large")
