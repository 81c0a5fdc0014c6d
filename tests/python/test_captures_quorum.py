"""kafka-metadata-quorum describe."""

from __future__ import annotations

import datetime as dt

from ingestion.captures.kafka_tools import quorum
from tests.python.capture_rows import fields_of, rows_in, rows_of


def test_a_status_with_members_as_objects() -> None:
    rows = rows_of(quorum, "20261121T093322Z-status-3.9.txt")
    assert rows[0].fields == {
        "cluster_id": "tqS-XPV7T3OrUUKYfil9jw",
        "leader_id": "12",
        "leader_epoch": "6",
        "high_watermark": "252",
        "max_follower_lag": "0",
        "max_follower_lag_ms": "404",
        "voters": "11,12,13",
        "observers": "2,1,3",
    }
    assert rows[1].fields == {"node_id": "11", "member_kind": "voter", "endpoints": "CONTROLLER://127.0.0.1:25211"}
    assert rows[4].fields == {"node_id": "2", "member_kind": "observer", "directory_id": "9yatiAfEFmUmRQGE0O6OYA"}
    assert rows[4].node_id == 2


def test_a_status_with_members_as_numbers() -> None:
    rows = rows_of(quorum, "20261121T094755Z-status-3.7.txt")
    assert (rows[0].fields["voters"], rows[0].fields["observers"], rows[0].fields["high_watermark"]) == ("10", "1,2,3", "646")
    assert [row.node_id for row in rows[1:]] == [10, 1, 2, 3]


def test_the_leaders_own_fetch_is_the_time_of_the_answer() -> None:
    rows = rows_of(quorum, "20261121T093322Z-replication-3.9.txt")
    assert rows[3].fields == {
        "node_id": "2",
        "directory_id": "9yatiAfEFmUmRQGE0O6OYA",
        "log_end_offset": "195",
        "lag": "57",
        "last_fetch_at_ms": "1795253593394",
        "last_caught_up_at_ms": "1795253592926",
        "status": "Observer",
    }
    assert "directory_id" not in rows[0].fields
    assert {(row.at, row.at_known_by) for row in rows} == {(dt.datetime(2026, 11, 21, 9, 33, 22, 362000, dt.UTC), "content")}


def test_before_3_9_there_is_no_directory() -> None:
    rows = fields_of(rows_of(quorum, "20261121T094755Z-replication-3.7.txt"), "quorum_replica")
    assert rows[1] == {
        "node_id": "1",
        "log_end_offset": "646",
        "lag": "1",
        "last_fetch_at_ms": "1795254478950",
        "last_caught_up_at_ms": "1795254478494",
        "status": "Observer",
    }


def test_times_for_human_readers() -> None:
    rows = fields_of(rows_of(quorum, "replication-4.0-human.txt"), "quorum_replica")
    assert rows[1] == {"node_id": "2", "log_end_offset": "880", "lag": "20", "last_fetch_ms_ago": "310", "status": "Follower"}


def test_a_cut_status_says_what_is_missing() -> None:
    rows = rows_in(quorum, "ClusterId:    abc\nLeaderId:   1\nLeaderEpoch:   2\n")
    assert rows[0].fields == {"cluster_id": "abc", "leader_id": "1", "leader_epoch": "2"}
    assert "cut: no high_watermark, max_follower_lag, max_follower_lag_ms, voters, observers" in rows[0].warnings
