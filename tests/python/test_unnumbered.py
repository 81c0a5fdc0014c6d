"""Processes whose node id nothing names: known by their file or stream until something names them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from ingestion import ingest as ingesting
from ingestion.bronze.tasks import writer_of
from ingestion.outcome import Outcome
from ingestion.sources.discover import Options
from tests.rotations import Here

STARTING = "[2026-03-01 10:00:00,100] INFO starting (kafka.server.KafkaServer)\n"
FATAL = "[2026-03-01 10:00:01,100] ERROR Exiting Kafka. (kafka.server.KafkaServerStartable)\n"
STARTED = "[2026-03-01 10:00:02,100] INFO [KafkaServer id={}] started (kafka.server.KafkaServer)\n"
ZOOKEEPER = "[2026-03-01 10:00:00,000] INFO Created server with tickTime 3000 (org.apache.zookeeper.server.ZooKeeperServer)\n"
CLIENT = "[2026-03-01 10:00:00,000] INFO Kafka version: 3.7.0 (org.apache.kafka.common.utils.AppInfoParser)\n"


def put(path: Path, text: str, days_ago: float = 1) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    at = time.time() - days_ago * 86_400
    os.utime(path, (at, at))
    return path


def run(path: Path, warehouse: Path, **options: Any) -> Outcome:
    told: list[str] = []
    return ingesting.ingest(Here, str(warehouse), Options([str(path)], cluster="c", timezone="UTC", **options), told.append)


def records(warehouse: Path) -> list[tuple[int | None, str | None, str | None]]:
    """(node, known by, name of the process) of each record, in order of file and place."""
    table = DeltaTable(f"{warehouse}/bronze/log_records").to_pyarrow_table()
    rows = sorted(table.to_pylist(), key=lambda row: (row["source_path"], row["byte_offset"]))
    return [(row["node_id"], row["node_known_by"], row["writer"] and os.path.basename(row["writer"])) for row in rows]


@pytest.mark.parametrize(
    ("path", "stream", "writer"),
    [
        ("/pasted/broker.log", "", "/pasted/broker.log"),
        ("/pasted/broker.log.3.gz", "", "/pasted/broker.log"),
        ("/logs/controller.log.2026-03-01-10", "", "/logs/server.log"),
        ("/logs/kafkaServer.out", "", "/logs/server.log"),
        ("/logs/zookeeper.log", "", "/logs/zookeeper.log"),
        ("/compose.log", "kafka-2", "/compose.log kafka-2"),
    ],
)
def test_a_process_is_known_by_its_file_and_stream(path: str, stream: str, writer: str) -> None:
    """Rotated files are of one process, and so are the logs that a broker writes into one folder."""
    assert writer_of(path, stream) == writer


def test_a_start_that_names_no_node_has_a_process(tmp_path: Path) -> None:
    outcome = run(put(tmp_path / "broker.log", STARTING + FATAL), tmp_path / "warehouse")
    assert records(tmp_path / "warehouse") == [(None, None, "broker.log")] * 2
    assert outcome.nodeless == [str(tmp_path / "broker.log")]


def test_another_program_is_no_process_of_kafka(tmp_path: Path) -> None:
    """Nor is a client; what a broker's own logger prints into ZooKeeper's file is a process."""
    put(tmp_path / "logs/client.log", CLIENT * 3)
    put(tmp_path / "logs/zookeeper.log", ZOOKEEPER * 20 + STARTING)
    outcome = run(tmp_path / "logs", tmp_path / "warehouse")
    assert records(tmp_path / "warehouse") == [(None, None, None)] * 23 + [(None, None, "zookeeper.log")]
    assert outcome.nodeless == [str(tmp_path / "logs/zookeeper.log")]


def test_each_stream_of_a_file_is_a_process(tmp_path: Path) -> None:
    lines = [f"{name} | {line}" for line in (STARTING, FATAL) for name in ("broker-a", "broker-b")]
    run(put(tmp_path / "compose.log", "".join(lines)), tmp_path / "warehouse")
    assert sorted(name for _, _, name in records(tmp_path / "warehouse")) == ["compose.log broker-a"] * 2 + ["compose.log broker-b"] * 2


def test_it_becomes_the_node_that_a_later_file_of_its_folder_names(tmp_path: Path) -> None:
    put(tmp_path / "logs/server.log", STARTING + FATAL)
    run(tmp_path / "logs", tmp_path / "warehouse")
    put(tmp_path / "logs/controller.log", STARTED.format(3))
    outcome = run(tmp_path / "logs", tmp_path / "warehouse")
    assert records(tmp_path / "warehouse") == [(3, "content", None), (3, "folder", None), (3, "folder", None)]
    assert outcome.owned_now == 1
    # Nothing is left to be named.
    assert run(tmp_path / "logs", tmp_path / "warehouse").owned_now == 0


def test_it_becomes_the_node_that_its_own_file_names_later(tmp_path: Path) -> None:
    path = put(tmp_path / "broker.log", STARTING)
    run(path, tmp_path / "warehouse")
    put(path, STARTING + STARTED.format(7))
    run(path, tmp_path / "warehouse")
    assert [node for node, _, _ in records(tmp_path / "warehouse")] == [7, 7]


def test_it_becomes_the_node_that_is_said_later(tmp_path: Path) -> None:
    """The file is read once more as node 5's; what repeats the node's own lines is a copy for the models."""
    path = put(tmp_path / "broker.log", STARTING)
    run(path, tmp_path / "warehouse")
    run(path, tmp_path / "warehouse", node=5)
    assert {(node, known_by) for node, known_by, _ in records(tmp_path / "warehouse")} == {(5, "path")}


def test_one_load_after_the_other_names_as_all_at_once(tmp_path: Path) -> None:
    """Two nodes write into the folder: the file goes to the one that wrote before it begins, whenever it is read."""
    put(tmp_path / "logs/broker.log", STARTING)
    run(tmp_path / "logs", tmp_path / "parts")
    put(tmp_path / "logs/a.log", STARTED.format(1))
    put(tmp_path / "logs/b.log", STARTED.format(2))
    run(tmp_path / "logs", tmp_path / "parts")
    run(tmp_path / "logs", tmp_path / "whole")
    assert records(tmp_path / "parts") == records(tmp_path / "whole")


def test_a_file_that_is_given_by_its_name_is_complete(tmp_path: Path) -> None:
    """What is pasted, saved and read at once keeps its last record; in a folder a fresh file may still grow."""
    path = put(tmp_path / "logs/broker.log", STARTING + FATAL, days_ago=0)
    run(tmp_path / "logs", tmp_path / "folder")
    run(path, tmp_path / "named")
    run(path, tmp_path / "followed", is_followed=True)
    assert [len(records(tmp_path / name)) for name in ("folder", "named", "followed")] == [1, 2, 1]
