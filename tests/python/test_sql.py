"""`chronicle sql`: DataFusion's dialect over tables with every kind of column, what it refuses, and which engine is asked."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from chronicle.ask import sql
from chronicle.ask.mistakes import WrongQuestion, of_spark
from chronicle.ask.tables import Tables
from chronicle.cli import main
from chronicle.output.values import cell
from ingestion.warehouse import Warehouse

AT = dt.datetime(2026, 11, 21, 9, 47, 8, 946_001, tzinfo=dt.UTC)
ROWS: list[dict[str, Any]] = [
    {"odd_key": "01", "text": "a", "number": 1, "at": AT, "day": AT.date(), "is_set": True, "ratio": 0.5, "list": [1, 2]},
    {"odd_key": "02", "text": "ä", "number": None, "at": AT.replace(microsecond=0, hour=10), "is_set": False, "list": []},
    {"odd_key": "03", "text": None, "number": 2**40, "at": None, "ratio": float("nan"), "record": {"a": 7, "b": "x"}, "map": [("k", "v")]},
]
KINDS = pa.schema(
    {
        "odd_key": pa.string(), "text": pa.string(), "number": pa.int64(), "at": pa.timestamp("us", "UTC"), "day": pa.date32(), "is_set": pa.bool_(),
        "ratio": pa.float64(), "list": pa.list_(pa.int32()), "record": pa.struct({"a": pa.int64(), "b": pa.string()}),
        "map": pa.map_(pa.string(), pa.string()),
    }
)  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    place = Warehouse.at(str(tmp_path_factory.mktemp("warehouse")))
    write_deltalake(place.table("marts", "fct_odd"), pa.Table.from_pylist(ROWS, KINDS))
    write_deltalake(place.table("marts", "dim_odd"), pa.table({"text": ["a", "b"], "title": ["first", "second"]}))
    write_deltalake(place.table("reports", "rpt_odd"), pa.table({"title": ["one"]}))
    write_deltalake(place.bronze("sources"), pa.table({"source_path": ["/logs/server.log"]}))
    return place


def printed(answer: pa.Table) -> list[list[str]]:
    """Names of columns and values, as in CSV."""
    columns = [column.to_pylist(maps_as_pydicts="lossy") for column in answer.columns]
    return [answer.column_names, *([cell(value) for value in row] for row in zip(*columns, strict=True))]


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("select avg(number), max(number), count(*) from fct_odd", [["avg(number)", "max(number)", "count(*)"], ["549755813888.5", "1099511627776", "3"]]),
        ("select at, day, text from fct_odd where number = 1;", [["at", "day", "text"], ["2026-11-21T09:47:08.946001Z", "2026-11-21", "a"]]),
        ("select odd_key from fct_odd order by number", [["odd_key"], ["02"], ["01"], ["03"]]),
        ("select odd_key from fct_odd order by number desc", [["odd_key"], ["03"], ["01"], ["02"]]),
        ("select odd_key from fct_odd where at >= '2026-11-21 10:00:00'", [["odd_key"], ["02"]]),
        ("select odd_key, ratio, record['b'] as b, map['k'] as k from fct_odd where ratio is not null order by 1",
         [["odd_key", "ratio", "b", "k"], ["01", "0.5", "", ""], ["03", "", "x", "v"]]),
        ("SELECT ODD_KEY, At + INTERVAL '1 day' AS Later FROM Marts.FCT_ODD WHERE odd_key = '01'", [["odd_key", "later"], ["01", "2026-11-22T09:47:08.946001Z"]]),
        ("select array_reverse(list) as l, unnest(list) as n, fct_odd.* except (at, day, list) from fct_odd where odd_key = '01'",
         [["l", "n", "odd_key", "text", "number", "is_set", "ratio", "record", "map"], *(["[2, 1]", n, "01", "a", "1", "true", "0.5", "", ""] for n in "12")]),
        ("select row_number() over (order by odd_key) as r, max(at) over () - at as d from fct_odd order by r limit 1", [["r", "d"], ["1", "3599054"]]),
        ("with a as (select text from fct_odd) select a.text, title, 1 as one, 'x' from a join dim_odd using (text)", [["text", "title", "one", "x"], ["a", "first", "1", "x"]]),
        ("select title from reports.rpt_odd", [["title"], ["one"]]),
        ("select count(source_path) as n from bronze.sources", [["n"], ["1"]]),
        ("select arrow_typeof(row_number() over ()) as t, count(fct_odd.text) from fct_odd group by text limit 0", [["t", "count(text)"]]),
        ("select max(a.text), max(b.text) from fct_odd as a join dim_odd as b using (text)", [["max(a.text)", "max(b.text)"], ["a", "a"]]),
        ("values (1, 'a')", [["column1", "column2"], ["1", "a"]]),
        ("-- a comment\n/* and another */ (select 1 as n) union all (select 2) order by n", [["n"], ["1"], ["2"]]),
        ("from fct_odd select text where text = 'a'", [["text"], ["a"]]),
        ("show tables", [["schema", "table"], ["bronze", "sources"], ["marts", "dim_odd"], ["marts", "fct_odd"], ["reports", "rpt_odd"]]),
        ("show tables in reports", [["schema", "table"], ["reports", "rpt_odd"]]),
        ("describe dim_odd", [["column", "type", "meaning"], ["text", "string", ""], ["title", "string", ""]]),
        ("select 7 / 2 as n, 7 / 2.0 as x, 'a' || null as t, concat('a', null) as c", [["n", "x", "t", "c"], ["3", "3.5", "", "a"]]),
    ],
)  # fmt: skip
def test_queries_are_answered(place: Warehouse, query: str, answer: list[list[str]]) -> None:
    assert printed(sql.answer(place, query)) == answer


def test_functions_are_shown(place: Warehouse) -> None:
    assert {"date_bin", "date_trunc"} <= set(sql.answer(place, "show functions like 'date%'")["function_name"].to_pylist())


def test_types_are_those_that_every_reader_knows(place: Warehouse) -> None:
    found = sql.answer(
        place, "select now() as t, row_number() over () as n, text, make_array(text) as l, array_length(list) as a from fct_odd"
    )
    assert [str(column.type) for column in found.schema] == ["timestamp[us, tz=UTC]", "int64", "string", "list<item: string>", "int64"]


@pytest.mark.parametrize(
    "statement",
    [
        "insert into fct_odd select * from fct_odd",
        "with a as (select * from fct_odd) insert into fct_odd select * from a",
        "with a as (select 1) delete from fct_odd",
        "with a as (select 1) update fct_odd set number = 1",
        "explain analyze insert into fct_odd select * from fct_odd",
        "explain insert into fct_odd select * from fct_odd",
        "/* /* */ select */ insert into fct_odd select * from fct_odd",
        "copy fct_odd to '{folder}/out.csv'",
        "copy (select 1) to '{folder}/out.csv'",
        "create table t as select 1",
        "create external table t stored as csv location '{folder}/out.csv'",
        "set datafusion.catalog.default_schema = 'bronze'",
        "delete from fct_odd",
        "drop table fct_odd",
        "select 1; drop table fct_odd",
        "; drop table fct_odd",
        "prepare p as select 1",
        "",
    ],
)
def test_nothing_is_changed(place: Warehouse, tmp_path: Path, statement: str) -> None:
    before = DeltaTable(place.table("marts", "fct_odd")).version()
    with pytest.raises(WrongQuestion) as caught:
        sql.answer(place, statement.format(folder=tmp_path))
    assert "\n" not in str(caught.value)
    assert DeltaTable(place.table("marts", "fct_odd")).version() == before
    assert list(tmp_path.iterdir()) == []


def test_each_function_of_spark_has_what_datafusion_answers(tmp_path: Path) -> None:
    """`spark_functions.yml` names functions that DataFusion lacks, and each of its forms is one that DataFusion knows."""
    rows = {
        "x": [1, None],
        "y": [2, 3],
        "n": [3, 4],
        "c": [True, False],
        "s": ["12", "13"],
        "list": [[1, 2], None],
        "map": [[("key", 1)], None],
    }
    times = {"t": [AT, None], "u": [AT, AT], "d": [AT.date(), None]}
    kinds = {
        "list": pa.list_(pa.int64()),
        "map": pa.map_(pa.string(), pa.int64()),
        "t": pa.timestamp("us", "UTC"),
        "u": pa.timestamp("us", "UTC"),
    }
    columns = {name: pa.array(values, kinds.get(name)) for name, values in (rows | times).items()}
    place = Warehouse.at(str(tmp_path))
    write_deltalake(place.table("marts", "fct_all"), pa.table(columns))
    known = {row["function_name"] for row in Tables(place).rows("show functions")}
    assert known & of_spark().keys() == set()
    assert len(of_spark()) > 80
    for name, instead in of_spark().items():
        assert sql.answer(place, f"select {instead} as found from fct_all").num_rows, name


def test_a_mart_is_asked_without_spark(place: Warehouse) -> None:
    code = (
        "import sys; from chronicle.cli import main;"
        " code = main.execute(['sql', 'select text, avg(number) as n from fct_odd group by text order by n', '-f', 'csv', '-w', sys.argv[1]]);"
        " print(code, [name for name in ('pyspark', 'pandas', 'dbt', 'sqlglot') if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, place.root], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("text,n\nä,\na,1.0\n,1099511627776.0\n", "0 []\n")


def test_spark_is_asked_where_it_is_wanted(place: Warehouse, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main, "by_spark", lambda *given: pa.table({"half": [0.5]}))
    assert main.execute(["sql", "select max_by(1, 2)", "--engine", "spark", "-f", "csv", "-w", place.root]) == 0
    assert capsys.readouterr() == ("half\n0.5\n", "")
    assert main.execute(["sql", "select 1", "--engine", "duckdb", "-w", place.root]) == 2
    assert "unknown engine 'duckdb'; use datafusion or spark" in capsys.readouterr().err
