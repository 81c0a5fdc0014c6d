"""A fault in one file affects only that file: hostile content, faults of our own code, and files that change while they are read."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ingestion.bronze import log_records, pieces
from ingestion.bronze.capture_rows import read_capture
from ingestion.bronze.log_records import FAILED, read_tasks
from ingestion.bronze.tasks import Counted
from ingestion.captures import UNREAD, Row
from ingestion.reading.files import Changed, Expected, chunks
from ingestion.records import unwrap
from ingestion.records.streams import Wrapping
from ingestion.records.unwrap import millis_of_json
from tests.python.test_records import line, read, task

LINES = "".join(line(second, f"[KafkaServer id=1] started {second}") for second in range(40))


def expected(content: bytes, start: int = 0) -> Expected:
    before = content[max(0, start - 1024) : start]
    return Expected(hashlib.sha256(content[:1024]).hexdigest(), len(content[:1024]), hashlib.sha256(before).hexdigest())


@pytest.mark.parametrize(
    "text",
    [
        "[" * 10_000,
        '{"a":' * 10_000,
        json.dumps({"log": "half of a pair \ud83d\n", "stream": "stdout", "time": "2020-05-15T12:00:00Z"}),
        json.dumps({"instant": {"epochSecond": None}, "level": "INFO", "loggerName": "a.B", "message": "m"}),
        json.dumps({"instant": {"epochSecond": 1e300}, "level": "INFO", "loggerName": "a.B", "message": "m"}),
        json.dumps({"instant": {"epochSecond": "x"}, "level": "INFO", "loggerName": "a.B", "message": "m"}),
        json.dumps({"instant": {"epochSecond": 99_999_999_999}, "level": "INFO", "loggerName": "a.B", "message": "m"}),
        '{"@timestamp": ' + "9" * 400 + ', "log.level": "INFO", "log.logger": "a.B", "message": "m"}',
        '{"@timestamp": ' + "9" * 5000 + ', "log.level": "INFO", "log.logger": "a.B", "message": "m"}',
        '{"level": "INFO", "loggerName": "a.B", "message": {"deep": "\\udc00"}}',
    ],
)
def test_no_line_of_json_stops_its_file(tmp_path: Path, text: str) -> None:
    good = json.dumps(
        {"instant": {"epochSecond": 1589544000}, "level": "INFO", "loggerName": "kafka.server.KafkaServer", "message": "started"}
    )
    path = tmp_path / "server.json"
    path.write_text(f"{good}\n{text}\n{good}\n")
    rows = read(path, envelope="rewritten", wrapping=Wrapping(("json",)))
    assert [row["event_date"].isoformat() for row in rows][:1] == ["2020-05-15"]
    assert sum(row["body"].split("\n")[0] == "started" for row in rows) == 2
    assert text[:100] in "\n".join(row["raw_text"] for row in rows)


@pytest.mark.parametrize(
    "value", [None, "x", 1e300, float("inf"), -5, 10**400, {"epochSecond": []}, {"epochSecond": 1, "nanoOfSecond": "y"}, [], ""]
)
def test_what_is_not_a_time_is_none(value: object) -> None:
    assert millis_of_json(value) is None


@pytest.mark.parametrize("text", ["\n", "\n\n\n", " ", "a", "[2020", "\x00"])
def test_a_text_shorter_than_a_head_is_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "server.log"
    path.write_text(text)
    rows = read(path)
    assert "".join(row["raw_text"] for row in rows).replace("?", "\x00").strip() == text.strip()
    assert FAILED not in [row["outcome"] for row in rows]


def test_a_fault_of_ours_keeps_the_other_sources_and_the_raw_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [tmp_path / f"{name}.log" for name in "abc"]
    for path in paths:
        path.write_text(line(1, f"in {path.stem}") + line(2, "[KafkaServer id=1] started"))
    table = log_records.Batch.table

    def faulty(batch: log_records.Batch) -> object:
        if any(piece.reader.task.source_id == "b" for piece in batch.pieces):
            raise IndexError("odd")
        return table(batch)

    monkeypatch.setattr(log_records.Batch, "table", faulty)
    counted: dict[str, Counted] = {}
    tasks = [task(path, source_id=path.stem, shown=path.name) for path in paths]
    rows = [row for batch in read_tasks(tasks, counted, {}) for row in batch.to_pylist()]
    assert [(row["source_path"], row["outcome"]) for row in rows if row["body"].startswith("in ") or row["outcome"] == FAILED] == [
        ("a.log", "unrecognised"),
        ("b.log", FAILED),
        ("c.log", "unrecognised"),
    ]
    failed = next(row for row in rows if row["outcome"] == FAILED)
    assert failed["raw_text"] == paths[1].read_text() and failed["byte_length"] == paths[1].stat().st_size
    assert failed["body"].startswith("IndexError: odd")
    assert (counted["b"].end, counted["b"].failed) == (paths[1].stat().st_size, failed["body"])
    assert counted["a"].failed is None


def test_a_fault_of_ours_in_one_line_keeps_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "server.json"
    path.write_text('{"level": "INFO", "loggerName": "a.B", "message": "one"}\n' * 3)
    real = unwrap.unwrap_json
    calls = []

    def faulty(text: str, paths: object) -> object:
        calls.append(text)
        if len(calls) == 2:
            raise KeyError("odd")
        return real(text, paths)

    monkeypatch.setattr(unwrap, "unwrap_json", faulty)
    counted: dict[str, Counted] = {}
    one = task(path, envelope="rewritten", wrapping=Wrapping(("json",)))
    rows = [row for batch in read_tasks([one], counted, {}) for row in batch.to_pylist()]
    assert "".join(f"{row['raw_text']}\n" for row in rows) == path.read_text()
    assert counted["s"].failed.startswith("KeyError: 'odd'")


def test_a_row_that_no_column_can_hold_is_kept_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ingestion import captures

    path = tmp_path / "gc.log"
    path.write_text("x\n")
    found = [Row("gc_pause", 0, "one"), Row("gc_pause", 4, "two", node_id=10**12), Row("gc_pause", 8, "half \ud83d", {"a": "\ud83d"})]
    monkeypatch.setattr(captures.module_of("gc_log"), "read", lambda kind, lines, about: iter(found))
    count = Counted()
    rows = [row for _, batch in read_capture(task(path, capture="gc_log"), count) for row in batch.to_pylist()]
    assert [(row["row_kind"], row["raw_text"]) for row in rows] == [("gc_pause", "one"), (UNREAD, "two"), ("gc_pause", "half ?")]
    assert count.failed


# Ways in which a log becomes another file between inspection and reading.
def renamed(path: Path) -> None:
    path.rename(path.with_suffix(".1"))
    path.write_text(line(50, "a new log") * 80)


def truncated(path: Path) -> None:
    path.write_text("")


def copied_and_truncated(path: Path) -> None:
    path.write_text(line(50, "a new log") * 80)


def compressed(path: Path) -> None:
    Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()


@pytest.mark.parametrize("change", [renamed, truncated, copied_and_truncated, compressed])
@pytest.mark.parametrize("start", [0, 2000])
def test_nothing_is_read_of_a_file_that_is_another_one(tmp_path: Path, change: Callable[[Path], None], start: int) -> None:
    path = tmp_path / "server.log"
    path.write_text(LINES)
    promised = expected(LINES.encode(), start)
    change(path)
    counted: dict[str, Counted] = {}
    batches = list(read_tasks([task(path, start=start, end=len(LINES), expected=promised)], counted, {}))
    assert [row for batch in batches for row in batch.to_pylist()] == []
    assert (counted["s"].end, counted["s"].changed) == (start, True)


def test_a_file_that_is_truncated_while_it_is_read_gives_what_was_read_before(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_text(LINES)
    read_of = chunks(str(path), 0, len(LINES), 1000, expected(LINES.encode()))
    got = next(read_of) + next(read_of)
    path.write_text(line(50, "a new log that has grown beyond the old one") * 200)
    with pytest.raises(Changed):
        next(read_of)
    assert got == LINES.encode()[:2000]


def test_the_last_record_of_a_file_that_changes_is_held_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "server.log"
    path.write_text(LINES)
    monkeypatch.setattr(pieces, "CHUNK", 1000)
    whole = chunks

    def cut_off(*arguments: object) -> object:
        given = whole(*arguments)
        yield next(given)
        os.truncate(path, 0)
        yield from given

    monkeypatch.setattr(pieces, "chunks", cut_off)
    counted: dict[str, Counted] = {}
    one = task(path, end=len(LINES), expected=expected(LINES.encode()))
    rows = [row for batch in read_tasks([one], counted, {}) for row in batch.to_pylist()]
    end = counted["s"].end
    assert counted["s"].changed and 0 < end < 1000
    assert "".join(f"{row['raw_text']}\n" for row in rows) == LINES[:end]
