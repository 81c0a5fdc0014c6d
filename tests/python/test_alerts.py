"""Alerts that nothing in the lab raises, on tables of a few rows: rows that raise them, and rows beside them that do not."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from chronicle.ask.alerts import alerts
from chronicle.ask.render import render
from chronicle.ask.tables import Tables
from ingestion.warehouse import Warehouse

AT = dt.datetime(2026, 3, 1, 10, tzinfo=dt.UTC)
WINDOW = {"cluster_id": "lab", "started_at": AT, "ended_at": None, "last_sign_at": AT, "duration_ms": None, "known_by": "log"}
DAY = {"cluster_id": "lab", "event_date": dt.date(2026, 3, 1)}
FAILURE = {"cluster_id": "lab", "failed_at": AT, "process_name": "node 3", "has_ended_process": True}
PARTITION = {"cluster_id": "lab", "topic_name": "orders", "partition_id": 3}
REFUSAL = PARTITION | {"first_at": AT, "refusals": 7}
CASES: dict[str, tuple[str, list[dict[str, Any]], list[tuple[dt.datetime, str, str]]]] = {
    "log_dir_failed": (
        "fct_log_dir_failures",
        [
            {"cluster_id": "lab", "failed_at": AT, "log_dir_failure_key": "a", "log_dir": "/data/2", "node_id": 3},
            {"cluster_id": "lab", "failed_at": AT, "log_dir_failure_key": "b", "log_dir": None, "node_id": None},
            {"cluster_id": "lab", "failed_at": AT - dt.timedelta(days=9), "log_dir_failure_key": "c", "log_dir": "/data/1", "node_id": 1},
        ],
        [(AT, "a", "log directory /data/2 of node 3 failed"), (AT, "b", "log directory ? of node ? failed")],
    ),
    "process_failed": (
        "fct_process_failures",
        [
            FAILURE | {"process_failure_key": "a", "failure_kind": "out_of_memory_heap", "detail": "Java heap space"},
            FAILURE | {"process_failure_key": "b", "failure_kind": "start_failed", "detail": "java.lang.Error"},
            FAILURE | {"process_failure_key": "c", "failure_kind": "fatal_error", "detail": None},
            FAILURE
            | {
                "process_failure_key": "d",
                "failure_kind": "too_many_open_files",
                "detail": None,
                "has_ended_process": False,
            },
        ],
        [
            (AT, "a", "node 3: it ran out of heap memory (Java heap space)"),
            (AT, "b", "node 3: it did not start (java.lang.Error)"),
            (AT, "c", "node 3: after a fatal error"),
        ],
    ),
    "writes_refused": (
        "fct_write_refusals_hourly",
        [
            REFUSAL | {"write_refusals_hourly_key": "a", "node_id": 1, "in_sync_replicas": 1, "min_insync_replicas": 2},
            REFUSAL | {"write_refusals_hourly_key": "b", "node_id": 2, "in_sync_replicas": None, "min_insync_replicas": None},
            REFUSAL | {"write_refusals_hourly_key": "c", "node_id": None, "in_sync_replicas": None, "min_insync_replicas": None},
        ],
        [
            (AT, "a", "orders-3: 7 writes refused within an hour, 1 in sync of 2 required"),
            (AT, "b", "orders-3: 7 writes refused within an hour, ? in sync of ? required"),
        ],
    ),
    "transaction_hanging": (
        "fct_hanging_transactions",
        [
            PARTITION | {"started_at": AT, "hanging_transaction_key": "a", "transactional_id": "billing-1", "producer_id": None},
            PARTITION | {"started_at": AT, "hanging_transaction_key": "b", "transactional_id": None, "producer_id": 77},
            PARTITION
            | {"started_at": AT - dt.timedelta(days=9), "hanging_transaction_key": "c", "transactional_id": "x", "producer_id": None},
        ],
        [
            (AT, "a", "transaction of billing-1 in orders-3 could not be ended"),
            (AT, "b", "transaction of producer 77 in orders-3 could not be ended"),
        ],
    ),
    "remote_copy_stalled": (
        "fct_remote_copy_stalls",
        [
            PARTITION | {"started_at": AT, "remote_copy_stall_key": "a", "failures": 4},
            PARTITION | {"started_at": AT, "remote_copy_stall_key": "b", "failures": 1},
            PARTITION | {"started_at": AT - dt.timedelta(days=9), "remote_copy_stall_key": "c", "failures": 4},
        ],
        [(AT, "a", "orders-3: 4 copies to remote storage failed")],
    ),
    # An election after a failure takes seconds; a log that ends in one says nothing; a describe shows that there is none.
    "controller_missing": (
        "fct_controllerless_windows",
        [
            WINDOW | {"controllerless_window_key": "a", "duration_ms": 43_500, "ended_at": AT + dt.timedelta(milliseconds=43_500)},
            WINDOW | {"controllerless_window_key": "b", "duration_ms": 2_100, "ended_at": AT + dt.timedelta(milliseconds=2_100)},
            WINDOW | {"controllerless_window_key": "c", "last_sign_at": AT + dt.timedelta(minutes=7)},
            WINDOW | {"controllerless_window_key": "d", "last_sign_at": AT + dt.timedelta(seconds=2)},
            WINDOW | {"controllerless_window_key": "e", "known_by": "describe"},
        ],
        [
            (AT + dt.timedelta(seconds=10), "a", "the cluster had no active controller for 43500 ms"),
            (AT + dt.timedelta(seconds=10), "c", "the cluster had no active controller for the rest of the logs"),
            (AT + dt.timedelta(seconds=10), "e", "the cluster had no active controller for the rest of the logs"),
        ],
    ),
    "group_stuck": (
        "fct_group_rebalances",
        [
            {"cluster_id": "lab", "started_at": AT, "group_rebalance_key": "a", "group_id": "etl", "is_stuck": True},
            {"cluster_id": "lab", "started_at": AT, "group_rebalance_key": "b", "group_id": "web", "is_stuck": False},
            {"cluster_id": "lab", "started_at": AT, "group_rebalance_key": "c", "group_id": "cdc", "is_stuck": None},
        ],
        [(AT, "a", "group etl is stuck in a rebalance")],
    ),
    # One cluster of two has had nothing new for a day, and another has been gone for longer than was asked for.
    "arrivals_ceased": (
        "fct_sources",
        [
            {"cluster_id": "lab", "last_ingested_at": AT - dt.timedelta(hours=30)},
            {"cluster_id": "lab", "last_ingested_at": AT - dt.timedelta(hours=24)},
            {"cluster_id": "well", "last_ingested_at": AT - dt.timedelta(hours=30)},
            {"cluster_id": "well", "last_ingested_at": AT + dt.timedelta(hours=2)},
            {"cluster_id": "gone", "last_ingested_at": AT - dt.timedelta(days=9)},
        ],
        [(AT, "lab", "nothing new of cluster lab has arrived for 24 hours")],
    ),
    # Of 1,200 records of the day 700 are recognised; the other cluster has too few records to decide.
    "records_unrecognised": (
        "fct_parse_coverage_daily",
        [
            DAY | {"records": 800, "recognised": 500},
            DAY | {"records": 400, "recognised": 200},
            DAY | {"cluster_id": "small", "records": 900, "recognised": 0},
            DAY | {"cluster_id": "well", "records": 1000, "recognised": 1000},
        ],
        [(dt.datetime(2026, 3, 2, tzinfo=dt.UTC), "lab 2026-03-01", "500 of 1200 records of 2026-03-01 were not recognised")],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_alert_tells_its_rows_and_no_other(name: str, tmp_path: Path) -> None:
    table, rows, wanted = CASES[name]
    write_deltalake(tmp_path / "marts" / table, pa.Table.from_pylist(rows))
    alert = next(one for one in alerts() if one.name == name)
    period = {"since": (AT - dt.timedelta(days=1)).isoformat(), "until": (AT + dt.timedelta(days=1)).isoformat()}
    found = Tables(Warehouse.at(str(tmp_path))).rows(render(alert.path, period).sql)
    assert sorted((row["at"], row["key"], row["sentence"]) for row in found) == wanted
