"""Answers of Jolokia, by values."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from ingestion.captures import About, Row, Sample, lines_of
from ingestion.captures.metrics import jolokia
from ingestion.records.redact import hide_secrets, shown

FIXTURES = Path(__file__).parent.parent / "fixtures" / "captures" / "jolokia"
AT = dt.datetime(2026, 11, 21, 9, 32, 20, tzinfo=dt.UTC)


def read(name: str) -> tuple[list[Sample], list[Row]]:
    text = (FIXTURES / name).read_text()
    assert jolokia.kind_of(text[:65536], name) == "jolokia_json"
    found = list(jolokia.read("jolokia_json", lines_of(text), About(name)))
    return [one for one in found if isinstance(one, Sample)], [one for one in found if isinstance(one, Row)]


def test_a_bulk_answer() -> None:
    samples, _ = read("bulk-20261121T093220Z.json")
    found = {(one.metric, one.attribute, tuple(sorted(one.labels.items()))): one for one in samples}
    assert len(found) == len(samples)
    expected = {
        ("leaders", "Value", ()): (13.0, "partitions", "gauge"),
        ("isr_shrinks", "Count", ()): (0.0, "changes", "counter"),
        ("request_total_time_ms", "999thPercentile", (("request", "Fetch"),)): (989.0, "ms", "quantile"),
        ("request_total_time_ms", "Count", (("request", "Produce"),)): (125.0, "requests", "counter"),
        ("request_total_time_ms", "Mean", (("request", "Produce"),)): (39.2, "ms", "gauge"),
        ("log_size_bytes", "Value", (("partition", "5"), ("topic", "payments"))): (6484.0, "bytes", "gauge"),
        ("uncleanable_partitions", "Value", (("log_directory", "/srv/kafka/kraft-391-isolated/data-2"),)): (0.0, "partitions", "gauge"),
        ("cleaner_time_since_last_run_ms", "Value", ()): (12744.0, "ms", "gauge"),
        ("raft_current_state", "Value", (("state", "observer"),)): (1.0, "state", "info"),
        ("raft_current_leader", "Value", ()): (12.0, "id", "gauge"),
        ("raft_commit_latency_ms", "Mean", ()): (None, "ms", "gauge"),
        ("raft_fetch_records", "Rate", ()): (2.2109269938230804, "records_per_second", "rate"),
        ("broker_state", "Value", ()): (3.0, "state", "gauge"),
        ("jvm_memory_used_bytes", "Value", (("area", "heap"),)): (183492560.0, "bytes", "gauge"),
        ("jvm_memory_max_bytes", "Value", (("area", "nonheap"),)): (-1.0, "bytes", "gauge"),
        ("jvm_gc_collection_seconds", "Sum", (("gc", "G1 Young Generation"),)): (0.576, "seconds", "counter"),
        ("jvm_gc_last_duration_seconds", "Value", (("gc", "G1 Young Generation"),)): (0.047, "seconds", "gauge"),
        ("process_open_files", "Value", ()): (220.0, "files", "gauge"),
        ("process_max_files", "Value", ()): (20000.0, "files", "gauge"),
    }
    for key, value in expected.items():
        one = found[key]
        assert (one.value, one.unit, one.kind) == value, key
    assert {(one.at, one.at_known_by) for one in samples} == {(AT, "content")}
    assert {one.metric for one in samples if one.kind is None} == {"java.lang:type=GarbageCollector,name=G1 Young Generation"}


def test_what_is_no_number_is_a_row() -> None:
    _, rows = read("bulk-20261121T093220Z.json")
    assert [row.kind for row in rows] == ["jolokia_error", "mbean_attribute", "mbean_attribute"]
    assert rows[0].fields == {
        "mbean": "kafka.controller:*",
        "status": "404",
        "error_type": "javax.management.InstanceNotFoundException",
        "error": "javax.management.InstanceNotFoundException : No MBean with pattern kafka.controller:* found for reading attributes",
    }
    assert (rows[0].at, rows[0].at_known_by, rows[0].warnings) == (AT, "name", ("the answer is an error",))
    assert rows[1].fields == {
        "mbean": "java.lang:name=G1 Young Generation,type=GarbageCollector",
        "attribute": "MemoryPoolNames",
        "value": '["G1 Eden Space", "G1 Survivor Space", "G1 Old Gen"]',
    }


def test_single_answers_and_a_torn_one() -> None:
    samples, rows = read("single.json")
    assert [(one.metric, one.value, one.labels, one.at) for one in samples] == [
        ("jvm_memory_used_bytes", 183492560.0, {"area": "heap"}, AT),
        ("under_replicated_partitions", 7.0, {}, AT + dt.timedelta(seconds=1)),
        ("zookeeper_session_state", 1.0, {"state": "CONNECTED"}, AT + dt.timedelta(seconds=3)),
    ]
    assert [one.offset for one in samples] == [0, 158, 487]
    assert [row.kind for row in rows] == ["jolokia_response", "unread"]
    assert rows[0].fields == {"type": "search", "mbean": "kafka.server:type=*", "status": "200"}
    assert rows[1].raw_text.startswith('{"request":{"mbean":"kafka.server:name=ZooKeeperExpiresPerSec')


def test_offsets_are_in_bytes() -> None:
    text = '[{"request":{"mbean":"a:type=Ü","type":"version"},"status":200},\r\n {"request":{"mbean":"b:type=B","type":"version"},"status":200}]'
    raw = text.encode()
    found = list(jolokia.read("jolokia_json", lines_of(text), About("x")))
    assert [raw[row.offset :][:24] for row in found] == [b'{"request":{"mbean":"a:t', b'{"request":{"mbean":"b:t']


@pytest.mark.parametrize("text", ["[", '{"a":', "[[[[", "prose", '{"request": 1}', '{"request": {"mbean": "x", "type": "read"}, "value": {}', "[" * 100000])  # fmt: skip
def test_foreign_and_torn_texts_do_not_raise(text: str) -> None:
    found = list(jolokia.read("jolokia_json", lines_of(text), About("x")))
    assert [row.kind for row in found] == ["unread"] and found[0].warnings


@pytest.mark.parametrize("text", ['{"request":{"url":"/v3/kafka"},"error":false}', '{"message":"request"}', '[{"type":"read"}]', ""])  # fmt: skip
def test_other_json_is_not_taken(text: str) -> None:
    assert jolokia.kind_of(text, "x.json") is None


def test_hidden_secrets_do_not_break_an_answer() -> None:
    text = (
        '[{"request":{"mbean":"java.lang:type=Runtime","type":"read"},"value":{"SystemProperties":{"ssl.keyStorePassword":"abc","a":"b"},'
        '"InputArguments":["-Dkeystore.password=abc","-Xmx1g"],"Uptime":5000},"status":200,"timestamp":1795253540},'
        '{"request":{"mbean":"java.lang:type=Threading","attribute":"ThreadCount","type":"read"},"value":64,"status":200,"timestamp":1795253540}]'
    )
    hidden = shown(hide_secrets(text.encode()))
    assert "abc" not in hidden
    found = list(jolokia.read("jolokia_json", lines_of(hidden), About("x")))
    assert [(one.metric, one.value) for one in found if isinstance(one, Sample)] == [("jvm_uptime_seconds", 5.0), ("jvm_threads", 64.0)]
    assert [row.fields["value"] for row in found if isinstance(row, Row)] == [
        "[redacted]",
        "b",
        '["-Dkeystore.password=[redacted]", "-Xmx1g"]',
    ]
