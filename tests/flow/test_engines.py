"""Every query of README and docs, and every saved question, by Spark and by DataFusion."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

from chronicle.ask import sql, without_java
from chronicle.ask.questions import questions
from chronicle.ask.render import render
from chronicle.output.values import cell
from docs.outputs import pages, queries
from ingestion.warehouse import Warehouse
from tests.flow.test_questions import FULL, NOW
from tests.lab import Lab

TYPED = re.compile(r'chronicle sql "([^"]+)"')
TEXTS = [page.read_text(encoding="utf-8") for page in pages()]
BLOCKS = {query for text in TEXTS for query, _ in queries(text)}
QUERIES = sorted(BLOCKS | {query for text in TEXTS for query in TYPED.findall(text) if "…" not in query})
# Ordered by floating point, which only Spark is asked.
SPARK_ALONE = {query for query in QUERIES if "value_max" in query}


def printed(answer: pa.Table) -> list[list[str]]:
    columns = [column.to_pylist(maps_as_pydicts="lossy") for column in answer.columns]
    return [answer.column_names, *sorted([cell(value) for value in row] for row in zip(*columns, strict=True))]


@pytest.mark.parametrize("query", QUERIES, ids=[" ".join(query.split())[:60] for query in QUERIES])
def test_queries_of_the_documentation_are_answered_alike(lab: Lab, query: str) -> None:
    place = Warehouse.at(lab.warehouse)
    if query in SPARK_ALONE:
        with pytest.raises(without_java.NotAlike):
            without_java.answer(place, query)
        return
    assert printed(without_java.answer(place, query)) == printed(sql.ask(lab.spark, lab.warehouse, query))


@pytest.mark.parametrize("name", questions())
def test_questions_are_answered_alike_where_datafusion_is_asked(lab: Lab, name: str) -> None:
    one, place = questions()[name], Warehouse.at(lab.warehouse)
    query = render(one.path, one.values([], {need: FULL[need] for need in one.needs}, NOW)).sql
    try:
        answer = without_java.answer(place, query)
    except without_java.NotAlike:
        pytest.skip("left to Spark")
    assert printed(answer) == printed(sql.ask(lab.spark, lab.warehouse, query))
