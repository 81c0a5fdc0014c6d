"""What dbt tells of the project beside the models: who reads them, and until when silence is no fault."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dashboards.described import Dashboard, load
from ingestion.build import parse
from ingestion.warehouse import Warehouse


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return parse(Warehouse.at(str(tmp_path_factory.mktemp("warehouse"))), inline=False)


def read_by(board: Dashboard) -> set[str]:
    """The models that a dashboard's charts and filters read."""
    datasets = [*(chart.dataset for chart in board.charts), *(one.dataset for one in board.filters if one.dataset)]
    return set(re.findall(r"\b(?:marts|reports)\.(\w+)", " ".join(dataset.relation for dataset in datasets)))


@pytest.mark.parametrize("board", load().dashboards, ids=lambda board: board.name)
def test_a_dashboard_is_an_exposure_of_what_it_reads(manifest: Any, board: Dashboard) -> None:
    exposure = manifest.exposures[f"exposure.chronicle.{board.name}"]
    assert exposure.label == board.title
    assert exposure.description == " ".join(board.description.split())
    assert {manifest.nodes[key].name for key in exposure.depends_on.nodes} == read_by(board)


def test_no_exposure_is_left_of_a_dashboard_that_is_gone(manifest: Any) -> None:
    said = {exposure.name for exposure in manifest.exposures.values() if str(exposure.type.value) == "dashboard"}
    assert said == {board.name for board in load().dashboards}


def test_silence_of_logs_is_told_by_their_arrivals(manifest: Any) -> None:
    watched = {
        source.name: (source.loaded_at_field, source.freshness.warn_after.count, source.freshness.error_after.count)
        for source in manifest.sources.values()
        if source.freshness
    }
    assert watched == {"log_records": ("ingested_at", 24, 168), "sources": ("ingested_at", 24, 168)}
