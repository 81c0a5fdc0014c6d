"""kafka-acls --list."""

from __future__ import annotations

from ingestion.captures.kafka_tools import acls
from tests.python.capture_rows import rows_of


def test_patterns_since_2_0() -> None:
    rows = rows_of(acls, "list-2.0.txt")
    assert rows[0].fields == {
        "resource_kind": "topic",
        "resource_name": "letters",
        "pattern_kind": "prefixed",
        "principal": "User:alice",
        "host": "*",
        "operation": "write",
        "permission": "allow",
    }
    assert rows[1].fields["principal"] == "User:CN=b, O=x"
    assert rows[1].fields["permission"] == "deny"


def test_sentences_before() -> None:
    (row,) = rows_of(acls, "list-0.10.txt")
    assert row.fields == {
        "resource_kind": "group",
        "resource_name": "mailers",
        "principal": "User:bob",
        "permission": "allow",
        "operation": "read",
        "host": "*",
    }
