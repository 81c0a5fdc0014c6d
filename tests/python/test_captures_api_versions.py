"""kafka-broker-api-versions."""

from __future__ import annotations

from ingestion.captures.kafka_tools import api_versions
from tests.python.capture_rows import rows_of


def test_brokers_and_the_requests_that_they_understand() -> None:
    rows = rows_of(api_versions, "versions-4.0.txt")
    assert rows[0].fields == {"node_id": "1", "host": "b1.example", "port": "9092", "rack": "eu-1a"}
    assert rows[2].fields == {
        "node_id": "1",
        "api_name": "Fetch",
        "api_key": "1",
        "minimum_version": "0",
        "maximum_version": "13",
        "usable_version": "13",
        "is_supported": "true",
    }
    assert rows[3].fields == {"node_id": "1", "api_name": "UpdateFeatures", "api_key": "57", "is_supported": "false"}
    assert rows[4].fields == {
        "node_id": "2",
        "host": "b2.example",
        "port": "9092",
        "error": "org.apache.kafka.common.errors.DisconnectException",
    }
    assert [row.node_id for row in rows] == [1, 1, 1, 1, 2]
