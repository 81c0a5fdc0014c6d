"""kafka-leader-election and kafka-preferred-replica-election."""

from __future__ import annotations

from ingestion.captures.kafka_tools import elections
from tests.python.capture_rows import rows_of


def test_each_elected_partition_is_a_row() -> None:
    rows = rows_of(elections, "20261121T094645Z-preferred-3.7.txt")
    assert [(row.fields["topic_name"], row.fields["partition_id"]) for row in rows] == [
        ("__consumer_offsets", "0"),
        ("events", "4"),
        ("__consumer_offsets", "8"),
        ("__consumer_offsets", "3"),
        ("events", "2"),
    ]
    assert {(row.fields["election_kind"], row.fields["result"]) for row in rows} == {("preferred", "completed")}


def test_an_unclean_election() -> None:
    (row,) = rows_of(elections, "20261121T093503Z-unclean-3.9.txt")
    assert row.fields == {"topic_name": "risky", "partition_id": "0", "election_kind": "unclean", "result": "completed"}


def test_elections_that_failed_or_were_not_needed() -> None:
    rows = rows_of(elections, "failed-2.4.txt")
    assert rows[0].fields == {"topic_name": "letters", "partition_id": "2", "result": "not_needed"}
    assert rows[1].fields["topic_name"] == "big-topic"
    assert rows[1].fields["result"] == "failed"
    assert rows[1].fields["error"] == "org.apache.kafka.common.errors.EligibleLeadersNotAvailableException: No eligible leaders found"


def test_the_forerunner_wrote_a_path() -> None:
    rows = rows_of(elections, "preferred-1.0.txt")
    assert [row.fields["partition_id"] for row in rows] == ["0", "1"]
    assert rows[0].fields["result"] == "started"
