"""Full load = any sequence of partial loads, for ten cases and a cluster whose files are renamed and packed; `make partial` tries any
number of cases."""

from __future__ import annotations

import gzip
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
from deltalake import DeltaTable

from chronicle.build.outcome import Outcome
from tests.equal import Verdict
from tests.lab import Lab
from tests.partial import LONG_AGO, Loads, made_cases, run
from tests.partial_cases import Scale, archives

SCALE = Scale(rounds=2, most_bytes=150_000, most_days=10)
CASES, SEED = 10, 1
ROTATED = "kraft-372-offsets"
# Not facts, but the files, offsets and batches that they came from.
NOT_COMPARED = {"evidence", "start_evidence", "end_evidence", "overlap_evidence", "ingested_at"}
NO_FACTS = {"fct_sources"}


@dataclass
class Tried:
    """The cases and the rotated cluster after all rounds; a copy of the warehouse before the last round; the line printed for each round, and
    the outcome of its build."""

    loads: Loads
    last: list[str]
    said: list[str]
    built: list[Outcome]

    def differences(self, one: str, other: str) -> list[Verdict]:
        """Tables in which the cases are not the same.  Files of the rotated cluster have other names in each warehouse."""
        return [verdict for verdict in self.loads.differences(one, other) if verdict.clusters != [ROTATED]]


class Rotated:
    """A cluster of the lab that is not loaded in order of time: first half of the files, cut anywhere; then the other half; then all, grown,
    renamed, rotated and packed; and all again."""

    def __init__(self, lab: Lab, folder: Path) -> None:
        self.folder = shutil.copytree(lab.folder / ROTATED / "input", folder / "pieces")
        self.logs = sorted(path for path in self.folder.rglob("*.log") if "gc" not in path.name)
        self.full = {path: path.read_bytes() for path in self.logs}

    def first(self, into: Lab) -> None:
        for number, path in enumerate(self.logs):
            path.write_bytes(self.half(path) if number % 2 else b"")
        assert into.load(ROTATED, self.folder).records > 1000

    def rest(self, into: Lab) -> None:
        for number, path in enumerate(self.logs):
            path.write_bytes(self.half(path) if number % 2 else self.full[path])
            if not number % 2:
                # Files that are cut count as still being written, so their last line waits.
                os.utime(path, (LONG_AGO, LONG_AGO))
        into.load(ROTATED, self.folder)
        for number, path in enumerate(self.logs):
            path.write_bytes(self.full[path])
            os.utime(path, (LONG_AGO, LONG_AGO))
            if number % 4 == 0:
                path.rename(path.with_name(path.name + ".2026-11-21-09"))
            elif number % 4 == 1:
                path.with_name(path.name + ".gz").write_bytes(gzip.compress(self.full[path]))
                path.unlink()
        into.load(ROTATED, self.folder)
        assert into.load(ROTATED, self.folder).records == 0

    def half(self, path: Path) -> bytes:
        return self.full[path][: len(self.full[path]) * 2 // 5]


@pytest.fixture(scope="module")
def tried(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Tried:
    loads = Loads(tmp_path_factory.mktemp("partial"), list(made_cases(CASES, SEED, archives(), SCALE)))
    partial, full = (Lab(loads.folder, loads.place(name)) for name in ("partial", "full"))
    # A cluster of which nothing arrives later: tables without clusters, such as the calendar, keep what is known by it.
    old = loads.folder / "old"
    old.mkdir()
    (old / "server.log").write_text("[2012-03-04 05:06:07,008] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n")
    os.utime(old / "server.log", (LONG_AGO, LONG_AGO))
    for into in (partial, full):
        into.load("of-long-ago", old)
    rotated = Rotated(lab, loads.folder)
    rotated.first(partial)
    full.load(ROTATED, lab.folder / ROTATED / "input")
    said, built = [], []
    for line in run(loads, SCALE.rounds):
        said.append(line)
        built.append(loads.built)
        if len(said) == SCALE.rounds - 1:
            shutil.copytree(loads.place("partial"), loads.place("before"))
            rotated.rest(partial)
    return Tried(loads, [case.name for case in loads.cases if SCALE.rounds - 1 in case.rounds], said, built)


def told(different: list[Verdict]) -> str:
    return "\n".join(f"{', '.join(verdict.clusters)}: {verdict}" for verdict in different)


def facts(warehouse: str, cluster: str) -> dict[str, list[str]]:
    """All rows of a cluster in all marts and reports, as text and in order."""
    found = {}
    for schema in ("marts", "reports"):
        for name in sorted(os.listdir(f"{warehouse}/{schema}")):
            dataset = DeltaTable(f"{warehouse}/{schema}/{name}").to_pyarrow_dataset()
            columns = [column for column in dataset.schema.names if column not in NOT_COMPARED]
            if "cluster_id" in columns and name not in NO_FACTS:
                rows = dataset.to_table(columns=columns, filter=pc.field("cluster_id") == cluster).to_pylist()
                found[name] = sorted(str(list(row.items())) for row in rows)
    return found


def test_any_sequence_of_partial_loads_gives_what_one_full_load_gives(tried: Tried) -> None:
    different = tried.differences("full", "partial")
    assert not different, told(different)
    assert len(tried.said) == SCALE.rounds + 1
    assert 0 < len(tried.last) < CASES
    assert tried.said[-2].startswith(f"round {SCALE.rounds}: {len(tried.last)} cases, ")
    assert f" {len(tried.last) + 1} clusters built" in tried.said[-2]


def test_a_build_takes_the_clusters_and_days_that_something_arrived_of(tried: Tried) -> None:
    built = tried.built[-2]
    assert built.clusters == sorted([*tried.last, ROTATED])
    for table in ("intermediate/int_logs__coverage", "marts/fct_leader_elections"):
        rows = DeltaTable(f"{tried.loads.place('partial')}/{table}").to_pyarrow_dataset()
        day = next(name for name in rows.schema.names if name.endswith("_date"))
        assert 0 < built.days[Path(table).name] < len(pc.unique(rows.to_table(columns=[day])[day])), table
    # Most tables are made of some of these clusters, and no table is made of none.
    due = {result.model.name: result.clusters for result in built.results if result.clusters is not None}
    assert len(due) > 20 and all(set(clusters) < set(built.clusters) for clusters in due.values())
    assert "fct_leader_elections" in due and any(result.since for result in built.results if result.model.name in due)


def test_what_a_build_has_left_is_found(tried: Tried) -> None:
    """The comparison notices a build that does nothing: it would leave the tables of before the last round."""
    different = {verdict.table: verdict for verdict in tried.differences("full", "before")}
    assert different["marts.fct_sources"].clusters == sorted([*tried.last, ROTATED])
    assert set(different["marts.dim_nodes"].clusters) <= {*tried.last, ROTATED}


def test_facts_of_files_that_are_rotated_are_those_of_one_load(lab: Lab, tried: Tried) -> None:
    """Value by value in all marts and reports; the lab's warehouse read each file once."""
    whole, pieced = facts(lab.warehouse, ROTATED), facts(tried.loads.place("partial"), ROTATED)
    assert set(pieced) == set(whole)
    filled = {table for table, rows in whole.items() if rows}
    assert filled >= {"fct_leader_elections", "fct_log_cleaner_outages", "fct_incidents", "rpt_cluster_daily"}
    different = {table: sorted(set(rows) ^ set(pieced[table]))[:4] for table, rows in whole.items() if rows != pieced[table]}
    assert different == {}
    distinct = [ds.dataset(f"{place}/staging/base_logs__distinct_events") for place in (lab.warehouse, tried.loads.place("partial"))]
    events = [rows.count_rows(filter=pc.field("cluster_id") == ROTATED) for rows in distinct]
    assert events[0] == events[1] > 1000
