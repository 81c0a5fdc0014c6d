"""What dbt tells of the project beside the models: who reads them, and until when silence is no fault."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dashboards.described import Dashboard, load
from ingestion import by_hand
from ingestion.build import PROJECT, parse
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


@pytest.mark.parametrize(
    ("line", "needs_session"),
    [
        ("build --select fct_incidents", True),
        ("docs generate", True),
        ("source freshness", True),
        ("test --target local", True),
        ("--no-use-colors run", True),
        ("docs serve --port 8090", False),
        ("ls --resource-type exposure", False),
        ("build --target server", False),
        ("build -t=server", False),
        ("build --help", False),
        ("--version", False),
        ("", False),
    ],
)
def test_a_session_starts_only_for_what_asks_one(line: str, needs_session: bool) -> None:
    assert by_hand.asks_here(line.split()) == needs_session


def test_places_that_the_user_names_stay(tmp_path: Any) -> None:
    place = Warehouse.at(str(tmp_path))
    assert by_hand.places(place, PROJECT, ["--version"][1:]) == []
    given = by_hand.places(place, PROJECT, ["docs", "generate", "--target-path=here", "--profiles-dir", "mine"])
    assert given == ["--project-dir", str(PROJECT), "--log-path", str(place.work / "logs")]
