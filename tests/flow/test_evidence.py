"""Every fact has its raw lines, and they hold what the row says: 200 rows of each."""

from __future__ import annotations

from typing import Any

import pytest
from deltalake import DeltaTable

from chronicle.ask.evidence import facts, lines
from ingestion.warehouse import Warehouse

ROWS = 200
# Columns whose values must be in the row's lines. Warnings are about values that the lines lack, so a row with warnings only needs lines.
HELD = {
    "fct_leader_elections": ("topic_name", "partition_id", "leader_epoch"),
    "fct_leaderless_windows": ("topic_name", "partition_id"),
    "fct_cached_epochs": ("topic_name", "partition_id"),
    "fct_isr_changes": ("topic_name", "partition_id"),
    "fct_under_replicated_windows": ("topic_name", "partition_id"),
    "fct_truncations": ("topic_name", "partition_id", "to_offset"),
    "fct_coordinator_loads": ("partition_id",),
    "fct_controller_tenures": ("controller_epoch",),
    "fct_epoch_gaps": ("found_epoch",),
    "fct_group_rebalances": ("group_id",),
    "fct_group_lag_status": ("group_id", "topic_name", "partition_id"),
    "fct_group_coordinators": ("coordinator_id",),
    "fct_issue_exposures": ("kafka_version",),
    "fct_metrics_hourly": ("metric_name",),
    "fct_fetcher_disconnects_hourly": ("source_node_id",),
    "fct_thread_deadlocks": ("threads",),
    "fct_tool_errors": ("message",),
    "fct_config_findings": ("settings",),
}


def sampled(table: DeltaTable, key: str) -> list[dict[str, Any]]:
    """Up to ROWS rows, spread evenly over the keys, which are hashes."""
    rows = table.to_pyarrow_table().sort_by(key).to_pylist()
    step = max(1, len(rows) // ROWS)
    return rows[::step][:ROWS]


def missing(row: dict[str, Any], name: str, text: str) -> list[str]:
    """The values of a row that its lines do not hold."""
    lacking = []
    # Lines that show a known issue need not name the release.
    for column in () if row.get("exposure") == "evidence_seen" else HELD.get(name, ()):
        value = row[column]
        if column == "settings":
            # Leave out settings counted from facts or taken from the release's defaults: the file does not mention them.
            names = [setting for setting, said in value if not setting.startswith("@") and not said.endswith("(default)")]
            held = not names or any(setting in text for setting in names)
        elif isinstance(value, list):
            held = all(str(part) in text for part in value)
        else:
            held = value is None or value == -1 or str(value) in text
        if not held:
            lacking.append(f"{column}={value}")
    return lacking


def test_every_row_has_lines_that_hold_its_values(lab) -> None:
    place = Warehouse.at(lab.warehouse)
    seen: set[str] = set()
    faults: dict[str, list[Any]] = {}
    for fact, table in facts(place):
        name = fact.removeprefix("marts.")
        key = table.schema().fields[0].name
        rows = sampled(table, key)
        wanted: dict[str, set[tuple[str, int]]] = {}
        for row in rows:
            wanted.setdefault(row["cluster_id"], set()).update((line["source_path"], line["byte_offset"]) for line in row["evidence"])
        found: dict[tuple[str, str, int], str] = {}
        for cluster, places in wanted.items():
            for line in lines(place, cluster, places):
                where = (cluster, line.source_path, line.byte_offset)
                found[where] = found.get(where, "") + "\n" + line.raw_text
        for row in rows:
            texts = [found.get((row["cluster_id"], line["source_path"], line["byte_offset"])) for line in row["evidence"]]
            if not texts or None in texts:
                faults.setdefault(name, []).append((row[key], "no line"))
            elif not row.get("warnings") and (lacking := missing(row, name, "\n".join(texts))):
                faults.setdefault(name, []).append((row[key], lacking, texts[0][:300]))
        if rows:
            seen.add(name)
    assert {name: rows[:3] for name, rows in faults.items()} == {}
    assert len(seen & set(HELD)) >= 14


@pytest.mark.parametrize("fact", sorted(HELD))
def test_what_is_looked_for_are_columns(lab, fact: str) -> None:
    columns = {field.name for field in DeltaTable(Warehouse.at(lab.warehouse).table("marts", fact)).schema().fields}
    assert set(HELD[fact]) <= columns
