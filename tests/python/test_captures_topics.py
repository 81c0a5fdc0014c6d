"""kafka-topics: describes of all releases, lists, changes."""

from __future__ import annotations

import datetime as dt

import pytest

from ingestion.captures.kafka_tools import topics
from tests.python.capture_rows import fields_of, rows_in, rows_of


def test_a_partition_without_leader_has_minus_one() -> None:
    rows = rows_of(topics, "20261121T094949Z-describe-2.8.txt")
    assert fields_of(rows, "topic")[0] == {
        "topic_name": "clicks",
        "topic_id": "VS7384U_RkSUVpsgXL916w",
        "partition_count": "3",
        "replication_factor": "2",
        "configs": "min.insync.replicas=1,segment.bytes=4194304,unclean.leader.election.enable=true,segment.index.bytes=1048576",
    }
    partitions = fields_of(rows, "topic_partition")
    assert partitions[0] == {"topic_name": "clicks", "partition_id": "0", "leader_id": "-1", "replicas": "2,3", "isr": "2"}
    assert partitions[4] == {"topic_name": "orders", "partition_id": "1", "leader_id": "1", "replicas": "1,3", "isr": "1"}
    assert len(partitions) == 8


def test_the_name_tells_the_time_and_the_tools_own_log_its_own() -> None:
    rows = rows_of(topics, "20261121T094949Z-describe-2.8.txt")
    assert (rows[0].kind, rows[0].fields["level"], rows[0].fields["logger"]) == (
        "log_line",
        "WARN",
        "org.apache.kafka.clients.NetworkClient",
    )
    assert (rows[0].at, rows[0].at_known_by) == (dt.datetime(2026, 11, 21, 9, 49, 49, 444000, dt.UTC), "content")
    assert (rows[2].at, rows[2].at_known_by) == (dt.datetime(2026, 11, 21, 9, 49, 49, 0, dt.UTC), "name")


def test_without_a_time_in_the_name_the_tools_own_log_tells_it() -> None:
    text = "[2026-11-21 09:49:49,444] WARN slow (a.B)\n\tTopic: x\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1\n"
    row = rows_in(topics, text)[1]
    assert (row.at, row.at_known_by, row.warnings) == (dt.datetime(2026, 11, 21, 9, 49, 49, 444000, dt.UTC), "content", ())


def test_until_2_3_the_head_has_no_blank_behind_its_colons() -> None:
    rows = rows_of(topics, "20261121T101224Z-describe-0.8.txt")
    assert fields_of(rows, "topic") == [
        {
            "topic_name": "__consumer_offsets",
            "partition_count": "10",
            "replication_factor": "3",
            "configs": "cleanup.policy=compact,segment.bytes=104857600",
        }
    ]
    assert fields_of(rows, "topic_partition")[2]["replicas"] == "2,3,1"


def test_partitions_alone_are_known_without_their_topic() -> None:
    rows = rows_of(topics, "20261121T093322Z-under-replicated-3.9.txt")
    assert [row.kind for row in rows] == ["topic_partition"] * 4
    assert rows[2].fields == {
        "topic_name": "__transaction_state",
        "partition_id": "2",
        "leader_id": "1",
        "replicas": "1,2,3",
        "isr": "1,3",
        "elr": "",
        "last_known_elr": "",
    }
    assert rows[1].offset == len(rows[0].raw_text) + 1


def test_tabs_that_became_blanks_and_a_reassignment() -> None:
    rows = rows_of(topics, "describe-4.1-blanks.txt")
    assert rows[0].kind == "command"
    assert rows[0].fields["tool"] == "kafka-topics"
    assert rows[1].fields["configs"] == "cleanup.policy=compact,delete,segment.bytes=1048576"
    assert rows[2].fields == {
        "topic_name": "shop.carts",
        "partition_id": "0",
        "leader_id": "-1",
        "replicas": "1,2,3",
        "isr": "2",
        "adding_replicas": "3",
        "removing_replicas": "1",
        "elr": "1,3",
    }
    assert "elr" not in rows[3].fields


def test_tabs_that_have_gone() -> None:
    rows = rows_of(topics, "describe-1.0-glued.txt")
    assert rows[0].fields == {
        "topic_name": "shop.carts",
        "partition_count": "2",
        "replication_factor": "2",
        "configs": "retention.ms=60000",
    }
    assert rows[1].fields == {"topic_name": "shop.carts", "partition_id": "0", "leader_id": "-1", "replicas": "4,5", "isr": ""}
    assert rows[2].fields == {"topic_name": "shop.carts", "partition_id": "1", "leader_id": "5", "replicas": "5,4", "isr": "5"}


def test_the_lower_case_of_0_8_0() -> None:
    (row,) = rows_in(topics, "\t\ttopic: letters\tpartition: 0\tleader: none\treplicas: 1,2\tisr: 2\n")
    assert row.fields == {"topic_name": "letters", "partition_id": "0", "leader_id": "-1", "replicas": "1,2", "isr": "2"}


def test_a_cut_line_gives_what_is_whole_and_says_so() -> None:
    rows = rows_of(topics, "describe-2.1-deleted-cut.txt")
    assert rows[0].fields["is_marked_for_deletion"] == "true"
    assert rows[0].fields["configs"] == ""
    assert rows[2].fields == {"topic_name": "old", "partition_id": "1"}
    assert "cut: no leader_id, replicas, isr" in rows[2].warnings


def test_a_list_and_a_change() -> None:
    assert fields_of(rows_of(topics, "list.txt"), "topic_name") == [
        {"topic_name": "__consumer_offsets"},
        {"topic_name": "orders"},
        {"topic_name": "clicks-2024", "is_marked_for_deletion": "true"},
    ]
    assert fields_of(rows_of(topics, "20261121T095300Z-created-4.0.txt"), "topic_change") == [
        {"topic_name": "payments", "change": "created"},
        {"topic_name": "clicks", "change": "created"},
    ]


@pytest.mark.parametrize(
    "line",
    [
        "\tTopic: x\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1",
        "Topic: x Partition: 0 Leader: 1 Replicas: 1,2 Isr: 1",
        "Topic:x\tPartitionCount:1\tReplicationFactor:1\tConfigs:",
    ],
)
def test_one_line_is_enough(line: str) -> None:
    assert topics.kind_of(line) == topics.DESCRIBE


@pytest.mark.parametrize(
    "text",
    [
        "Topic: orders Partition: 0 Leader: none Replicas: 1,2 Isr: 1 Topic: orders Partition: 1 Leader: 2 Replicas: 3,2 Isr: 2\n",
        "topic: orders partition: 0 leader: -1 replicas: 1,2 isr: 1 topic: orders partition: 1 leader: 2 replicas: 3,2 isr: 2\n",
        "Topic: orders\tPartition: 0\tLeader: none\tReplicas: 1,2\tIsr: 1\tTopic: orders\tPartition: 1\tLeader: 2\tReplicas: 3,2\tIsr: 2\n",
    ],
)
def test_rows_whose_line_ends_were_lost(text: str) -> None:
    rows = [row for row in rows_in(topics, text) if row.kind == "topic_partition"]
    assert [(row.fields["partition_id"], row.fields["leader_id"], row.fields["isr"]) for row in rows] == [("0", "-1", "1"), ("1", "2", "2")]
    assert [text[row.offset :].lstrip().lower().startswith("topic: orders") for row in rows] == [True, True]
