"""`kafka-transactions`: `list`, `describe`, `describe-producers`, `find-hanging`.

Rows (beside those of `_tools`); a value printed as `None` is left out:

- `transaction`: transactional_id, coordinator_id, producer_id, producer_epoch, state, timeout_ms, started_at_ms (since 1970), duration_ms,
  topic_partitions (with commas);
- `active_producer`: producer_id, producer_epoch, coordinator_epoch, last_sequence, last_timestamp_ms, transaction_start_offset;
- `hanging_transaction`: topic_name, partition_id, producer_id, producer_epoch, coordinator_epoch, start_offset, last_timestamp_ms, duration_minutes.

Forms: TransactionsCommand of 3.0 to 4.x: columns padded and parted by tabs, which may have become blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ingestion.captures import About, Line, Row, Sample
from ingestion.captures._tools import Stamp, failed_tool, significant, whole

TRANSACTIONS = "kafka_transactions"
KINDS = {TRANSACTIONS: "Transactions or producers of a cluster, as kafka-transactions prints them."}
LOG_BESIDE = True

COLUMNS = {
    "TransactionalId": "transactional_id",
    "Coordinator": "coordinator_id",
    "CoordinatorId": "coordinator_id",
    "ProducerId": "producer_id",
    "ProducerEpoch": "producer_epoch",
    "TransactionState": "state",
    "TransactionTimeoutMs": "timeout_ms",
    "CurrentTransactionStartTimeMs": "started_at_ms",
    "TransactionDurationMs": "duration_ms",
    "TopicPartitions": "topic_partitions",
    "LatestCoordinatorEpoch": "coordinator_epoch",
    "CoordinatorEpoch": "coordinator_epoch",
    "LastSequence": "last_sequence",
    "LastTimestamp": "last_timestamp_ms",
    "CurrentTransactionStartOffset": "transaction_start_offset",
    "Topic": "topic_name",
    "Partition": "partition_id",
    "StartOffset": "start_offset",
    "Duration(min)": "duration_minutes",
}
NUMBERS = {"producer_id", "producer_epoch", "coordinator_id", "coordinator_epoch", "last_timestamp_ms", "partition_id", "start_offset"}
DIGITS = re.compile(r"-?\d+")


def kind_of(sample: str, name: str = "") -> str | None:
    lines = significant(sample)
    return TRANSACTIONS if any(columns_of(line) for line in lines[:5]) or failed_tool(sample) == "kafka-transactions" else None


def columns_of(line: str) -> list[str]:
    """The fields of a header; none of another line."""
    words = line.split()
    known = len(words) >= 4 and "ProducerId" in words and all(word in COLUMNS for word in words)
    return [COLUMNS[word] for word in words] if known else []


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    stamp, columns = Stamp(about, "kafka-transactions"), []
    for line in whole(lines):
        header = columns_of(line.text)
        columns = header or columns
        if not header:
            yield stamp.common(line) or row_of(columns, line, stamp)


def row_of(columns: list[str], line: Line, stamp: Stamp) -> Row:
    values = [value.strip() for value in line.text.rstrip("\t").split("\t")] if "\t" in line.text else line.text.split()
    if len(values) == len(columns) - 1 and columns[-1] == "topic_partitions":
        values.append("")
    row = dict(zip(columns, values, strict=False))
    if len(values) != len(columns) or not all(DIGITS.fullmatch(row[name]) for name in NUMBERS & set(columns)):
        return stamp.unread(line, "no row of the table above it")
    kind = (
        "transaction"
        if "transactional_id" in row and "topic_name" not in row
        else "hanging_transaction"
        if "topic_name" in row
        else "active_producer"
    )
    return stamp.row(kind, line, {name: None if value == "None" else value for name, value in row.items()})
