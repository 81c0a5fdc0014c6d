"""From files to sources: what a file is, which node it belongs to, and from which byte on it is new."""

from __future__ import annotations

import gzip
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from ingestion.reading.files import tail_hash
from ingestion.sources.discover import find_files
from ingestion.sources.identify import identify, may_grow
from ingestion.sources.inspect import inspect
from ingestion.sources.layout import Layout
from ingestion.sources.resolve import place
from ingestion.sources.stages import Found, Identified, Inspected, Known

LINE = "[2020-05-15 12:00:{:02},123] INFO [KafkaServer id={}] started (kafka.server.KafkaServer)\n"


def log(path: Path, lines: int = 60, node: int = 1) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(LINE.format(n % 60, node) for n in range(lines)))
    return path


def look(folder: Path) -> list[Inspected]:
    return [inspect(Found.at(path, "c")) for path in find_files(str(folder))]


def known_of(source: Identified, end: int) -> Known:
    return Known(
        source.source_id, source.path, source.fingerprint(), len(source.head), end, tail_hash(source.path, end), source.size, "read"
    )


@pytest.mark.parametrize(
    ("name", "content", "outcome", "kind"),
    [
        ("empty.log", b"", "empty", "unknown"),
        ("data.bin", bytes(range(256)) * 40, "binary", "binary"),
        ("notes.txt", b"hello\nworld\n", "unknown", "unknown"),
        ("x.gz", b"\x1f\x8b\x08\x00broken", "unreadable", "unknown"),
        ("gc.log", b"[2026-11-21T09:34:21.048+0530][gc] Using G1\n", "read", "gc_log"),
        ("gc8.log", b"2019-05-28T12:08:06.123+0000: 0.512: [GC pause (G1 Evacuation Pause) (young), 0.01 secs]\n", "read", "gc_log"),
        ("a.log", LINE.format(1, 1).encode(), "read", "kafka_server_log"),
        (
            "c.log",
            b"[2020-05-15 12:00:01,123] INFO [Controller id=1] Resigned (kafka.controller.KafkaController)\n",
            "read",
            "kafka_controller_log",
        ),
        (
            "z.log",
            b"2020-05-15 12:00:01,123 [myid:1] - INFO  [SessionTracker:ZooKeeperServer@398] - Expiring session 0x1, timeout of 6000ms exceeded\n",
            "read",
            "zookeeper_log",
        ),
        ("s.log", b"2020-05-15 12:00:01 INFO  [main] KafkaServer:66 - [KafkaServer id=3] started\n", "read", "log4j_log"),
    ],
)
def test_what_a_file_is_shows_in_its_content(tmp_path: Path, name: str, content: bytes, outcome: str, kind: str) -> None:
    (tmp_path / name).write_bytes(content)
    source = inspect(Found.at(str(tmp_path / name), "c"))
    assert (source.outcome, source.kind) == (outcome, kind)
    assert source.reason or outcome == "read"


def test_missing_and_unreadable_files_say_so(tmp_path: Path) -> None:
    assert inspect(Found.at(str(tmp_path / "none"), "c")).outcome == "missing"
    path = log(tmp_path / "server.log")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    assert inspect(Found.at(str(path), "c")).reason == "cannot be read: Permission denied"


def test_the_node_comes_from_content_then_folder_then_path(tmp_path: Path) -> None:
    log(tmp_path / "a/server.log", node=3)
    (tmp_path / "a/log-cleaner.log").write_text("[2020-05-15 12:00:01,123] INFO Starting the log cleaner (kafka.log.LogCleaner)\n")
    nodes = {Path(source.path).name: (source.node_id, source.node_known_by) for source in place(look(tmp_path))}
    assert nodes == {"server.log": (3, "content"), "log-cleaner.log": (3, "folder")}
    (tmp_path / "a/server.log").unlink()
    source = place([inspect(Found.at(str(tmp_path / "a/log-cleaner.log"), "c", 8))])[0]
    assert (source.node_id, source.node_known_by) == (8, "path")


def test_content_against_path_is_a_warning_and_no_guess(tmp_path: Path) -> None:
    path = log(tmp_path / "server.log", node=3)
    source = place([inspect(Found.at(str(path), "c", 8))], timezone="UTC")[0]
    assert source.node_id == 3
    assert source.warnings == ("content says node 3, path says node 8",)


def test_of_two_nodes_in_a_folder_a_silent_file_gets_the_one_of_its_time(tmp_path: Path) -> None:
    for hour, node in ((10, 0), (12, 100), (14, 0)):
        log(tmp_path / f"controller.log.2020-05-15-{hour}", node=node)
        path = tmp_path / f"controller.log.2020-05-15-{hour}"
        path.write_text(path.read_text().replace(" 12:", f" {hour}:"))
    for hour in (11, 13, 15):
        (tmp_path / f"cleaner.{hour}").write_text(f"[2020-05-15 {hour}:30:01,123] INFO Starting the log cleaner (kafka.log.LogCleaner)\n")
    silent = {Path(source.path).name: source for source in place(look(tmp_path)) if "cleaner" in source.path}
    assert {name: source.node_id for name, source in silent.items()} == {"cleaner.11": 0, "cleaner.13": 100, "cleaner.15": 0}
    assert "nodes [0, 100] write into this folder; assigned to node 100 by time" in silent["cleaner.13"].warnings


def test_the_zone_comes_from_the_folders_evidence(tmp_path: Path) -> None:
    log(tmp_path / "a/server.log")
    (tmp_path / "a/gc.log").write_text("[2020-05-15T12:00:01.048+0530][gc] Using G1\n")
    (tmp_path / "b").mkdir()
    # 12:00:01 local time is 06:30:01 UTC here.
    (tmp_path / "b/server.log").write_text(
        "[2020-05-15 12:00:01,003] INFO Kafka startTimeMs: 1589524200999 (org.apache.kafka.common.utils.AppInfoParser)\n"
    )
    (tmp_path / "zk").mkdir()
    (tmp_path / "zk/zookeeper.log").write_text("2020-05-15 12:00:01,123 [myid:] - INFO  [main:X@1] - y\n")
    found = {os.path.relpath(s.path, tmp_path): (s.zones[-1][1], s.zone_known_by) for s in place(look(tmp_path))}
    assert found["a/server.log"] == ("+0530", "evidence")
    assert found["b/server.log"] == ("+05:30", "evidence")
    assert found["zk/zookeeper.log"][1] in ("default", "cluster")
    assert all(s.zone_known_by == "given" for s in place(look(tmp_path), timezone="Asia/Kolkata"))


def test_growth_renaming_rotation_and_gzip_keep_a_source(tmp_path: Path) -> None:
    path = log(tmp_path / "server.log")
    first = identify(place(look(tmp_path)), [])[0]
    assert first.start == 0
    end = path.stat().st_size
    known = [known_of(first, end)]
    assert identify(place(look(tmp_path)), known)[0].start == end
    with path.open("a") as file:
        file.write(LINE.format(59, 1))
    grown = identify(place(look(tmp_path)), known)[0]
    assert (grown.source_id, grown.start) == (first.source_id, end)
    rotated = path.rename(tmp_path / "server.log.2020-05-15-12")
    assert (identify(place(look(tmp_path)), known)[0].source_id, identify(place(look(tmp_path)), known)[0].start) == (first.source_id, end)
    (tmp_path / "other.gz").write_bytes(gzip.compress(rotated.read_bytes()))
    rotated.unlink()
    packed = identify(place(look(tmp_path)), known)[0]
    assert (packed.source_id, packed.start) == (first.source_id, end)


def test_a_small_file_keeps_its_identity_while_it_grows(tmp_path: Path) -> None:
    path = log(tmp_path / "log.log", lines=1)
    first = identify(place(look(tmp_path)), [])[0]
    known = [known_of(first, path.stat().st_size)]
    log(path, lines=90)
    assert identify(place(look(tmp_path)), known)[0].source_id == first.source_id


def test_the_same_bytes_twice_are_read_once(tmp_path: Path) -> None:
    path = log(tmp_path / "server.log")
    (tmp_path / "kafkaServer.out").write_bytes(path.read_bytes())
    (tmp_path / "server.log.1.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert sorted(source.outcome for source in identify(place(look(tmp_path)), [])) == ["copy", "copy", "read"]


def test_files_that_part_ways_are_two_sources(tmp_path: Path) -> None:
    path = log(tmp_path / "server.log")
    (tmp_path / "kafkaServer.out").write_bytes(path.read_bytes() + b"OpenJDK warning\n")
    path.write_bytes(path.read_bytes() + LINE.format(3, 1).encode())
    sources = identify(place(look(tmp_path)), [])
    assert [source.outcome for source in sources] == ["read", "read"]
    assert len({source.source_id for source in sources}) == 2


def test_the_same_bytes_of_two_nodes_are_two_sources(tmp_path: Path) -> None:
    one = log(tmp_path / "1/server.log")
    two = log(tmp_path / "2/server.log")
    sources = [inspect(Found.at(str(path), "c", node)) for node, path in ((1, one), (2, two))]
    assert [source.outcome for source in identify(place(sources))] == ["read", "read"]


def test_a_layout_reads_cluster_and_node_from_the_path() -> None:
    layout = Layout("{cluster}/{node}/**")
    assert layout.read("prod/broker-12/logs/server.log") == ("prod", 12)
    assert layout.read("server.log") == (None, None)
    with pytest.raises(ValueError, match=r"names neither \{cluster\} nor \{node\}; write"):
        Layout("logs/**")


def test_only_a_fresh_file_that_is_not_rotated_still_grows(tmp_path: Path) -> None:
    source = inspect(Found.at(str(log(tmp_path / "server.log")), "c"))
    now = time.time()
    assert may_grow(source, now, 60)
    assert not may_grow(source, now + 61, 60)
    rotated = replace(source, shown="server.log.2020-05-15-11")
    assert not may_grow(rotated, now, 60)
    # It may be a copy that is still being written.
    assert may_grow(replace(rotated, ends_torn=True), now, 60)
    assert not may_grow(replace(rotated, ends_torn=True), now + 61, 60)
    # In a compressed log the last record waits only if the file ends too early; a compressed capture has no such record.
    assert may_grow(replace(source, compressed=True), now, 60)
    assert not may_grow(replace(source, compressed=True), now + 61, 60)
    assert not may_grow(replace(source, compressed=True, capture="gc_log"), now, 60)


def test_the_same_capture_at_another_time_is_another_one(tmp_path: Path) -> None:
    """The same describe output an hour later is evidence of that hour; a copied GC log is not."""
    describe = "Topic: a\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\n"
    for name in ("20261121T100000Z-describe.txt", "20261121T110000Z-describe.txt"):
        (tmp_path / name).write_text(describe)
    for name in ("gc.log", "gc.log.old"):
        (tmp_path / name).write_text("[2026-11-21T09:34:21.048+0530][gc] Using G1\n")
    sources = identify(place([inspect(Found.at(str(path), "c")) for path in sorted(tmp_path.iterdir())]))
    assert [(source.outcome, source.kind) for source in sources] == [
        ("read", "kafka_topics_describe"),
        ("read", "kafka_topics_describe"),
        ("read", "gc_log"),
        ("copy", "gc_log"),
    ]


def test_a_capture_need_not_end_with_a_line_end(tmp_path: Path) -> None:
    path = tmp_path / "jolokia.json"
    path.write_text(
        '{"request": {"mbean": "java.lang:type=Threading", "type": "read"}, "value": {"ThreadCount": 7}, "timestamp": 1589544001, "status": 200}'
    )
    source = inspect(Found.at(str(path), "c"))
    assert source.kind == "jolokia_json"
    assert not may_grow(source, time.time() + 100, 60)
