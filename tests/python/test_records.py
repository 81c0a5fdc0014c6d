"""Bytes to records: heads, continuations, torn and damaged input; the fast path against a plain one."""

from __future__ import annotations

import datetime as dt
import gzip
import re
from pathlib import Path

import pytest

from ingestion.bronze import pieces
from ingestion.bronze.log_records import read_tasks
from ingestion.bronze.tasks import Task
from ingestion.reading.zones import zone_of, zone_offsets
from ingestion.recognition.recognise import catalogue
from ingestion.records.split import valid_text

HEAD = re.compile(rb"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] ", re.M)


def task(path: Path, **changes: object) -> Task:
    values = {
        "cluster_id": "c",
        "source_id": "s",
        "path": str(path),
        "start": 0,
        "end": -1,
        "holds_last": False,
        "envelope": "kafka",
        "node_id": None,
        "node_known_by": None,
        "takes_nodes": True,
        "zones": ((-(10**15), "UTC"),),
        "zone_known_by": "given",
        "batch_id": 1,
        "ingested_at": dt.datetime(2026, 1, 2, tzinfo=dt.UTC),
    } | changes
    return Task(**values)


def read(path: Path, **changes: object) -> list[dict]:
    return [row for batch in read_tasks([task(path, **changes)], cache={}) for row in batch.to_pylist()]


def line(second: int, text: str, level: str = "INFO", logger: str = "kafka.server.KafkaServer") -> str:
    return f"[2020-05-15 12:00:{second:02},123] {level} {text} ({logger})\n"


def test_a_record_is_a_line_with_its_continuation_lines(tmp_path: Path) -> None:
    text = (
        line(1, "[KafkaServer id=1] started")
        + line(2, "boom", "ERROR")
        + "java.lang.IllegalStateException: no\n\tat a.b.C(C.java:1)\n"
        + line(3, "after")
    )
    path = tmp_path / "server.log"
    path.write_text(text)
    rows = read(path)
    assert [row["level"] for row in rows] == ["INFO", "ERROR", "INFO"]
    assert rows[1]["body"] == "boom"
    assert rows[1]["raw_text"].endswith("\tat a.b.C(C.java:1)")
    assert dict(rows[1]["fields"])["exception"] == "java.lang.IllegalStateException"
    assert dict(rows[1]["fields"])["exception_message"] == "no"
    assert "".join(text.encode()[row["byte_offset"] : row["byte_offset"] + row["byte_length"]].decode() for row in rows) == text


@pytest.mark.long
def test_offsets_cover_every_byte_whatever_the_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(line(n % 60, f"[KafkaServer id={n}] started") + ("\tcontinued\n" * (n % 3)) for n in range(500)).encode()
    path = tmp_path / "server.log"
    path.write_bytes(b"the end of an older record\n" + text)
    whole = read(path)
    for size in (64, 1000, 4096):
        monkeypatch.setattr(pieces, "CHUNK", size)
        cut = read(path)
        assert [(row["byte_offset"], row["byte_length"], row["event_type"], row["node_id"]) for row in cut] == [
            (row["byte_offset"], row["byte_length"], row["event_type"], row["node_id"]) for row in whole
        ]
    assert whole[0]["outcome"] == "orphan"
    assert len(whole) == 1 + len(HEAD.findall(text))


def test_the_shape_path_gives_what_a_plain_match_gives(tmp_path: Path) -> None:
    """The oracle: every record recognised by itself, without shapes."""
    bodies = [
        f"[Controller id={n}] {n} successfully elected as the controller. Epoch incremented to {n * 7} and epoch zk version is now {n * 7}"
        for n in range(1, 120)
    ]
    path = tmp_path / "controller.log"
    path.write_text("".join(line(n % 60, body, logger="kafka.controller.KafkaController") for n, body in enumerate(bodies)))
    for n, row in enumerate(read(path), 1):
        found = catalogue().recognise(b"kafka.controller.KafkaController", bodies[n - 1].split("] ", 1)[1].encode())
        assert row["event_type"] == found.form.event == "controller_elected"
        assert dict(row["fields"])["controller_epoch"] == str(n * 7)
        assert row["node_id"] == n


def test_the_node_is_the_one_that_last_named_itself(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_text(
        line(1, "Closed.")
        + line(2, "[KafkaServer id=100] started")
        + line(3, "Closed.")
        + line(4, "[KafkaServer id=0] started")
        + line(5, "Closed.")
    )
    assert [(row["node_id"], row["node_known_by"]) for row in read(path, node_id=100, node_known_by="content")] == [
        (100, "content"),
        (100, "content"),
        (100, "neighbour"),
        (0, "content"),
        (0, "neighbour"),
    ]


def test_the_last_record_waits_while_the_file_is_written(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_text(line(1, "one") + line(2, "two", "ERROR") + "java.lang.Err")
    first = read(path, holds_last=True)
    assert [row["body"] for row in first] == ["one"]
    path.write_text(line(1, "one") + line(2, "two", "ERROR") + "java.lang.Error: x\n" + line(3, "three"))
    second = read(path, start=first[-1]["byte_offset"] + first[-1]["byte_length"])
    assert [row["body"] for row in second] == ["two", "three"]
    assert second[0]["raw_text"].endswith("java.lang.Error: x")


def test_a_cut_gzip_gives_what_it_holds_and_a_row_that_says_so(tmp_path: Path) -> None:
    text = "".join(line(n % 60, f"[KafkaServer id=1] started {n * 7919}") for n in range(20000)).encode()
    path = tmp_path / "server.log.gz"
    path.write_bytes(gzip.compress(text)[:-5000])
    rows = read(path)
    assert rows[-1]["outcome"] == "source_cut"
    assert "EOFError" in rows[-1]["body"]
    assert 1000 < len(rows) < 20001


def test_damaged_bytes_are_kept_as_text(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_bytes(
        line(1, "caf\u00e9").encode() + b"[2020-05-15 12:00:02,123] INFO caf\xe9 \x00 x (a.B)\n" + line(3, "caf\u00e9").encode()[:-12]
    )
    rows = read(path)
    assert [row["body"] for row in rows[:2]] == ["caf\u00e9", "caf? ? x"]
    assert len(rows) == 3
    assert valid_text(b"ok") == b"ok"


def test_an_impossible_date_is_kept_without_a_time(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_text(line(1, "one") + line(2, "two").replace("2020-05-15", "2020-02-31"))
    rows = read(path)
    assert rows[1]["logged_at"] is None
    assert rows[1]["event_date"] == dt.date(2020, 5, 15)


@pytest.mark.parametrize(("zone", "utc_hour"), [("UTC", 12), ("+05:30", 6), ("Asia/Kolkata", 6), ("America/New_York", 16), ("-0400", 16)])
def test_times_become_utc(tmp_path: Path, zone: str, utc_hour: int) -> None:
    path = tmp_path / "server.log"
    path.write_text(line(1, "one"))
    assert read(path, zones=((-(10**15), zone),))[0]["logged_at"].hour == utc_hour


def test_summer_time_has_its_own_offset() -> None:
    import numpy as np

    winter, summer = (int(dt.datetime(2020, month, 15, tzinfo=dt.UTC).timestamp() * 1000) for month in (1, 7))
    offsets = zone_offsets(((-(10**15), "Europe/Berlin"),), np.array([winter, summer]))
    assert offsets.first.tolist() == offsets.second.tolist()
    assert offsets.first.tolist() == [3_600_000, 7_200_000]
    with pytest.raises(ValueError, match="unknown time zone 'Mars/Base'; write"):
        zone_of("Mars/Base")


def test_a_configuration_dump_is_one_record_with_its_settings(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_text(
        "[2020-05-15 12:00:01,123] INFO KafkaConfig values: \n\tbroker.id = 7\n\tlog.dirs = /a,/b\n\tssl.key.password = x1\n (kafka.server.KafkaConfig)\n"
        + line(2, "after")
    )
    rows = read(path)
    fields = dict(rows[0]["fields"])
    assert rows[0]["event_type"] == "kafka_config_logged"
    assert (fields["broker.id"], fields["log.dirs"], fields["ssl.key.password"]) == ("7", "/a,/b", "[redacted]")
    assert [row["node_id"] for row in rows] == [7, 7]


def test_many_files_in_one_batch_give_what_each_gives_alone(tmp_path: Path) -> None:
    """Nodes, days and zones do not carry over to the next file; a file without a last line end keeps its length."""
    texts = [
        line(1, "[KafkaServer id=4] started") + line(2, "Closed."),
        "\tat a.b.C(C.java:1)\n" + line(3, "Closed.").replace("05-15", "05-16"),
        line(4, "ssl.key.password = hidden1 and more").rstrip("\n"),
        line(5, "[KafkaServer id=9] started") + "[2020-02-31 12:00:00,000] INFO odd (a.B)\n",
    ]
    tasks = []
    for number, text in enumerate(texts):
        path = tmp_path / f"{number}.log"
        path.write_text(text)
        zone = "+02:00" if number % 2 else "UTC"
        tasks.append(task(path, source_id=str(number), node_id=number, node_known_by="path", zones=((-(10**15), zone),)))
    alone = [row for one in tasks for batch in read_tasks([one], cache={}) for row in batch.to_pylist()]
    counted: dict = {}
    (batch,) = read_tasks(tasks, counted, {})
    assert batch.to_pylist() == alone
    assert [row["node_id"] for row in alone] == [4, 4, 1, 1, 2, 9, 9]
    assert [row["node_known_by"] for row in alone] == ["content", "neighbour", "path", "path", "path", "content", "neighbour"]
    assert alone[4]["raw_text"].endswith("ssl.key.password = [redacted] and more (kafka.server.KafkaServer)")
    assert sum(row["byte_length"] for row in alone) == sum(len(text) for text in texts)
    assert {source: (count.records, count.end, count.last_node) for source, count in counted.items()} == {
        "0": (2, len(texts[0]), 4),
        "1": (2, len(texts[1]), 1),
        "2": (1, len(texts[2]), 2),
        "3": (2, len(texts[3]), 9),
    }
