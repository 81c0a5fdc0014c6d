"""Small files as people paste them give their facts, and those with nothing to say give none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scraps.run import INPUTS, built, expected, names, wrong


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("scraps"), names())


def test_each_file_has_an_expectation() -> None:
    assert set(expected()) == {path.name for path in INPUTS.iterdir()}


def test_each_scrap_gives_its_facts_and_no_others(warehouse: Path) -> None:
    lines = list(wrong(warehouse, names()))
    assert not lines, "\n".join(lines)
