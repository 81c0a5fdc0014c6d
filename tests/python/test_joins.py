"""The conditions of joins that several models share, on rows in DuckDB: the examples of macros/_macros.yml."""

from __future__ import annotations

import pytest
from jinja2 import Environment

from chronicle.project import PROJECT
from tests import duck

FOUND = """
with placed as (select 'a' as cluster_id, 1 as cluster_incarnation, 'orders' as topic_name, 3 as node_id, timestamp '2026-05-01 10:00:05' as logged_at),
lives as (select * from (values {lives}) as lives (cluster_id, cluster_incarnation, topic_name, life_number, began_at, next_began_at)),
stale_terms as (select * from (values {terms}) as terms (cluster_id, cluster_incarnation, node_id, stale_from, stale_until))
select {what} from placed left join {other} on {condition}
"""
LIVES = "('{cluster}', {incarnation}, '{topic}', 2, timestamp '2026-05-01 {began}', {next})"
TERMS = "('{cluster}', {incarnation}, {node}, timestamp '2026-05-01 {since}', timestamp '2026-05-01 {until}')"
A_LIFE = {"cluster": "a", "incarnation": 1, "topic": "orders", "began": "10:00:00", "next": "null"}
A_TERM = {"cluster": "a", "incarnation": 1, "node": 3, "since": "10:00:00", "until": "10:00:09"}


def found(condition: str, other: str, what: str, life: dict[str, object], term: dict[str, object]) -> object:
    files = ("placed_in_life", "in_stale_term")
    macros = "\n".join((PROJECT / "macros" / f"{name}.sql").read_text("utf-8") for name in files)
    rendered = Environment().from_string(f"{macros}\n{{{{ {condition} }}}}").render().strip()
    query = FOUND.format(lives=LIVES.format(**life), terms=TERMS.format(**term), what=what, other=other, condition=rendered)
    (row,) = duck.connect().execute(query).fetchall()
    return row[0]


@pytest.mark.parametrize(
    ("change", "life"),
    [
        ({}, 2),
        ({"began": "10:00:05"}, 2),
        ({"began": "10:00:06"}, None),
        ({"next": "timestamp '2026-05-01 10:00:06'"}, 2),
        ({"next": "timestamp '2026-05-01 10:00:05'"}, None),
        ({"topic": "payments"}, None),
        ({"incarnation": 2}, None),
        ({"cluster": "b"}, None),
    ],
)
def test_a_row_is_of_the_life_of_its_topic_at_its_time(change: dict[str, object], life: int | None) -> None:
    assert found("placed_in_life('placed')", "lives", "life_number", A_LIFE | change, A_TERM) == life


@pytest.mark.parametrize(
    ("change", "is_stale"),
    [
        ({}, True),
        ({"since": "10:00:05"}, True),
        ({"until": "10:00:05"}, True),
        ({"since": "10:00:06"}, False),
        ({"until": "10:00:04"}, False),
        ({"node": 2}, False),
        ({"incarnation": 2}, False),
        ({"cluster": "b"}, False),
    ],
)
def test_a_record_is_of_a_term_that_was_over(change: dict[str, object], is_stale: bool) -> None:
    assert found("in_stale_term('placed')", "stale_terms", "stale_from is not null", A_LIFE, A_TERM | change) is is_stale
