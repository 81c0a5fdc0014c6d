"""Alerts on tables of a few rows: those that nothing in the lab raises, with rows beside them that do not, and how incidents keep theirs together."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from chronicle.ask.alerts import Alert, alerts, check
from chronicle.ask.render import render
from chronicle.ask.tables import Tables
from chronicle.project import PROJECT
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
            (AT + dt.timedelta(seconds=10), "c", "the cluster had no active controller until the logs end"),
            (AT + dt.timedelta(seconds=10), "e", "the cluster had no active controller until the logs end"),
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


PERIOD = {"since": (AT - dt.timedelta(days=1)).isoformat(), "until": (AT + dt.timedelta(days=1)).isoformat()}
PARTS = pa.schema([("incident_key", pa.string()), ("fact_name", pa.string()), ("fact_key", pa.string())])
INCIDENTS = pa.schema(
    [
        ("incident_key", pa.string()),
        ("cluster_id", pa.string()),
        ("started_at", pa.timestamp("us", "UTC")),
        ("severity", pa.string()),
        ("is_maintenance", pa.bool_()),
        ("summary", pa.string()),
    ]
)
EVENTS = pa.schema(
    [
        ("incident_key", pa.string()),
        ("cluster_id", pa.string()),
        ("sequence", pa.int32()),
        ("happened_at", pa.timestamp("us", "UTC")),
        ("role", pa.string()),
        ("fact_key", pa.string()),
        ("sentence", pa.string()),
    ]
)


def named(name: str) -> Alert:
    return next(one for one in alerts() if one.name == name)


def raised(folder: Path, name: str, severity: str | None = None, is_maintenance: bool = False) -> list[tuple[dt.datetime, str, str]]:
    """What an alert says of its rows in CASES, if all of them are in an incident of that severity, or in none."""
    table, rows, _ = CASES[name]
    [key] = [column for column in rows[0] if column.endswith("_key") and column != "incident_key"] or [None]
    parts = [{"incident_key": "i", "fact_name": table, "fact_key": row[key]} for row in rows] if severity and key else []
    incident = {"incident_key": "i", "cluster_id": "lab", "started_at": AT, "severity": severity, "is_maintenance": is_maintenance}
    write_deltalake(folder / "marts" / table, pa.Table.from_pylist(rows))
    write_deltalake(folder / "marts/bridge_incident_facts", pa.Table.from_pylist(parts, PARTS))
    write_deltalake(folder / "marts/fct_incidents", pa.Table.from_pylist([incident], INCIDENTS))
    found = Tables(Warehouse.at(str(folder))).rows(render(named(name).path, PERIOD).sql)
    return sorted((row["at"], row["key"], row["sentence"]) for row in found)


@pytest.mark.parametrize("name", CASES)
def test_an_alert_tells_its_rows_and_no_other(name: str, tmp_path: Path) -> None:
    assert raised(tmp_path, name) == CASES[name][2]


# What may be part of an incident.
WITHIN = [one.name for one in alerts() if "outside_incidents(" in one.path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("name", sorted({*WITHIN} & {*CASES}))
def test_a_fact_of_an_incident_is_no_alert_of_its_own(name: str, tmp_path: Path) -> None:
    assert raised(tmp_path / "critical", name, "critical") == []
    assert raised(tmp_path / "maintenance", name, "major", is_maintenance=True) == []
    # Who asks for errors alone would not see a minor incident, and nobody sees a maintenance that did no harm.
    kept = CASES[name][2] if named(name).severity == "error" else []
    assert raised(tmp_path / "minor", name, "minor") == kept
    assert raised(tmp_path / "info", name, "info", is_maintenance=True) == CASES[name][2]


@pytest.mark.parametrize("name", WITHIN)
def test_an_alert_names_its_table_and_severity_to_incidents(name: str) -> None:
    alert = named(name)
    [(table, key, severity)] = re.findall(r"outside_incidents\(\s*'(\w+)',\s*'(\w+)',\s*'(\w+)'", alert.path.read_text(encoding="utf-8"))
    assert severity == alert.severity
    assert f"ref('{table}')" in alert.path.read_text(encoding="utf-8")
    assert re.search(rf"\b{key} as key\b", alert.path.read_text(encoding="utf-8"))


def test_facts_of_incidents_are_left_out_by_every_alert_on_them() -> None:
    """`macros/incident_facts.sql` and the facts of processes say what may be part of an incident."""
    macro = (PROJECT / "macros/incident_facts.sql").read_text(encoding="utf-8")
    processes = (PROJECT / "models/incidents/intermediate/int_incidents__process_facts.sql").read_text(encoding="utf-8")
    facts = {*re.findall(r"'fact': '(\w+)'", macro), *re.findall(r"'((?:fct|dim)_\w+)', '\w+_key'", processes)}
    assert "dim_node_runs" in facts
    on_facts = {one.name for one in alerts() if any(f"ref('{fact}')" in one.path.read_text(encoding="utf-8") for fact in facts)}
    assert on_facts == {*WITHIN}


def test_an_incident_is_one_alert_with_its_parts_while_it_goes_on(tmp_path: Path) -> None:
    """It began the day before; in the hour of the check another partition lost its leader.  The one beside it only recovered."""
    before = AT - dt.timedelta(days=1)
    incident = {"cluster_id": "lab", "started_at": before, "severity": "major", "is_maintenance": False}
    event = {"cluster_id": "lab", "role": "effect"}
    tables = {
        "fct_incidents": pa.Table.from_pylist(
            [
                incident | {"incident_key": "on", "summary": "Node 3 was killed."},
                incident | {"incident_key": "over", "summary": "Node 4 was killed."},
            ],
            INCIDENTS,
        ),
        "fct_incident_events": pa.Table.from_pylist(
            [
                event | {"incident_key": "on", "sequence": 2, "happened_at": AT, "fact_key": "w", "sentence": "Without a leader: a-1."},
                event | {"incident_key": "on", "sequence": 1, "happened_at": before, "fact_key": "r", "sentence": "Node 3 was killed."},
                event | {"incident_key": "on", "sequence": 3, "happened_at": AT, "fact_key": "r", "role": "recovery", "sentence": "Back."},
                event
                | {"incident_key": "over", "sequence": 2, "happened_at": AT, "fact_key": "q", "role": "recovery", "sentence": "Back."},
            ],
            EVENTS,
        ),
        "bridge_incident_facts": pa.Table.from_pylist(
            [{"incident_key": "on", "fact_name": "fct_log_dir_failures", "fact_key": "d"}], PARTS
        ),
        "fct_log_dir_failures": pa.Table.from_pylist(
            [{"cluster_id": "lab", "failed_at": AT, "log_dir_failure_key": key, "log_dir": f"/{key}", "node_id": 3} for key in "de"]
        ),
    }
    for name, table in tables.items():
        write_deltalake(tmp_path / "marts" / name, table)
    place = Warehouse.at(str(tmp_path))
    only = [named("incident_grave"), named("incident_minor"), named("log_dir_failed")]
    found = check(place, AT - dt.timedelta(minutes=30), AT + dt.timedelta(minutes=30), asked_of=only)
    assert [(one["alert"], one["key"], one["at"], one["parts"]) for one in found] == [
        (
            "incident_grave",
            "on",
            "2026-02-28T10:00:00.000Z",
            [
                {"at": "2026-02-28T10:00:00.000Z", "key": "r", "sentence": "Node 3 was killed."},
                {"at": "2026-03-01T10:00:00.000Z", "key": "w", "sentence": "Without a leader: a-1."},
            ],
        ),
        ("log_dir_failed", "e", "2026-03-01T10:00:00.000Z", []),
    ]
