"""Wordings of clients, workers and ZooKeeper that are easily misread: expected values are typed from the lines."""

from __future__ import annotations

import pytest

from ingestion.bronze.shapes import shape_of
from ingestion.recognition.recognise import catalogue, class_names
from ingestion.records.envelope import envelopes

CCI = "org.apache.kafka.clients.consumer.internals"


def read(line: str) -> tuple[str | None, dict[str, str]]:
    """Event and fields of one record in Kafka's default layout."""
    record = line.encode()
    shape = shape_of(record, True, next(e for e in envelopes() if e.name == "kafka"), catalogue())
    return shape.event_type, {name: record[slice(*span)].decode() for name, span in zip(shape.keys, shape.spans, strict=True)}


@pytest.mark.parametrize(
    ("prefix", "body", "logger", "event", "fields"),
    [
        # Group and client ids hold blanks, commas and brackets.
        (
            "[Consumer clientId=pay [eu], v2, groupId=pay, eu] ",
            "Successfully joined group with generation Generation{generationId=12, memberId='pay [eu]-3f2a', protocol='range'}",
            f"{CCI}.ConsumerCoordinator",
            "group_joined",
            {"client_id": "pay [eu], v2", "group_id": "pay, eu", "generation_id": "12", "member_id": "pay [eu]-3f2a", "protocol": "range"},
        ),
        # The same words with a bare number, until 2.6.0.
        (
            "[Consumer clientId=c, groupId=g] ",
            "Successfully joined group with generation 12",
            f"{CCI}.AbstractCoordinator",
            "group_joined",
            {"generation_id": "12"},
        ),
        # 0.10 and 0.11 have the group in the text and no prefix.
        (
            "",
            "Discovered coordinator kafka1:9092 (id: 2147483646 rack: null) for group my group.",
            f"{CCI}.AbstractCoordinator",
            "group_coordinator_found",
            {"coordinator_address": "kafka1:9092", "coordinator_node": "2147483646", "group_id": "my group"},
        ),
        (
            "[Consumer clientId=c, groupId=null] ",
            "Group coordinator kafka1:9092 (id: 2147483646 rack: null isFenced: false) is unavailable or invalid due to cause: session timed out without receiving a heartbeat response. isDisconnected: false. Rediscovery will be attempted.",
            f"{CCI}.ConsumerCoordinator",
            "group_coordinator_lost",
            {"group_id": None, "coordinator_node": "2147483646", "reason": "session timed out without receiving a heartbeat response"},
        ),
        # Until 2.8 an exceeded poll interval is the reason of an INFO line about leaving.
        (
            "[Consumer clientId=c, groupId=g] ",
            "Member c-1 sending LeaveGroup request to coordinator kafka1:9092 (id: 2147483646 rack: null) due to consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, which typically implies that the poll loop is spending too much time processing messages. You can address this either by increasing max.poll.interval.ms or by reducing the maximum size of batches returned in poll() with max.poll.records.",
            f"{CCI}.AbstractCoordinator",
            "poll_interval_exceeded",
            {"member_id": "c-1", "coordinator_node": "2147483646"},
        ),
        (
            "[Consumer clientId=c, groupId=g] ",
            "Member c-1 sending LeaveGroup request to coordinator kafka1:9092 (id: 2147483646 rack: null) due to the consumer is being closed",
            f"{CCI}.ConsumerCoordinator",
            "member_leave_sent",
            {"member_id": "c-1", "reason": "the consumer is being closed"},
        ),
        # From 4.4 the connection to a group's coordinator is a plus sign and the broker's id, in all of a client's lines.
        (
            "[Consumer clientId=c1, groupId=classic] ",
            "Discovered group coordinator 127.0.0.1:27102 (id: +2 rack: null isFenced: false)",
            f"{CCI}.ConsumerCoordinator",
            "group_coordinator_found",
            {"group_id": "classic", "coordinator_address": "127.0.0.1:27102", "coordinator_node": "2"},
        ),
        (
            "[Consumer clientId=n2, groupId=newcons] ",
            "Group coordinator 127.0.0.1:27101 (id: +1 rack: null isFenced: false) is unavailable or invalid due to cause: null. Rediscovery will be attempted.",
            f"{CCI}.CoordinatorRequestManager",
            "group_coordinator_lost",
            {"group_id": "newcons", "coordinator_node": "1"},
        ),
        (
            "[Consumer clientId=c1, groupId=classic] ",
            "Requesting disconnect from last known coordinator 127.0.0.1:27103 (id: +3 rack: null isFenced: false)",
            f"{CCI}.ConsumerCoordinator",
            "group_coordinator_lost",
            {"coordinator_node": "3"},
        ),
        (
            "[Consumer clientId=c1, groupId=classic] ",
            "Connection to node +3 (/127.0.0.1:27103) could not be established. Node may not be available.",
            "org.apache.kafka.clients.NetworkClient",
            "client_connection_failed",
            {"target_node": "+3", "server_address": "/127.0.0.1:27103"},
        ),
        (
            "[Consumer clientId=c1, groupId=classic] ",
            "Cancelled in-flight HEARTBEAT request with correlation id 812 due to node +1 being disconnected (elapsed time since creation: 5ms, elapsed time since send: 4ms, throttle time: 0ms, request timeout: 30000ms)",
            "org.apache.kafka.clients.NetworkClient",
            "client_request_cancelled",
            {"target_node": "+1", "api": "HEARTBEAT", "elapsed_ms": "4"},
        ),
        # A bootstrap server has a negative id, in 4.4 as before.
        (
            "[Consumer clientId=c1, groupId=classic] ",
            "Node -1 disconnected.",
            "org.apache.kafka.clients.NetworkClient",
            "client_disconnected",
            {"target_node": "-1"},
        ),
        # A consumer of KIP-848 prints the answer of the broker, with the broker's own id.
        (
            "[Consumer clientId=n2, groupId=newcons] ",
            "Discovered group coordinator Coordinator(key='newcons', nodeId=2, host='127.0.0.1', port=27102, errorCode=0, errorMessage='')",
            f"{CCI}.CoordinatorRequestManager",
            "group_coordinator_found",
            {"group_id": "newcons", "coordinator_node": "2"},
        ),
        # A worker of Connect: connector and task, then the client's own prefix.
        (
            "[my sink|task-3] [Consumer clientId=connector-consumer-my sink-3, groupId=connect-my sink] ",
            "Revoke previously assigned partitions orders-3, orders-4",
            f"{CCI}.ConsumerRebalanceListenerInvoker",
            "partitions_revoked",
            {
                "connector": "my sink",
                "connector_task": "3",
                "client_id": "connector-consumer-my sink-3",
                "partition_list": "orders-3, orders-4",
            },
        ),
        # Several lines, the last list empty; the logger stands alone on the last line.
        (
            "[Consumer clientId=c, groupId=g] ",
            "Updating assignment with\n\tAssigned partitions:                       [orders-3]\n\tCurrent owned partitions:                  []\n\tAdded partitions (assigned - owned):       [orders-3]\n\tRevoked partitions (owned - assigned):     []\n",
            f"{CCI}.ConsumerCoordinator",
            "assignment_updated",
            {"partition_list": "[orders-3]", "owned_partitions": "[]", "added_partitions": "[orders-3]", "revoked_partitions": "[]"},
        ),
        (
            "[Consumer clientId=c, groupId=g] ",
            "Offset commit failed on partition a-b-1-0 at offset 123: The coordinator is not aware of this member.",
            f"{CCI}.ConsumerCoordinator",
            "offset_commit_failed",
            {"topic": "a-b-1", "partition": "0", "commit_offset": "123", "error": "The coordinator is not aware of this member."},
        ),
        (
            "[Producer clientId=p, transactionalId=t 1] ",
            "Node -1 disconnected.",
            "org.apache.kafka.clients.NetworkClient",
            "client_disconnected",
            {"client_id": "p", "transactional_id": "t 1", "target_node": "-1"},
        ),
        # The old consumer: the prefix is its id, which holds the group and hyphens.
        (
            "[my-group_host-1.example-1490000000000-1a2b3c4d], ",
            "begin rebalancing consumer my-group_host-1.example-1490000000000-1a2b3c4d try #3",
            "kafka.consumer.ZookeeperConsumerConnector",
            "old_consumer_rebalance_started",
            {"member_id": "my-group_host-1.example-1490000000000-1a2b3c4d", "attempt": "3"},
        ),
        (
            "stream-thread [billing app-5f0c-StreamThread-1] ",
            "State transition from RUNNING to PARTITIONS_REVOKED",
            "org.apache.kafka.streams.processor.internals.StreamThread",
            "streams_state_changed",
            {"stream_thread": "billing app-5f0c-StreamThread-1", "state_before": "RUNNING", "state_after": "PARTITIONS_REVOKED"},
        ),
        (
            "[Worker clientId=connect-1, groupId=connect] ",
            "Joined group at generation 7 with protocol version 2 and got assignment: Assignment{error=0, leader='connect-1-9f', leaderUrl='http://w1:8083/', offset=12, connectorIds=[my sink], taskIds=[my sink-0], revokedConnectorIds=[], revokedTaskIds=[], delay=0} with rebalance delay: 300000",
            "org.apache.kafka.connect.runtime.distributed.DistributedHerder",
            "connect_rebalanced",
            {"group_id": "connect", "generation_id": "7", "delay_ms": "300000"},
        ),
        (
            "",
            "fsync-ing the write ahead log in SyncThread:1 took 1203ms which will adversely effect operation latency.File size is 67108880 bytes. See the ZooKeeper troubleshooting guide",
            "org.apache.zookeeper.server.persistence.FileTxnLog",
            "zookeeper_sync_slow",
            {"thread": "SyncThread:1", "duration_ms": "1203"},
        ),
        (
            "",
            "LEADING - LEADER ELECTION TOOK - 203 MS",
            "org.apache.zookeeper.server.quorum.Leader",
            "zookeeper_led",
            {"duration_ms": "203"},
        ),
        (
            "",
            "Expiring session 0x15ad7f2c0a90003, timeout of 6000ms exceeded",
            "org.apache.zookeeper.server.ZooKeeperServer",
            "session_expired",
            {"session_id": "15ad7f2c0a90003", "timeout_ms": "6000"},
        ),
    ],
)
def test_lines_of_clients_and_zookeeper(prefix: str, body: str, logger: str, event: str, fields: dict[str, str]) -> None:
    found, values = read(f"[2020-05-15 12:00:01,123] INFO {prefix}{body} ({logger})")
    assert found == event
    assert {name: values.get(name) for name in fields} == fields


def test_the_last_attempt_of_an_old_consumer_says_how_many_there_were_in_its_exception() -> None:
    event, values = read(
        "[2017-03-01 10:30:00,000] ERROR [app_host1-1488360000000-1a2b3c4d], error during syncedRebalance"
        " (kafka.consumer.ZookeeperConsumerConnector)\n"
        "kafka.common.ConsumerRebalanceFailedException: app_host1-1488360000000-1a2b3c4d can't rebalance after 4 retries\n"
        "\tat kafka.consumer.ZookeeperConsumerConnector$ZKRebalancerListener.syncedRebalance(ZookeeperConsumerConnector.scala:670)"
    )
    assert event == "old_consumer_rebalance_failed"
    assert values["member_id"] == "app_host1-1488360000000-1a2b3c4d"
    assert values["exception"] == "kafka.common.ConsumerRebalanceFailedException"
    assert values["exception_message"] == "app_host1-1488360000000-1a2b3c4d can't rebalance after 4 retries"


@pytest.mark.parametrize(
    "logger",
    [
        f"{CCI}.AbstractCoordinator",
        "o.a.k.c.c.i.AbstractCoordinator",
        "AbstractCoordinator",
        f"{CCI}.AbstractCoordinator$HeartbeatThread",
        f"{CCI}.AbstractCoordinator.lambda$join",
        f"{CCI}.AbstractCoordinator.joinGroupIfNeeded",
    ],
)
def test_a_short_wording_is_known_under_every_name_that_layouts_give_its_class(logger: str) -> None:
    assert catalogue().recognise(logger.encode(), b"Rebalance failed.").form.event == "group_join_failed"


def test_a_short_wording_of_another_class_is_not_taken() -> None:
    assert catalogue().recognise(b"com.example.Coordinator", b"Rebalance failed.") is None


def test_without_a_logger_a_prefix_of_kafka_lets_shorter_wordings_count() -> None:
    assert catalogue().recognise(None, b"Rebalance failed.") is None
    assert catalogue().recognise(None, b"Rebalance failed.", is_behind_prefix=True).form.event == "group_join_failed"


def test_names_of_a_class() -> None:
    assert class_names(b"kafka.log.LogCleaner$CleanerThread") == ("LogCleaner$CleanerThread", "LogCleaner")
    assert class_names(b"o.a.k.clients.Metadata.update") == ("update", "Metadata")
    assert class_names(b"NIOServerCnxn") == ("NIOServerCnxn",)
    assert class_names(b"") == ("",)
