"""Errors that tools print when they fail: a row that says which tool failed at what, with the kind of the tool's own output."""

from __future__ import annotations

import pytest

from ingestion import captures
from ingestion.captures.kafka_tools import (
    acls,
    configs,
    features,
    groups,
    log_dirs,
    offsets,
    quorum,
    reassignment,
    tool_errors,
    topics,
    transactions,
)
from tests.python.capture_rows import fields_of, rows_in, rows_of

TIMEOUT = "org.apache.kafka.common.errors.TimeoutException"


def test_a_coordinator_that_no_broker_names() -> None:
    (row,) = rows_of(groups, "coordinator-failed-0.10.txt")
    brokers = "kafka-1.example.org:9092,kafka-2.example.org:9092"
    assert (row.kind, row.fields) == (
        "tool_error",
        {
            "tool": "kafka-consumer-groups",
            "request": "GROUP_COORDINATOR",
            "error_class": "java.lang.RuntimeException",
            "failure": "coordinator",
            "message": "Request GROUP_COORDINATOR failed on brokers List(kafka-1.example.org:9092 (id: -1 rack: null), kafka-2.example.org:9092 (id: -2 rack: null))",
            "brokers": brokers,
        },
    )
    assert row.raw_text.endswith("ConsumerGroupCommand.main(ConsumerGroupCommand.scala)")


def test_the_brokers_of_0_9() -> None:
    text = "Error while executing consumer group command Request GROUP_COORDINATOR failed on brokers List(Node(-1, kafka-1, 9092), Node(-2, kafka-2, 9092))\n"
    (row,) = rows_in(groups, text)
    assert (row.fields["brokers"], row.fields["request"]) == ("kafka-1:9092,kafka-2:9092", "GROUP_COORDINATOR")


def test_an_error_below_a_table_and_warnings_above_it() -> None:
    rows = rows_of(groups, "20261121T100000Z-describe-failed-4.0.txt")
    assert [row.kind for row in rows] == ["command", "remark", "remark", "remark", "remark", "group_offset", "tool_error"]
    assert rows[-1].fields == {
        "tool": "kafka-consumer-groups",
        "command": "$ kafka-consumer-groups.sh --bootstrap-server 127.0.0.1:27101 --describe --group billing",
        "error_class": "org.apache.kafka.common.errors.CoordinatorNotAvailableException",
        "failure": "coordinator",
        "message": "java.util.concurrent.ExecutionException: org.apache.kafka.common.errors.CoordinatorNotAvailableException: The coordinator is not available.",
        "group_id": "billing",
    }


@pytest.mark.parametrize(
    ("module", "name", "tool", "request_name", "error_class", "failure"),
    [
        (acls, "denied-3.6.txt", "kafka-acls", None, "org.apache.kafka.common.errors.ClusterAuthorizationException", "authorization"),
        (configs, "failed-3.6.txt", "kafka-configs", "describeConfigs", TIMEOUT, "timeout"),
        (
            features,
            "unsupported-3.3.txt",
            "kafka-features",
            None,
            "org.apache.kafka.common.errors.UnsupportedVersionException",
            "refused",
        ),
        (
            log_dirs,
            "disconnected-3.7.txt",
            "kafka-log-dirs",
            "describeLogDirs",
            "org.apache.kafka.common.errors.DisconnectException",
            "timeout",
        ),
        (offsets, "20261121T100000Z-leaderless-3.6.txt", "kafka-get-offsets", None, None, "missing"),
        (quorum, "20261121T100000Z-timed-out-3.9.txt", "kafka-metadata-quorum", "describeMetadataQuorum", TIMEOUT, "timeout"),
        (reassignment, "failed-2.6.txt", "kafka-reassign-partitions", "listPartitionReassignments", TIMEOUT, "timeout"),
        (tool_errors, "cluster-4.0.txt", "kafka-cluster", None, None, "missing"),
        (tool_errors, "no-node.txt", None, "listNodes", "java.util.concurrent.TimeoutException", "timeout"),
        (topics, "timed-out-3.9.txt", "kafka-topics", "listTopics", None, "timeout"),
        (
            transactions,
            "failed-3.6.txt",
            "kafka-transactions",
            None,
            "org.apache.kafka.common.errors.ClusterAuthorizationException",
            "authorization",
        ),
    ],
)
def test_each_tool_says_it_in_its_own_way(
    module: object, name: str, tool: str | None, request_name: str | None, error_class: str | None, failure: str
) -> None:
    (fields,) = fields_of(rows_of(module, name), "tool_error")
    assert tuple(fields.get(key) for key in ("tool", "request", "error_class", "failure")) == (tool, request_name, error_class, failure)


def test_no_row_of_a_failed_tool_is_unread() -> None:
    for module, name in ((topics, "timed-out-3.9.txt"), (quorum, "20261121T100000Z-timed-out-3.9.txt"), (tool_errors, "cluster-4.0.txt")):
        assert [row.raw_text for row in rows_of(module, name) if row.kind == "unread"] == []


def test_the_logger_below_a_trace_is_that_of_its_line() -> None:
    log = next(row for row in rows_of(topics, "timed-out-3.9.txt") if row.kind == "log_line")
    assert (log.fields["level"], log.fields["logger"]) == ("ERROR", "org.apache.kafka.tools.TopicCommand")


def test_a_partition_without_an_offset_is_named() -> None:
    (fields,) = fields_of(rows_of(offsets, "20261121T100000Z-leaderless-3.6.txt"), "tool_error")
    assert (fields["topic_name"], fields["partition_id"]) == ("orders", "2")


@pytest.mark.parametrize(
    "text",
    [
        'Exception in thread "main" java.lang.NullPointerException: x\n\tat com.example.Main.main(Main.java:3)\n',
        "org.apache.kafka.common.errors.TimeoutException: Expiring 3 record(s) for orders-0\n\tat com.example.Main.main(Main.java:3)\n",
        "Error: No such container: kafka-1\n",
    ],
)
def test_the_failure_of_another_program_is_no_tools(text: str) -> None:
    assert captures.detect(text) is None
