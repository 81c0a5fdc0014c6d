"""The answers that README and docs print below their queries are the tables' current ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from chronicle.ask.tables import Tables
from docs.outputs import answered, pages, queries
from docs.pictures.make import CLUSTER, browser, draw_report
from ingestion.warehouse import Warehouse
from tests.lab import Lab

ASKED = [(page, query, answer) for page in pages() for query, answer in queries(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(("page", "query", "answer"), ASKED, ids=[f"{page.stem}-{number}" for number, (page, _, _) in enumerate(ASKED)])
def test_answers_are_those_of_the_tables(lab: Lab, page: Path, query: str, answer: str) -> None:
    """`python -m docs.outputs WAREHOUSE` writes them again."""
    assert answered(Tables(Warehouse.at(lab.warehouse)), query) == answer


def test_the_picture_of_the_report_can_be_drawn(lab: Lab, tmp_path: Path) -> None:
    chromium = browser()
    if chromium is None:
        pytest.skip("no Chromium on this machine")
    draw_report(chromium, Path(lab.warehouse), CLUSTER, tmp_path / "report.png")
    # A picture of an empty page has a tenth of these bytes.
    assert (tmp_path / "report.png").stat().st_size > 100_000
