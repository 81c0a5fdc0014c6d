"""kafka-log-dirs --describe."""

from __future__ import annotations

import datetime as dt

from ingestion.captures.kafka_tools import log_dirs
from tests.python.capture_rows import fields_of, rows_of


def test_sizes_by_broker_directory_and_partition() -> None:
    rows = rows_of(log_dirs, "20261121T094349Z-log-dirs-3.7.txt")
    assert [row.kind for row in rows] == ["remark", "remark", *["log_dir", "replica_log", "replica_log"] * 2]
    assert rows[7].fields == {
        "node_id": "2",
        "log_dir": "/srv/kafka/kraft-372-offsets/data-2",
        "topic_name": "events",
        "partition_id": "3",
        "size_bytes": "49895",
        "offset_lag": "0",
        "is_future": "false",
    }
    assert (rows[7].node_id, rows[7].at) == (2, dt.datetime(2026, 11, 21, 9, 43, 49, 0, dt.UTC))
    assert rows[7].raw_text == '{"partition":"events-3","size":49895,"offsetLag":0,"isFuture":false}'


def test_the_directory_may_come_first() -> None:
    rows = fields_of(rows_of(log_dirs, "20261121T102625Z-log-dirs-1.1.txt"), "replica_log")
    assert [(row["node_id"], row["topic_name"], row["partition_id"], row["size_bytes"]) for row in rows] == [
        ("1", "payments", "4", "4622"),
        ("1", "payments", "0", "4382"),
        ("2", "payments", "4", "4622"),
        ("2", "payments", "0", "4382"),
    ]


def test_of_a_cut_document_whole_entries_are_kept_and_no_directory_is_guessed() -> None:
    rows = rows_of(log_dirs, "cut-3.7.txt")
    assert rows[0].fields == {
        "node_id": "4",
        "log_dir": "/d/1",
        "topic_name": "a-b",
        "partition_id": "10",
        "size_bytes": "5",
        "offset_lag": "2",
        "is_future": "true",
    }
    assert rows[1].fields == {
        "node_id": "4",
        "topic_name": "c",
        "partition_id": "0",
        "size_bytes": "9",
        "offset_lag": "0",
        "is_future": "false",
    }
    assert all("the JSON is cut" in row.warnings for row in rows)
    assert rows[2].kind == "unread"
