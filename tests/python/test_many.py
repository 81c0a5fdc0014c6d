"""The cost grows linearly with the number of files: files that begin alike are not compared pair by pair."""

from __future__ import annotations

import random
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest

from ingestion import ingest as ingesting
from ingestion.bronze import shares
from ingestion.reading.files import tail_hash
from ingestion.sources import identify as identifying
from ingestion.sources.discover import Options
from ingestion.sources.identify import identify
from ingestion.sources.spool import Spool
from ingestion.sources.stages import COPY, TO_READ, Identified, Known, Placed, grown
from tests.python.test_records import line
from tests.rotations import Here

HEAD = b"# HELP kafka_server_value What it is.\n" * 40


def source_of(path: Path, **changes: Any) -> Placed:
    size = path.stat().st_size
    head = path.read_bytes()[:1024]
    return Placed(
        **{"path": str(path), "shown": str(path), "folder": str(path.parent), "cluster_id": "c", "outcome": TO_READ}
        | {"head": head, "size": size, "disk_size": size, **changes}
    )


def known_of(source: Identified) -> Known:
    return Known(
        source.source_id, source.path, source.fingerprint(), len(source.head), source.size or 0, tail_hash(source.path, source.size or 0),
        source.size, "read",
    )  # fmt: skip


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The pairs of files that are compared byte by byte."""
    pairs: list[tuple[str, str]] = []
    plain = identifying.same_bytes
    monkeypatch.setattr(identifying, "same_bytes", lambda one, other: pairs.append((one, other)) or plain(one, other))
    return pairs


@pytest.mark.parametrize("beginning", [HEAD[:1030], HEAD, HEAD * 10])
def test_files_that_begin_alike_are_told_apart_by_what_follows(tmp_path: Path, compared: list[Any], beginning: bytes) -> None:
    for number in range(300):
        (tmp_path / f"{number:03}").write_bytes(beginning + b"%03d and what follows\n" % number * 200)
    found = identify([source_of(path) for path in sorted(tmp_path.iterdir())], [])
    assert [source.outcome for source in found] == [TO_READ] * 300
    assert len({source.source_id for source in found}) == 300
    assert len(compared) < 300


def test_a_copy_and_a_beginning_are_found_among_them(tmp_path: Path, compared: list[Any]) -> None:
    for number in range(100):
        (tmp_path / f"{number:03}").write_bytes(HEAD + b"%03d\n" % number * 3000)
    (tmp_path / "copy").write_bytes((tmp_path / "042").read_bytes())
    (tmp_path / "torn").write_bytes((tmp_path / "017").read_bytes()[:5001])
    (tmp_path / "short").write_bytes(HEAD[:1100])
    by_name = {Path(source.path).name: source for source in identify([source_of(path) for path in sorted(tmp_path.iterdir())], [])}
    assert {name: source.reason for name, source in by_name.items() if source.outcome == COPY} == {
        "copy": f"the same bytes as {tmp_path}/042",
        "torn": f"the same bytes as {tmp_path}/017",
        "short": f"the same bytes as {tmp_path}/000",
    }
    assert len(compared) < 10


@pytest.mark.parametrize("is_seen", [True, False])
def test_a_known_file_looks_at_its_own_alone(tmp_path: Path, compared: list[Any], is_seen: bool) -> None:
    for number in range(200):
        (tmp_path / f"{number:03}").write_bytes(HEAD + b"%03d\n" % number * 300)
    found = [source_of(path) for path in sorted(tmp_path.iterdir())]
    known = [known_of(source) for source in identify(found, [])]
    random.Random(1).shuffle(known)
    by_path = {entry.path: entry.source_id for entry in known}
    again = [source_of(Path(source.path), seen_as=by_path[source.path] if is_seen else None) for source in found]
    compared.clear()
    assert [source.source_id for source in identify(again, known)] == [by_path[source.path] for source in found]
    assert len(compared) < 10


def test_a_second_look_at_many_that_begin_alike() -> None:
    given = [
        Placed(path=f"/x/{n}", shown=f"/x/{n}", folder="/x", cluster_id="c", outcome=TO_READ, head=HEAD[:1024], size=3000, seen_as=f"id{n}")
        for n in range(10_000)
    ]
    known = [Known(f"id{n}", f"/x/{n}", given[0].fingerprint(), 1024, 3000, "tail", 3000, "read") for n in range(10_000)]
    began = time.process_time()
    assert [source.source_id for source in identify(given, known)] == [f"id{n}" for n in range(10_000)]
    assert time.process_time() - began < 5


def test_many_files_are_looked_at_by_executors_and_are_what_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for number in range(7):
        (logs / f"server.log.{number}").write_text(line(number, f"[KafkaServer id={number}] started"))
    with tarfile.open(logs / "server.log.3.tar", "w") as archive:
        archive.add(logs / "server.log.5", "server.log.9")
    (logs / "empty.log").touch()
    options = Options([str(logs)], cluster="c", timezone="UTC")

    def look(folder: str) -> list[Placed]:
        with Spool(tmp_path / folder) as spool:
            (found,) = ingesting.look(options, str(tmp_path / "warehouse"), spool, start=Here)
            return [grown(Placed, source, path=source.path.replace(folder, "")) for source in found]

    here = look("here")
    for name, value in (("MANY_FILES", 1), ("LOOKED_AT", 4), ("TASK_FILES", 2)):
        monkeypatch.setattr(shares, name, value)
    collect, collected = Here.toArrow, []
    monkeypatch.setattr(Here, "toArrow", lambda frame: collected.append(1) or collect(frame))
    assert look("there") == here
    assert len(collected) == 3, "nine files, four at once"
    assert [source.shown.rsplit("/", 1)[-1] for source in here if source.outcome == TO_READ].count("server.log.9") == 1
