"""Saved questions and alerts: their answers match those typed from the evidence and the lab's own metadata, and both engines agree."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from deltalake import DeltaTable

from chronicle.ask import alerts
from chronicle.ask.questions import Question, answer, question, questions
from chronicle.ask.render import render
from chronicle.ask.tables import Tables
from chronicle.build.dbt_runs import options, settings_kept
from chronicle.cli import main
from chronicle.project import PROJECT
from ingestion.warehouse import Warehouse
from tests.flow.truth import rows, truth
from tests.lab import CLUSTERS, Lab, set_to_build

ANSWERS = yaml.safe_load(Path(__file__).with_name("answers.yml").read_text())
NOW = dt.datetime(2026, 11, 22, tzinfo=dt.UTC)
LONG_AGO = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)
# Answered below and in test_history.py from the lab's truth.
BY_TRUTH = {
    "leaderless_by_release",
    "worst_topics",
    "unclean_by_release",
    "noisiest_nodes",
    "slo_by_month",
    "topic_slo_by_month",
    "slow_shutdowns",
    "offsets_forecast",
    "releases_over_time",
    "mttr_by_cause",
    "after_maintenance",
    "topics_of_incident",
    "downtime_by_release",
    "under_replicated_now",
    "unclean_elections",
    "longest_leaderless",
    "who_was_controller",
    "controllerless",
    "who_led",
    "isr_churn",
    "how_nodes_ended",
    "incident",
}
# The lab has none of these: epochs without a line are derived from their neighbours, and the catalogue knows every common line.
# tests/python/test_questions.py asks them of marts made by hand.
EMPTY = {"missing_epochs", "unrecognised_shapes"}
FULL = {
    "cluster": "zk-a-2.8.2",
    "node": "1",
    "topic": "clicks",
    "partition": "clicks-0",
    "group": "billing",
    "release": "2.8.2",
    "key": "0" * 32,
    "at": "2026-11-21 09:50:03",
    "since": "2026-11-21 09:47:00",
    "until": "2026-11-21 09:47:20",
}


def plain(value: Any) -> Any:
    """A value as it is typed: times in UTC with milliseconds, days as ISO dates."""
    if isinstance(value, dt.datetime):
        return value.replace(tzinfo=None).isoformat(" ", "milliseconds")
    if isinstance(value, dt.date):
        return value.isoformat()
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value


def asked(lab: Lab, name: str, **given: str) -> list[dict[str, Any]]:
    one = question(name)
    return answer(Warehouse.at(lab.warehouse), one, one.values([], given, NOW)).to_pylist()


@pytest.mark.parametrize("wanted", ANSWERS, ids=[f"{one['ask']} {' '.join(one['with'].values())}" for one in ANSWERS])
def test_questions_are_answered_as_the_evidence_has_it(lab: Lab, wanted: dict[str, Any]) -> None:
    found = [[plain(row[column]) for column in wanted["columns"]] for row in asked(lab, wanted["ask"], **wanted["with"])]
    if wanted.get("among"):
        assert [row for row in wanted["rows"] if row not in found] == []
    else:
        assert found == wanted["rows"]


def test_columns_are_documented(lab: Lab) -> None:
    """Each column of an answer is one of a table that the question reads, or has its own description."""
    place = Warehouse.at(lab.warehouse)
    unknown = {}
    for name, one in questions().items():
        given = one.values([], {need: FULL[need] for need in one.needs}, NOW)
        tables = render(one.path, given).tables
        known = {field.name for table in tables for field in DeltaTable(place.table(*table.split("."))).schema().fields}
        columns = Tables(place).table(render(one.path, given).sql).column_names
        unknown[name] = (set(columns) - known - set(one.columns), set(one.columns) - set(columns))
    assert {name: both for name, both in unknown.items() if any(both)} == {}


def test_exit_codes_tell_alerts_from_faults(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    def code(*arguments: str) -> int:
        return main.execute(["check", "--warehouse", lab.warehouse, *arguments])

    assert code("--cluster", "incident-4", "--since", "8h", "--now", "2020-04-22 12:00") == 3
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["alert"] for line in lines] == ["incident_grave", "exposure_seen"]
    assert set(lines[0]) == {"alert", "severity", "cluster_id", "at", "key", "sentence", "ask", "parts"}
    # Warnings alone do not fail the command, unless asked for.
    warnings = ("--cluster", "incident-1", "--since", "2019-03-20 06:31", "--now", "2019-03-20 06:32")
    assert (code(*warnings), code(*warnings, "--strict"), code(*warnings, "--severity", "error")) == (0, 3, 0)
    capsys.readouterr()
    assert code("--cluster", "incident-4", "--since", "2020-04-01", "--now", "2020-04-20") == 0
    assert capsys.readouterr().out == ""
    assert code("--cluster", "incident-9") == 1
    assert "unknown cluster 'incident-9'" in capsys.readouterr().err
    assert code("--since", "yesterday") == 2


def test_what_an_alert_asks_next_is_a_command(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    found = {one["alert"]: one["ask"] for one in alerts.check(Warehouse.at(lab.warehouse), LONG_AGO, NOW)}
    assert len(found) >= 7
    for name, ask in found.items():
        assert main.execute([*ask.split()[1:], "--warehouse", lab.warehouse]) == 0, name
        assert len(capsys.readouterr().out.splitlines()) > 1, name


def test_every_question_is_tested() -> None:
    typed = {one["ask"].replace("-", "_") for one in ANSWERS}
    assert typed | BY_TRUTH | EMPTY == set(questions())


@pytest.mark.parametrize("name", sorted(EMPTY))
def test_what_is_empty_is_empty_on_all_clusters(lab: Lab, name: str) -> None:
    assert [row for row in asked(lab, name) if row["cluster_id"] in CLUSTERS] == []


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_partitions_are_as_the_clusters_own_metadata_have_them(lab: Lab, cluster: str) -> None:
    facts = truth(lab.folder / cluster)
    still = {
        (stretch["topic"], stretch["partition"], stretch["replica"])
        for stretch in facts["out_of_sync"]
        if stretch["end"] is None and not stretch["deleted"]
    }
    told = {(row["topic_name"], row["partition_id"], row["node_id"]) for row in asked(lab, "under-replicated-now", cluster=cluster)}
    assert len(still) >= 30
    # An attempt that its leader gave up is mistaken for a change, at most once in a cluster.
    assert still <= told
    assert len(told - still) <= 1
    # What was open when the storage was formatted anew is no longer; nor is anything after all brokers were stopped, as they were in the end.
    last = max(epoch["incarnation"] for epoch in facts["leader_epochs"])
    gone = {
        (stretch["topic"], stretch["partition"])
        for stretch in facts["leaderless"]
        if stretch["end"] is None and stretch["incarnation"] == last
    }
    windows = asked(lab, "longest-leaderless", cluster=cluster)
    assert gone <= {(row["topic_name"], row["partition_id"]) for row in windows}
    assert [row for row in windows if row["ended_at"] is None] == []
    tenures = [(row["controller_epoch"], row["controller_id"]) for row in asked(lab, "who-was-controller", cluster=cluster)]
    assert {(tenure["epoch"], tenure["controller"]) for tenure in facts["tenures"]} <= set(tenures)
    changes = Counter((change["topic"], change["partition"]) for change in facts["isr_changes"])
    churn = {(row["topic_name"], row["partition_id"]): row["changes"] for row in asked(lab, "isr-churn", cluster=cluster)}
    apart = {key: (count, churn.get(key)) for key, count in changes.items() if abs(count - churn.get(key, 0)) > 2}
    assert apart == {}


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_partition_was_led_by_whom_its_metadata_name(lab: Lab, cluster: str) -> None:
    """One partition of each cluster, queried between each two of its epochs."""
    epochs = [epoch for epoch in truth(lab.folder / cluster)["leader_epochs"] if epoch["visible"]]
    (topic, partition), _ = Counter((epoch["topic"], epoch["partition"]) for epoch in epochs).most_common(1)[0]
    mine = sorted((epoch for epoch in epochs if (epoch["topic"], epoch["partition"]) == (topic, partition)), key=lambda one: one["at"])
    asked_at = 0
    for epoch, following in pairwise(mine):
        if following["epoch"] == epoch["epoch"] + 1 and following["at"] - epoch["at"] > 3000:
            at = dt.datetime.fromtimestamp((epoch["at"] + following["at"]) / 2000, dt.UTC).isoformat()
            found = asked(lab, "who-led", partition=f"{topic}-{partition}", cluster=cluster, at=at)
            assert [(row["leader_epoch"], row["leader_id"]) for row in found] == [(epoch["epoch"], epoch["leader"])]
            asked_at += 1
    assert asked_at >= 2


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_lives_are_as_many_as_starts(lab: Lab, cluster: str) -> None:
    actions = rows(lab.folder / cluster / "truth/actions.jsonl")
    started = Counter(int(action.get("broker", action.get("node"))) for action in actions if action["action"] in ("start", "broker_start"))
    assert Counter(row["node_id"] for row in asked(lab, "how-nodes-ended", cluster=cluster)) == started


@cache
def unclean(folder: Path) -> set[tuple[str, int, int]]:
    """Topic, partition and epoch of leaders that were not in the last in-sync set before them, from the metadata's own states."""
    states: dict[tuple[str, int], tuple[int, list[int]]] = {}
    found = set()
    for change in sorted(rows(folder / "truth/truth.jsonl"), key=lambda one: (one["zxid"], one.get("multi", 0))):
        parts = (change.get("path") or "").split("/")
        value = change.get("value")
        if parts[-1] == "state" and isinstance(value, dict):
            key = (parts[3], int(parts[5]))
            before = states.get(key)
            if before and value["leader"] not in (-1, before[0]) and value["leader"] not in before[1]:
                found.add((*key, value["leader_epoch"]))
            states[key] = (value["leader"], value["isr"])
        elif change["type"] == "delete" and parts[-1] == "state":
            states.pop((parts[3], int(parts[5])), None)
    return found


@pytest.mark.parametrize("cluster", [cluster for cluster in CLUSTERS if cluster.startswith("zk-")])
def test_unclean_elections_are_those_of_the_metadata(lab: Lab, cluster: str) -> None:
    found = {(row["topic_name"], row["partition_id"], row["leader_epoch"]) for row in asked(lab, "unclean-elections", cluster=cluster)}
    assert found == unclean(lab.folder / cluster)


def test_an_incident_is_told_event_by_event(lab: Lab) -> None:
    """The deadlock: in-sync sets shrink at 02:10:30, both other brokers lose the node, a dump of 09:31 shows why."""
    key = asked(lab, "incidents", cluster="incident-4")[0]["incident_key"]
    told = asked(lab, "incident", key=key)
    assert plain(told[0]["happened_at"]) == "2020-04-22 02:10:30.401"
    assert [(row["role"], plain(row["happened_at"])) for row in told if row["fact_name"] == "fct_thread_deadlocks"] == [
        ("cause", "2020-04-22 09:31:06.000")
    ]
    assert {row["fact_rows"] for row in told if row["fact_name"] == "fct_isr_changes"} == {4}


def settled(found: list[dict[str, Any]]) -> list[Any]:
    return [[(name, sorted(map(str, dict(value))) if name == "settings" else plain(value)) for name, value in row.items()] for row in found]


# Questions whose parameters become conditions of every kind.
ALL_PARAMETERS = ("who_led", "what_happened")


def test_both_engines_answer_alike(lab: Lab) -> None:
    """Every question with its required parameters, two of them with all parameters."""
    asked_of = {name: sql_of(one, one.takes if name in ALL_PARAMETERS else one.needs) for name, one in questions().items()}
    different, answered = {}, set()
    with set_to_build(lab.spark):
        spark = lab.spark
        with ThreadPoolExecutor(2) as pool:
            answers = pool.map(lambda sql: spark.sql(sql).toArrow().to_pylist(), asked_of.values())
        tables = Tables(Warehouse.at(lab.warehouse))
        for (name, sql), of_spark in zip(asked_of.items(), answers, strict=True):
            fast, spark = settled(tables.rows(sql)), settled(of_spark)
            if fast != spark:
                different[name] = [pair for pair in zip(fast, spark, strict=False) if pair[0] != pair[1]][:2] or (len(fast), len(spark))
            answered |= {name} if fast else set()
    assert different == {}
    assert len(answered) >= 30


def sql_of(one: Question, names: tuple[str, ...]) -> str:
    return render(one.path, one.values([], {name: FULL[name] for name in names}, NOW)).sql


ALERTS = {
    # The contents of the incidents' bundles, one by one; times in UTC, and a part of an incident.
    ("incident-2", "2018-06-10 07:00", "2018-06-10 08:00"): [
        # Broker 3 has epoch 13 when broker 1 stores 14.
        ("incident_grave", "error", "2018-06-10T07:48:30.607Z", "Node 3 was up to 1 epochs behind for __consumer_offsets-3."),
        # So has broker 2, which was elected while broker 1 still acted as controller.
        ("incident_grave", "error", "2018-06-10T07:48:30.936Z", "Node 1 still acted as controller for 1.9 s after node 2 was elected."),
    ],
    # The second goes on: its last part is the leader that was lost two days later.
    ("incident-2", "2018-06-12 13:43", "2018-06-12 13:44"): [
        (
            "incident_grave",
            "error",
            "2018-06-10T07:48:30.936Z",
            "Without a leader, until the logs end: __consumer_offsets-3.",
        ),
        ("incident_grave", "error", "2018-06-12T13:43:19.020Z", "The session of node 1 expired (the network)."),
    ],
    ("incident-2", "2018-06-12 13:44", "2018-06-12 13:45"): [],
    # A dump shows the deadlock that the incident began with.
    ("incident-4", "2020-04-22 04:00", "2020-04-22 12:00"): [
        ("incident_grave", "error", "2020-04-22T02:10:30.401Z"),
        ("exposure_seen", "warn", "2020-04-22T09:31:06.000Z"),
    ],
    # An hour after the last words of each node: 02:14:01, 02:50:14, 02:59:42.
    ("incident-4", "2020-04-22 03:00", "2020-04-22 04:00"): [("coverage_gone", "error")] * 3,
    # 65,529 maps of 65,530.
    ("incident-1", "2019-03-20 06:31", "2019-03-20 06:32"): [("resource_near_limit", "warn", "2019-03-20T06:31:05.000Z")],
    ("incident-4", "2020-04-01", "2020-04-20"): [],
}


@pytest.mark.parametrize("asked_for", ALERTS, ids=" ".join)
def test_alerts_are_what_came_up_in_the_period(lab: Lab, asked_for: tuple[str, str, str]) -> None:
    cluster, since, now = asked_for
    start, end = (dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC) for text in (since, now))
    found = alerts.check(Warehouse.at(lab.warehouse), start, end, cluster)
    assert len(found) == len(ALERTS[asked_for])
    for one, (name, severity, *more) in zip(found, ALERTS[asked_for], strict=True):
        assert (one["alert"], one["severity"]) == (name, severity)
        assert [one["at"]] == more[:1] or not more
        assert {*more[1:]} <= {part["sentence"] for part in one["parts"]}


def test_incidents_are_alerts_by_their_severity(lab: Lab) -> None:
    found = alerts.check(Warehouse.at(lab.warehouse), LONG_AGO, NOW, "incident-4")
    assert [(one["alert"], one["at"]) for one in found if one["alert"].startswith("incident")] == [
        ("incident_grave", "2020-04-22T02:10:30.401Z")
    ]
    grave = alerts.check(Warehouse.at(lab.warehouse), LONG_AGO, NOW, "incident-4", "error")
    assert grave == [one for one in found if one["severity"] == "error"]


def test_dbt_runs_the_same_alerts_and_builds_do_not(lab: Lab) -> None:
    """`dbt test --select tag:alert` fails or warns where `chronicle check` finds something, with as many rows."""
    from dbt.cli.main import dbtRunner

    place = Warehouse.at(lab.warehouse)
    period = {"since": LONG_AGO.isoformat(), "until": NOW.isoformat()}
    wanted = ["test", *options(place, PROJECT), "--select", "tag:alert"]
    wanted[wanted.index("--vars") + 1] = json.dumps(period)
    with settings_kept(lab.spark):
        done = dbtRunner().invoke(wanted)
    tests = [result for result in done.result.results if str(result.node.resource_type) == "test"]
    states = {result.node.name: (str(result.status), result.failures) for result in tests}
    counts = Counter(one["alert"] for one in alerts.check(place, LONG_AGO, NOW))
    severities = {alert.name: alert.severity for alert in alerts.alerts()}
    assert set(states) == set(severities)
    for name, (state, failures) in states.items():
        assert failures == counts[name], name
        assert state == ("pass" if not failures else "warn" if severities[name] == "warn" else "fail"), name
    assert sum(counts.values()) > 100
