"""The data source `kafka_logs` as Spark uses it, without Spark: its plan, and the rows that its tasks read."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import time
from pathlib import Path

import pyarrow as pa
import pytest

from ingestion import data_source
from ingestion.data_source import SCHEMA, KafkaLogs
from tests.python.test_records import line

LINES = line(1, "[KafkaServer id=7] started") + line(2, "after")


def read(**options: str) -> pa.Table:
    source = KafkaLogs({"timezone": "UTC", "settledAfter": "0"} | options)
    reader = pickle.loads(pickle.dumps(source.reader(source.schema())))
    parts = pickle.loads(pickle.dumps(reader.partitions()))
    return pa.Table.from_batches([batch for part in parts for batch in reader.read(part)], schema=SCHEMA)


def test_records_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "orders").mkdir()
    (tmp_path / "orders" / "server.log").write_text(LINES)
    (tmp_path / "orders" / "photo.jpg").write_bytes(bytes(range(256)))
    found = read(path=str(tmp_path / "orders")).to_pylist()
    assert [(row["cluster_id"], row["node_id"], row["body"], row["outcome"]) for row in found] == [
        ("orders", 7, "started", "recognised"),
        ("orders", 7, "after", "unrecognised"),
    ]
    assert read(path=str(tmp_path / "orders"), cluster="c", node="3")["cluster_id"].to_pylist() == ["c", "c"]
    # The schema is the one that Spark gets.
    source = KafkaLogs({"path": "x"})
    assert source.name() == "kafka_logs" and source.schema().names == SCHEMA.names


def test_what_cannot_be_read_has_a_row(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_text(LINES)
    (tmp_path / "cut.log.gz").write_bytes(b"\x1f\x8b\x08\x00torn")
    rows = read(paths=json.dumps([str(tmp_path), str(tmp_path / "nothing")]), cluster="c").to_pylist()
    said = {Path(row["source_path"]).name: row["body"] for row in rows if row["outcome"] == "source_cut"}
    assert said == {"cut.log.gz": said["cut.log.gz"], "nothing": "no such file or folder"} and "gzip cannot be read" in said["cut.log.gz"]
    assert len(rows) == 4


def test_options_that_cannot_be(tmp_path: Path) -> None:
    for options, said in (
        ({}, "no path"),
        ({"path": "kafka://127.0.0.1:9092/logs"}, "use `chronicle ingest` for it"),
        ({"path": "x", "timezone": "Mars"}, "unknown time zone"),
        ({"path": "x", "node": "a"}, "invalid"),
    ):
        with pytest.raises(ValueError, match=said):
            read(**options)
    with pytest.raises(FileNotFoundError, match="no such file or folder"):
        read(path=str(tmp_path / "nothing"))


class Stream:
    """A stream as Spark runs it: offsets are kept as JSON, and a batch may be asked for again."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.offset = folder, "{}"

    def batch(self, settled_after: float = 60) -> list[str]:
        source = KafkaLogs({"timezone": "UTC", "settledAfter": str(settled_after), "path": str(self.folder), "cluster": "c"})
        reader = source.streamReader(source.schema())
        start = json.loads(self.offset) or reader.initialOffset()
        end = json.loads(json.dumps(reader.latestOffset(start, None)))
        twice = [
            [row["body"] for part in reader.partitions(start, end) for batch in reader.read(part) for row in batch.to_pylist()]
            for _ in "ab"
        ]
        assert twice[0] == twice[1]
        self.offset = json.dumps(end)
        return sorted(twice[0])


def test_a_stream_has_each_record_once(tmp_path: Path) -> None:
    log, stream = tmp_path / "server.log", Stream(tmp_path)
    log.write_text(line(1, "[KafkaServer id=7] started") + line(2, "two"))
    # The last record may still get a stack trace.
    assert stream.batch() == ["started"]
    assert stream.batch() == []
    with log.open("a") as file:
        file.write("java.io.IOException: gone\n" + line(3, "three") + line(4, "four"))
    assert stream.batch() == ["three", "two"]
    os.rename(log, tmp_path / "server.log.2026-01-01-00")
    log.write_text(line(5, "[KafkaServer id=7] started again") + line(6, "six"))
    assert stream.batch() == ["four", "started again"]
    old = tmp_path / "server.log.2026-01-01-00"
    (tmp_path / f"{old.name}.gz").write_bytes(gzip.compress(old.read_bytes()))
    old.unlink()
    (tmp_path / "other.log.gz").write_bytes(gzip.compress(line(1, "[KafkaServer id=8] packed").encode()))
    assert stream.batch() == ["packed"]
    assert stream.batch(settled_after=0) == ["six"]
    assert stream.batch(settled_after=0) == []


def test_a_stream_of_logs_in_wrappers(tmp_path: Path) -> None:
    def wrapped(*lines: str) -> str:
        return "".join(json.dumps({"log": text, "stream": "stdout", "time": "2026-01-01T00:00:00Z"}) + "\n" for text in lines)

    log, stream = tmp_path / "broker-1.json", Stream(tmp_path)
    log.write_text(wrapped(line(1, "[KafkaServer id=7] started"), line(2, "two")))
    assert stream.batch() == ["started"]
    with log.open("a") as file:
        file.write(wrapped("java.io.IOException: gone\n", line(3, "three")))
    assert stream.batch() == ["two"]
    assert stream.batch(settled_after=0) == ["three"]


def test_a_stream_forgets_files_that_have_been_gone_for_a_week(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its offset would grow by some 200 bytes for each file that was ever there, in each batch's checkpoint."""
    clock = [time.time()]
    monkeypatch.setattr(data_source.time, "time", lambda: clock[0])
    stream, names = Stream(tmp_path), [f"server.log.2026-01-01-{hour:02}" for hour in range(24)]
    (tmp_path / "server.log").write_text(line(1, "[KafkaServer id=7] started"))
    for hour, name in enumerate(names):
        (tmp_path / name).write_text(line(1, f"in hour {hour}"))
    assert len(stream.batch(settled_after=0)) == 25
    kept = (tmp_path / names[0]).read_bytes()
    for name in names:
        (tmp_path / name).unlink()
    assert stream.batch(settled_after=0) == [] and len(json.loads(stream.offset)) == 25
    # A file that comes back within the week is known.
    clock[0] += 6 * 86_400
    (tmp_path / names[0]).write_bytes(kept)
    assert stream.batch(settled_after=0) == [] and len(json.loads(stream.offset)) == 25
    clock[0] += 2 * 86_400
    assert stream.batch(settled_after=0) == [] and len(json.loads(stream.offset)) == 2
    # Where nothing is there, nothing is forgotten: a mount may be missing.
    for path in tmp_path.iterdir():
        path.rename(tmp_path.parent / f"{tmp_path.name}-{path.name}")
    clock[0] += 30 * 86_400
    assert stream.batch(settled_after=0) == [] and len(json.loads(stream.offset)) == 2
