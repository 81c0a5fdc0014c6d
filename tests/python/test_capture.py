"""Captures as ingestion reads them: rows with their origin, growth, secrets and faults."""

from __future__ import annotations

import datetime as dt
import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from ingestion import captures
from ingestion.bronze.capture_rows import HELD_BYTES, UNREAD, read_capture
from ingestion.bronze.tasks import Counted, Task, task_of
from ingestion.sources.identify import identify
from ingestion.sources.inspect import inspect
from ingestion.sources.resolve import place
from ingestion.sources.stages import Found

PAUSE = "[2026-11-21T09:34:{:02}.048+0530][gc] GC({}) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 3.250ms\n"


def task(path: Path, **changes: object) -> Task:
    (source,) = identify(place([inspect(Found.at(str(path), "c", 4))]))
    return replace(task_of(source, False, 1, dt.datetime(2026, 11, 22, tzinfo=dt.UTC)), **changes)


def read(one: Task) -> tuple[list[dict], Counted]:
    count = Counted()
    return [row for _, batch in read_capture(one, count) for row in batch.to_pylist()], count


@pytest.mark.parametrize("packed", [False, True])
def test_a_gc_log_gives_its_pauses_with_their_place(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "gc.log"
    text = "".join(PAUSE.format(n, n) for n in range(3)).encode()
    path.write_bytes(gzip.compress(text) if packed else text)
    rows, count = read(task(path))
    assert [(row["row_kind"], row["byte_offset"], row["node_id"], row["node_known_by"]) for row in rows] == [
        ("gc_pause", n * len(PAUSE.format(0, 0)), 4, "path") for n in range(3)
    ]
    assert rows[0]["captured_at"] == dt.datetime(2026, 11, 21, 4, 4, 0, 44_750, tzinfo=dt.UTC)
    assert rows[0]["event_date"] == dt.date(2026, 11, 21)
    assert dict(rows[0]["fields"])["duration_ms"] == "3.25"
    assert (count.records, count.recognised, count.end) == (3, 3, len(text))


def test_what_was_read_is_not_read_again_and_the_end_of_a_growing_file_waits(tmp_path: Path) -> None:
    path = tmp_path / "gc.log"
    lines = [PAUSE.format(n % 60, n) for n in range(1000)]
    path.write_text("".join(lines[:600]))
    first, count = read(task(path, holds_last=True))
    assert 0 < len(first) < 600
    assert path.stat().st_size - HELD_BYTES <= count.end < path.stat().st_size
    path.write_text("".join(lines))
    second, _ = read(task(path, start=count.end))
    assert [dict(row["fields"])["gc_id"] for row in first + second] == [str(n) for n in range(1000)]


def test_secrets_do_not_reach_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "gc.log"
    path.write_text(PAUSE.format(1, 1) + "CommandLine flags: -Djavax.net.ssl.keyStorePassword=geheim -Xmx1g\n")
    assert not [row for row in read(task(path))[0] if "geheim" in str(row)]


def test_a_fault_in_a_module_is_told_and_keeps_what_came_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "gc.log"
    path.write_text(PAUSE.format(1, 1) * 3)
    one = task(path)
    module = captures.module_of("gc_log")
    good = module.read

    def faulty(*arguments: object):
        yield next(good(*arguments))
        raise RuntimeError("odd")

    monkeypatch.setattr(module, "read", faulty)
    rows, count = read(one)
    assert [row["row_kind"] for row in rows] == ["gc_pause", UNREAD, UNREAD]
    assert count.failed.startswith("RuntimeError: odd")


def test_a_byte_order_mark_hides_no_row(tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_bytes(b"\xef\xbb\xbfbroker.id=7\nlog.dirs=/d\n")
    rows, _ = read(task(path))
    assert [(row["byte_offset"], row["raw_text"], row["node_id"]) for row in rows] == [(3, "broker.id=7", 7), (15, "log.dirs=/d", 7)]
