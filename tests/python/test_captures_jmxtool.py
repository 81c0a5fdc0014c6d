"""The output of JmxTool, by values."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from ingestion.captures import About, Row, Sample, lines_of
from ingestion.captures.metrics import jmxtool

FIXTURES = Path(__file__).parent.parent / "fixtures" / "captures" / "jmxtool"


def read(name: str, kind: str) -> tuple[list[Sample], list[Row]]:
    text = (FIXTURES / name).read_text()
    assert jmxtool.kind_of(text[:65536], name) == kind
    found = list(jmxtool.read(kind, lines_of(text), About(name, zone=dt.timezone(dt.timedelta(hours=8)))))
    return [one for one in found if isinstance(one, Sample)], [one for one in found if isinstance(one, Row)]


def test_composite_attributes_that_break_the_csv() -> None:
    samples, rows = read("broker-3-20261121T093202Z.csv", "jmxtool_csv")
    assert {one.at for one in samples} == {
        dt.datetime(2026, 11, 21, 9, 32, 4, 680000, tzinfo=dt.UTC),
        dt.datetime(2026, 11, 21, 9, 32, 14, 639000, tzinfo=dt.UTC),
    }
    values = [(one.metric, one.labels, one.value) for one in samples if one.kind is not None]
    assert values == [
        ("jvm_memory_committed_bytes", {"area": "heap"}, 268435456.0),
        ("jvm_memory_init_bytes", {"area": "heap"}, 268435456.0),
        ("jvm_memory_max_bytes", {"area": "heap"}, 268435456.0),
        ("jvm_memory_used_bytes", {"area": "heap"}, 12499456.0),
        ("jvm_memory_committed_bytes", {"area": "nonheap"}, 29425664.0),
        ("jvm_memory_init_bytes", {"area": "nonheap"}, 2555904.0),
        ("jvm_memory_max_bytes", {"area": "nonheap"}, -1.0),
        ("jvm_memory_used_bytes", {"area": "nonheap"}, 28938608.0),
        ("jvm_objects_pending_finalization", {}, 0.0),
        ("jvm_threads_daemon", {}, 14.0),
        ("jvm_threads_peak", {}, 19.0),
        ("jvm_threads", {}, 19.0),
        ("jvm_threads_started", {}, 19.0),
        ("jvm_threads_allocated_bytes", {}, 67702328.0),
        ("jvm_memory_committed_bytes", {"area": "heap"}, 268435456.0),
        ("jvm_memory_init_bytes", {"area": "heap"}, 268435456.0),
        ("jvm_memory_max_bytes", {"area": "heap"}, 268435456.0),
        ("jvm_memory_used_bytes", {"area": "heap"}, 164153296.0),
        ("jvm_memory_committed_bytes", {"area": "nonheap"}, 52690944.0),
        ("jvm_memory_init_bytes", {"area": "nonheap"}, 2555904.0),
        ("jvm_memory_max_bytes", {"area": "nonheap"}, -1.0),
        ("jvm_memory_used_bytes", {"area": "nonheap"}, 51887328.0),
        ("jvm_objects_pending_finalization", {}, 0.0),
        ("jvm_threads_daemon", {}, 29.0),
        ("jvm_threads_peak", {}, 64.0),
        ("jvm_threads", {}, 64.0),
        ("jvm_threads_started", {}, 64.0),
        ("jvm_threads_allocated_bytes", {}, 310101600.0),
    ]
    assert [row.fields["value"] for row in rows] == ["[J@150c158", "[J@376b4233"]


def test_the_seven_metrics_and_lines_that_do_not_fit_the_header() -> None:
    samples, rows = read("seven.csv", "jmxtool_csv")
    assert [(one.metric, one.attribute, one.value, one.labels, one.unit) for one in samples] == [
        ("request_queue_size", "Value", 500.0, {}, "requests"),
        ("response_queue_size", "Value", 12.0, {}, "responses"),
        ("request_queue_time_ms", "99thPercentile", 2412.5, {"request": "Produce"}, "ms"),
        ("response_queue_time_ms", "Mean", 3.25, {"request": "FetchFollower"}, "ms"),
        ("request_total_time_ms", "Max", 30001.0, {"request": "FetchConsumer"}, "ms"),
        ("failed_fetch_requests", "OneMinuteRate", 0.4, {}, "requests_per_second"),
        ("failed_produce_requests", "Count", 118.0, {}, "requests"),
    ]
    assert {one.at for one in samples} == {dt.datetime(2018, 6, 10, 14, 1, 39, 500000, tzinfo=dt.UTC)}
    assert [row.kind for row in rows] == ["unread", "unread"]
    assert rows[0].raw_text.startswith("1528639301500,500,12,kafka.network")
    assert rows[1].warnings == ("4 values for 8 attributes: torn, or a value was null and left out",)


def test_properties_with_the_error_output_before_them() -> None:
    samples, rows = read("properties-20261121T093300Z.txt", "jmxtool_report")
    first, second = (dt.datetime(2018, 6, 10, 14, 1, 39 + add, 500000, tzinfo=dt.UTC) for add in (0, 2))
    assert [(one.metric, one.attribute, one.value, one.labels, one.at) for one in samples] == [
        ("log_directory_offline", "Value", 1.0, {"log_directory": "/data:1,a=b"}, first),
        ("request_queue_size", "Value", 499.0, {}, first),
        ("failed_produce_requests", "Count", 118.0, {}, first),
        ("failed_produce_requests", "MeanRate", None, {}, first),
        ("zookeeper_session_state", "Value", 1.0, {"state": "CONNECTING"}, first),
        ("request_queue_size", "Value", 500.0, {}, second),
    ]
    assert [(row.kind, row.raw_text) for row in rows] == [
        ("jmx_connection", "Trying to connect to JMX url: service:jmx:rmi:///jndi/rmi://:9999/jmxrmi."),
        ("unread", "a line of another program"),
    ]
    assert rows[0].fields == {"url": "service:jmx:rmi:///jndi/rmi://:9999/jmxrmi"}
    assert rows[0].at == dt.datetime(2026, 11, 21, 9, 33, tzinfo=dt.UTC)


def test_tsv_with_a_local_date_and_csv_report() -> None:
    samples, rows = read("report.tsv", "jmxtool_report")
    assert rows == []
    assert [(one.metric, one.labels, one.value) for one in samples] == [
        ("response_queue_size", {"network_processor": "2"}, 31.0),
        ("jvm_memory_committed_bytes", {"area": "heap"}, 10.0),
        ("jvm_memory_init_bytes", {"area": "heap"}, 20.0),
        ("jvm_memory_max_bytes", {"area": "heap"}, -1.0),
        ("jvm_memory_used_bytes", {"area": "heap"}, 40.0),
    ]
    assert {one.at for one in samples} == {dt.datetime(2018, 6, 10, 10, 1, 18, 250000, tzinfo=dt.UTC)}
    samples, rows = read("report.csv", "jmxtool_report")
    assert [(one.metric, one.value) for one in samples] == [("offline_partitions", 50.0), ("active_controllers", 0.0)]


def test_why_the_tool_could_not_connect() -> None:
    samples, rows = read("broker-3-20261121T093453Z.err", "jmxtool_errors")
    assert samples == []
    assert [row.kind for row in rows] == ["jmx_connection", "jmx_error"]
    assert rows[0].fields == {"url": "service:jmx:rmi:///jndi/rmi://127.0.0.1:25303/jmxrmi"}
    assert rows[1].fields == {
        "exception": "java.rmi.ConnectException",
        "message": "Connection refused to host: 127.0.0.1; nested exception is: ",
    }
    assert rows[1].raw_text.endswith("... 8 more")


@pytest.mark.parametrize("text", ["", '"time","name"\n1,2\n', "time=5\nkey=value\n", "a:b=c\n", "time,topic,partition\n"])  # fmt: skip
def test_other_texts_are_not_taken(text: str) -> None:
    assert jmxtool.kind_of(text, "x.csv") is None


@pytest.mark.parametrize("text", ['"time","kafka.server:type=A,name', "1528639299500,1,2", "),(", '"time","a:b=c:D"\n1528639299500,{(1'])  # fmt: skip
def test_torn_texts_do_not_raise(text: str) -> None:
    found = list(jmxtool.read("jmxtool_csv", lines_of(text), About("x")))
    assert [row.kind for row in found] == ["unread"]


def test_a_header_with_quoted_keys() -> None:
    text = '"time","kafka.log:logDirectory="/a,b",type=LogManager,name=LogDirectoryOffline:Value","kafka.log:type=LogManager,name=LogDirectoryOffline,logDirectory="/c":Value"\n1528639299500,1,0\n'
    assert jmxtool.kind_of(text, "") == "jmxtool_csv"
    found = list(jmxtool.read("jmxtool_csv", lines_of(text), About("x")))
    assert [(one.value, one.labels) for one in found] == [(1.0, {"log_directory": "/a,b"}), (0.0, {"log_directory": "/c"})]


def test_a_time_of_unknown_form_is_said() -> None:
    found = list(
        jmxtool.read("jmxtool_csv", lines_of('"time","kafka.server:type=ReplicaManager,name=LeaderCount:Value"\nnoon,5\n'), About("x"))
    )
    assert [(one.value, one.at, one.warnings[-1]) for one in found] == [(5.0, None, "the time 'noon' is of no known form")]
