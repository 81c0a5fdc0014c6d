"""What Kafka prints where there is no value, and around a value that there may not be: neither becomes part of a field."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.python.test_records import line, read


@pytest.mark.parametrize(
    ("logger", "text", "event", "field", "value"),
    [
        (
            "org.apache.kafka.clients.Metadata",
            "Cluster ID: Some(xAvvWNxlbkPPyPVUwmwjww)",
            "client_cluster_id_observed",
            "kafka_cluster_id",
            "xAvvWNxlbkPPyPVUwmwjww",
        ),
        (
            "kafka.coordinator.group.GroupMetadataManager",
            "Loaded member MemberMetadata(memberId=app-1-uuid, groupInstanceId=Some(pod-3), clientId=app-1, clientHost=/10.0.0.7, sessionTimeoutMs=10000, "
            "rebalanceTimeoutMs=300000, supportedProtocols=List(range)) in group billing with generation 5.",
            "group_member_loaded",
            "instance_id",
            "pod-3",
        ),
        (
            "kafka.coordinator.group.GroupMetadataManager",
            "Loaded member MemberMetadata(memberId=app-1-uuid, groupInstanceId=None, clientId=app-1, clientHost=/10.0.0.7, sessionTimeoutMs=10000, "
            "rebalanceTimeoutMs=300000, supportedProtocols=List(range)) in group billing with generation 5.",
            "group_member_loaded",
            "instance_id",
            None,
        ),
        (
            "kafka.coordinator.group.GroupCoordinator",
            "Resigned as the group coordinator for partition 12 in epoch OptionalInt[3]",
            "coordinator_resigned",
            "coordinator_epoch",
            "3",
        ),
        (
            "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator",
            "[Consumer clientId=app-1, groupId=null] Subscribed to partition(s): orders-3",
            "consumer_subscribed",
            "group_id",
            None,
        ),
        # People may call a topic or a group null.
        (
            "kafka.cluster.Partition",
            "[Partition null-3 broker=1] ISR updated to 1,2 and version updated to [4]",
            "isr_updated",
            "topic",
            "null",
        ),
    ],
)
def test_a_value_is_stored_without_what_says_that_there_is_one(
    tmp_path: Path, logger: str, text: str, event: str, field: str, value: str | None
) -> None:
    (tmp_path / "a.log").write_text(line(1, text, logger=logger))
    [row] = read(tmp_path / "a.log")
    assert (row["event_type"], dict(row["fields"]).get(field)) == (event, value)
    assert text in row["raw_text"]


@pytest.mark.parametrize("printed", ["3", "OptionalInt[3]", "Some(3)", "Optional[3]"])
def test_any_number_may_be_printed_as_an_option(tmp_path: Path, printed: str) -> None:
    text = f"Elected as the group coordinator for partition 12 in epoch {printed}"
    (tmp_path / "a.log").write_text(line(1, text, logger="kafka.coordinator.group.GroupCoordinator"))
    [row] = read(tmp_path / "a.log")
    assert (row["event_type"], dict(row["fields"])["coordinator_epoch"]) == ("coordinator_elected", "3")
