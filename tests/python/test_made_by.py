"""A changed version of our code, of Spark or of a library makes the next build build everything, and it says why."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from chronicle.build import build as building
from chronicle.build import made_by
from chronicle.build.changes import arrivals, built_from, is_built, is_current
from chronicle.build.made_by import changed, fingerprint, made_alike, why_anew
from chronicle.build.outcome import Outcome
from chronicle.cli.work import build_new
from chronicle.spark import own_classes
from ingestion.warehouse import Warehouse


@pytest.fixture
def place(tmp_path: Path) -> Warehouse:
    """A warehouse, all of which was built."""
    place = Warehouse.at(str(tmp_path))
    write_deltalake(place.bronze("log_records"), pa.table({"cluster_id": ["c"]}))
    place.work.mkdir()
    place.incremental.write_text(fingerprint())
    place.built.write_text(built_from(place))
    return place


@pytest.fixture
def upgraded(place: Warehouse, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that installs another version of a package."""
    find = metadata.version

    def upgrade(package: str, version: str) -> None:
        monkeypatch.setattr(metadata, "version", lambda name: version if name == package else find(name))
        made_by._installed.cache_clear()

    yield upgrade
    monkeypatch.undo()
    made_by._installed.cache_clear()


def test_what_is_as_it_was_is_not_built_again(place: Warehouse) -> None:
    assert is_current(place.root) and is_built(place.root) and made_alike(place)
    found = arrivals(place, built_from(place))
    assert found and not found.tables and why_anew(place) == []


@pytest.mark.parametrize(("package", "said"), [("pyspark", "Spark"), ("deltalake", "delta-rs"), ("pyarrow", "Arrow")])
def test_another_version_makes_everything_anew_and_says_so(package: str, said: str, place: Warehouse, upgraded: Any) -> None:
    before = metadata.version(package)
    upgraded(package, "99.1")
    assert not is_current(place.root) and not is_built(place.root) and not made_alike(place)
    assert arrivals(place, built_from(place)) is None
    assert why_anew(place) == [f"{said} {before} -> 99.1"]


def test_so_does_a_fix_in_a_rule_of_ours(place: Warehouse, upgraded: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fixed = tmp_path / "OneTask.scala"
    fixed.write_text("// right now")
    monkeypatch.setattr(own_classes, "of_builds", lambda: [fixed])
    made_by._installed.cache_clear()
    assert arrivals(place, built_from(place)) is None
    assert why_anew(place) == ["Chronicle's code"]


def test_a_state_of_an_earlier_release_makes_everything_anew(place: Warehouse) -> None:
    place.built.write_text(json.dumps({"project": "0123abcd", "bronze": {"log_records": 0}}))
    place.incremental.write_text("0123abcd")
    assert arrivals(place, built_from(place)) is None and not is_built(place.root) and not made_alike(place)
    assert why_anew(place) == ["an earlier release of Kafka Chronicle made the tables"]


def test_hashes_are_not_shown_and_parts_that_come_and_go_are() -> None:
    old = f"{made_by.MODELS}: abc\nSpark: 4.2.0\nsqlglot: 27.0"
    new = f"{made_by.MODELS}: def\nSpark: 4.2.1\nArrow: 25.0"
    assert changed(old, new) == ["models, macros and seeds", "Spark 4.2.0 -> 4.2.1", "Arrow unknown -> 25.0", "sqlglot 27.0 -> none"]


def test_a_build_says_why_it_built_anew(place: Warehouse, upgraded: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    upgraded("pyspark", "99.1")
    made = Outcome(anew=["Spark 4.2.0 -> 99.1", "Chronicle's code"])
    monkeypatch.setattr(building, "build", lambda *_, **__: made)
    told: list[str] = []
    build_new(lambda: None, place.root, told.append)  # type: ignore[arg-type, return-value]
    assert told[0] == "built anew: Spark 4.2.0 -> 99.1; Chronicle's code"
