"""What to do about an incident: each text is said where its conditions hold by the facts, and nowhere else."""

from __future__ import annotations

import csv
import datetime as dt
import re
from typing import Any

import pytest
import yaml

from chronicle.ask import remedies
from chronicle.ask.remedies import CONDITIONS, ORDER, PLACEHOLDER, Case, Known, Loss, entries, many, without
from chronicle.project import PROJECT
from ingestion import captures

SEEDS = PROJECT / "dbt_project" / "seeds"
# What a condition adds to what a text may name; a rule adds its settings as well.
GIVES = {
    "setting": {"value", "on"},
    "rule": {"settings", "remedy", "consequence", "on"},
    "issue": {"issue", "title", "release", "fixed", "on"},
    "seen": {"issue", "title", "release", "fixed", "on"},
    "loss": {"partitions", "topics", "elected_at", "records", "cut_by"},
}
START = dt.datetime(2026, 6, 10, 15, 48, 30, tzinfo=dt.UTC)


def seed(name: str) -> list[dict[str, str]]:
    with (SEEDS / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def columns() -> set[str]:
    """The columns of all facts and of the runs of processes."""
    files = [*(PROJECT / "models").rglob("fct_*.yml"), *(PROJECT / "models").rglob("dim_node_runs.yml")]
    return {
        column["name"]
        for file in files
        for model in yaml.safe_load(file.read_text(encoding="utf-8"))["models"]
        for column in model["columns"]
    }


def root_causes() -> set[str]:
    (file,) = (PROJECT / "models").rglob("fct_incidents.yml")
    described = yaml.safe_load(file.read_text(encoding="utf-8"))["models"][0]["columns"]
    tests = next(column["data_tests"] for column in described if column["name"] == "root_cause_kind")
    return set(next(test["accepted_values"]["arguments"]["values"] for test in tests if "accepted_values" in test))


def asked(condition: str) -> set[str]:
    """All that entries ask of a condition."""
    return {one for entry in entries() if condition in entry for one in many(entry[condition])}


def test_every_root_cause_has_a_text_or_is_said_to_have_none() -> None:
    assert asked("root") | without().keys() == root_causes()
    assert asked("root") & without().keys() == set()


def test_entries_name_what_there_is() -> None:
    assert {name for entry in entries() for name in entry} <= CONDITIONS.keys() | {"do", "text"}
    assert {entry["do"] for entry in entries()} == ORDER.keys()
    assert all("root" in entry or "event" in entry for entry in entries())
    assert asked("event") <= {row["event_kind"] for row in seed("incident_kinds")}
    # A rule that nothing evaluates, or an issue that is not verified, never holds.
    assert asked("rule") | asked("no_rule") <= {row["rule_id"] for row in seed("config_rules") if not row["not_evaluated_because"]}
    issues = {row["issue_id"]: row for row in seed("known_issues")}
    assert {issues[name]["confidence"] for name in asked("issue")} == {"verified"}
    assert asked("seen") <= {row["component"] for row in issues.values()}
    logs = yaml.safe_load((PROJECT / "ingestion/catalogue/kinds.yml").read_text(encoding="utf-8"))
    kinds = {*logs, *(kind for module in captures.modules() for kind in module.KINDS)}
    assert asked("lacks") | asked("has") <= kinds
    assert {entry["setting"]["name"] for entry in entries() if "setting" in entry} <= {row["setting"] for row in seed("known_settings")}
    assert {name for entry in entries() for name in entry.get("fact", {})} <= columns()


def test_every_value_that_a_text_names_can_be_known() -> None:
    always = {"node", "nodes", "groups", "at", "duration"} | columns()
    rules = {row["rule_id"]: row["condition"] for row in seed("config_rules")}
    for entry in entries():
        given = always.union(*(GIVES.get(name, set()) for name in entry))
        wanted = set(PLACEHOLDER.findall(entry["text"])) - given
        of_rules = [rules[name] for name in many(entry.get("rule", []))]
        assert all(re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", condition) for name in wanted for condition in of_rules), entry
        assert not wanted or of_rules, entry


def case(kind: str = "process_death", *events: str, known: Known | None = None, **root: Any) -> Case:
    """An incident of nodes 1 to 3, of a minute."""
    incident = {
        "root_cause_kind": kind, "started_at": START, "ended_at": START + dt.timedelta(minutes=1), "nodes": [1, 2, 3], "cluster_incarnation": 1, "groups": [],
    }  # fmt: skip
    return Case(incident, frozenset(events), {"node_id": 2, **root}, known or Known())


def said(one: Case) -> str:
    return "\n".join(f"{remedy.title}: {remedy.text}" for remedy in remedies.remedies(one))


def setting(
    node: int, name: str, value: str, since: dt.datetime = START - dt.timedelta(days=1), until: dt.datetime | None = None
) -> dict[str, Any]:
    return {"node_id": node, "setting": name, "setting_value": value, "valid_from": since, "valid_to": until}


def finding(rule: str, node: int | None, remedy: str = "false", **settings: str) -> dict[str, Any]:
    return {
        "rule_id": rule, "node_id": node, "owner": "orders" if node is None else str(node), "remedy": remedy, "consequence": "harm",
        "settings": [(name.replace("__", "."), value) for name, value in settings.items()],
    }  # fmt: skip


def file(kind: str, node: int | None, path: str = "/logs/2/file") -> dict[str, Any]:
    return {"source_kind": kind, "node_id": node, "source_path": path}


LIFE = {1: {"cluster_mode": "zookeeper", "kafka_version": "2.8.2"}}
LOST = Loss("clicks-0", "clicks", 3, START + dt.timedelta(seconds=20), 66, (2,))


def test_an_unclean_election_is_told_by_what_is_known_of_its_setting() -> None:
    name = "unclean.leader.election.enable"

    def told(**known: Any) -> str:
        return said(case("process_death", "unclean_election", known=Known(losses=[LOST], lives=LIFE, **known)))

    on = told(findings=[finding("unclean_election_on", 1, unclean__leader__election__enable="true")])
    assert f"Change: {name} is true (node 1): with false" in on and "not known" not in on and "overrides" not in on
    off = told(settings=[setting(node, name, "false") for node in (1, 2)])
    assert (
        f"Check: {name} is false on nodes 1 and 2, so clicks overrides it, or somebody asked for the election" in off
        and "is true" not in off
    )
    unknown = told()
    assert f"Change: {name} is not known of any broker" in unknown and "overrides" not in unknown
    # What a node states later is not what held at the time.
    later = told(settings=[setting(1, name, "false", START + dt.timedelta(hours=1))])
    assert "not known of any broker" in later
    # One broker that says otherwise, and no finding: nothing is concluded.
    mixed = told(settings=[setting(1, name, "false"), setting(2, name, "true")])
    assert "overrides" not in mixed and "not known" not in mixed


def test_nobody_could_ask_for_an_unclean_election_before_2_4() -> None:
    settings = [setting(1, "unclean.leader.election.enable", "false")]
    old = Known(settings=settings, losses=[LOST], lives={1: {"cluster_mode": "zookeeper", "kafka_version": "0.10.1.0"}})
    told = said(case("process_death", "unclean_election", known=old))
    assert "clicks overrides it:" in told and "somebody asked" not in told
    nothing = said(case("process_death", "unclean_election", known=Known(settings=settings, losses=[LOST])))
    assert "overrides" not in nothing


def test_losses_are_those_of_the_incident() -> None:
    def told(loss: Loss) -> str:
        return said(case("process_death", "unclean_election", known=Known(losses=[loss])))

    assert "Up to 66 records of clicks-0 may be gone (node 2 cut them after 2026-06-10 15:48:50)" in told(LOST)
    assert "How much clicks-0 lost is not in the logs" in told(Loss("clicks-0", "clicks", 3, LOST.elected_at, None, ()))
    assert "clicks" not in told(Loss("clicks-0", "clicks", 3, START + dt.timedelta(hours=1), 66, (2,)))
    assert "clicks" not in told(Loss("clicks-0", "clicks", 9, LOST.elected_at, 66, (2,)))


@pytest.mark.parametrize(
    ("root", "files", "told"),
    [
        ({"end_kind": "killed", "failure_kind": None}, [], "Add evidence: Nothing says who killed node 2: add the kernel's log"),
        (
            {"end_kind": "killed", "failure_kind": None},
            [file("kernel_log", 2)],
            "Check: The kernel's log does not say that it killed node 2",
        ),
        ({"end_kind": "killed", "failure_kind": None}, [file("kernel_log", 1)], "Add evidence: Nothing says who killed node 2"),
        ({"end_kind": "fatal", "failure_kind": "oom_killer"}, [], "Change: The kernel killed node 2 for want of memory"),
        ({"end_kind": "fatal", "failure_kind": "jvm_crash"}, [], "Add evidence: The JVM of node 2 crashed"),
        ({"end_kind": "fatal", "failure_kind": "jvm_crash"}, [file("hs_err", 2)], "Check: The JVM of node 2 crashed"),
        ({"end_kind": "fatal", "failure_kind": "disk_full"}, [], "Change: A disk of node 2 was full"),
        ({}, [], ""),
    ],
)
def test_a_death_is_told_by_how_it_ended_and_what_was_read(root: dict[str, Any], files: list[dict[str, Any]], told: str) -> None:
    text = said(case("process_death", known=Known(files=files), **root))
    assert text.startswith(told) and text.count("\n") == 0
    assert bool(text) == bool(told)


def test_a_stall_is_told_by_its_cause_and_the_settings_that_it_outlasted() -> None:
    settings = [setting(2, "zookeeper.session.timeout.ms", "6000"), setting(2, "replica.lag.time.max.ms", "10000")]
    known = Known(settings=settings, lives=LIFE, files=[file("gc_log", 1)])
    told = said(case("process_stall", "session_expired", "isr_shrunk", known=known, duration_ms=11_800, cause="unknown"))
    assert "Change: zookeeper.session.timeout.ms is 6000 on node 2: the session would have outlived a stall of 11.8 s with 18000" in told
    assert "Change: replica.lag.time.max.ms is 10000 on node 2: replicas would have stayed in sync over 11.8 s with 30000" in told
    assert "Add evidence: Nothing says why node 2 stood still: its GC log" in told
    # A shorter stall did not outlast the lag; a longer one would have cost the session anyway; no session was lost.
    short = said(case("process_stall", "isr_shrunk", known=known, duration_ms=6_000, cause="host"))
    assert "replica.lag" not in short and "zookeeper.session" not in short and "without using the CPU" in short
    assert "zookeeper.session" not in said(case("process_stall", "session_expired", known=known, duration_ms=20_000, cause="gc"))
    kraft = Known(settings=settings, lives={1: {"cluster_mode": "kraft", "kafka_version": "3.9.1"}})
    assert "zookeeper.session" not in said(case("process_stall", "session_expired", known=kraft, duration_ms=11_800, cause="gc"))


def exposure(issue: str, component: str, **more: Any) -> dict[str, Any]:
    return {
        "issue_id": issue, "component": component, "title": "Title", "node_id": 2, "exposure": "version_affected", "kafka_version": "0.10.1.0",
        "fixed_in": ["2.0.0"], "first_seen_at": None, "last_seen_at": None, **more,
    }  # fmt: skip


def test_a_known_issue_is_named_where_it_explains_the_cause() -> None:
    seen = {"exposure": "evidence_seen", "first_seen_at": START, "last_seen_at": START}
    known = Known(
        exposures=[
            exposure("KAFKA-6834", "log_cleaner", **seen),
            exposure("KAFKA-1", "log_cleaner"),
            exposure("KAFKA-2", "replication", **seen),
        ]
    )
    told = said(case("log_cleaner_outage", known=known))
    assert told == "Change: Records of node 2 show KAFKA-6834 (Title). Kafka 0.10.1.0 has it, fixed in 2.0.0."
    assert said(case("log_cleaner_outage", known=known, node_id=1)) == ""
    before = {**seen, "first_seen_at": START - dt.timedelta(days=2), "last_seen_at": START - dt.timedelta(days=1)}
    assert said(case("log_cleaner_outage", known=Known(exposures=[exposure("KAFKA-6834", "log_cleaner", **before)]))) == ""
    late = Known(exposures=[exposure("KAFKA-6082", "controller", kafka_version="1.1.1", fixed_in=None)])
    assert said(case("process_stall", "late_controller_writes", known=late)) == (
        "Change: Kafka 1.1.1 has KAFKA-6082 (Title), and no release that fixes it is known: upgrade."
    )
    assert said(case("process_stall", known=late)) == ""


def test_a_broken_rule_is_said_once_with_all_nodes_that_break_it() -> None:
    known = Known(
        findings=[finding("rf_one_topics", None, "RF 3", default__replication__factor="1"), finding("rf_one_topics", 9, "RF 3", x="2")]
    )
    told = said(case("session_expiry", "leaderless", known=known))
    assert told == "Change: default.replication.factor = 1 (orders): RF 3. Then another replica leads when a broker is away."
    assert said(case("session_expiry", known=known)) == ""


def test_changes_come_first_and_like_texts_once() -> None:
    known = Known(settings=[setting(2, "zookeeper.session.timeout.ms", "6000")], lives=LIFE, losses=[LOST, LOST])
    told = remedies.remedies(case("process_stall", "session_expired", "unclean_election", known=known, duration_ms=11_800, cause="unknown"))
    order = [list(ORDER).index(one.do) for one in told]
    assert order == sorted(order) and {0, 1, 2} == set(order)
    assert len({one.text for one in told}) == len(told)
