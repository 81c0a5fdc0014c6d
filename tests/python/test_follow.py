"""`chronicle follow` without Spark: rounds, messages and retries."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from chronicle.follow import follow
from ingestion import ingest as ingesting
from ingestion.lease import Busy, locked
from ingestion.outcome import Outcome
from ingestion.sources.discover import Options
from ingestion.warehouse import Warehouse


class Fixture:
    """A follower with files, an ingestion and a build that only count."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.log = folder / "logs" / "server.log"
        self.log.parent.mkdir()
        self.log.write_text("one\n")
        (folder / "warehouse/bronze/log_records").mkdir(parents=True)
        (folder / "warehouse/bronze/log_records/part-1.parquet").touch()
        self.said: list[str] = []
        self.ingested: list[Any] = []
        self.built: list[Any] = []
        self.is_current = True
        self.clock = 0.0
        monkeypatch.setattr(follow, "clock", lambda: "12:00:10")
        monkeypatch.setattr(follow.time, "monotonic", lambda: self.clock)
        monkeypatch.setattr(follow.session, "is_up", lambda: True)
        monkeypatch.setattr(ingesting, "ingest", self.ingest)
        monkeypatch.setattr(follow, "is_current", lambda warehouse: self.is_current)
        monkeypatch.setattr(follow.building, "build", self.build)
        options = Options([str(self.log.parent)], settled_after=5)
        self.follower = follow.Follower(str(folder / "warehouse"), options, 10.0, cast("Any", None), self.said.append)

    def ingest(self, *given: Any, tell: Any, progress: Any) -> Outcome:
        tell("1 file is odd")
        found = self.ingested.pop(0)
        if isinstance(found, BaseException):
            raise found
        self.is_current = self.is_current and not found.records
        return found

    def build(self, *given: Any, progress: Any) -> Any:
        found = self.built.pop(0)
        if isinstance(found, BaseException):
            raise found
        self.is_current = True
        return SimpleNamespace(models={"a": 1.0, "b": 2.0})

    def round(self, after: float = 10.0) -> list[str]:
        self.clock += after
        self.said.clear()
        self.follower.round()
        return list(self.said)


@pytest.fixture
def followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fixture:
    return Fixture(tmp_path, monkeypatch)


def test_a_round_says_what_it_did_and_one_without_anything_is_silent(followed: Fixture) -> None:
    followed.ingested, followed.built = [Outcome(records=1234)], [None]
    assert followed.round() == ["1 file is odd", "12:00:10 1,234 records, 2 models in 0.0 s (ingest 0.0 s)"]
    # Files are not looked at: otherwise `ingest` would run out of outcomes.
    assert followed.round() == []
    followed.log.write_text("one\ntwo\n")
    followed.ingested = [Outcome()]
    assert followed.round() == []


def test_what_is_held_back_is_looked_at_again_though_unchanged(followed: Fixture) -> None:
    followed.ingested = [Outcome(waiting=1), Outcome()]
    followed.round()
    followed.round(after=1)
    assert len(followed.ingested) == 1
    followed.round(after=9)
    assert followed.ingested == []
    followed.round()


def test_a_failed_build_is_told_once_and_tried_again_ever_later(followed: Fixture) -> None:
    followed.ingested = [Outcome(records=1), Outcome(), Outcome(), Outcome()]
    followed.built = [ValueError("model x: odd"), ValueError("model x: odd"), None]
    assert followed.round() == ["1 file is odd", "12:00:10 model x: odd; trying again"]
    assert followed.round(after=5) == []
    assert (followed.round(after=5), len(followed.built)) == ([], 1)
    assert (followed.round(after=10), len(followed.built)) == ([], 1)
    assert followed.round(after=10) == ["12:00:10 0 records, 2 models in 0.0 s (ingest 0.0 s)"]


def test_another_writer_is_waited_for_in_silence(followed: Fixture) -> None:
    followed.ingested = [Busy("another chronicle is writing"), Outcome(records=1)]
    followed.built = [None]
    assert followed.round() == ["1 file is odd"]
    assert followed.round()[-1].startswith("12:00:10 1 records")


def test_folders_may_vanish_and_come_back(followed: Fixture) -> None:
    followed.ingested = [Outcome(), FileNotFoundError("no such file or folder: logs"), Outcome(records=2)]
    followed.built = [None]
    followed.round()
    text = followed.log.read_text()
    followed.log.unlink()
    assert followed.round() == []
    followed.log.parent.rmdir()
    followed.round()
    followed.log.parent.mkdir()
    followed.log.write_text(text)
    followed.ingested = followed.ingested[-1:]
    assert followed.round()[-1].startswith("12:00:10 2 records")


def test_without_java_it_ends(followed: Fixture, monkeypatch: pytest.MonkeyPatch) -> None:
    followed.ingested = [OSError("broken pipe")]
    monkeypatch.setattr(follow.session, "is_up", lambda: False)
    with pytest.raises(follow.CannotFollow, match="Java has ended"):
        followed.round()


def test_one_process_follows(tmp_path: Path) -> None:
    """A lock belongs to an open file, so a second one in this process acts like another process."""
    log = tmp_path / "server.log"
    log.touch()
    place = Warehouse.at(str(tmp_path / "warehouse"))
    place.work.mkdir(parents=True)
    with locked(place.work / "following", place.root, "following into"), pytest.raises(Busy, match=r"\(process \d+\) is following into"):
        follow.follow(place.root, Options([str(log)]), 10.0, memory="1g", served=None, tell=print)
