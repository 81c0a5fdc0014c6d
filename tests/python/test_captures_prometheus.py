"""Prometheus' text format and OpenMetrics, by values."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from ingestion.captures import About, Row, Sample, lines_of
from ingestion.captures.metrics import prometheus

FIXTURES = Path(__file__).parent.parent / "fixtures" / "captures" / "prometheus"
Key = tuple[str, str | None, tuple[tuple[str, str], ...]]


def read(name: str) -> tuple[list[Sample], list[Row]]:
    text = (FIXTURES / name).read_text()
    kind = prometheus.kind_of(text[:65536], name)
    assert kind is not None
    found = list(prometheus.read(kind, lines_of(text), About(name)))
    return [one for one in found if isinstance(one, Sample)], [one for one in found if isinstance(one, Row)]


def by_key(samples: list[Sample]) -> dict[Key, Sample]:
    out = {(one.metric, one.attribute, tuple(sorted(one.labels.items()))): one for one in samples}
    assert len(out) == len(samples)
    return out


def test_a_scrape_of_a_broker() -> None:
    samples, rows = read("lab-1-20261121T093441Z.prom")
    assert rows == [] and len(samples) == 51
    found = by_key(samples)
    expected: dict[Key, tuple[float, str, str]] = {
        ("jvm_buffer_pool_buffers", "Value", (("pool", "mapped"),)): (78.0, "buffers", "gauge"),
        ("jvm_gc_collection_seconds", "Count", (("gc", "G1 Young Generation"),)): (21.0, "collections", "counter"),
        ("jvm_gc_collection_seconds", "Sum", (("gc", "G1 Young Generation"),)): (0.243, "seconds", "counter"),
        ("jvm_memory_used_bytes", "Value", (("area", "heap"),)): (220950240.0, "bytes", "gauge"),
        ("log_size_bytes", "Value", (("partition", "0"), ("topic", "__consumer_offsets"))): (692533.0, "bytes", "gauge"),
        ("uncleanable_bytes", "Value", (("log_directory", "/srv/kafka/kraft-391-isolated/data-1"),)): (0.0, "bytes", "gauge"),
        ("cleaner_time_since_last_run_ms", "Value", ()): (1559.0, "ms", "gauge"),
        ("log_flush_time_ms", "Mean", ()): (0.0, "ms", "gauge"),
        ("log_flush_time_ms", "MeanRate", ()): (0.0, "operations_per_second", "rate"),
        ("requests", "Count", (("request", "ApiVersions"), ("version", "4"))): (15.0, "requests", "counter"),
        ("request_total_time_ms", "99thPercentile", (("request", "AddRaftVoter"),)): (0.0, "ms", "quantile"),
        ("bytes_in", "Count", (("topic", "clicks"),)): (18372.0, "bytes", "counter"),
        ("bytes_in", "Count", ()): (232380.0, "bytes", "counter"),
        ("purgatory_size", "Value", (("delayed_operation", "Fetch"),)): (663.0, "operations", "gauge"),
        ("group_coordinator_offset_commits", "Rate", ()): (11.73469387755102, "offsets_per_second", "rate"),
        ("group_coordinator_partition_load_time_ms", "Max", ()): (429.0, "ms", "gauge"),
        ("request_handler_avg_idle_ratio", "MeanRate", ()): (0.8263722568179763, "ratio", "rate"),
        ("raft_current_epoch", "Value", ()): (6.0, "epoch", "gauge"),
        ("socket_server_connections", "Value", (("listener", "PLAINTEXT"), ("network_processor", "1"))): (7.0, "connections", "gauge"),
        ("process_open_files", "Value", ()): (212.0, "files", "gauge"),
    }
    for key, value in expected.items():
        one = found[key]
        assert (one.value, one.unit, one.kind) == value, key
        assert (one.at, one.at_known_by) == (dt.datetime(2026, 11, 21, 9, 34, 41, tzinfo=dt.UTC), "name")
    assert all(one.attribute for one in samples)


def test_the_rules_of_strimzi() -> None:
    samples, rows = read("strimzi.prom")
    assert rows == []
    found = [(one.metric, one.attribute, one.value, one.labels) for one in samples]
    assert found == [
        ("under_replicated_partitions", "Value", 4.0, {}),
        ("messages_in", "Count", 7213.0, {"topic": "orders"}),
        ("request_total_time_ms", "50thPercentile", 3.0, {"request": "Produce"}),
        ("request_total_time_ms", "99thPercentile", 41.5, {"request": "Produce"}),
        ("request_total_time_ms", "999thPercentile", None, {"request": "Produce"}),
        ("request_total_time_ms", "Count", 9120.0, {"request": "Produce"}),
        ("request_handler_avg_idle_ratio", "MeanRate", 0.93, {}),
        ("replica_lag", "Value", 118.0, {"client_id": "ReplicaFetcherThread-0-2", "topic": "orders", "partition": "3"}),
        ("raft_current_state", "Value", 1.0, {"state": "follower"}),
        ("raft_commit_latency_ms", "Mean", 6.25, {}),
        ("raft_channel_incoming_bytes", "Count", 90112.0, {}),
        ("broker_applied_lag_ms", "Value", 512.0, {}),
        ("socket_server_connections", "Value", 31.0, {"listener": "PLAIN-9092", "network_processor": "2"}),
        (
            "socket_server_client_connections",
            "Value",
            5.0,
            {
                "client_software_name": "apache-kafka-java",
                "client_software_version": "3.7.0",
                "listener": "PLAIN-9092",
                "network_processor": "2",
            },
        ),
        ("controller_request_queue", "Value", 17.0, {"broker_id": "2"}),
        ("jvm_memory_used_bytes", "Value", 56948920.0, {"area": "heap"}),
        ("site_queue_bytes", None, float("inf"), {"path": 'C:\\queue"a"\nb', "le": "{x}"}),
        ("site_latency_seconds_bucket", None, 3.0, {"le": "0.1"}),
        ("site_latency_seconds_bucket", None, 5.0, {"le": "+Inf"}),
        ("site_latency_seconds_sum", None, 2.5, {}),
        ("site_latency_seconds_count", None, 5.0, {}),
    ]
    assert samples[0].at == dt.datetime(2026, 11, 21, 9, 32, 4, 680000, tzinfo=dt.UTC) and samples[0].at_known_by == "content"
    assert samples[2].at is None and samples[2].warnings
    assert [one.kind for one in samples[-5:]] == ["gauge", "counter", "counter", "counter", "counter"]
    assert samples[14].node_id is None


def test_names_without_rules_and_the_help_of_an_unknown_name() -> None:
    samples, rows = read("defaults.prom")
    assert rows == []
    assert [(one.metric, one.attribute, one.value, one.labels) for one in samples] == [
        ("leaders", "Value", 13.0, {}),
        ("under_min_isr_partitions", "Value", 2.0, {}),
        ("bytes_out", "OneMinuteRate", 1024.5, {"topic": "orders"}),
        ("request_queue_time_ms", "99thPercentile", 12.0, {"request": "FetchFollower"}),
        ("jvm_gc_collection_seconds", "Sum", 0.576, {"gc": "G1 Young Generation"}),
        ("process_open_files", "Value", 212.0, {}),
        ("messages_in", "Count", 7213.0, {}),
        ("leaders", "Value", 13.0, {}),
    ]


def test_an_exporter_beside_the_broker_speaks_of_itself() -> None:
    samples, _ = read("standalone.prom")
    assert [(one.metric, one.attribute, one.value) for one in samples] == [
        ("jmx_exporter_info", "Value", 1.0),
        ("process_open_files", "Value", 26639.0),
        ("process_open_fds", None, 31.0),
        ("kafka_server_delayedoperationpurgatory_purgatorysize_produce_value", None, 663.0),
    ]
    text = "# TYPE go_goroutines gauge\ngo_goroutines 9\n# TYPE process_open_fds gauge\nprocess_open_fds 12\n"
    found = list(prometheus.read("prometheus_text", lines_of(text), About("x")))
    assert [one.metric for one in found if isinstance(one, Sample)] == ["go_goroutines", "process_open_fds"]


def test_the_rules_of_confluent() -> None:
    samples, _ = read("confluent.prom")
    assert [(one.metric, one.attribute, one.value, one.unit) for one in samples] == [
        ("bytes_in", "Count", 18372.0, "bytes"),
        ("request_queue_time_ms", "99thPercentile", 7.0, "ms"),
        ("request_handler_avg_idle_ratio", "OneMinuteRate", 0.81, "ratio"),
        ("socket_server_connections", "Value", 412.0, "connections"),
        ("requests", "OneMinuteRate", 3.5, "requests_per_second"),
    ]
    assert samples[3].labels == {"listener": "EXTERNAL", "network_processor": "1"}


def test_exporters_of_groups() -> None:
    samples, _ = read("exporters.prom")
    lag = {"group": "billing", "partition": "4", "topic": "orders"}
    assert [(one.metric, one.value) for one in samples] == [
        ("consumer_group_lag", 1503.0),
        ("partition_leader", 2.0),
        ("consumer_group_lag", 1504.0),
        ("broker_log_size_bytes", 832000000000.0),
        ("consumer_group_status", 5.0),
    ]
    assert samples[0].labels == samples[2].labels == lag
    assert [one.node_id for one in samples] == [None, None, None, 9, None]


def test_openmetrics_with_exemplars_and_seconds() -> None:
    samples, rows = read("openmetrics.txt")
    assert prometheus.kind_of((FIXTURES / "openmetrics.txt").read_text(), "") == "openmetrics_text"
    assert rows == []
    assert {one.at for one in samples} == {dt.datetime(2026, 11, 21, 9, 32, 4, 680000, tzinfo=dt.UTC), None}
    assert [(one.metric, one.value, one.unit, one.kind) for one in samples] == [
        ("jvm_gc_collection_seconds", 21.0, "collections", "counter"),
        ("jvm_gc_collection_seconds", 0.243, "seconds", "counter"),
        ("site_requests_total", 17.0, "requests", "counter"),
        ("site_requests_created", 1795250000.5, None, None),
        ("site_build_info", 1.0, None, "info"),
        ("site_role", 0.0, None, "info"),
        ("site.queue.size", 3.0, None, None),
        ("process_open_files", 9.0, "files", "gauge"),
    ]
    assert samples[-1].warnings[-1] == "one of several scrapes in a text that gives them no time"


def test_scrapes_with_a_time_between_them() -> None:
    samples, rows = read("two-scrapes.prom")
    assert [(one.value, one.at) for one in samples] == [
        (212.0, dt.datetime(2026, 11, 21, 9, 32, 14, tzinfo=dt.UTC)),
        (215.0, dt.datetime(2026, 11, 21, 9, 32, 24, tzinfo=dt.UTC)),
        (219.0, None),
    ]
    assert samples[2].warnings == ("no time in the text, the name or the file", "one of several scrapes in a text that gives them no time")
    assert [(row.kind, row.offset) for row in rows] == [("scrape_time", 0), ("scrape_time", 112), ("unread", 191)]


def test_the_http_answer_says_when() -> None:
    text = "HTTP/1.1 200 OK\nDate: Sat, 21 Nov 2026 09:32:14 GMT\n\n# TYPE up gauge\nup 1\n"
    found = list(prometheus.read("prometheus_text", lines_of(text), About("x")))
    assert [one.kind for one in found] == ["unread", "scrape_time", "gauge"]
    assert found[2].at == dt.datetime(2026, 11, 21, 9, 32, 14, tzinfo=dt.UTC)


@pytest.mark.parametrize("text", ["", "zk_avg_latency\t0\nzk_max_latency\t12\n", "[2026-11-21 09:32:14,680] INFO x {a=\"b\"} 5 (kafka)\n", "nr_free_pages 123\n", "# TYPE a gauge\nthis is prose\nand more of it\n"])  # fmt: skip
def test_other_texts_are_not_taken(text: str) -> None:
    assert prometheus.kind_of(text, "x.prom") is None


@pytest.mark.parametrize("text", ['a{b="c} 5', "a{b=c} 5", 'a{b="c"} x', "{} 5", "a 5 6 7", "a{b=\"c\"", "\x00"])  # fmt: skip
def test_torn_lines_are_kept(text: str) -> None:
    found = list(prometheus.read("prometheus_text", lines_of(text + "\nup 1\n"), About("x")))
    assert [one.kind for one in found] == ["unread", "gauge"] and found[0].raw_text == text
