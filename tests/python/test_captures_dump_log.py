"""kafka-dump-log: segments with and without decoders, indexes, snapshots."""

from __future__ import annotations

import datetime as dt

from ingestion.captures.kafka_tools import dump_log
from tests.python.capture_rows import fields_of, rows_of


def test_a_batch_with_all_that_it_says() -> None:
    rows = rows_of(dump_log, "offsets-json-3.9.txt")
    assert rows[5].fields == {
        "base_offset": "2",
        "last_offset": "2",
        "record_count": "1",
        "base_sequence": "-1",
        "last_sequence": "-1",
        "producer_id": "-1",
        "producer_epoch": "-1",
        "leader_epoch": "3",
        "is_transactional": "false",
        "is_control": "false",
        "delete_horizon_ms": "1795253600000",
        "position": "122",
        "timestamp_ms": "1795253548000",
        "timestamp_kind": "create",
        "size_bytes": "300",
        "magic": "2",
        "compression": "zstd",
        "crc": "7",
        "is_valid": "true",
        "log_topic": "__consumer_offsets",
        "log_partition": "12",
    }
    assert (rows[5].at, rows[5].at_known_by, rows[5].warnings) == (dt.datetime(2026, 11, 21, 9, 32, 28, 0, dt.UTC), "content", ())
    assert "delete_horizon_ms" not in rows[2].fields


def test_offsets_and_groups_as_json() -> None:
    first, deleted, group = fields_of(rows_of(dump_log, "offsets-json-3.9.txt"), "record")
    assert {name: first[name] for name in first if name.startswith(("key_k", "key_g", "key_t", "key_p", "value_o", "value_c"))} == {
        "key_kind": "offset_commit",
        "key_type": "1",
        "key_group": "billing",
        "key_topic": "orders",
        "key_partition": "3",
        "value_offset": "29",
        "value_commit_timestamp": "1795253547080",
    }
    assert (deleted["is_tombstone"], deleted["key_partition"], deleted.get("value_offset")) == ("true", "4", None)
    assert (group["key_kind"], group["value_generation"], group["value_leader"]) == ("group_metadata", "7", "billing-1")
    assert group["value_members"] == '[{"memberId":"billing-1"}]'


def test_bytes_that_are_no_batch() -> None:
    (finding,) = fields_of(rows_of(dump_log, "offsets-json-3.9.txt"), "finding")
    assert (finding["finding"], finding["invalid_bytes"], finding["log_partition"]) == ("invalid_bytes", "12", "12")


def test_offsets_and_groups_of_2_0() -> None:
    offset, group, marker = fields_of(rows_of(dump_log, "offsets-2.0.txt"), "record")
    assert (offset["key_kind"], offset["key_group"], offset["key_topic"], offset["key_partition"]) == (
        "offset_commit",
        "my,group",
        "in-put",
        "0",
    )
    assert (offset["value_offset"], offset["value_metadata"]) == ("1", "at=noon")
    assert (group["key_kind"], group["key_group"], group["value_generation"]) == ("group_metadata", "mailer", "4")
    assert group["value_assignment"] == "{mailer-1=[letters-0, letters-1]}"
    assert (marker["end_marker"], marker["coordinator_epoch"]) == ("COMMIT", "2")


def test_offsets_and_groups_of_0_10() -> None:
    rows = rows_of(dump_log, "offsets-0.10.txt")
    offset, group = fields_of(rows, "record")
    assert (offset["key_group"], offset["key_topic"], offset["key_partition"], offset["value_offset"]) == ("mail:er", "letters", "7", "15")
    assert (offset["compression"], group["compression"]) == ("none", "gzip")
    assert (group["value_protocol"], group["value_generation"]) == ("range", "3")
    assert "timestamp_ms" not in group
    assert rows[2].at == dt.datetime(2017, 7, 14, 2, 40, 0, 0, dt.UTC)
    assert rows[3].at is None


def test_data_is_not_decoded_and_may_go_on_over_lines() -> None:
    first, second = fields_of(rows_of(dump_log, "data-2.x.txt"), "record")
    assert first["payload"] == '{"type":"order","data":{"id":1},"version":2}'
    assert (first["header_keys"], first["timestamp_kind"], first["compression"]) == ("trace,span", "log_append", "lz4")
    assert second["payload"] == "first line\nsecond line"


def test_transactions_of_1_1() -> None:
    (record,) = fields_of(rows_of(dump_log, "transactions-1.1.txt"), "record")
    assert (record["key_kind"], record["key_transactional_id"]) == ("transaction_metadata", "ship-1")
    assert (record["value_state"], record["value_partitions"], record["value_timeout_ms"]) == (
        "Ongoing",
        "Set(letters-0, letters-1)",
        "60000",
    )


def test_records_of_the_metadata() -> None:
    change, broker, partition = fields_of(rows_of(dump_log, "metadata-3.7.txt"), "record")
    assert (change["control_kind"], change["value_leader_id"]) == ("leader_change", "12")
    assert (broker["value_type"], broker["value_broker_id"], broker["value_fenced"]) == ("REGISTER_BROKER_RECORD", "1", "true")
    assert "value_rack" not in broker
    assert (partition["value_type"], partition["value_isr"], partition["value_leader"]) == ("PARTITION_CHANGE_RECORD", "[1,3]", "1")


def test_a_snapshot() -> None:
    rows = rows_of(dump_log, "snapshot-3.9.txt")
    assert rows[1].fields == {"end_offset": "907", "leader_epoch": "6", "log_topic": "__cluster_metadata", "log_partition": "0"}
    assert rows[2].fields["control_kind"] == "snapshot_header"


def test_indexes_and_what_is_wrong_with_them() -> None:
    rows = rows_of(dump_log, "indexes.txt")
    assert fields_of(rows, "index_entry")[1] == {"offset": "56", "position": "8364", "log_topic": "letters", "log_partition": "0"}
    assert fields_of(rows, "time_index_entry")[0]["timestamp_ms"] == "1540000000000"
    assert [(row["finding"], row["expected"], row["found"]) for row in fields_of(rows, "finding")] == [
        ("index_mismatch", "56", "55"),
        ("timestamp_mismatch", "1540000000000", "1540000000001"),
    ]


def test_producers_and_aborted_transactions() -> None:
    rows = rows_of(dump_log, "producers.txt")
    producer = fields_of(rows, "producer_state")[0]
    assert (producer["producer_id"], producer["transaction_start_offset"], producer["last_sequence"]) == ("4001", "90", "5")
    assert fields_of(rows, "aborted_transaction")[0]["last_stable_offset"] == "21"


def test_a_few_lines_are_enough() -> None:
    assert dump_log.kind_of("| offset: 0 CreateTime: 1 keySize: -1 valueSize: 3 sequence: -1 headerKeys: [] payload: abc") == dump_log.DUMP
    assert dump_log.kind_of("offset: 0 position: 0\noffset: 1 position: 10") == dump_log.DUMP
    assert dump_log.kind_of("The offset: 0 is early.") is None


def test_groups_of_1_0() -> None:
    (group,) = fields_of(rows_of(dump_log, "groups-1.0.txt"), "record")
    assert (group["key_kind"], group["key_group"], group["value_generation"]) == ("group_metadata", "mailer", "5")
    assert (group["value_protocol"], group["value_assignment"]) == ("range", "{mailer-1=[letters-0]}")
