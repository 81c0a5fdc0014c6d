"""Logs that a shipper has put into a topic of a real broker: the tables are those of the files, also if the ingestion is killed in the middle."""

from __future__ import annotations

import gzip
import json
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from deltalake import DeltaTable

from tests.cluster.broker import broker
from tests.cluster.commands import ORDERS, begun, chronicle, done

TOPIC = "broker-logs"
LONG_AGO_MS = 1_767_225_600_000


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with broker(tmp_path_factory.mktemp("kafka")) as address:
        yield address


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """The example's logs, unpacked, a folder for each host."""
    for packed in ORDERS.rglob("*.gz"):
        file = tmp_path / "logs" / packed.relative_to(ORDERS).parts[0] / packed.stem
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(gzip.decompress(packed.read_bytes()))
    return tmp_path / "logs"


def shipped(servers: str, logs: Path) -> int:
    """Put the lines of some logs into the topic as Filebeat does, those of a host in order.  Returns their number."""
    producer, count = Producer({"bootstrap.servers": servers, "linger.ms": 50}), 0
    for file in sorted(logs.rglob("*.log")):
        host = file.parent.name
        about = {"host": {"name": host}, "log": {"file": {"path": f"/var/log/kafka/{file.name}"}}}
        for text in file.read_text().splitlines():
            message = json.dumps({"@timestamp": "2026-01-01T00:00:00.000Z", "message": text, **about}).encode()
            while True:
                try:
                    producer.produce(TOPIC, message, key=host.encode(), timestamp=LONG_AGO_MS)
                    break
                except BufferError:
                    producer.poll(0.1)
            count += 1
    assert producer.flush(60) == 0
    return count


def records(warehouse: Path) -> Counter[tuple[Any, ...]]:
    columns = ["node_id", "logged_at", "event_type", "body"]
    found = DeltaTable(str(warehouse / "bronze/log_records")).to_pyarrow_table(columns=columns).to_pylist()
    return Counter(tuple(row.values()) for row in found)


def test_a_topic_holds_what_the_files_hold(servers: str, logs: Path, tmp_path: Path) -> None:
    place = ("--cluster", "orders", "--timezone", "UTC", "--settled-after", 0)
    done(chronicle(None, None, "ingest", logs, "-w", tmp_path / "files", *place))
    assert shipped(servers, logs) > 10_000
    there = ("ingest", f"kafka://{servers}/{TOPIC}", "-w", tmp_path / "topic", *place)
    killed = begun(chronicle(None, None, *there), tmp_path / "topic")
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    done(chronicle(None, None, *there))
    assert "0 new records" in done(chronicle(None, None, *there))
    loaded = records(tmp_path / "topic")
    assert loaded == records(tmp_path / "files")
    assert loaded.total() > 10_000
