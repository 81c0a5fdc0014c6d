"""Every chart's query over the Thrift Server, on the lab and the incidents: none is empty, and DuckDB finds the same in the Delta files."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dashboards.described import Chart, dbt_models, load
from dashboards.queries import sql_of
from ingestion.warehouse import Warehouse
from tests.duck import connect
from tests.lab import Lab

BOARDS = {board.name: board for board in load().dashboards}
# What Spark calls otherwise than DuckDB.
MACROS = [
    "create macro unix_millis(moment) as epoch_ms(moment)",
    "create macro date_format(moment, form) as strftime(moment, '%Y-%m-%d %H:%M:%S')",
    "create macro get(items, number) as items[number + 1]",
]


@pytest.fixture(scope="module")
def marts(lab: Lab) -> Iterator[Callable[[str], list[tuple[Any, ...]]]]:
    """DuckDB with its own reader of Delta, over the tables' files."""
    session = connect()
    session.execute("create schema marts; create schema reports")
    for macro in MACROS:
        session.execute(macro)
    for name, (schema, _, _) in dbt_models().items():
        session.execute(f"create view {schema}.{name} as from delta_scan('{Warehouse.at(lab.warehouse).table(schema, name)}')")
    yield lambda query: session.execute(query).fetchall()
    session.close()


@pytest.mark.parametrize("name", BOARDS)
def test_charts_show_what_the_marts_hold(name: str, ask: Callable[[str], Any], marts: Callable[[str], Any]) -> None:
    for chart in BOARDS[name].charts:
        # Rows that tie at a limit are anyone's choice: compared is all of them.
        query = sql_of(chart, is_limited=False)
        shown = [plain(row) for row in ask(query)]
        assert is_empty(shown) == ("empty" in chart.says), (chart.title, "is empty, or is said to be and is not")
        held = [plain(row) for row in marts(query)]
        assert sorted(shown, key=repr) == sorted(held, key=repr), chart.title


@pytest.mark.parametrize("name", BOARDS)
def test_sums_are_those_of_the_table(name: str, marts: Callable[[str], Any]) -> None:
    """What is split by day, node or kind adds up to the whole, so that no grouping loses or doubles a row."""
    for chart in BOARDS[name].charts:
        if chart.kind in ("bars", "ranking", "heatmap"):
            for metric in chart.metrics:
                if metric.sql.startswith(("sum(", "count(*)")):
                    assert added_up(chart, metric.name, marts) == whole(chart, metric.sql, marts), (chart.title, metric.name)


def added_up(chart: Chart, metric: str, marts: Callable[[str], Any]) -> Any:
    return marts(f"select coalesce(sum({metric}), 0) from ({sql_of(chart, is_limited=False)})")[0][0]


def whole(chart: Chart, sql: str, marts: Callable[[str], Any]) -> Any:
    where = f"where {chart.says['where']}" if "where" in chart.says else ""
    return marts(f"select coalesce({sql}, 0) from {chart.dataset.relation} {where}")[0][0]


def is_empty(rows: list[tuple[Any, ...]]) -> bool:
    return not rows or all(value is None for row in rows for value in row)


def plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Values as both engines' clients can be compared: times and days in ISO 8601 UTC, lists in JSON, floating numbers to nine digits."""
    return tuple(map(_plain, row))


def _plain(value: Any) -> Any:
    if isinstance(value, dt.datetime):
        text = value.astimezone(dt.UTC).replace(tzinfo=None).isoformat() if value.tzinfo else value.isoformat()
        return text.removesuffix("T00:00:00")
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, list):
        return json.dumps(value, separators=(",", ":"))
    return f"{value:.9g}" if isinstance(value, float) else value
