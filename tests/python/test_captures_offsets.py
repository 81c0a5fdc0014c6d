"""kafka-get-offsets and kafka-delete-records."""

from __future__ import annotations

import pytest

from ingestion.captures.kafka_tools import offsets
from tests.python.capture_rows import fields_of, rows_of


def test_offsets_of_partitions() -> None:
    assert fields_of(rows_of(offsets, "shell-1.0.txt"), "partition_offset") == [
        {"topic_name": "letters", "partition_id": "0", "offset": "41"},
        {"topic_name": "letters", "partition_id": "1", "offset": "100,90,0"},
        {"topic_name": "letters", "partition_id": "2"},
    ]


def test_deleted_records() -> None:
    assert fields_of(rows_of(offsets, "deleted.txt"), "deleted_records") == [
        {"topic_name": "letters", "partition_id": "0", "low_watermark": "10"},
        {"topic_name": "letters", "partition_id": "1", "error": "org.apache.kafka.common.errors.OffsetOutOfRangeException: too far"},
    ]


@pytest.mark.parametrize("text", ["12:30:45\n12:31:00\n", "b1:9092:1\n", "root:x:0:0:root:/root:/bin/bash\n", "key:1\nother:2\n"])
def test_times_and_addresses_are_no_offsets(text: str) -> None:
    assert offsets.kind_of(text) is None
