"""kafka-reassign-partitions and its plans."""

from __future__ import annotations

from ingestion.captures.kafka_tools import reassignment
from tests.python.capture_rows import fields_of, rows_in, rows_of


def test_an_execution_and_its_verification() -> None:
    rows = rows_of(reassignment, "20261121T093433Z-execute-verify-3.9.txt")
    assert rows[0].fields == {"topic_name": "risky", "partition_id": "1", "replicas": "3,2", "log_dirs": "any,any", "plan": "current"}
    assert fields_of(rows, "throttle")[0]["bytes_per_second"] == "5000000"
    assert [(row["topic_name"], row["partition_id"], row["state"]) for row in fields_of(rows, "reassignment")] == [
        ("risky", "1", "started"),
        ("risky", "1", "completed"),
    ]
    assert len(fields_of(rows, "throttle_cleared")) == 2


def test_a_generated_plan_beside_the_current_one() -> None:
    rows = fields_of(rows_of(reassignment, "generate.txt"), "assignment")
    assert [(row["plan"], row["replicas"]) for row in rows] == [("current", "1,2"), ("proposed", "3,2")]


def test_verification_of_old_releases() -> None:
    rows = rows_of(reassignment, "verify-0.10-1.1.txt")
    assert [(row["partition_id"], row["state"]) for row in fields_of(rows, "reassignment")] == [
        ("0", "completed"),
        ("1", "in_progress"),
        ("2", "failed"),
    ]
    assert rows[3].fields["node_id"] == "5"
    assert (rows[3].node_id, rows[3].fields["partition_id"], rows[3].fields["state"]) == (5, "1", "completed")


def test_verification_since_2_6() -> None:
    rows = rows_of(reassignment, "verify-2.6.txt")
    assert rows[0].fields["state"] == "not_active"
    assert (rows[0].fields["replicas"], rows[0].fields["target_replicas"]) == ("1,2", "1,2,3")
    assert rows[2].fields["log_dir"] == "/d/2"
    assert rows[3].node_id == 3


def test_a_list_of_reassignments() -> None:
    rows = fields_of(rows_of(reassignment, "list-2.6.txt"), "reassignment")
    assert rows[0]["replicas"] == "1,2,3"
    assert (rows[0]["adding_replicas"], rows[0]["removing_replicas"]) == ("3", "1")
    assert (rows[1]["topic_name"], rows[1]["partition_id"], rows[1].get("adding_replicas")) == ("big-topic", "12", None)


def test_topics_to_move_on_several_lines() -> None:
    assert [row.fields for row in rows_of(reassignment, "topics-to-move.json")] == [{"topic_name": "letters"}]


def test_another_json_is_no_plan() -> None:
    assert reassignment.kind_of('{"version":1,"partitions":[{"id":3,"replicas":[1]}]}') is None


def test_moves_between_directories_and_several_partitions_at_once() -> None:
    rows = rows_in(
        reassignment,
        "Successfully started partition reassignments for letters-0,big-topic-12\nSuccessfully started log directory moves for: letters-0-3,letters-1-4\n",
    )
    assert [(row.kind, row.fields["topic_name"], row.fields["partition_id"], row.node_id) for row in rows] == [
        ("reassignment", "letters", "0", None),
        ("reassignment", "big-topic", "12", None),
        ("replica_move", "letters", "0", 3),
        ("replica_move", "letters", "1", 4),
    ]
    assert {row.fields["state"] for row in rows} == {"started"}
