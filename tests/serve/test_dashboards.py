"""Every chart's query over the Thrift Server, on the lab and the incidents: none is empty, and DuckDB gives the same rows from the Delta files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dashboards.described import Chart, load
from dashboards.queries import sql_of
from ingestion.warehouse import Warehouse
from tests.duck import comparable, connect, show_marts
from tests.lab import Lab

BOARDS = {board.name: board for board in load().dashboards}


@pytest.fixture(scope="module")
def marts(lab: Lab) -> Iterator[Callable[[str], list[tuple[Any, ...]]]]:
    """DuckDB with its own reader of Delta, over the tables' files."""
    session = connect()
    show_marts(session, Warehouse.at(lab.warehouse))
    yield lambda query: session.execute(query).fetchall()
    session.close()


@pytest.mark.parametrize("name", BOARDS)
def test_charts_show_what_the_marts_hold(name: str, ask: Callable[[str], Any], marts: Callable[[str], Any]) -> None:
    for chart in BOARDS[name].charts:
        # Rows that tie at a limit may be either, so all rows are compared.
        query = sql_of(chart, is_limited=False)
        shown = comparable(ask(query))
        assert is_empty(shown) == ("empty" in chart.says), (chart.title, "is empty, or is said to be and is not")
        assert shown == comparable(marts(query)), chart.title


@pytest.mark.parametrize("name", BOARDS)
def test_sums_are_those_of_the_table(name: str, marts: Callable[[str], Any]) -> None:
    """Sums split by day, node or kind add up to the total, so no grouping loses or doubles a row."""
    for chart in BOARDS[name].charts:
        if chart.kind in ("bars", "ranking", "heatmap"):
            for metric in chart.metrics:
                if metric.sql.startswith(("sum(", "count(*)")):
                    assert added_up(chart, metric.name, marts) == whole(chart, metric.sql, marts), (chart.title, metric.name)


def added_up(chart: Chart, metric: str, marts: Callable[[str], Any]) -> Any:
    return marts(f"select coalesce(sum({metric}), 0) from ({sql_of(chart, is_limited=False, is_rounded=False)})")[0][0]


def whole(chart: Chart, sql: str, marts: Callable[[str], Any]) -> Any:
    where = f"where {chart.says['where']}" if "where" in chart.says else ""
    return marts(f"select coalesce({sql}, 0) from {chart.dataset.relation} {where}")[0][0]


def is_empty(rows: list[tuple[Any, ...]]) -> bool:
    return not rows or all(value is None for row in rows for value in row)
