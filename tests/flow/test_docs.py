"""The blocks of README and docs run as a reader would run them, and the answers that stand below them are current."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from chronicle.ask.tables import Tables
from chronicle.project import PROJECT
from docs.blocks import Block, blocks, with_output
from docs.outputs import EXAMPLE, answered, is_of_reader, pages, queries
from docs.pictures.make import CLUSTER, browser, draw_report
from ingestion.warehouse import Warehouse
from tests.fresh import installed_by, python, shell
from tests.lab import Lab

ASKED = [(page, query, answer) for page in pages() for query, answer in queries(page.read_text(encoding="utf-8"))]
RUN = [block for page in pages() for block in blocks(page) if block.reason is None]
TYPED = [block for block in RUN if block.language == "bash"]
PIECES = [(block, said) for page in pages() for block, said in with_output(page) if block.language == "python" and block.reason is None]


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


def test_the_picture_of_the_report_can_be_drawn(example: str, tmp_path: Path) -> None:
    chromium = browser()
    if chromium is None:
        pytest.skip("no Chromium on this machine")
    draw_report(chromium, Path(example), CLUSTER, tmp_path / "report.png")
    # A picture of an empty page has a tenth of these bytes.
    assert (tmp_path / "report.png").stat().st_size > 100_000


@pytest.mark.parametrize("block", TYPED, ids=[block.place for block in TYPED])
def test_commands_run(example: str, tmp_path: Path, block: Block) -> None:
    """Of a key the pages show the beginning: any key of the tables does."""
    key = Tables(Warehouse.at(example)).table("select controller_tenure_key from marts.fct_controller_tenures").column(0)[0].as_py()
    done = shell(tmp_path, example, re.sub(r"\b[0-9a-f]+…", key, block.code))
    assert done.returncode == 0, done.stderr
    assert done.stdout or "check" in block.code


@pytest.mark.parametrize(("block", "said"), PIECES, ids=[block.place for block, _ in PIECES])
def test_python_runs_with_what_its_page_says_to_install(example: str, tmp_path: Path, block: Block, said: str) -> None:
    done = python(tmp_path, example, installed_by(block.page.read_text(encoding="utf-8")), block.code)
    assert done.returncode == 0, done.stderr
    assert [line.rstrip() for line in done.stdout.rstrip().splitlines()] == said.rstrip().splitlines()


def test_a_package_that_a_page_does_not_name_is_not_there(tmp_path: Path) -> None:
    """pandas reads Delta by way of pyarrow, which is an extra of deltalake."""
    code = "import deltalake, importlib.util as found; print([name for name in ('pyarrow', 'pandas') if found.find_spec(name)])"
    for number, (wanted, there) in enumerate([("deltalake", []), ("deltalake[pyarrow]", ["pyarrow"])]):
        home = tmp_path / str(number)
        home.mkdir()
        done = python(home, str(tmp_path), [wanted], code)
        assert (done.stdout.strip(), done.stderr) == (str(there), "")
