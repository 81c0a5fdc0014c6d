"""What dbt's docs show besides the models: who reads them, and after how long silence is a fault."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from chronicle.build import dbt_command, versions
from chronicle.cli.main import execute
from chronicle.project import PROJECT
from chronicle.spark.session import NoSession
from dashboards.described import Dashboard, load
from ingestion.lease import Busy
from ingestion.warehouse import Warehouse, only_writer


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
        ("test --target prod", True),
        ("--no-use-colors run", True),
        ("docs serve --port 8090", False),
        ("ls --resource-type exposure", False),
        ("build --target prod_server", False),
        ("build -t=dev", False),
        ("--printer-width 100 build", True),
        ("-r build ls", False),
        ("--log-format json docs --no-use-colors serve", False),
        ("run-operation parse", True),
        ("docs generate --target dev", False),
        ("build --help", False),
        ("--version", False),
        ("", False),
    ],
)
def test_a_session_starts_only_for_what_asks_one(line: str, needs_session: bool) -> None:
    assert dbt_command.asked(line.split()).needs_session == needs_session


@pytest.mark.parametrize(
    ("line", "command", "writes"),
    [
        ("build", "build", True),
        ("--printer-width 100 build --select fct_incidents", "build", True),
        ("--log-path here --target prod run", "run", True),
        ("-r test test --select build", "test", False),
        ("--no-use-colors source --quiet freshness", "source freshness", False),
        ("docs --log-format json generate", "docs generate", False),
    ],
)
def test_the_command_is_found_behind_options_with_values(line: str, command: str, writes: bool) -> None:
    wanted = dbt_command.asked(line.split())
    assert (wanted.command, wanted.writes) == (command, writes)


def test_a_command_behind_options_holds_the_warehouse_and_what_it_made_is_not_a_build(tmp_path: Path, monkeypatch: Any) -> None:
    place = Warehouse.at(str(tmp_path))
    place.work.mkdir()
    place.built.write_text("{}")
    versions.Record("plain", {"marts.fct_a": 3}, "{}").write(place)
    seen = []

    class Runner:
        def invoke(self, _: list[str]) -> Any:
            seen.append(place.built.exists())
            with pytest.raises(Busy), only_writer(place):
                pass
            raise ValueError("far enough")

    monkeypatch.setattr(dbt_command, "start_session", lambda *_: None)
    monkeypatch.setattr("dbt.cli.main.dbtRunner", Runner)
    with pytest.raises(ValueError, match="far enough"):
        dbt_command.invoke(str(tmp_path), ["--printer-width", "100", "build", "--threads", "2"], "1g")
    assert seen == [False]
    # The plain engine does not go on from it either; readers still see its tables.
    assert versions.Record.of(place) == versions.Record("plain", {"marts.fct_a": 3}, None)


def test_where_spark_does_not_start_the_state_of_the_warehouse_stays(tmp_path: Path, monkeypatch: Any) -> None:
    """Otherwise the next build would make everything anew, because of a port that was taken or a heap that was too large."""
    place = Warehouse.at(str(tmp_path))
    place.kept_steps.mkdir(parents=True)
    for file in (place.built, place.incremental, place.unfinished):
        file.write_text("{}")

    def start_session(*_: Any) -> None:
        raise NoSession("Java ended with code 1 before Spark was up")

    monkeypatch.setattr(dbt_command, "start_session", start_session)
    with pytest.raises(NoSession):
        dbt_command.invoke(str(tmp_path), ["run"], "900g")
    assert all(path.exists() for path in (place.built, place.incremental, place.unfinished, place.kept_steps))


@pytest.mark.parametrize(
    ("line", "said"), [("--threads 2 build", "--threads"), ("build --nope", "--nope"), ("biuld", "biuld"), ("build --threads two", "two")]
)
def test_what_dbt_does_not_understand_is_said_before_anything_is_touched(tmp_path: Path, capsys: Any, line: str, said: str) -> None:
    place = Warehouse.at(str(tmp_path))
    place.work.mkdir()
    place.built.write_text("{}")
    assert execute(["dbt", "--warehouse", str(tmp_path), *line.split()]) == 2
    assert said in capsys.readouterr().err
    assert place.built.exists()


def test_places_that_the_user_names_stay(tmp_path: Any) -> None:
    place = Warehouse.at(str(tmp_path))
    assert dbt_command.places(place, PROJECT, dbt_command.asked([])) == []
    wanted = dbt_command.asked(["docs", "generate", "--target-path=here", "--profiles-dir", "mine"])
    assert dbt_command.places(place, PROJECT, wanted) == [
        *("--project-dir", str(PROJECT), "--target", "prod", "--log-path", str(place.work / "logs")),
    ]
    wanted = dbt_command.asked(["--log-path", "there", "parse", "--project-dir", "mine"])
    assert dbt_command.places(place, PROJECT, wanted) == [
        *("--profiles-dir", str(PROJECT), "--target", "prod"),
        *("--target-path", str(place.work / "by-hand")),
    ]
