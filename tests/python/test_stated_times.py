"""A line that says when a text was taken is the time of what follows it."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from ingestion.captures import DATED_BY_FILE
from ingestion.captures._terminal import date_of
from tests.python.pasted import tables_of

TOPIC = "Topic: orders\tPartition: 0\tLeader: none\tReplicas: 1,2\tIsr: 1\n"
GROUP = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG OWNER\nbilling orders 0 100 120 20 none\n"
QUORUM = "ClusterId:              fMCL8kv1SWm87L_Md-I2hg\nLeaderId:               3002\nLeaderEpoch:            2\nHighWatermark:          10\nMaxFollowerLag:         0\nMaxFollowerLagTimeMs:   -1\nCurrentVoters:          [3000,3001]\nCurrentObservers:       [0]\n"
SOCKET = "tcp 0 0 10.0.0.3:9092 10.0.0.1:58837 CLOSE_WAIT -\n"
DISK = "Filesystem 1K-blocks Used Available Use% Mounted on\n/dev/sda1 100 50 50 50% /\n"


@pytest.mark.parametrize(
    "line",
    [
        "Timestamp: 2026-11-21 10:00:00 UTC",
        "Timestamp: 2026-11-21T10:00:00Z",
        "timestamp=2026-11-21T12:00:00.000+02:00",
        "# Timestamp: 2026-11-21 10:00:00",
        "TIMESTAMP: 1795255200",
        "Timestamp: 1795255200000",
        "Timestamp: Sat Nov 21 10:00:00 UTC 2026",
        "Captured at: 2026-11-21 10:00:00",
        "=== Time stamp: 2026-11-21 10:00:00",
        "Sat Nov 21 10:00:00 UTC 2026",
    ],
)
@pytest.mark.parametrize("text", [TOPIC, GROUP, QUORUM, SOCKET, DISK])
def test_a_line_with_the_time_is_that_of_the_rows_below_it(line: str, text: str, tmp_path: Path) -> None:
    for between in ("\n", "\n\n"):
        tables, count = tables_of(tmp_path, f"{line}{between}{text}")
        rows = tables["capture_rows"]
        assert rows
        assert {(f"{row['captured_at']:%F %T}", row["captured_known_by"]) for row in rows} == {("2026-11-21 10:00:00", "content")}
        assert not any("no time in the text" in warning for row in rows for warning in row["warnings"])
        assert count.records == count.recognised


def test_rows_above_the_line_keep_theirs(tmp_path: Path) -> None:
    rows = tables_of(tmp_path, f"{TOPIC}Timestamp: 2026-11-21 10:00:00\n{TOPIC}")[0]["capture_rows"]
    assert [row["captured_known_by"] for row in rows] == ["modified", "content", "content"]


def test_a_later_line_holds_for_what_follows_it(tmp_path: Path) -> None:
    rows = tables_of(tmp_path, f"Timestamp: 2026-11-21 10:00:00\n{TOPIC}Timestamp: 2026-11-21 11:00:00\n{TOPIC}")[0]["capture_rows"]
    assert [row["captured_at"].hour for row in rows if row["row_kind"] == "topic_partition"] == [10, 11]


@pytest.mark.parametrize(
    "line",
    [
        "Date: Sat, 21 Nov 2026 12:00:00 +0100",
        "Timestamp: unknown",
        "Timestamp: 12",
        "The timestamp: 2026-11-21 10:00:00",
        "Timestamp: 2026-13-41 10:00:00",
    ],
)
def test_other_lines_state_no_time(line: str) -> None:
    assert date_of(line, dt.UTC) is None


def test_a_capture_without_a_time_says_so(tmp_path: Path) -> None:
    """Its facts are dated by the last change of the file; settings need no time."""
    assert tables_of(tmp_path, TOPIC)[1].doubts == {DATED_BY_FILE}
    assert not tables_of(tmp_path, f"Timestamp: 2026-11-21 10:00:00 UTC\n{TOPIC}")[1].doubts
    assert not tables_of(
        tmp_path, "It stopped yesterday, and we do not know why.\n\n[2026-03-01 10:00:00,100] INFO starting (kafka.server.KafkaServer)\n"
    )[1].doubts
    assert not tables_of(tmp_path, "broker.id=1\nlog.dirs=/data\nzookeeper.connect=zk:2181\n")[1].doubts
