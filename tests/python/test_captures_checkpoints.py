"""Checkpoints of a log directory, leader epochs, the quorum's state."""

from __future__ import annotations

from ingestion.captures import About, lines_of
from ingestion.captures.kafka_tools import checkpoints
from tests.python.capture_rows import rows_of


def test_the_name_tells_which_offsets_they_are() -> None:
    rows = rows_of(checkpoints, "cleaner-offset-checkpoint")
    assert len(rows) == 10
    assert rows[6].fields == {"topic_name": "__consumer_offsets", "partition_id": "6", "offset": "8668", "checkpoint_kind": "cleaner"}


def test_a_cut_checkpoint_says_so() -> None:
    rows = rows_of(checkpoints, "recovery-point-offset-checkpoint")
    assert rows[1].fields == {"topic_name": "big-topic", "partition_id": "12", "offset": "7", "checkpoint_kind": "recovery_point"}
    assert (rows[2].kind, rows[2].warnings[-1]) == ("unread", "cut: 2 of 3 entries")


def test_leader_epochs_are_of_their_folders_partition() -> None:
    lines = lines_of("0\n2\n0 0\n5 1200\n")
    rows = list(checkpoints.read(checkpoints.EPOCHS, lines, About("/d/1/letters-3/leader-epoch-checkpoint")))
    assert rows[1].fields == {"leader_epoch": "5", "start_offset": "1200", "topic_name": "letters", "partition_id": "3"}
    assert rows_of(checkpoints, "leader-epoch-checkpoint")[0].fields == {"leader_epoch": "0", "start_offset": "0"}


def test_the_quorums_state() -> None:
    assert rows_of(checkpoints, "quorum-state-v0")[0].fields == {
        "leader_id": "12",
        "leader_epoch": "6",
        "voted_id": "-1",
        "applied_offset": "0",
        "voters": "11,12,13",
        "data_version": "0",
    }
    assert rows_of(checkpoints, "quorum-state-v1")[0].fields == {
        "leader_id": "-1",
        "leader_epoch": "9",
        "voted_id": "2",
        "voted_directory_id": "BQ7EerMVxZwXbNsIR9EJnw",
        "data_version": "1",
    }


def test_an_empty_checkpoint_is_known_by_its_name_alone() -> None:
    assert checkpoints.kind_of("0\n0\n", "log-start-offset-checkpoint") == checkpoints.CHECKPOINT
    assert checkpoints.kind_of("0\n0\n", "numbers.txt") is None
