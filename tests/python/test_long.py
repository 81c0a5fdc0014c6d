"""Texts with one long part: a line, a record, a key, a dump of settings; time and memory grow only with its length."""

from __future__ import annotations

import datetime as dt
import time
from pathlib import Path

import pytest

from ingestion.bronze import capture_rows
from ingestion.bronze.capture_rows import Text
from ingestion.bronze.shapes import shape_of
from ingestion.bronze.tasks import Task
from ingestion.captures import Line
from ingestion.captures.metrics._documents import documents
from ingestion.recognition.recognise import catalogue
from ingestion.records.envelope import envelope_named
from ingestion.records.redact import HIDDEN, hide_secrets
from ingestion.records.split import LONGEST_RECORD
from ingestion.records.streams import Streams, Wrapping

pytestmark = pytest.mark.long


def task(path: Path) -> Task:
    zones = ((0, "UTC"),)
    return Task("c", "s", str(path), 0, path.stat().st_size, False, "", 1, None, False, zones, "given", 1, dt.datetime.now(dt.UTC))


def test_a_line_of_many_chunks_is_copied_once(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(capture_rows, "CHUNK", 1 << 12)
    path = tmp_path / "one-line"
    path.write_bytes(b"a" * (24 << 20) + b"\nb\n")
    began = time.process_time()
    lines = list(Text(task(path)).lines())
    assert [(line.offset, len(line.text)) for line in lines] == [(0, 24 << 20), ((24 << 20) + 1, 1)]
    assert time.process_time() - began < 3


def test_a_key_on_the_border_of_chunks_is_hidden_whole(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(capture_rows, "CHUNK", 512)
    path = tmp_path / "key"
    secret = "\n".join(["MIIEpAIBAAKCAQEA"] * 9)
    path.write_text(f"before\n-----BEGIN RSA PRIVATE KEY-----\n{secret}\n-----END RSA PRIVATE KEY-----\nafter\n" * 3)
    text = "\n".join(line.text for line in Text(task(path)).lines())
    assert "MIIE" not in text and text.count("after") == 3


def test_keys_without_an_end_are_hidden_in_one_walk() -> None:
    text = b"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n" * 60_000
    began = time.process_time()
    hidden = hide_secrets(text)
    assert len(hidden) == len(text) and b"MIIE" not in hidden and HIDDEN in hidden
    assert time.process_time() - began < 5


def test_lines_that_speak_of_keys_are_walked_through_once() -> None:
    text = b"no private key here\n" * 200_000
    began = time.process_time()
    assert hide_secrets(text) == text
    assert time.process_time() - began < 5


def test_a_dump_of_many_settings(tmp_path: Path) -> None:
    dump = b"".join(b"\tsetting.%d = value\n" % n for n in range(60_000))
    record = b"[2020-05-15 12:00:01,123] INFO KafkaConfig values: \n" + dump + b" (kafka.server.KafkaConfig)\n"
    began = time.process_time()
    shape = shape_of(record[: LONGEST_RECORD * 2], True, envelope_named("kafka"), catalogue())
    assert len(shape.keys) >= 60_000
    assert time.process_time() - began < 5


def test_a_record_without_end_in_a_wrapped_stream_does_not_fill_the_memory() -> None:
    head = b"kafka-1  | [2020-05-15 12:00:01,123] INFO started (kafka.server.KafkaServer)\n"
    chunk = b"kafka-1  | and so on and on and on\n" * 30_000
    streams = Streams(Wrapping(("docker_compose",)), 0, lambda: False)
    most = given = 0
    for _, lines in streams.take(iter([head + chunk, *[chunk] * 9])):
        given += len(lines)
        most = max(most, *(stream.size for stream in streams.streams.values()))
    assert given == 300_001
    assert most < 8 * LONGEST_RECORD


def test_parts_that_never_end_are_given_out() -> None:
    line = b"2020-05-15T12:00:01.123456789Z stdout P " + b"x" * 16_000 + b"\n"
    streams = Streams(Wrapping(("cri",)), 0, lambda: False)
    for _ in streams.take(iter([line * 60] * 10)):
        pass
    assert all(stream.size_of_parts <= LONGEST_RECORD + len(line) for stream in streams.streams.values())


def test_a_million_brackets_are_read_in_seconds(tmp_path: Path) -> None:
    from ingestion import captures

    for text in ("[" * 1_000_000, "{" * 1_000_000, '{"a":' * 200_000, "(" * 1_000_000):
        began = time.process_time()
        for module in captures.modules():
            module.kind_of(text[: 64 << 10], "x")
        assert time.process_time() - began < 10


@pytest.mark.parametrize("line", ["[", "{", '{"a":', "{]"])
def test_lines_of_brackets_are_not_read_again_from_each(line: str) -> None:
    many = 40_000
    began = time.process_time()
    found = list(documents(Line(number * (len(line) + 1), line) for number in range(many)))
    assert time.process_time() - began < 2.5
    assert found[0].offset <= len(line) + 1 and all(document.warning for document in found)
    assert sum(document.text.count(line) for document in found) >= many // 2 - 1
