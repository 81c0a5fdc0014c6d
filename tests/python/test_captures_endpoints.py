"""kafka-cluster list-endpoints."""

from __future__ import annotations

from ingestion.captures import About, Row, lines_of
from ingestion.captures.kafka_tools import endpoints
from tests.python.capture_rows import rows_of


def test_brokers_and_whether_they_are_fenced() -> None:
    command, first, second = rows_of(endpoints, "endpoints-4.0.txt")
    assert command.kind == "command"
    assert first.fields == {
        "node_id": "1",
        "host": "b1.example",
        "port": "9092",
        "rack": "eu-1a",
        "endpoint_type": "broker",
        "is_fenced": "false",
    }
    assert second.fields == {"node_id": "2", "host": "b2.example", "port": "9092", "endpoint_type": "broker", "is_fenced": "true"}
    assert (first.node_id, second.node_id) == (1, 2)


def test_controllers_have_no_state() -> None:
    text = "ID  HOST PORT RACK ENDPOINT_TYPE\n3000 c1 9093 null controller\n"
    assert endpoints.kind_of(text) == "kafka_endpoints"
    (row,) = endpoints.read("kafka_endpoints", lines_of(text), About("x"))
    assert isinstance(row, Row)
    assert row.fields == {"node_id": "3000", "host": "c1", "port": "9093", "endpoint_type": "controller"}
    assert endpoints.kind_of("ID HOST PORT\n1 a 9092\n") is None
