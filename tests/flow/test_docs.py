"""The answers that README and docs print below their queries are the tables' current ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from chronicle.ask.tables import Tables
from chronicle.project import PROJECT
from docs.outputs import EXAMPLE, answered, is_of_reader, pages, queries
from docs.pictures.make import CLUSTER, browser, draw_report
from ingestion.warehouse import Warehouse
from tests.lab import Lab

ASKED = [(page, query, answer) for page in pages() for query, answer in queries(page.read_text(encoding="utf-8"))]


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The warehouse that a reader has after the first command of README."""
    warehouse = tmp_path_factory.mktemp("example") / "warehouse"
    arguments = ["-m", "chronicle", "run", str(PROJECT / "examples" / EXAMPLE), "--warehouse", str(warehouse)]
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(PROJECT)})
    assert done.returncode == 0, done.stderr
    return str(warehouse)


@pytest.mark.parametrize(("page", "query", "answer"), ASKED, ids=[f"{page.stem}-{number}" for number, (page, _, _) in enumerate(ASKED)])
def test_answers_are_those_of_the_tables(lab: Lab, example: str, page: Path, query: str, answer: str) -> None:
    """`python -m docs.outputs EXAMPLE TESTS` writes them again."""
    assert answered(Tables(Warehouse.at(example if is_of_reader(query) else lab.warehouse)), query) == answer
    # An example without rows shows nothing.
    assert len(answer.splitlines()) > 2


def test_the_picture_of_the_report_can_be_drawn(lab: Lab, tmp_path: Path) -> None:
    chromium = browser()
    if chromium is None:
        pytest.skip("no Chromium on this machine")
    draw_report(chromium, Path(lab.warehouse), CLUSTER, tmp_path / "report.png")
    # A picture of an empty page has a tenth of these bytes.
    assert (tmp_path / "report.png").stat().st_size > 100_000
