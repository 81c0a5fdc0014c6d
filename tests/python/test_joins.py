"""The conditions of joins that several models share, on rows in DuckDB: the examples of macros/_macros.yml."""

from __future__ import annotations

import datetime as dt
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from jinja2 import Environment

from chronicle.project import PROJECT

TIME = pa.timestamp("us")
KEY = [("cluster_id", pa.string()), ("cluster_incarnation", pa.int32())]
PLACED = pa.schema([*KEY, ("topic_name", pa.string()), ("node_id", pa.int32()), ("logged_at", TIME)])
LIVES = pa.schema([*KEY, ("topic_name", pa.string()), ("began_at", TIME), ("next_began_at", TIME)])
STALE_TERMS = pa.schema([*KEY, ("node_id", pa.int32()), ("stale_from", TIME), ("stale_until", TIME)])


def at(second: int) -> dt.datetime:
    return dt.datetime(2026, 5, 1, 10, 0, second)


ROW = {"cluster_id": "a", "cluster_incarnation": 1, "topic_name": "orders", "node_id": 3}


def is_joined(macro: str, name: str, other: dict[str, Any], schema: pa.Schema) -> bool:
    """Whether a row of second 5 is joined to another row, in a table of this name."""
    source = (PROJECT / "macros" / f"{macro}.sql").read_text("utf-8")
    condition = getattr(Environment().from_string(source).module, macro)("placed")
    session = duckdb.connect()
    session.register("placed", pa.Table.from_pylist([ROW | {"logged_at": at(5)}], PLACED))
    session.register(name, pa.Table.from_pylist([ROW | other], schema))
    return session.execute(f"select * from placed inner join {name} on {condition}").fetchall() != []


@pytest.mark.parametrize(
    ("change", "is_of_it"),
    [
        ({}, True),
        ({"began_at": at(5)}, True),
        ({"began_at": at(6)}, False),
        ({"next_began_at": at(6)}, True),
        ({"next_began_at": at(5)}, False),
        ({"topic_name": "payments"}, False),
        ({"cluster_incarnation": 2}, False),
        ({"cluster_id": "b"}, False),
    ],
)
def test_a_row_is_of_the_life_of_its_topic_at_its_time(change: dict[str, Any], is_of_it: bool) -> None:
    assert is_joined("placed_in_life", "lives", {"began_at": at(0)} | change, LIVES) is is_of_it


@pytest.mark.parametrize(
    ("change", "is_of_it"),
    [
        ({}, True),
        ({"stale_from": at(5)}, True),
        ({"stale_until": at(5)}, True),
        ({"stale_from": at(6)}, False),
        ({"stale_until": at(4)}, False),
        ({"node_id": 2}, False),
        ({"cluster_incarnation": 2}, False),
        ({"cluster_id": "b"}, False),
    ],
)
def test_a_record_is_of_a_term_that_was_over(change: dict[str, Any], is_of_it: bool) -> None:
    assert is_joined("in_stale_term", "stale_terms", {"stale_from": at(0), "stale_until": at(9)} | change, STALE_TERMS) is is_of_it
