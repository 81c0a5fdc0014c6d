"""kafka-transactions."""

from __future__ import annotations

from ingestion.captures.kafka_tools import transactions
from tests.python.capture_rows import rows_in, rows_of


def test_a_list() -> None:
    rows = rows_of(transactions, "list-3.0.txt")
    assert [row.kind for row in rows] == ["transaction", "transaction"]
    assert rows[1].fields == {"transactional_id": "ship-2", "coordinator_id": "3", "producer_id": "4002", "state": "CompleteCommit"}


def test_a_described_transaction() -> None:
    (row,) = rows_of(transactions, "describe-3.0.txt")
    assert row.fields == {
        "coordinator_id": "2",
        "transactional_id": "ship-1",
        "producer_id": "4001",
        "producer_epoch": "7",
        "state": "Ongoing",
        "timeout_ms": "60000",
        "started_at_ms": "1795253547081",
        "duration_ms": "1500",
        "topic_partitions": "letters-0,letters-1",
    }


def test_producers_without_tabs() -> None:
    rows = rows_of(transactions, "producers-blanks.txt")
    assert rows[0].kind == "active_producer"
    assert "transaction_start_offset" not in rows[0].fields
    assert rows[1].fields["transaction_start_offset"] == "880"


def test_a_torn_row_is_unread() -> None:
    rows = rows_in(transactions, "TransactionalId\tCoordinator\tProducerId\tTransactionState\t\nship-1\t2\t\n")
    assert [row.kind for row in rows] == ["unread"]
