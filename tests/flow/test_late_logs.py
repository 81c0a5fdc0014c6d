"""Logs that arrive late: the older half of a cluster's logs comes after a build of the newer half. A fact that both builds have keeps its key."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable

from tests.flow.truth import STAMP
from tests.lab import Lab
from tests.partial import LONG_AGO

# Where each cluster's logs are cut: nodes are killed, restarted and pause before and after it, and the topic `drafts` of the last was created anew before it.
CUTS = {
    "zk-a-2.8.2": "2026-11-21 09:49:00,000",
    "kraft-401-random": "2026-11-21 09:55:00,000",
    "upgraded-391-411": "2026-11-29 23:01:00,000",
}
# What a fact is, apart from what its key is made of: the table's time of its beginning, and more columns that tell rows of that time apart.
IDENTITY = {
    "dim_node_runs": ["node_id", "started_at", "ready_at"],
    "fct_session_expiries": ["owner", "session_id", "expired_at"],
    "fct_leader_elections": ["topic_name", "partition_id", "leader_epoch", "elected_at"],
    "fct_leaderless_windows": ["topic_name", "partition_id", "started_at"],
    "fct_under_replicated_windows": ["topic_name", "partition_id", "replica_id", "started_at"],
    # What was in sync before may be known from the older half alone; then it is another change.
    "fct_isr_changes": ["topic_name", "partition_id", "changed_at", "isr_before", "isr_after"],
    "fct_controller_tenures": ["epoch_kind", "controller_epoch", "elected_at"],
    "fct_truncations": ["node_id", "topic_name", "partition_id", "truncated_at", "to_offset"],
    "fct_process_stalls": ["process_name", "started_at"],
    "fct_gc_pauses": ["process_name", "started_at", "uptime_ms"],
    "fct_coordinator_loads": ["node_id", "topic_name", "partition_id", "started_at"],
    "fct_issue_exposures": ["node_id", "exposed_at", "issue_id"],
    "fct_epoch_gaps": ["epoch_kind", "gap_kind", "topic_name", "partition_id", "node_id", "found_epoch", "opened_at"],
    "fct_incidents": ["started_at", "root_cause_kind", "summary"],
}
# Logs of the collector are not cut, and the newer half has no gap of epochs.
IN_BOTH = sorted(IDENTITY.keys() - {"fct_gc_pauses", "fct_epoch_gaps"})


def is_renamed(table: str, fact: tuple[str, ...]) -> bool:
    """Whether a late log may rename a fact, as `docs/alerts.md` says: that of a topic of which an earlier incarnation comes to light, and what names as its
    cause a run whose start does."""
    ends_of_runs = {"process_death", "planned_restart", "rolling_restart"}
    return "drafts" in fact or (table == "fct_incidents" and bool(ends_of_runs & set(fact)))


@dataclass
class Late:
    """Keys by table, cluster and what identifies a fact: of the newer half, and of all once the older half is there, too."""

    newer: dict[str, dict[tuple[str, ...], str]]
    whole: dict[str, dict[tuple[str, ...], str]]


def cut(path: Path, at: bytes) -> tuple[bytes, bytes]:
    """A file's records before a time, and those from then on. Lines without a time belong to the record before."""
    older, newer, is_newer = [], [], False
    for line in path.read_bytes().splitlines(keepends=True):
        if stamp := STAMP.match(line):
            is_newer = stamp[1] >= at
        (newer if is_newer else older).append(line)
    return b"".join(older), b"".join(newer)


def halves(cluster: Path, at: str, into: Path) -> tuple[Path, Path]:
    """The folders of both halves. What is no log, and what a process printed, is not cut: it comes with the newer half."""
    older, newer = into / "older", into / "newer"
    for path in sorted(cluster.rglob("*")):
        if not path.is_file():
            continue
        name = path.relative_to(cluster)
        parts = cut(path, at.encode()) if ".log" in path.name and "gc" not in path.name else (b"", path.read_bytes())
        for folder, part, suffix in ((older, parts[0], ".2020-01-01-00"), (newer, parts[1], "")):
            if part:
                # A rotated file ends like this; it is another file than the one that goes on.
                to = folder / name.with_name(path.name + suffix)
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes(part)
                os.utime(to, (LONG_AGO, LONG_AGO))
    return older, newer


def keys(warehouse: str, clusters: Iterator[str] | list[str]) -> dict[str, dict[tuple[str, ...], str]]:
    found = {}
    for table, columns in IDENTITY.items():
        rows = DeltaTable(f"{warehouse}/marts/{table}").to_pyarrow_dataset()
        key = rows.schema.names[0]
        known = rows.to_table(columns=["cluster_id", *columns, key], filter=pc.field("cluster_id").isin(list(clusters)))
        found[table] = {tuple(str(row[name]) for name in ("cluster_id", *columns)): row[key] for row in known.to_pylist()}
    return found


@pytest.fixture(scope="module")
def late(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Late:
    folder = tmp_path_factory.mktemp("late")
    into = Lab(folder, str(folder / "warehouse"))
    split = {cluster: halves(lab.folder / cluster / "input", at, folder / cluster) for cluster, at in CUTS.items()}
    for cluster, (_, newer) in split.items():
        assert into.load(cluster, newer).records > 1000
    into.build()
    before = keys(into.warehouse, list(CUTS))
    for cluster, (older, newer) in split.items():
        shutil.copytree(older, newer, dirs_exist_ok=True)
        assert into.load(cluster, newer).records > 1000
    into.build()
    return Late(before, keys(into.warehouse, list(CUTS)))


@pytest.mark.parametrize("table", IN_BOTH)
def test_a_late_older_log_leaves_keys_as_they_are(late: Late, table: str) -> None:
    both = {fact for fact in late.newer[table].keys() & late.whole[table].keys() if not is_renamed(table, fact)}
    assert both and len(late.whole[table]) > len(both), table
    assert {
        fact: (late.newer[table][fact], late.whole[table][fact]) for fact in both if late.newer[table][fact] != late.whole[table][fact]
    } == {}


@pytest.mark.parametrize("table", IDENTITY)
def test_keys_are_those_of_a_build_of_everything(lab: Lab, late: Late, table: str) -> None:
    assert keys(lab.warehouse, list(CUTS))[table] == late.whole[table]
