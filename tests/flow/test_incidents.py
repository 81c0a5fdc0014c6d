"""Incidents against the lab's list of faults: every fault that did harm is a root cause, and no outage is reported without a fault."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from chronicle.ask import remedies
from chronicle.ask.run_summary import report
from ingestion.warehouse import Warehouse
from tests.flow.test_stalls import SHORTEST_MS, freezes
from tests.flow.truth import millis, rows, truth
from tests.lab import CLUSTERS

SETTLED_MS = 20_000
"""For this long after a fault the cluster's own metadata may still change because of it: session timeouts of 6 s, and a restart."""

SILENT_MS = 30_000
"""A process is reported to have ended at its last meaningful line; a quiet one may have lived this much longer."""


# Words with underscores in the titles of Kafka's own issues.
KAFKAS = {"read_committed"}


class Fault(NamedTuple):
    kind: str
    node: int | None
    started: int
    ended: int


def faults(folder: Path) -> list[Fault]:
    """The faults of brokers, controllers and ZooKeeper: kills, freezes, stops, damaged segments."""
    found = []
    for freeze in freezes(folder):
        if freeze.who == "zookeeper":
            found.append(Fault("zookeeper_stall", None, freeze.started, freeze.ended))
        elif freeze.who.isdigit():
            found.append(Fault("process_stall", int(freeze.who), freeze.started, freeze.ended))
    for action in rows(folder / "truth/actions.jsonl"):
        node = action.get("broker", action.get("node"))
        start, end = action.get("start", action.get("start_ms")), action.get("end", action.get("end_ms"))
        name = action["action"]
        if node is None:
            continue
        if name.startswith("kill -9"):
            found.append(Fault("process_death", int(node), start, end))
        elif "SIGTERM" in name:
            found.append(Fault("maintenance", int(node), start, end))
        elif "damage segment" in name or "segment" in name:
            found.append(Fault("log_cleaner_outage", int(node), start, end))
    return sorted(found, key=lambda fault: fault.started)


def harmed(folder: Path, fault: Fault) -> bool:
    """Whether the cluster's own metadata changed for the worse because of the fault: an expiry, a set without the node, a new controller."""
    facts = truth(folder)
    end = fault.ended + SETTLED_MS
    if fault.kind in ("process_death", "maintenance", "log_cleaner_outage"):
        return True
    if fault.ended - fault.started < SHORTEST_MS:
        return False
    if fault.kind == "zookeeper_stall":
        return any(fault.started < expiry["at"] < end for expiry in facts["expiries"])
    return any(fault.started < expiry["at"] < end and int(expiry["owner"]) == fault.node for expiry in facts["expiries"]) or any(
        fault.started < change["at"] < fault.ended + 5000 and fault.node in set(change["before"]) - set(change["after"])
        for change in facts["isr_changes"]
    )


def told(fault: Fault, incident: Any) -> bool:
    """Whether an incident reports this fault: same kind and node, begun during the fault or until its effects had settled."""
    early = SILENT_MS if fault.kind == "process_death" else 3000
    within = fault.started - early <= millis(incident.started_at) <= fault.ended + SETTLED_MS
    if fault.kind == "maintenance":
        lasts = millis(incident.started_at) - 3000 <= fault.started and (
            incident.ended_at is None or fault.started <= millis(incident.ended_at) + 3000
        )
        return incident.is_maintenance and fault.node in incident.nodes and (within or lasts)
    return incident.root_cause_kind == fault.kind and within and (fault.node is None or fault.node in incident.nodes)


@pytest.mark.parametrize("cluster", CLUSTERS)
class TestCluster:
    def test_every_fault_that_did_harm_is_a_root_cause(self, lab, cluster: str) -> None:
        folder = lab.folder / cluster
        incidents = lab.rows(f"select * from marts.fct_incidents where cluster_id = '{cluster}'")
        wanted = [fault for fault in faults(folder) if harmed(folder, fault)]
        assert len(wanted) >= 4
        assert [fault for fault in wanted if not any(told(fault, incident) for incident in incidents)] == []

    def test_no_outage_is_told_without_a_fault(self, lab, cluster: str) -> None:
        done = faults(lab.folder / cluster)
        outages = lab.rows(
            f"""select distinct incidents.* from marts.fct_incidents as incidents
            inner join marts.fct_incident_events as events on incidents.incident_key = events.incident_key
            where incidents.cluster_id = '{cluster}' and not incidents.is_maintenance
            and events.event_kind in ('leaderless', 'session_expired', 'process_death', 'late_controller_writes')"""
        )
        without = [
            (outage.root_cause_kind, outage.started_at, outage.summary)
            for outage in outages
            if not any(
                fault.started - SILENT_MS <= millis(outage.started_at) <= fault.ended + SETTLED_MS
                and (fault.node is None or fault.node in outage.nodes)
                for fault in done
            )
        ]
        assert without == []

    def test_a_rolling_restart_is_one_maintenance(self, lab, cluster: str) -> None:
        incidents = lab.rows(f"select * from marts.fct_incidents where cluster_id = '{cluster}' and is_maintenance")
        assert 1 <= len(incidents) <= 5
        # A stop that left partitions without a leader was not served meanwhile, as planned as it was.
        costly = [incident for incident in incidents if incident.leaderless_ms > 0 or "no leader" in incident.summary]
        assert {incident.severity for incident in costly} <= {"major", "critical"}
        assert {incident.severity for incident in incidents if incident not in costly} <= {"info", "major"}


SENTENCES = """
select summary as sentence from marts.fct_incidents
union select explode(warnings) from marts.fct_incidents
union select sentence from marts.fct_incident_events
union select sentence from marts.fct_config_findings
union select sentence from marts.fct_issue_exposures
"""
NAMES = "select topic_name as name from marts.dim_topics union select group_id from marts.dim_groups union select thread from (select explode(threads) as thread from marts.fct_thread_deadlocks)"


def test_sentences_name_no_values_of_columns(lab) -> None:
    """Words with underscores are names of topics, groups and threads, or Kafka's own (settings have dots); ours must be in plain words."""
    names = {row.name for row in lab.rows(NAMES)}
    said = [row.sentence for row in lab.rows(SENTENCES) if row.sentence]
    assert len(said) > 100
    wrong = {
        word: sentence
        for sentence in said
        for word in re.findall(r"(?<![\w.@-])[a-z]+(?:_[a-z0-9]+)+(?![\w.-])", sentence)
        if word not in names | KAFKAS
    }
    assert wrong == {}


def test_a_run_says_what_to_do_about_its_worst_incidents(lab) -> None:
    """The worst harm of this cluster is an unclean election; its brokers state that they allow none."""
    said = list(report(Warehouse.at(lab.warehouse), {"zk-a-2.8.2"}))
    worst, todo = said.index("The worst of them:"), said.index("What to do:")
    assert "critical: clicks-0 may have lost up to 66 records" in said[worst + 1]
    advice = said[todo + 1 : said.index("", todo)]
    assert 1 <= len(advice) <= remedies.MOST
    assert any("unclean.leader.election.enable is false on nodes 1, 2 and 3, so clicks overrides it" in line for line in advice)
