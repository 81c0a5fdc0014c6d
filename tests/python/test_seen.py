"""A file that is unchanged is not opened again, and every other one is."""

from __future__ import annotations

import builtins
import os
import pickle
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from ingestion import ingest as ingesting
from ingestion.outcome import Outcome
from ingestion.sources import kept, seen
from ingestion.sources.discover import Options
from tests.rotations import Here

LINE = "[2020-05-15 12:00:{:02},123] INFO [KafkaServer id={}] started (kafka.server.KafkaServer)\n"


def run(folder: Path, warehouse: Path, **options: Any) -> Outcome:
    told: list[str] = []
    return ingesting.ingest(Here, str(warehouse), Options([str(folder)], cluster="c", timezone="UTC", **options), told.append)


def put(path: Path, text: str, days_ago: float = 1) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    at = time.time() - days_ago * 86_400
    os.utime(path, (at, at))


def rows(warehouse: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = kept.newer(DeltaTable(f"{warehouse}/bronze/sources")).to_pylist()
    return found


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(seen, "COARSEST_SECONDS", 0)
    for node in (1, 2, 3):
        put(tmp_path / f"logs/{node}/server.log", "".join(LINE.format(second, node) for second in range(9)))
    put(tmp_path / "logs/3/copy.log", (tmp_path / "logs/3/server.log").read_text())
    put(tmp_path / "logs/3/notes", "nothing that any layout knows\n" * 3)
    put(tmp_path / "logs/3/nothing", "")
    return tmp_path / "logs"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, logs: Path) -> list[str]:
    """The files of the logs that are opened."""
    names: list[str] = []
    plain: Callable[..., Any] = builtins.open

    def told(file: Any, *rest: Any, **more: Any) -> Any:
        if str(file).startswith(str(logs)):
            names.append(str(Path(str(file)).relative_to(logs)))
        return plain(file, *rest, **more)

    monkeypatch.setattr(builtins, "open", told)
    return names


def test_what_has_not_changed_is_not_opened(logs: Path, tmp_path: Path, opened: list[str]) -> None:
    first = run(logs, tmp_path / "w")
    assert (first.records, first.files) == (27, {"new": 3, "copy": 1, "unknown": 1, "empty": 1})
    known = rows(tmp_path / "w")
    opened.clear()
    second = run(logs, tmp_path / "w")
    assert opened == []
    assert (second.records, second.files) == (0, {"unchanged": 3, "copy": 1, "unknown": 1, "empty": 1})
    assert rows(tmp_path / "w") == known


@pytest.mark.parametrize("settled_after", [60.0, 0.0])
def test_what_has_grown_is_read_on(logs: Path, tmp_path: Path, opened: list[str], settled_after: float) -> None:
    run(logs, tmp_path / "w")
    opened.clear()
    with (logs / "2/server.log").open("a") as file:
        file.write(LINE.format(30, 2) + LINE.format(31, 2))
    assert run(logs, tmp_path / "w", settled_after=settled_after).records == (1 if settled_after else 2)
    assert {name for name in opened if name != "2/server.log"} == set()
    assert rows(tmp_path / "w")[-1]["source_id"] in {row["source_id"] for row in rows(tmp_path / "w")[:-1]}


def test_a_last_record_that_was_held_back_is_read_when_the_file_has_settled(logs: Path, tmp_path: Path) -> None:
    put(logs / "1/server.log", "".join(LINE.format(second, 1) for second in range(9)), days_ago=0)
    assert run(logs, tmp_path / "w").records == 26
    assert run(logs, tmp_path / "w").records == 0
    assert run(logs, tmp_path / "w", settled_after=0).records == 1
    assert run(logs, tmp_path / "w", settled_after=0).records == 0


@pytest.mark.parametrize(("days_ago", "again"), [(0, {"1/server.log"}), (1, set())])
def test_a_file_that_ended_in_a_line_is_looked_at_again_until_it_has_settled(
    logs: Path, tmp_path: Path, opened: list[str], days_ago: int, again: set[str]
) -> None:
    put(logs / "1/server.log", (LINE * 3).format(1, 1, 2, 1, 3, 1)[:-9], days_ago=days_ago)
    run(logs, tmp_path / "w")
    opened.clear()
    run(logs, tmp_path / "w")
    assert set(opened) == again


def test_other_content_of_the_same_size_and_time_is_seen(logs: Path, tmp_path: Path) -> None:
    """The time of the status cannot be set back."""
    run(logs, tmp_path / "w")
    path = logs / "2/server.log"
    status = path.stat()
    path.write_text(path.read_text().replace("12:00", "13:00"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size and path.stat().st_mtime_ns == status.st_mtime_ns
    assert run(logs, tmp_path / "w").records == 9


def test_a_new_file_gets_what_unchanged_ones_tell(logs: Path, tmp_path: Path) -> None:
    """Node and zone of a folder are known from files that were not opened."""
    run(logs, tmp_path / "w")
    put(logs / "2/state-change.log", "[2020-05-15 12:00:01,123] INFO nothing of a node (state.change.logger)\n")
    run(logs, tmp_path / "w")
    row = rows(tmp_path / "w")[-1]
    assert (Path(row["source_path"]).name, row["node_id"], row["node_known_by"]) == ("state-change.log", 2, "folder")


def test_other_words_and_other_code_look_again(logs: Path, tmp_path: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    run(logs, tmp_path / "w")
    opened.clear()
    run(logs, tmp_path / "w", node=7)
    assert {"1/server.log", "2/server.log"} <= set(opened)
    opened.clear()
    monkeypatch.setattr(seen, "code", lambda: "other")
    run(logs, tmp_path / "w", node=7)
    assert {"1/server.log", "2/server.log"} <= set(opened)


def test_without_the_tables_everything_is_read_again(logs: Path, tmp_path: Path) -> None:
    run(logs, tmp_path / "w")
    (tmp_path / "w/bronze").rename(tmp_path / "away")
    assert run(logs, tmp_path / "w").records == 27


def test_what_is_gone_is_forgotten_and_other_folders_are_not(logs: Path, tmp_path: Path) -> None:
    put(tmp_path / "more/server.log", LINE.format(1, 9))
    run(tmp_path / "more", tmp_path / "w")
    run(logs, tmp_path / "w")
    (logs / "1/server.log").unlink()
    run(logs, tmp_path / "w")
    names = {Path(name).relative_to(tmp_path).as_posix() for name in seen.Seen(tmp_path / "w/.dbt/seen").entries}
    assert {"more/server.log", "logs/2/server.log"} <= names and "logs/1/server.log" not in names


@pytest.mark.parametrize(
    "content", [b"", b"x", b"code\nx", b"code\n" + zlib.compress(pickle.dumps({"a": os.system})), b"code\n" + zlib.compress(b"x")]
)
def test_what_is_damaged_or_foreign_counts_as_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(seen, "code", lambda: "code")
    (tmp_path / "seen").write_bytes(content)
    assert seen.Seen(tmp_path / "seen").entries == {}


def test_what_changed_a_moment_ago_is_not_kept(tmp_path: Path) -> None:
    """A file that changed a moment ago may change again within the same tick of its clock."""
    put(tmp_path / "logs/server.log", LINE.format(1, 1))
    run(tmp_path / "logs", tmp_path / "w")
    assert seen.Seen(tmp_path / "w/.dbt/seen").entries == {}
