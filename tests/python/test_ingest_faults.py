"""Whole ingestions of hostile folders, without Spark: unreadable files have a row with the reason, and everything else is loaded."""

from __future__ import annotations

import gzip
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from chronicle.cli import main
from ingestion import ingest as ingesting
from ingestion.bronze import log_records, shares
from ingestion.bronze.source_rows import TORN
from ingestion.reading.files import tail_hash
from ingestion.sources import inspect as looking
from tests import rotations
from tests.python.test_records import line
from tests.rotations import Here

GOOD = line(1, "[KafkaServer id=1] started") + line(2, "after")


def load(folder: Path, **options: Any) -> ingesting.Outcome:
    given = {"cluster": "c", "timezone": "UTC", "settled_after": 0.0} | options
    return ingesting.ingest(Here, str(folder / "warehouse"), ingesting.Options([str(folder / "logs")], **given), tell=lambda text: None)


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    return DeltaTable(str(folder / "warehouse/bronze" / table)).to_pyarrow_table().to_pylist()


def outcomes(folder: Path) -> dict[str, tuple[str, str | None]]:
    return {
        Path(row["source_path"]).name: (row["outcome"], row["reason"])
        for row in sorted(rows(folder, "sources"), key=lambda row: row["batch_id"])
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "server.log").write_text(GOOD)
    return tmp_path


BAD = {
    "nested.json": b"[" * 10_000 + b"]" * 10_000,
    "objects.json": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "docker.json": json.dumps({"log": "\ud83d [x]\n", "stream": "stdout", "time": "2020-05-15T12:00:00Z"}).encode() + b"\n",
    "epoch.json": b'{"instant":{"epochSecond":null},"level":"INFO","loggerName":"a.B","message":"m"}\n',
    "huge.json": b'{"instant":{"epochSecond":1e300},"level":"INFO","loggerName":"a.B","message":"m"}\n',
    "text.json": b'{"instant":{"epochSecond":"x"},"level":"INFO","loggerName":"a.B","message":"m"}\n',
    "digits.json": b'{"@timestamp":' + b"9" * 400 + b',"log.level":"INFO","log.logger":"a.B","message":"m"}\n',
    "quorum-state": b'{"clusterId":"\\ud800","leaderId":1,"leaderEpoch":2,"votedId":-1,"appliedOffset":0,"currentVoters":[],"data_version":0}',
    "short.log": b"\n",
    "blank-first.log": b"\n" + GOOD.encode(),
    "nul.log": b"\0" * 64,
    "year.log": b"[9999-99-99 99:99:99,999] INFO a (b.C)\n" * 5,
    "half.gz": b"\x1f\x8b\x08",
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_does_not_stop_the_others(folder: Path, name: str) -> None:
    (folder / "logs" / name).write_bytes(BAD[name])
    outcome = load(folder)
    assert outcome.failed == []
    records = rows(folder, "log_records")
    assert [row["body"] for row in records if row["source_path"].endswith("/server.log")] == ["started", "after"]
    assert set(outcomes(folder)) == {"server.log", name}
    assert load(folder).records == 0


def test_a_name_that_is_not_utf_8_is_shown_with_its_bytes(folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder / "logs") + b"/caf\xe9.log")).write_text(line(3, "other"))
    assert load(folder).records == 3
    assert outcomes(folder)["caf\\xe9.log"] == ("read", None)
    assert load(folder).records == 0


def test_a_fault_of_ours_is_named_with_its_place_and_ends_with_1(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "logs" / "odd.log").write_text(line(4, "odd"))
    look = looking.find_envelope

    def faulty(sample: bytes) -> object:
        if b"odd" in sample:
            raise KeyError("no such thing")
        return look(sample)

    monkeypatch.setattr(looking, "find_envelope", faulty)
    outcome = load(folder)
    assert [Path(path).name for path in outcome.failed] == ["odd.log"]
    assert outcomes(folder)["server.log"] == ("read", None)
    failed, reason = outcomes(folder)["odd.log"]
    assert failed == "failed" and reason is not None
    assert reason.startswith("KeyError: 'no such thing' at ") and "inspect.py:" in reason
    monkeypatch.setattr("chronicle.spark.session.start", lambda warehouse, memory: Here())
    assert main.execute(["ingest", str(folder / "logs"), "--warehouse", str(folder / "other"), "--cluster", "c"]) == 1
    monkeypatch.setattr(looking, "find_envelope", look)
    assert (load(folder).records, outcomes(folder)["odd.log"]) == (1, ("read", None))


def test_a_file_that_vanishes_after_the_look_at_it_is_left_to_the_next_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = folder / "logs" / "server.log.1.gz"
    gone.write_bytes(gzip.compress(line(5, "packed").encode()))
    state = ingesting.take_in

    def vanishing(*arguments: Any) -> ingesting.Outcome:
        if gone.exists():
            gone.rename(folder / "logs" / "server.log.2.gz")
        return state(*arguments)

    monkeypatch.setattr(ingesting, "take_in", vanishing)
    outcome = load(folder)
    assert (outcome.records, outcome.changed) == (3, [])
    assert outcomes(folder).keys() == {"server.log", "server.log.2.gz"}


def test_a_last_line_without_its_end_is_taken_when_the_file_is_settled(folder: Path) -> None:
    log = folder / "logs" / "server.log"
    log.write_text(GOOD + line(3, "whole") + line(4, "torn").rstrip("\n"))
    now = time.time()
    os.utime(log, (now, now))
    assert (load(folder, settled_after=60).records, load(folder, settled_after=60).records) == (3, 0)
    os.utime(log, (now - 100, now - 100))
    outcome = load(folder, settled_after=60)
    assert outcome.records == 1
    assert outcomes(folder)["server.log"] == ("cut", TORN)
    assert sorted(row["body"] for row in rows(folder, "log_records")) == ["after", "started", "torn", "whole"]
    assert load(folder, settled_after=60).records == 0


def test_a_change_in_the_future_is_no_reason_to_wait(folder: Path) -> None:
    os.utime(folder / "logs" / "server.log", (time.time() + 10_000,) * 2)
    assert load(folder, settled_after=60).records == 2


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (GOOD.replace("\n", "\r").encode(), "tr '\\r' '\\n'"),
    ],
)
def test_a_text_in_another_encoding_says_how_to_convert_it(folder: Path, content: bytes, said: str) -> None:
    (folder / "logs" / "other.log").write_bytes(content)
    outcome = load(folder)
    assert any(said in fault for fault in outcome.faults)
    assert outcomes(folder)["other.log"][0] == "binary"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("is_packed", [False, True])
def test_utf_16_is_read_and_its_offsets_are_those_of_the_text_as_utf_8(folder: Path, encoding: str, is_packed: bool) -> None:
    text = line(5, "größer → 1").replace("\n", "\r\n") + line(6, "next").replace("\n", "\r\n")
    written = text.encode(encoding)
    (folder / "logs" / "other.log").write_bytes(gzip.compress(written) if is_packed else written)
    load(folder)
    found = [row for row in rows(folder, "log_records") if row["source_path"].endswith("other.log")]
    length = len(line(5, "größer → 1").encode()) + 1
    assert [(row["body"], row["byte_offset"]) for row in found] == [("größer → 1", 0), ("next", length)]
    assert outcomes(folder)["other.log"][0] == "read"


def test_a_log_in_utf_16_that_grows_is_read_once_and_its_last_record_is_held_back(folder: Path) -> None:
    """As a broker's console under PowerShell: the file may end within a line, and even within a character."""
    log = folder / "logs" / "console.log"
    written = (line(5, "one") + line(6, "two") + line(7, "three")).encode("utf-16")
    log.write_bytes(written[: len((line(5, "one") + line(6, "two")).encode("utf-16")) - 9])
    load(folder, settled_after=60)
    log.write_bytes(written)
    load(folder, settled_after=60)
    load(folder, settled_after=0)
    assert load(folder, settled_after=0).records == 0
    found = [row["body"] for row in rows(folder, "log_records") if row["source_path"].endswith("console.log")]
    assert sorted(found) == ["one", "three", "two"]


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe\0\0" + "text".encode("utf-32-le"),
        bytes(range(256)) * 4,
        b"A\0\0\0B\0\0\0" * 100,
        b"\0\0\0\x01" * 200,
    ],
)
def test_other_binaries_are_no_utf_16(folder: Path, content: bytes) -> None:
    (folder / "logs" / "other.bin").write_bytes(content)
    load(folder)
    assert outcomes(folder)["other.bin"][0] in ("binary", "unknown")


def test_a_describe_in_utf_16_is_a_capture(folder: Path) -> None:
    text = "Topic: a\tTopicId: 1Z1lH2vXQfa4n6tS4ZQ0wA\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: \r\n\tTopic: a\tPartition: 0\tLeader: none\tReplicas: 1,2\tIsr: 2\r\n"
    (folder / "logs" / "topics.txt").write_bytes(text.encode("utf-16"))
    load(folder)
    found = [row for row in rows(folder, "capture_rows") if row["source_path"].endswith("topics.txt")]
    assert [row["raw_text"].split("\t")[3] for row in found if row["row_kind"] == "topic_partition"] == ["Leader: none"]


LONG = "".join(line(n, f"record {n} {'x' * 60}") for n in range(40))


def bodies(folder: Path) -> list[str]:
    return sorted(row["body"] for row in rows(folder, "log_records"))


@pytest.mark.parametrize(
    ("name", "whole", "is_known", "is_truncated"),
    [
        ("server.log.1.gz", gzip.compress(LONG.encode()), True, False),
        ("server.log.1.gz", gzip.compress(LONG.encode()), False, False),
        ("server.log-20261121", LONG.encode(), True, False),
        # The log was already copied when it was looked at, and is truncated before the copy is compared with it.
        ("server.log-20261121", LONG.encode(), True, True),
    ],
)
def test_a_copy_in_the_making_is_not_another_log(folder: Path, name: str, whole: bytes, is_known: bool, is_truncated: bool) -> None:
    """logrotate compresses, or copies and truncates, while files are looked at."""
    original, made = folder / "logs" / "long.log", folder / "logs" / name
    original.write_text(LONG)
    if is_known:
        load(folder)
    made.write_bytes(whole[: len(whole) // 2])
    if is_truncated:
        original.write_text(line(50, "goes on"))
    load(folder, settled_after=60)
    made.write_bytes(whole)
    load(folder, settled_after=60)
    original.unlink()
    load(folder)
    assert [text for text in bodies(folder) if text.startswith("record")] == sorted(f"record {n} {'x' * 60}" for n in range(40))


@pytest.mark.parametrize(("name", "whole"), [("server.log.1.gz", gzip.compress(LONG.encode(), 0)), ("server.log-20261121", LONG.encode())])
def test_a_copy_in_the_making_is_read_to_its_last_whole_record(folder: Path, name: str, whole: bytes) -> None:
    """The copy holds more of the log than had been read before the log was truncated."""
    original, made = folder / "logs" / "long.log", folder / "logs" / name
    original.write_text("".join(LONG.splitlines(keepends=True)[:12]))
    load(folder)
    original.write_text(line(50, "goes on"))
    made.write_bytes(whole[: len(whole) // 2])
    load(folder, settled_after=60)
    assert 12 < sum(text.startswith("record") for text in bodies(folder)) < 40
    made.write_bytes(whole)
    load(folder, settled_after=60)
    assert [text for text in bodies(folder) if text.startswith("record")] == sorted(f"record {n} {'x' * 60}" for n in range(40))
    assert {row["outcome"] for row in rows(folder, "log_records")} == {"recognised", "unrecognised"}


def test_a_gzip_that_stays_cut_is_read_to_its_last_byte(folder: Path) -> None:
    cut = folder / "logs" / "server.log.1.gz"
    cut.write_bytes(gzip.compress(LONG.encode(), 0)[:1500])
    first = load(folder, settled_after=60)
    assert all(text.endswith("x" * 60) for text in bodies(folder) if text.startswith("record"))
    assert load(folder, settled_after=60).records == 0
    os.utime(cut, (time.time() - 100,) * 2)
    assert load(folder, settled_after=60).records == 1
    assert [row["outcome"] for row in rows(folder, "log_records")].count("source_cut") == 1
    assert outcomes(folder)[cut.name][0] == "cut" and first.records > 5
    assert load(folder, settled_after=60).records == 0


def test_a_copy_that_stays_incomplete_is_read(folder: Path) -> None:
    (folder / "logs" / "server.log.1").write_text(LONG)
    load(folder)
    (folder / "logs" / "server.log.1").write_text(line(50, "goes on"))
    made = folder / "logs" / "server.log-20261121"
    made.write_text(LONG[: LONG.index("\n", len(LONG) // 2) + 1] + line(51, "differs"))
    outcome = load(folder, settled_after=60)
    assert (outcome.records, outcome.waiting, "differs" in bodies(folder)) == (1, 1, False)
    os.utime(made, (time.time() - 100,) * 2)
    load(folder, settled_after=60)
    assert "differs" in bodies(folder)


@pytest.mark.parametrize("read_before", [0, 12])
def test_a_log_that_is_rotated_just_after_it_was_read_is_known(folder: Path, monkeypatch: pytest.MonkeyPatch, read_before: int) -> None:
    log, rotated = folder / "logs" / "long.log", folder / "logs" / "long.log.1"
    lines = LONG.splitlines(keepends=True)
    if read_before:
        log.write_text("".join(lines[:read_before]))
        load(folder)
    log.write_text(LONG)

    def renamed_first(path: str, *given: Any) -> str | None:
        if path == str(log) and not rotated.exists():
            log.rename(rotated)
            log.write_text(line(50, "goes on"))
        return tail_hash(path, *given)

    with monkeypatch.context() as patch:
        patch.setattr(log_records, "tail_hash", renamed_first)
        load(folder)
    assert rotated.exists()
    load(folder)
    assert sorted(text for text in bodies(folder) if text.startswith("record")) == sorted(f"record {n} {'x' * 60}" for n in range(40))
    assert "goes on" in bodies(folder)
    assert {row["outcome"] for row in rows(folder, "log_records")} == {"recognised", "unrecognised"}


@pytest.mark.long
def test_each_record_is_read_once_however_its_log_rotates(tmp_path: Path) -> None:
    writer, numbers = rotations.run(tmp_path, seconds=8, seed=7, every=0.25)
    assert sum(writer.rotations.values()) >= 15
    assert numbers == list(range(writer.records))


def test_a_process_that_stays_does_not_keep_all_shapes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "server.log"
    log.write_text("[2026-11-21 09:46:30,143] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n")
    monkeypatch.setattr(shares, "MOST_SHAPES", 1)
    monkeypatch.setattr(shares, "_shapes", kept := {("a", True, b"a"): None, ("b", True, b"b"): None})
    ingesting.ingest(Here, str(tmp_path / "warehouse"), ingesting.Options([str(log)], settled_after=0), tell=lambda text: None)
    assert ("a", True, b"a") not in kept
