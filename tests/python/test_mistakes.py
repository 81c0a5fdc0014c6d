"""Mistakes in a query: those that are told at once, and what looks like one and is left to Spark."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from chronicle.ask import alerts, mistakes, questions
from chronicle.ask.render import render
from chronicle.ask.sql import WrongQuestion
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
    step = root / "intermediate/int_nodes__runs/a.parquet"
    step.parent.mkdir(parents=True)
    pa.parquet.write_table(pa.table({"node_id": [1]}), step)
    warehouse = Warehouse.at(str(root))
    warehouse.views.parent.mkdir(exist_ok=True)
    warehouse.views.write_text('[{"schema": "staging", "name": "stg_logs__records", "sql": "select 1", "documented": null}]')
    return warehouse


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("selct * from fct_incidents", "Syntax error at or near 'selct'; did you mean select? (line 1, column 1)"),
        ("/* ( */\nselect count(* from fct_incidents", "Syntax error: ( is opened and not closed (line 2, column 13)"),
        ("select count(*)) from fct_incidents", "Syntax error: ) was not opened (line 1, column 16)"),
        ("select 'it''s from fct_incidents", "Syntax error: ' is opened and not closed (line 1, column 8)"),
        ("select * frm fct_incidents", "Syntax error at or near 'fct_incidents'; did you mean from for 'frm'? (line 1, column 14)"),
        (
            "select * from fct_incidents\nwhre severity = 'major'",
            "Syntax error at or near 'severity'; did you mean where for 'whre'? (line 2, column 6)",
        ),
        ("select * from fct_incidents where", "Syntax error at or near 'where' (line 1, column 29)"),
        (
            "select * from fct_incident",
            "there is no table fct_incident; did you mean marts.fct_incidents, marts.fct_incident_events, ",
        ),
        (
            "select 1 from intermediate.int_nodes__run",
            "there is no table intermediate.int_nodes__run; did you mean intermediate.int_nodes__runs? (line 1, column 15)",
        ),
        (
            "select severty\nfrom fct_incidents",
            "there is no column severty in marts.fct_incidents; did you mean severity? (line 1, column 8)",
        ),
        (
            "select n.node_id, i.node_idd from fct_incidents i join dim_nodes n on n.cluster_id = i.cluster_id",
            "there is no column node_idd in marts.fct_incidents; did you mean nodes? (line 1, column 21)",
        ),
        (
            "with a as (select started_at as began_at from fct_incidents) select begn_at from a",
            "there is no column begn_at in marts.fct_incidents; did you mean began_at, ended_at? (line 1, column 69)",
        ),
        (
            "select * from fct_incidents where xyzzy = 1",
            "there is no column xyzzy in marts.fct_incidents; `describe marts.fct_incidents` lists its columns (line 1, column 35)",
        ),
        ("select node_idd from intermediate.int_nodes__runs", "there is no column node_idd in intermediate.int_nodes__runs"),
    ],
)
def test_a_mistake_is_told_without_spark(
    place: Warehouse, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], query: str, said: str
) -> None:
    monkeypatch.setattr(main, "by_spark", lambda *given: pytest.fail("Spark was asked"))
    assert main.execute(["sql", query, "--warehouse", place.root]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"chronicle: {said}") and told.err.count("\n") == 1


@pytest.mark.parametrize(
    "query",
    [
        "select e.node_id from fct_incidents lateral view explode(evidence) t as e",
        "select transform(nodes, x -> x + 1) from fct_incidents",
        "select filter(evidence, place -> place.byte_offset > 0) from fct_incidents",
        "select timestampdiff(hour, started_at, ended_at), current_date, date_trunc('hour', started_at) from fct_incidents",
        "select started_at as s, s + interval 1 hour as t from fct_incidents order by t",
        "select evidence[0].node_id, evidence.byte_offset, `Severity` from fct_incidents",
        "select incidents.STARTED_AT from FCT_INCIDENTS as incidents",
        "select * except (evidence) from fct_incidents",
        "select id from range(3)",
        "select /*+ broadcast(dim_nodes) */ i.started_at from fct_incidents i join dim_nodes n on n.cluster_id = i.cluster_id",
        "select window.start, count(*) from fct_incidents group by window(started_at, '1 hour')",
        "select col from (select explode(nodes) from fct_incidents)",
        "select `count(1)` from (select count(1) from fct_incidents)",
        "select j.a from (select from_json(summary, 'a int') as j from fct_incidents)",
        "select i.evidence.node_id from fct_incidents i",
        "select * from fct_incidents cross join dim_nodes limit all",
        "select col1 from values (1), (2)",
        "select a from (select 1 as a) where a in (select 1)",
        "select severity, count(*) from fct_incidents group by all having count(*) > 1",
        "select *, row_number() over w as n from fct_incidents window w as (partition by severity order by started_at)",
        "select grouping__id, severity from fct_incidents group by cube (severity)",
        "select * from fct_incidents pivot (count(*) for severity in ('major', 'minor'))",
        "select level from staging.stg_logs__records",
        "select * from delta.`/tmp/somewhere`",
        "select anything from somewhere.else_there",
        "with fct_incident as (select 1 as one) select one from fct_incident",
        "from fct_incidents |> where severty = 'x'",
        "select 'a\\'b' as x, nothing from fct_incidents",
        "show tables in marts",
        "describe fct_incident",
        "drop table fct_incident",
        "(select 1) union (select 2)",
        "select 1 -- it's\n",
        "explain select 1",
    ],
)
def test_what_may_be_right_is_left_to_spark(place: Warehouse, query: str) -> None:
    mistakes.must_be_sound(place, query)


def test_nothing_that_the_project_asks_is_a_mistake(place: Warehouse) -> None:
    asked = [render(one.path, one.values([], {name: GIVEN[name] for name in one.takes}, NOW)).sql for one in questions.questions().values()]
    asked += [render(one.path, {"since": "2026-11-21", "until": "2026-11-22"}).sql for one in alerts.alerts()]
    asked += [query for page in pages() for query, _ in queries(page.read_text(encoding="utf-8"))]
    assert len(asked) > 80
    for query in asked:
        mistakes.must_be_sound(place, query)


def test_before_the_first_build_nothing_is_said_of_tables(tmp_path: Path) -> None:
    mistakes.must_be_sound(Warehouse.at(str(tmp_path)), "select a from fct_incidents")
    with pytest.raises(WrongQuestion, match="'selct'"):
        mistakes.must_be_sound(Warehouse.at(str(tmp_path)), "selct 1")
