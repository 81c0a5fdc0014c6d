"""Mistakes in a query of `chronicle sql`: each is told at once, in one line."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from chronicle.ask import alerts, questions, sql
from chronicle.ask.mistakes import WrongQuestion
from chronicle.ask.render import render
from chronicle.cli import main
from docs.outputs import pages, queries
from ingestion.warehouse import Warehouse
from tests.python.test_names import MODELS, typed

NOW = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
TABLES = sorted(path.stem for path in MODELS.rglob("*.yml") if path.stem.startswith(("fct_", "dim_", "bridge_", "rpt_")))
GIVEN = {
    "cluster": "orders", "node": "1", "topic": "clicks", "partition": "clicks-0", "group": "billing", "release": "2.8.2", "key": "0" * 32,
    "at": "2026-11-21", "since": "2026-11-20", "until": "2026-11-21",
}  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """Every mart and report without rows, a step as Parquet, and a view."""
    root = tmp_path_factory.mktemp("warehouse")
    for name in TABLES:
        write_deltalake(str(root / ("reports" if name.startswith("rpt_") else "marts") / name), typed(name).empty_table())
    log = pa.schema({"event_type": pa.string(), "fields": pa.map_(pa.string(), pa.string())})
    write_deltalake(str(root / "bronze/log_records"), log.empty_table())
    step = root / "intermediate/int_nodes__runs/a.parquet"
    step.parent.mkdir(parents=True)
    pa.parquet.write_table(pa.table({"node_id": [1]}), step)
    warehouse = Warehouse.at(str(root))
    warehouse.views.parent.mkdir(exist_ok=True)
    warehouse.views.write_text(
        '[{"schema": "staging", "name": "stg_logs__records", "sql": "select 1", "documented": null},'
        ' {"schema": "marts", "name": "bridge_of_views", "sql": "select 1", "documented": null}]'
    )
    return warehouse


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("selct * from fct_incidents", "only queries are allowed (select, with, values, show, describe, explain), and this begins with 'selct'; did you mean select?"),
        ("drop table fct_incidents", "only queries are allowed (select, with, values, show, describe, explain), and this begins with 'drop'"),
        ("with a as (select 1) delete from fct_incidents", "only queries are allowed, and this would change something"),
        ("/* ( */\nselect count(* from fct_incidents", "Syntax error: expected: ), found: from (line 2, column 16)"),
        ("select count(*)) from fct_incidents", "Syntax error: expected: end of statement, found: ) (line 1, column 16)"),
        ("select 'it''s from fct_incidents", "Syntax error: unterminated string literal (line 1, column 8)"),
        ("select * frm fct_incidents", "Syntax error: expected: end of statement, found: frm; did you mean from for 'frm'? (line 1, column 10)"),
        (
            "select * from fct_incidents\nwhre severity = 'major'",
            "Syntax error: expected: end of statement, found: severity; did you mean where for 'whre'? (line 2, column 6)",
        ),
        ("select * from fct_incidents where", "Syntax error: expected: an expression, found: EOF"),
        ("select * from fct_incident", "there is no table fct_incident; did you mean marts.fct_incidents, marts.fct_incident_events, "),
        ("describe fct_incident", "there is no table fct_incident; did you mean marts.fct_incidents, marts.fct_incident_events, "),
        ("select 'nowhere.x' from nowhere.x", "there is no table nowhere.x; did you mean "),
        ("select 1 from intermediate.int_nodes__runs", "intermediate.int_nodes__runs is a step of the build, which only Spark reads: use --engine spark (line 1, column 28)"),
        ("select level from staging.stg_logs__records", "staging.stg_logs__records is a step of the build, which only Spark reads: use --engine spark"),
        ("select * from bridge_of_views", "marts.bridge_of_views is a view in Spark's SQL: use --engine spark (line 1, column 15)"),
        ("select severty\nfrom fct_incidents", "there is no column severty in marts.fct_incidents; did you mean severity? (line 1, column 8)"),
        (
            "select n.node_id, i.node_idd from fct_incidents i join dim_nodes n on n.cluster_id = i.cluster_id",
            "there is no column node_idd in marts.fct_incidents or marts.dim_nodes; did you mean nodes? (line 1, column 21)",
        ),
        (
            "with a as (select started_at as began_at from fct_incidents) select begn_at from a",
            "there is no column begn_at in marts.fct_incidents; did you mean began_at? (line 1, column 69)",
        ),
        (
            "select * from fct_incidents where xyzzy = 1",
            "there is no column xyzzy in marts.fct_incidents; `describe marts.fct_incidents` lists its columns (line 1, column 35)",
        ),
        ("select \"Nothing\" from fct_incidents", "there is no column Nothing in marts.fct_incidents"),
        (
            "select max_by(summary, started_at) from fct_incidents",
            "max_by is Spark's; DataFusion writes first_value(x order by y desc) (docs/dialect.md), or use --engine spark (line 1, column 8)",
        ),
        ("select 'year(x)' as t, YEAR(started_at) from fct_incidents", "year is Spark's; DataFusion writes date_part('year', t) (docs/dialect.md), or use --engine spark (line 1, column 24)"),
        ("select * from explode(nodes)", "explode is Spark's; DataFusion writes unnest(list) (docs/dialect.md), or use --engine spark (line 1, column 15)"),
        ("select lenght(summary) from fct_incidents", "there is no function lenght; did you mean length? (line 1, column 8)"),
        ("select from_json(summary, 'a int') from fct_incidents", "there is no function from_json in DataFusion (docs/dialect.md); for Spark's, use --engine spark (line 1, column 8)"),
        ("select * from fct_incidents lateral view explode(nodes) t as n", "DataFusion has no LATERAL VIEWS: use --engine spark"),
        (
            "select * from fct_incidents where started_at > '2026-11-21 09:47'",
            "Error parsing timestamp from '2026-11-21 09:47': error parsing time; write the seconds, too: 2026-06-10 15:48:00",
        ),
        ("select 1 + 'a'", "Cannot coerce arithmetic expression Int64 + Utf8 to valid types"),
        ("select 1 / 0", "Divide by zero error"),
        ("show databases", "of `show`, there are `show tables`, `show tables in marts` and `show functions like 'date%'`"),
        ("show tables in nowhere", "there are no tables in nowhere"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_in_one_line(
    place: Warehouse, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], query: str, said: str
) -> None:
    monkeypatch.setattr(main, "by_spark", lambda *given: pytest.fail("Spark was asked"))
    assert main.execute(["sql", query, "--warehouse", place.root]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"chronicle: {said}") and told.err.count("\n") == 1


def test_all_that_the_project_asks_is_answered(place: Warehouse) -> None:
    asked = [render(one.path, one.values([], {name: GIVEN[name] for name in one.takes}, NOW)).sql for one in questions.questions().values()]
    asked += [render(one.path, {"since": "2026-11-21", "until": "2026-11-22"}).sql for one in alerts.alerts()]
    asked += [query for page in pages() for query, _ in queries(page.read_text(encoding="utf-8"))]
    assert len(asked) > 80
    for query in asked:
        assert sql.answer(place, query).num_columns, query


def test_before_the_first_build_there_are_no_tables(tmp_path: Path) -> None:
    with pytest.raises(
        WrongQuestion, match="there is no table fct_incidents; the warehouse has no marts yet; run `chronicle run PATH` first"
    ):
        sql.answer(Warehouse.at(str(tmp_path)), "select a from fct_incidents")
