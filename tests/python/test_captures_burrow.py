"""Answers of Burrow, by values."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from ingestion.captures import About, Row, Sample, lines_of
from ingestion.captures.metrics import burrow

FIXTURE = Path(__file__).parent.parent / "fixtures" / "captures" / "burrow" / "answers.json"
NOW = dt.datetime(2026, 11, 21, 9, 32, 30, tzinfo=dt.UTC)


def read() -> tuple[list[Sample], list[Row]]:
    text = FIXTURE.read_text()
    assert burrow.kind_of(text, "") == "burrow_json"
    found = list(burrow.read("burrow_json", lines_of(text), About("burrow-20261121T093230Z.json")))
    return [one for one in found if isinstance(one, Sample)], [one for one in found if isinstance(one, Row)]


def test_lags_and_offsets_with_their_times() -> None:
    samples, _ = read()
    group = {"cluster": "local", "group": "billing"}
    four = {**group, "topic": "orders", "partition": "4"}
    web = {"cluster": "local", "group": "web", "topic": "clicks", "partition": "0"}
    commit = dt.datetime(2026, 11, 21, 9, 31, 40, tzinfo=dt.UTC)
    assert [(one.metric, one.value, one.labels, one.at) for one in samples] == [
        ("consumer_group_status", 2.0, group, NOW),
        ("consumer_group_total_lag", 1650.0, group, NOW),
        ("consumer_group_committed_offset", 800.0, four, commit),
        ("consumer_group_lag", 10.0, four, commit),
        ("consumer_group_committed_offset", 800.0, four, commit + dt.timedelta(seconds=40)),
        ("consumer_group_lag", 1503.0, four, NOW),
        ("consumer_group_committed_offset", 41.0, web, commit + dt.timedelta(seconds=10)),
        ("consumer_group_lag", 3.0, web, commit + dt.timedelta(seconds=10)),
        ("consumer_group_lag", 9.0, web, NOW),
        ("partition_end_offset", 1200.0, {"cluster": "local", "topic": "orders", "partition": "0"}, NOW),
        ("partition_end_offset", 1310.0, {"cluster": "local", "topic": "orders", "partition": "1"}, NOW),
        ("consumer_group_committed_offset", 1100.0, {**group, "topic": "orders", "partition": "0"}, NOW),
        ("consumer_group_committed_offset", 1250.0, {**group, "topic": "orders", "partition": "1"}, NOW),
    ]
    assert [one.at_known_by for one in samples[:3]] == ["name", "name", "content"]


def test_rows_of_groups_partitions_lists_and_errors() -> None:
    _, rows = read()
    assert [row.kind for row in rows] == [
        "burrow_group",
        "burrow_group_partition",
        "burrow_group_partition",
        "burrow_list",
        "burrow_answer",
    ]
    assert rows[0].fields == {
        "cluster": "local", "group": "billing", "status": "WARN", "complete": "1", "partition_count": "12", "total_lag": "1650",
    }  # fmt: skip
    assert rows[1].fields == {
        "cluster": "local", "group": "billing", "topic": "orders", "partition": "4", "status": "STALL", "complete": "1",
        "owner": "/10.0.0.7", "client_id": "billing-1", "current_lag": "1503",
    }  # fmt: skip
    assert rows[3].fields == {"list": "consumers", "of": "/v3/kafka/local/consumer", "names": "billing, web"}
    assert rows[4].fields["message"] == "cluster or consumer not found" and rows[4].warnings == ("the answer is an error",)


@pytest.mark.parametrize("text", ['{"error":false,"message":"ok"}', '{"error":{"root_cause":[]},"status":400}', "", "Burrow"])
def test_other_json_is_not_taken(text: str) -> None:
    assert burrow.kind_of(text, "x.json") is None


@pytest.mark.parametrize(
    "text",
    [
        '{"error":false,"status":{"partitions":[7,{"start":3}],"maxlag":5}}',
        '{"error":false,"topics":{"t":7}}',
        '{"error":false,"topics":{"t":[1,{"offsets":{"a":1}}]}}',
        '{"error":false,"offsets":["x"],"request":{"url":"/v3/kafka/c/topic/t"}}',
        '{"error":false,"status":{"status":"WA',
    ],
)
def test_damaged_answers_do_not_raise(text: str) -> None:
    found = list(burrow.read("burrow_json", lines_of(text), About("x")))
    assert found and all(one.value is None for one in found if isinstance(one, Sample))
