"""Answers of Burrow, by values."""

from __future__ import annotations

import datetime as dt
import json
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


# What Burrow's own test of its rules gives them (core/internal/evaluator/caching_test.go, read on 2026-11-29): offsets, times of the commits in
# seconds, lags, present lag.  Its clock begins at 1970; here it begins on 2026-11-21.  Vectors that differ in `now`, the allowed lag or the remembered ends alone have one answer.
UP, FLAT, BACK, UNRECOVERED = (
    (1000, 2000, 3000, 4000, 5000),
    (1000,) * 5,
    (1000, 2000, 3000, 2000, 4000),
    (1000, 2000, 3000, 2000, 2500),
)
FIVE = (100, 200, 300, 400, 500)
EPOCH = 1_795_250_000
VECTORS = {
    "0, 1, 2": (UP, FIVE, (0, 50, 100, 150, 200), 200),
    "3": (UP, FIVE, (50, 100, 150, 200, 250), 250),
    "4": (FLAT, FIVE, (0, 50, 100, 150, 200), 200),
    "5, 13": (FLAT, FIVE, (100, 150, 200, 250, 300), 300),
    "6": (FLAT, FIVE, (100,) * 5, 100),
    "7, 14": (BACK, FIVE, (100, 150, 200, 1250, 300), 300),
    "8": (UP, FIVE, (50, 100, 150, 200, 250), 0),
    "9": (tuple(range(79, 94)), tuple(range(18, 33)), (0,) * 15, 931),
    "10": (tuple(range(79, 94)), tuple(range(18, 33)), (0,) * 15, 1),
    "11": (tuple(range(1000, 6000, 500)), tuple(range(100, 600, 50)), (0, None, 50, None, 100, None, 150, None, 200, None), 200),
    "12": ((1000, 2000, 2000), (100, 200, 300), (2, 1, 1), 1),
    "15": (UNRECOVERED, FIVE, (100, 150, 200, 1250, 300), 300),
}


@pytest.mark.parametrize("number", VECTORS)
def test_each_window_of_burrows_own_test_is_read_whole(number: str) -> None:
    """Commits with the times of the commits, those before Burrow's start left out, and the present lag at the time of the answer."""
    offsets, seconds, lags, present = VECTORS[number]
    window = [None, None] + [
        {"offset": offset, "timestamp": (EPOCH + second) * 1000, "observedAt": (EPOCH + second) * 1000 + 7, "lag": lag}
        for offset, second, lag in zip(offsets, seconds, lags, strict=True)
    ]
    answer = {
        "error": False,
        "message": "consumer detail returned",
        "topics": {"t": [{"offsets": window, "owner": "/10.0.0.8", "client_id": "g-1", "current-lag": present}]},
        "request": {"url": "/v3/kafka/local/consumer/g", "host": "burrow-1"},
    }
    found = [
        one for one in burrow.read("burrow_json", lines_of(json.dumps(answer)), About("x-20261121T093230Z.json")) if isinstance(one, Sample)
    ]
    commits = [one for one in found if one.at_known_by == "content"]
    assert [(one.value, one.at) for one in commits if one.metric == "consumer_group_committed_offset"] == [
        (float(offset), dt.datetime.fromtimestamp(EPOCH + second, dt.UTC)) for offset, second in zip(offsets, seconds, strict=True)
    ]
    assert [(one.value, one.at) for one in commits if one.metric == "consumer_group_lag"] == [
        (float(lag), dt.datetime.fromtimestamp(EPOCH + second, dt.UTC))
        for lag, second in zip(lags, seconds, strict=True)
        if lag is not None
    ]
    assert [(one.metric, one.value, one.at, one.at_known_by) for one in found if one not in commits] == [
        ("consumer_group_lag", float(present), NOW, "name")
    ]
