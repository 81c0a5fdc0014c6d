"""Prometheus' own history, by values."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from ingestion.captures import About, Row, Sample, lines_of
from ingestion.captures.metrics import tsdb

FIXTURES = Path(__file__).parent.parent / "fixtures" / "captures" / "tsdb"
AT = dt.datetime(2018, 6, 10, 14, 1, tzinfo=dt.UTC)


def read(name: str, kind: str) -> tuple[list[Sample], list[Row]]:
    text = (FIXTURES / name).read_text()
    assert tsdb.kind_of(text, name) == kind
    found = list(tsdb.read(kind, lines_of(text), About(name)))
    return [one for one in found if isinstance(one, Sample)], [one for one in found if isinstance(one, Row)]


def test_a_dump() -> None:
    samples, rows = read("dump.txt", "prometheus_tsdb_dump")
    target = {"instance": "10.0.0.3:7071", "job": "kafka", "kubernetes_pod_name": "prod-kafka-3"}
    offsets = {"partition": "38", "topic": "__consumer_offsets"}
    assert [(one.metric, one.value, one.labels, one.at) for one in samples] == [
        ("under_replicated_partitions", 4.0, target, AT + dt.timedelta(seconds=50)),
        ("under_replicated_partitions", 0.0, target, AT + dt.timedelta(seconds=110)),
        (
            "socket_server_connections",
            29817.0,
            {"broker": "3", "broker_id": "3", "listener": "PLAIN", "network_processor": "0"},
            AT + dt.timedelta(seconds=50),
        ),
        ("log_size_bytes", 536870912000.0, offsets, AT + dt.timedelta(seconds=50, milliseconds=123)),
        ("log_size_bytes", None, offsets, AT + dt.timedelta(seconds=110, milliseconds=123)),
        ("site_size", -1.5, {"note": 'a "quoted" } brace'}, AT + dt.timedelta(seconds=50)),
    ]
    assert [one.node_id for one in samples] == [None, None, 3, None, None, None]
    assert [one.offset for one in samples[:2]] == [0, 158]
    assert [(row.kind, row.raw_text[:30]) for row in rows] == [("unread", '{__name__="site_latency", job=')]


def test_a_range_query() -> None:
    samples, rows = read("query_range.json", "prometheus_api_json")
    assert rows == []
    assert [(one.metric, one.value, one.labels, one.at, one.unit) for one in samples] == [
        ("request_queue_size", 12.0, {"instance": "10.0.0.3:7071"}, AT, "requests"),
        ("request_queue_size", 500.0, {"instance": "10.0.0.3:7071"}, AT + dt.timedelta(seconds=15.5), "requests"),
        ("unnamed", 3.5, {"topic": "orders"}, AT, None),
    ]
    assert samples[2].warnings == ("the result of an expression: it has no metric name",)


def test_the_other_answers() -> None:
    samples, rows = read("answers.json", "prometheus_api_json")
    assert [(one.metric, one.value, one.at) for one in samples] == [
        ("target_up", 0.0, AT + dt.timedelta(seconds=0.25)),
        ("unnamed", 42.0, AT),
    ]
    assert [(row.kind, row.fields) for row in rows] == [
        ("prometheus_series", {"group": "billing", "topic": "orders", "partition": "4", "metric": "consumer_group_lag"}),
        ("prometheus_metadata", {"metric": "kafka_brokers", "type": "gauge", "help": "Number of Brokers in the Kafka Cluster."}),
        ("prometheus_error", {"error_type": "timeout", "error": "query timed out in expression evaluation"}),
    ]


@pytest.mark.parametrize("text", ["", '{"status":"success"}', '{"status":"success","data":{"id":1}}', "{a}", '{"level":"INFO","status":"success"}'])  # fmt: skip
def test_other_texts_are_not_taken(text: str) -> None:
    assert tsdb.kind_of(text, "x.json") is None


@pytest.mark.parametrize(
    "text",
    [
        '{"status":"success","data":{"resultType":"matrix","result":[7]}}',
        '{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1]]}]}}',
        '{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"a"},"histogram":[1,{}]}]}}',
        '{"status":"success","data":{"resultType":"string","result":[1,"x"]}}',
        '{"status":"success","data":{"resultType":"matrix","result":[{"met',
        "[1]",
    ],
)
def test_damaged_answers_do_not_raise(text: str) -> None:
    assert [one.kind for one in tsdb.read("prometheus_api_json", lines_of(text), About("x"))] == ["unread"]


@pytest.mark.parametrize("line", ['{__name__="a', '{__name__="a"} 5', '{a="b"} 5 1', '{__name__="a"} x 1', "prose", '{__name__="a"} 1 99999999999999999999'])  # fmt: skip
def test_damaged_lines_of_a_dump_are_kept(line: str) -> None:
    found = list(tsdb.read("prometheus_tsdb_dump", lines_of(line + '\n{__name__="up"} 1 1528639310000\n'), About("x")))
    assert [one.kind for one in found] == ["unread", "gauge"]
