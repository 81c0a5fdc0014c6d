"""Whose each record is where several programs write one file: by the node that it names, and by its logger."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest

from ingestion.bronze import pieces
from ingestion.bronze.log_records import read_tasks
from ingestion.bronze.tasks import task_of
from ingestion.recognition.recognise import catalogue
from ingestion.records.clues import first_node, node_at
from ingestion.sources.discover import find_files
from ingestion.sources.identify import identify
from ingestion.sources.inspect import inspect
from ingestion.sources.resolve import place
from ingestion.sources.stages import Found, Identified

ZOOKEEPER = "Created server with tickTime 3000 (org.apache.zookeeper.server.ZooKeeperServer)"
ZOOKEEPER_CLIENT = "Socket connection established, initiating session, client: /127.0.0.1:50000 (org.apache.zookeeper.ClientCnxn)"
NETWORK = "[RaftManager id=4] Node 5 disconnected. (org.apache.kafka.clients.NetworkClient)"
APPLICATION = "[Consumer clientId=app-1, groupId=g] Node 5 disconnected. (org.apache.kafka.clients.NetworkClient)"
STARTED = "[KafkaServer id=4] started (kafka.server.KafkaServer)"
LOADING = "Loading logs. (kafka.log.LogManager)"
CONNECT = "Kafka Connect started (org.apache.kafka.connect.runtime.Connect)"
VERSION = "Kafka version: 3.7.0 (org.apache.kafka.common.utils.AppInfoParser)"


def lines(*messages: str) -> str:
    return "".join(f"[2026-03-01 10:{n // 60 % 60:02}:{n % 60:02},000] INFO {message}\n" for n, message in enumerate(messages))


def read(folder: Path, node: int | None = None) -> tuple[dict[str, Identified], dict[str, list[tuple[int | None, str | None]]]]:
    """The sources and (node, known by) of the records, by the name of the file."""
    found = identify(place([inspect(Found.at(path, "c", node)) for path in find_files(str(folder))], timezone="UTC"))
    tasks = [task_of(source, False, 1, dt.datetime(2026, 3, 2, tzinfo=dt.UTC)) for source in found]
    out: dict[str, list[tuple[int | None, str | None]]] = {}
    for row in (row for batch in read_tasks(tasks, cache={}) for row in batch.to_pylist()):
        out.setdefault(Path(row["source_path"]).name, []).append((row["node_id"], row["node_known_by"]))
    return {Path(source.shown).name: source for source in found}, out


def test_a_server_log_that_begins_with_a_zookeeper_server_is_the_brokers_where_the_broker_speaks(tmp_path: Path) -> None:
    """More than the bytes that are looked at lie before the first line of the broker."""
    (tmp_path / "server.log").write_text(
        lines(*[ZOOKEEPER] * 2000, LOADING, STARTED, ZOOKEEPER_CLIENT, ZOOKEEPER, LOADING, *[ZOOKEEPER] * 2000)
    )
    sources, nodes = read(tmp_path)
    assert sources["server.log"].kind == "zookeeper_log"
    assert nodes["server.log"][2000:2006] == [
        # No line before names a node, and nothing else says whose the folder is.
        (None, None),
        (4, "content"),
        (4, "neighbour"),
        (None, None),
        (4, "neighbour"),
        (None, None),
    ]


def test_a_file_of_two_programs_is_of_a_nodes_kind_and_its_other_records_have_no_node(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_text(lines(*[ZOOKEEPER] * 90, STARTED, ZOOKEEPER, LOADING))
    sources, nodes = read(tmp_path)
    assert (sources["server.log"].kind, sources["server.log"].node_id) == ("kafka_server_log", 4)
    assert nodes["server.log"][88:] == [(None, None), (None, None), (4, "content"), (None, None), (4, "neighbour")]


def test_a_node_that_is_named_only_at_the_end_of_a_file_has_the_lines_before(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_text(lines(*[ZOOKEEPER_CLIENT] * 2000, STARTED))
    sources, nodes = read(tmp_path)
    assert (sources["server.log"].kind, set(nodes["server.log"])) == ("kafka_server_log", {(4, "content")})


def test_the_network_client_of_a_node_that_is_cut_off_names_its_node(tmp_path: Path) -> None:
    (tmp_path / "any-name.txt").write_text(lines(*[NETWORK] * 400))
    sources, nodes = read(tmp_path)
    assert (sources["any-name.txt"].kind, set(nodes["any-name.txt"])) == ("kafka_server_log", {(4, "content")})


@pytest.mark.parametrize(("name", "kind"), [("server.log.2026-03-01-10", "kafka_server_log"), ("orders.log", "kafka_client_log")])
def test_a_file_of_libraries_alone_is_what_its_name_says_and_else_a_clients(tmp_path: Path, name: str, kind: str) -> None:
    (tmp_path / name).write_text(lines(*[APPLICATION, VERSION] * 10))
    sources, nodes = read(tmp_path)
    assert (sources[name].kind, set(nodes[name])) == (kind, {(None, None)})


def test_a_connect_worker_beside_a_broker_has_no_node_in_a_file_of_its_own_nor_in_the_brokers(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_text(lines(STARTED, CONNECT, LOADING))
    (tmp_path / "connect.log").write_text(lines(VERSION, CONNECT, APPLICATION))
    sources, nodes = read(tmp_path, node=7)
    assert (sources["connect.log"].kind, sources["connect.log"].node_id) == ("kafka_connect_log", None)
    assert nodes["connect.log"] == [(None, None)] * 3
    assert nodes["server.log"] == [(4, "content"), (None, None), (4, "neighbour")]


def test_a_worker_that_registers_its_logging_bean_is_no_broker(tmp_path: Path) -> None:
    registered = "Registered kafka:type=kafka.Log4jController MBean (kafka.utils.Log4jControllerRegistration$)"
    (tmp_path / "server.log").write_text(lines(STARTED))
    (tmp_path / "worker.txt").write_text(lines(registered, CONNECT))
    (tmp_path / "zookeeper.out").write_text(lines(registered, ZOOKEEPER))
    sources, nodes = read(tmp_path)
    assert [sources[name].kind for name in ("worker.txt", "zookeeper.out")] == ["kafka_connect_log", "zookeeper_log"]
    assert nodes["worker.txt"] == nodes["zookeeper.out"] == [(None, None)] * 2


def test_a_record_names_its_node_whatever_the_file_is(tmp_path: Path) -> None:
    (tmp_path / "zookeeper.out").write_text(lines(ZOOKEEPER, STARTED, ZOOKEEPER))
    (tmp_path / "app.log").write_text(lines(APPLICATION, "[GroupCoordinator 4]: Starting up. (kafka.coordinator.group.GroupCoordinator)"))
    _, nodes = read(tmp_path)
    assert nodes["zookeeper.out"] == [(None, None), (4, "content"), (None, None)]
    assert nodes["app.log"][1] == (4, "content")


def test_an_applications_line_that_looks_alike_names_no_node(tmp_path: Path) -> None:
    (tmp_path / "orders.log").write_text(lines("[Session id=42] closed (com.example.Sessions)", APPLICATION))
    sources, nodes = read(tmp_path)
    assert (sources["orders.log"].kind, sources["orders.log"].nodes) == ("kafka_client_log", ())
    assert nodes["orders.log"] == [(None, None)] * 2


@pytest.mark.parametrize(
    "message",
    [
        "Registered broker 4 at path /brokers/ids/4 with addresses: PLAINTEXT://k4:9092, czxid (broker epoch): 77 (kafka.zk.KafkaZkClient)",
        "Registered broker 4 at path /brokers/ids/4 with address k4:9092. (kafka.utils.ZkUtils$)",
        "Property broker.id is overridden to 4 (kafka.utils.VerifiableProperties)",
    ],
)
def test_what_only_a_node_prints_of_itself_says_whose_a_file_is(tmp_path: Path, message: str) -> None:
    (tmp_path / "a.log").write_text(lines(ZOOKEEPER_CLIENT, message, ZOOKEEPER_CLIENT))
    _, nodes = read(tmp_path)
    assert nodes["a.log"] == [(4, "content"), (4, "content"), (4, "neighbour")]


def test_layouts_with_short_loggers_tell_a_zookeeper_server_by_its_messages(tmp_path: Path) -> None:
    head = "2026-03-01 10:00:0{} INFO  [main] {} - {}\n"
    texts = [
        ("KafkaServer:66", "[KafkaServer id=4] started"),
        ("ZooKeeperServer:398", "Expiring session 0x1000, timeout of 6000ms exceeded"),
    ]
    (tmp_path / "pod.log").write_text("".join(head.format(n, *text) for n, text in enumerate(texts * 2)))
    _, nodes = read(tmp_path)
    assert nodes["pod.log"] == [(4, "content"), (None, None), (4, "content"), (None, None)]


def test_each_stream_of_a_file_is_what_it_says_itself(tmp_path: Path) -> None:
    """The longest is a ZooKeeper server's; a broker that does not name itself has the number of its container, and neither of them the other's."""
    said = [("zookeeper-1", ZOOKEEPER)] * 40 + [("kafka-2", LOADING), ("kafka-4", STARTED), ("app-1", APPLICATION), ("connect", CONNECT)]
    texts = lines(*(message for _, message in said)).splitlines()
    (tmp_path / "compose.log").write_text("".join(f"{name}  | {text}\n" for (name, _), text in zip(said, texts, strict=True)))
    sources, nodes = read(tmp_path)
    assert sources["compose.log"].kind == "kafka_server_log"
    assert sorted(set(nodes["compose.log"]), key=str) == [(2, "stream"), (4, "content"), (None, None)]
    assert nodes["compose.log"].count((None, None)) == 42


def test_lines_of_json_name_their_node_as_plain_ones_do(tmp_path: Path) -> None:
    records = [("kafka.log.LogManager", "Loading logs."), ("kafka.server.KafkaServer", "[KafkaServer id=4] started")]
    (tmp_path / "broker.json").write_text(
        "".join(
            json.dumps({"@timestamp": f"2026-03-01T10:00:0{n}.000Z", "level": "INFO", "logger_name": logger, "message": text}) + "\n"
            for n, (logger, text) in enumerate(records)
        )
    )
    _, nodes = read(tmp_path)
    assert nodes["broker.json"] == [(4, "content"), (4, "content")]


def test_pieces_and_later_runs_give_each_record_the_same_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "server.log").write_text(lines(*[ZOOKEEPER, STARTED, ZOOKEEPER_CLIENT, ZOOKEEPER, LOADING] * 50))
    _, whole = read(tmp_path)
    monkeypatch.setattr(pieces, "CHUNK", 300)
    assert [node for node, _ in read(tmp_path)[1]["server.log"]] == [node for node, _ in whole["server.log"]]


# Prefixes that are too short to be told from an application's, outside state-change.log.
NOT_FOUND_FAST = {"Broker 1 "}


def test_every_prefix_with_a_node_tells_the_file_its_node_and_no_other_does() -> None:
    for form in catalogue().contexts:
        if form.example in NOT_FOUND_FAST:
            continue
        line = f"[2026-03-01 10:00:00,000] INFO {form.example}text (a.B)\n".encode()
        node = form.expected.get("node")
        found = first_node(line)
        assert (found and str(found[1])) == node, form.example
        span = node_at(line, line.index(b"INFO ") + 5)
        assert (span and line[slice(*span)].decode()) == node, form.example


LAYOUTS = (
    "2026-03-01 10:00:00,000 INFO kafka.server.ReplicaManager: {}",
    "2026-03-01 10:00:00,000 INFO kafka.server.ReplicaManager: [main]: {}",
    "2026-03-01 10:00:00,000 INFO  [main] kafka.server.ReplicaManager - {}",
    "2026-03-01 10:00:00,000 [myid:1] - INFO  [main:ReplicaManager@17] - {}",
)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_node_is_named_behind_the_logger_too_and_not_within_a_message(layout: str) -> None:
    prefix = "[ReplicaManager broker=153] "
    line = layout.format(prefix + "text").encode()
    assert first_node(line) == (line.index(prefix.encode()), 153)
    assert node_at(line, line.index(prefix.encode())) == (line.index(b"153"), line.index(b"153") + 3)
    for cited in ("could not reach: ", "unknown peer - ", "a.b.C: "):
        assert first_node(layout.format(cited + prefix).encode()) is None, cited


def test_an_old_consumer_beside_a_broker_is_a_client(tmp_path: Path) -> None:
    said = [
        "Verifying properties (kafka.utils.VerifiableProperties)",
        "Starting ZkClient event thread. (org.I0Itec.zkclient.ZkEventThread)",
        "[etl_host-1-1a2b3c4d], begin registering consumer etl_host-1-1a2b3c4d in ZK (kafka.consumer.ZookeeperConsumerConnector)",
    ]
    (tmp_path / "server.log").write_text(lines(STARTED))
    (tmp_path / "etl.log").write_text(lines(*said))
    sources, nodes = read(tmp_path)
    assert (sources["etl.log"].kind, nodes["etl.log"]) == ("kafka_client_log", [(None, None)] * 3)
