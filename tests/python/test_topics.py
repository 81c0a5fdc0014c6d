"""Log lines in a topic of Kafka: each message once, despite kills, retention and records of several messages.  librdkafka has a broker for tests."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from deltalake import DeltaTable

from ingestion import ingest as ingesting
from ingestion.bronze import shares, write
from ingestion.outcome import Outcome
from ingestion.reading.objects import CannotReach
from ingestion.sources import topics
from ingestion.sources.discover import Options
from ingestion.sources.otlp import lines_of
from ingestion.sources.topics import LOST, Lines, Topic, ends
from tests.objects import Bucket
from tests.python.test_records import line
from tests.rotations import Here

_numbers = itertools.count()
LONG_AGO_MS = 1_767_225_600_000


class Broker:
    """A new topic with four partitions for each test."""

    def __init__(self, producer: Producer, servers: str) -> None:
        self.producer, self.topic = producer, f"logs-{next(_numbers)}"
        self.uri = f"kafka://{servers}/{self.topic}"

    def put(self, *lines: str, partition: int = 0, put_at: int = LONG_AGO_MS) -> None:
        for text in lines:
            self.producer.produce(self.topic, text.encode(), partition=partition, timestamp=put_at)
        assert self.producer.flush(30) == 0


@pytest.fixture(scope="module")
def made() -> tuple[Producer, str]:
    producer = Producer({"test.mock.num.brokers": 1, "log_level": 0})
    brokers = producer.list_topics(timeout=30).brokers.values()
    return producer, ",".join(f"{broker.host}:{broker.port}" for broker in brokers)


@pytest.fixture
def broker(made: tuple[Producer, str]) -> Broker:
    return Broker(*made)


def load(folder: Path, *paths: str, settled_after: float = 60, **options: Any) -> Outcome:
    given = Options([*paths], cluster="c", timezone="UTC", settled_after=settled_after, **options)
    return ingesting.ingest(Here, str(folder / "warehouse"), given, tell=lambda text: None)


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    return DeltaTable(str(folder / "warehouse/bronze" / table)).to_pyarrow_table().to_pylist()


def bodies(folder: Path) -> list[str]:
    return sorted(row["body"] for row in rows(folder, "log_records"))


def test_each_message_is_read_once(broker: Broker, tmp_path: Path) -> None:
    broker.put(line(1, "[KafkaServer id=7] started").rstrip("\n"), line(2, "two"))
    broker.put(line(1, "[KafkaServer id=8] started too"), partition=3)
    assert load(tmp_path, broker.uri).records == 3
    assert load(tmp_path, broker.uri).records == 0
    broker.put(line(3, "three"))
    assert load(tmp_path, broker.uri).records == 1
    assert bodies(tmp_path) == ["started", "started too", "three", "two"]
    names = sorted(row["source_path"].split(f"/{broker.topic}/")[1] for row in rows(tmp_path, "sources"))
    assert names == ["0/0-2", "0/2-3", "3/0-1"]


def test_a_record_may_come_in_several_messages(broker: Broker, tmp_path: Path) -> None:
    now = int(time.time() * 1000)
    broker.put(line(1, "[KafkaServer id=7] started"), line(2, "failed"), put_at=now)
    assert load(tmp_path, broker.uri).records == 1
    broker.put("java.io.IOException: gone", "\tat kafka.A.b(A.scala:1)", line(3, "after"), put_at=now)
    assert load(tmp_path, broker.uri).records == 1
    failed = next(row for row in rows(tmp_path, "log_records") if row["body"] == "failed")
    assert failed["raw_text"].endswith("java.io.IOException: gone\n\tat kafka.A.b(A.scala:1)")
    # Without a wait the last record is read too.
    assert load(tmp_path, broker.uri, settled_after=0).records == 1
    assert bodies(tmp_path) == ["after", "failed", "started"]


def test_messages_of_shippers(broker: Broker, tmp_path: Path) -> None:
    def shipped(host: str, text: str) -> str:
        agent = {"host": {"name": host}, "log": {"file": {"path": "/var/log/kafka/server.log"}}}
        return json.dumps({"@timestamp": "2026-01-01T00:00:00.000Z", "message": text, **agent})

    for number in (1, 2):
        broker.put(shipped(f"kafka-{number}", line(number, f"[KafkaServer id={number}] started").rstrip("\n")))
        broker.put(shipped(f"kafka-{number}", line(number + 2, f"of {number}").rstrip("\n") + "\njava.io.IOException: gone"))
    assert load(tmp_path, broker.uri).records == 4
    assert sorted((row["node_id"], row["body"]) for row in rows(tmp_path, "log_records")) == [
        (1, "of 1"),
        (1, "started"),
        (2, "of 2"),
        (2, "started"),
    ]


def of_collector(host: str, file: str, *bodies: Any, **record: Any) -> str:
    """A message of OpenTelemetry's collector."""

    def attributes(**given: str) -> list[dict[str, Any]]:
        return [{"key": key.replace("__", "."), "value": {"stringValue": value}} for key, value in given.items()]

    records = [
        {"observedTimeUnixNano": "1767225600000000000", "body": body, "attributes": attributes(log__file__path=file)} for body in bodies
    ]
    scope = {"scope": {"name": record.pop("logger", "")}, "logRecords": [{**one, **record} for one in records]}
    return json.dumps({"resourceLogs": [{"resource": {"attributes": attributes(host__name=host)}, "scopeLogs": [scope]}]})


def test_messages_of_opentelemetry_hold_many_records(broker: Broker, tmp_path: Path) -> None:
    for number in (1, 2):
        texts = [line(number, f"[KafkaServer id={number}] started"), line(number + 2, f"of {number}") + "java.io.IOException: gone"]
        broker.put(of_collector(f"kafka-{number}", "/var/log/kafka/server.log", *({"stringValue": text.rstrip()} for text in texts)))
    assert load(tmp_path, broker.uri).records == 4
    assert sorted((row["node_id"], row["body"], row["raw_text"].count("gone")) for row in rows(tmp_path, "log_records")) == [
        (1, "of 1", 1),
        (1, "started", 0),
        (2, "of 2", 1),
        (2, "started", 0),
    ]


def test_records_that_a_program_sends_to_opentelemetry_itself(broker: Broker, tmp_path: Path) -> None:
    parts = {"severityText": "WARN", "logger": "kafka.server.KafkaServer", "timeUnixNano": "1767225601000000000"}
    broker.put(of_collector("kafka-1", "", {"stringValue": "[KafkaServer id=7] started"}, **parts))
    fields = {"kvlistValue": {"values": [{"key": "message", "value": {"stringValue": "parsed before"}}]}}
    broker.put(of_collector("kafka-1", "", fields, **parts))
    assert load(tmp_path, broker.uri).records == 2
    assert [(row["level"], row["logger"], row["logged_at"].second, row["body"]) for row in rows(tmp_path, "log_records")] == [
        ("WARN", "kafka.server.KafkaServer", 1, "started"),
        ("WARN", "kafka.server.KafkaServer", 1, "parsed before"),
    ]


@pytest.mark.parametrize(
    "message",
    [
        '{"resourceLogs": [',
        '{"resourceLogs": 7}',
        '{"resourceLogs": [7]}',
        '{"resourceLogs": [{"scopeLogs": [{"logRecords": [{"timeUnixNano": "x"}]}]}]}',
        '{"resourceLogs": []}',
        '{"message": "of another"}',
        "[2026-01-01 00:00:00,000] INFO one (kafka.A)",
    ],
)
def test_other_messages_stay_as_they_are(message: str) -> None:
    assert lines_of(message.encode()) == message.encode()


def test_a_run_that_is_killed_loses_nothing(broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broker.put(line(1, "one"), line(2, "two"))

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(write, "commit_batch", killed)
        load(tmp_path, broker.uri)
    broker.put(line(3, "three"))
    assert load(tmp_path, broker.uri).records == 3
    assert bodies(tmp_path) == ["one", "three", "two"]


def test_what_other_machines_do_not_see_is_read_here(
    broker: Broker, bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Here, "master", "spark://10.0.0.5:7077")
    with_executors = shares.on_executors
    monkeypatch.setattr(
        shares,
        "on_executors",
        lambda spark, work, given, shown: (
            sent.extend(task.path for share in given for task in share) or with_executors(spark, work, given, shown)
        ),
    )
    broker.put(line(1, "of a topic"))
    bucket.put("logs/server.log", line(2, "of a bucket").encode())
    given = Options([broker.uri, f"{bucket.uri}/logs"], cluster="c", timezone="UTC", settled_after=0)
    assert ingesting.ingest(Here, f"{bucket.uri}/warehouse", given, tell=lambda text: None).records == 2
    assert sent == [f"{bucket.uri}/logs/server.log"]
    # With a warehouse in a folder the spool lies beside it, where all machines see it.
    assert ingesting.ingest(Here, str(tmp_path / "warehouse"), given, tell=lambda text: None).records == 2
    assert len(sent) == 3


def test_long_topics_are_several_files(broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topics, "FILE_BYTES", 1000)
    broker.put(*(line(number % 60, f"record {number}") for number in range(200)))
    assert load(tmp_path, broker.uri).records == 200
    assert sorted(bodies(tmp_path)) == sorted(f"record {number}" for number in range(200))
    assert len(rows(tmp_path, "sources")) > 10


def test_messages_that_are_gone_have_a_row(broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broker.put(*(line(number, f"record {number}") for number in range(5)))
    bounds: Callable[..., tuple[int, int]] = Topic.bounds
    with monkeypatch.context() as patched:
        patched.setattr(Topic, "bounds", lambda topic, partition: (0, 1) if partition == 0 else (0, 0))
        assert load(tmp_path, broker.uri).records == 1
    monkeypatch.setattr(Topic, "bounds", lambda topic, partition: (3, 5) if partition == 0 else bounds(topic, partition))
    assert load(tmp_path, broker.uri).records == 2
    refused = [row for row in rows(tmp_path, "sources") if row["outcome"] == "refused"]
    assert [(row["source_path"].rsplit("/", 1)[1], row["reason"]) for row in refused] == [("1-3", LOST)]


def test_what_cannot_be_reached_is_said(broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topics, "WAIT_SECONDS", 1.0)
    for uri, said in (("kafka://127.0.0.1:1/logs", "127.0.0.1:1"), ("kafka://127.0.0.1:1", "no topic; use kafka://HOST:PORT,…/TOPIC")):
        with pytest.raises(CannotReach, match=said):
            load(tmp_path, uri)


def test_how_far_partitions_were_read() -> None:
    names = [
        "kafka://id/logs/0/0-5",
        "kafka://id/logs/0/5-9",
        "kafka://id/logs/1/7-8",
        "kafka://other/logs/0/0-3",
        "/var/log/kafka/server.log",
    ]
    assert ends(names) == {("id", "logs", 0): 9, ("id", "logs", 1): 8, ("other", "logs", 0): 3}


def test_whole_messages_before_a_byte() -> None:
    lines = Lines()
    for offset, value in ((5, b"one"), (7, b"two\n"), (8, b"three")):
        lines.add(offset, value, 0)
    assert lines.until(14) == (b"one\ntwo\nthree\n", None)
    # If a limit lies within a message, the message waits.
    assert [lines.until(end) for end in (13, 8, 7, 4, 0)] == [
        (b"one\ntwo\n", 8),
        (b"one\ntwo\n", 8),
        (b"one\n", 7),
        (b"one\n", 7),
        (b"", 5),
    ]
