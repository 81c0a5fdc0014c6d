"""`chronicle follow` without Spark: rounds, messages, retries, and the requests of other commands over the socket."""

from __future__ import annotations

import os
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pytest

from chronicle.cli import following as command
from chronicle.cli import main
from chronicle.follow import follow
from chronicle.staying import requests
from chronicle.staying.requests import Listener, Request, Unanswered, staying
from ingestion import ingest as ingesting
from ingestion.lease import Busy
from ingestion.outcome import Outcome
from ingestion.sources.discover import Options
from ingestion.warehouse import Warehouse


def answer(request: Request) -> None:
    if request.asked == "sql":
        request.say("one\ntwo")
        request.answer(pa.table({"n": [1, None]}))
        request.end()
    else:
        request.out("printed\n")
        request.end({"given": request.values})


def listening(place: Warehouse) -> Listener:
    return Listener(place, "follow", ("sql", "build"), answer)


@pytest.fixture(params=["short", "long"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Warehouse:
    """A warehouse, once with a short path and once with one that is too long for the name of a socket."""
    return Warehouse.at(str(tmp_path / ("w" if request.param == "short" else "w" * 120)))


@pytest.fixture
def listener(place: Warehouse) -> Iterator[Listener]:
    found = listening(place)
    yield found
    found.close()


def test_other_commands_are_answered(place: Warehouse, listener: Listener, capsys: pytest.CaptureFixture[str]) -> None:
    there = staying(place, "sql")
    assert there is not None
    assert there.ask("sql", question="select 1").to_pylist() == [{"n": 1}, {"n": None}]
    assert capsys.readouterr() == ("", f"using `chronicle follow` (process {os.getpid()})\none\\ntwo\n")
    there = staying(place, "build")
    assert there is not None
    assert there.ask("build", select=None) == {"given": {"select": None}}
    assert capsys.readouterr().out == "printed\n"


def test_what_it_does_not_do_is_not_asked_of_it(place: Warehouse, listener: Listener) -> None:
    assert staying(place, "ingest") is None
    with pytest.raises(Unanswered, match="unknown request 'ingest'"):
        requests.connected(place, "follow").ask("ingest")


def test_only_the_owner_may_ask(place: Warehouse, listener: Listener) -> None:
    assert stat.S_IMODE((place.work / requests.SOCKET).stat().st_mode) == 0o600


def test_a_socket_that_a_killed_process_left_is_none(place: Warehouse) -> None:
    listener = listening(place)
    listener.socket.close()
    with requests.address(place) as name, socket.socket(socket.AF_UNIX) as left:
        (place.work / requests.SOCKET).unlink()
        left.bind(name)
    assert staying(place, "sql") is None
    again = listening(place)
    assert staying(place, "sql") is not None
    again.close()
    assert staying(place, "sql") is None


def test_nonsense_is_refused_and_the_next_is_answered(place: Warehouse, listener: Listener) -> None:
    for text in (b"\x00\xff\n", b"[]\n", b"{}\n", b""):
        there = requests.connected(place, "").connection
        there.sendall(text)
        there.shutdown(socket.SHUT_WR)
        assert b"not understood" in there.recv(1000)
        there.close()
    assert staying(place, "sql") is not None


def test_a_process_that_ends_meanwhile_is_an_error(place: Warehouse) -> None:
    listener = Listener(place, "follow", ("sql",), lambda request: request.connection.close())
    with pytest.raises(ConnectionError, match="`chronicle follow` ended before it was done; try again"):
        requests.connected(place, "follow").ask("sql")
    listener.close()


def test_one_process_stays(place: Warehouse) -> None:
    assert requests.held(place)
    # The lock belongs to an open file, so a second one in this process acts like another process.
    assert not requests.held(place)


def test_sql_is_asked_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listener = listening(Warehouse.at(str(tmp_path)))
    assert main.execute(["sql", "select 1 / 2 as n", "-w", str(tmp_path), "-f", "csv"]) == 0
    assert capsys.readouterr().out == 'n\n1\n""\n'
    listener.close()


def test_options_reach_the_other_process_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    options = Options(["logs"], "prod", 3, "{cluster}/**", "UTC", 7.0, "%m")
    options.placeholders  # noqa: B018 - it is kept once it has been asked for
    assert vars(Options(**command.asked(options))) == {
        **vars(Options([str(tmp_path / "logs")], "prod", 3, "{cluster}/**", "UTC", 7.0, "%m"))
    }


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


def test_requests_are_done_one_after_the_other(place: Warehouse) -> None:
    """Requests of commands that the rounds' thread handles, and those that it cannot."""
    taken: list[Request] = []
    arrived = threading.Event()

    def take(request: Request) -> None:
        taken.append(request)
        arrived.set()

    listener = Listener(place, "follow", ("build", "run"), take)
    work = {"build": lambda spark, request: {"models": 3}, "run": lambda spark, request: 1 / 0}
    for asked, wanted in (("build", {"models": 3}), ("run", "division by zero")):
        there = requests.connected(place, "follow")
        found: list[Any] = []

        def ask(there: Any = there, asked: str = asked, found: list[Any] = found) -> None:
            try:
                found.append(there.ask(asked))
            except Unanswered as error:
                found.append(str(error))

        thread = threading.Thread(target=ask)
        thread.start()
        assert arrived.wait(5)
        arrived.clear()
        follow.do(taken.pop(), work, cast("Any", None))
        thread.join(5)
        assert found == [wanted] or wanted in found[0]
    with pytest.raises(Unanswered, match="unknown request 'dance'"):
        requests.connected(place, "follow").ask("dance")
    assert taken == []
    listener.close()
