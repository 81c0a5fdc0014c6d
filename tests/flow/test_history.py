"""The questions about history, each compared with a count made from the lab's own metadata and the list of what was done to it."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.flow.test_offsets_truth import SEGMENT, new_sizes, old_sizes
from tests.flow.test_questions import asked, unclean
from tests.flow.truth import STAMP, millis_of, rows, truth
from tests.lab import CLUSTERS, Lab

UPGRADED = "upgraded-391-411"
# All of the others ran one release, for some minutes of one month.
ONE_RELEASE = [cluster for cluster in CLUSTERS if cluster != UPGRADED]
NOVEMBER = dt.date(2026, 11, 1)
STOPS = ("SIGTERM", "graceful stop broker")
ENDS = (*STOPS, "kill -9")
STARTS = ("start", "broker_start")


def manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return found


def release(folder: Path) -> str | None:
    """The release that ran, if the logs of its brokers say it: 0.8 does not."""
    told = manifest(folder)
    version = str(told.get("kafka_version") or told["version"])
    return None if version.startswith("0.8") else version


def actions(folder: Path, *words: str) -> list[dict[str, Any]]:
    """What was done to nodes whose name begins with one of the words: node, from and until in epoch milliseconds, and the release if it is said."""
    return [
        {
            "node": action.get("node", action.get("broker")),
            "from": action.get("start_ms", action.get("start")),
            "until": action.get("end_ms", action.get("end")),
            "release": action.get("release"),
        }
        for action in rows(folder / "truth/actions.jsonl")
        if action["action"].startswith(words) and action.get("node", action.get("broker")) is not None
    ]


@pytest.mark.parametrize("cluster", ONE_RELEASE)
def test_windows_without_a_leader_by_month_and_release(lab: Lab, cluster: str) -> None:
    windows = truth(lab.folder / cluster)["leaderless"]
    found = asked(lab, "leaderless-by-release", cluster=cluster)
    assert {(row["month_start_date"], row["kafka_version"]) for row in found} <= {(NOVEMBER, release(lab.folder / cluster))}
    assert sum(window["visible"] for window in windows) <= sum(row["windows"] for row in found) <= len(windows)
    ended = [window["end"] - window["start"] for window in windows if window["end"]]
    if ended and all(window["visible"] for window in windows):
        [row] = found
        # All brokers were stopped in the end: what no leader ended until then is over as well.
        assert row["still_open"] == 0
        assert row["longest_ms"] == pytest.approx(max(ended), abs=2000)
        if len(windows) - len(ended) <= 1:
            assert row["mean_ms"] == pytest.approx(sum(ended) / len(ended), abs=1000)


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_topics_suffer_as_long_as_their_partitions_had_no_leader(lab: Lab, cluster: str) -> None:
    by_topic: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for window in truth(lab.folder / cluster)["leaderless"]:
        by_topic[window["topic"]].append(window)
    found = {row["topic_name"]: row["leaderless_ms"] for row in asked(lab, "worst-topics", cluster=cluster)}
    assert {topic for topic, ms in found.items() if ms > 0} <= set(by_topic)
    for topic, windows in by_topic.items():
        if all(window["end"] and window["visible"] for window in windows):
            wanted = sum(window["end"] - window["start"] for window in windows)
            assert found[topic] == pytest.approx(wanted, abs=500 * len(windows)), topic
    assert list(found.values()) == sorted(found.values(), reverse=True)


def unclean_of_kraft(folder: Path) -> list[int]:
    """When a leader was elected that has to recover (KIP-704), in epoch milliseconds."""
    changes = [record for record in rows(folder / "truth/metadata.jsonl") if record["type"] == "PARTITION_CHANGE_RECORD"]
    return [record["ts"] for record in changes if record["data"].get("leaderRecoveryState") == 1]


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_unclean_elections_by_release(lab: Lab, cluster: str) -> None:
    folder = lab.folder / cluster
    found = asked(lab, "unclean-by-release", cluster=cluster)
    wanted = unclean(folder) if cluster.startswith("zk-") else unclean_of_kraft(folder)
    assert sum(row["unclean_elections"] for row in found) == len(wanted)
    releases = [row["kafka_version"] for row in found]
    assert releases == (["3.9.1", "4.1.1", "4.1.1", "4.1.1"] if cluster == UPGRADED else [release(folder)] if release(folder) else [])


def kills(folder: Path) -> list[dict[str, Any]]:
    return actions(folder, "kill -9")


def of_kill(incidents: list[dict[str, Any]], kill: dict[str, Any]) -> dict[str, Any]:
    """The incident whose root is the death of the process; what happened in the seconds before may be part of it."""
    [found] = [
        row
        for row in incidents
        if any(said in row["summary"] for said in (f"node {kill['node']} was killed", f"node {kill['node']} ended"))
        and -3000 <= millis_of(row["started_at"]) - kill["from"] <= 2000
    ]
    return found


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_each_kill_is_an_incident_of_its_cause(lab: Lab, cluster: str) -> None:
    found = [row for row in asked(lab, "mttr-by-cause", cluster=cluster) if row["root_cause_kind"] == "process_death"]
    assert sum(row["incidents"] for row in found) == len(kills(lab.folder / cluster))
    assert {row["quarter_start_date"] for row in found} == {dt.date(2026, 10, 1)}
    assert all(row["mean_ms"] <= row["longest_ms"] for row in found)


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_incidents_after_a_maintenance(lab: Lab, cluster: str) -> None:
    """The lab lasts minutes: each kill after the first controlled stop is within an hour of it."""
    folder = lab.folder / cluster
    first = min(stop["from"] for stop in actions(folder, *STOPS))
    found = {row["incident_key"] for row in asked(lab, "after-maintenance", cluster=cluster)}
    incidents = asked(lab, "incidents", cluster=cluster)
    for kill in kills(folder):
        assert (of_kill(incidents, kill)["incident_key"] in found) == (kill["from"] > first), kill


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_topics_of_an_incident(lab: Lab, cluster: str) -> None:
    """All whose in-sync sets the node left when it was killed; the first kill of each cluster meets no other trouble."""
    folder = lab.folder / cluster
    facts = truth(folder)
    kill = kills(folder)[0]
    left = [
        change
        for change in facts["isr_changes"]
        if kill["node"] in set(change["before"]) - set(change["after"]) and 0 <= change["at"] - kill["from"] <= 20_000
    ]
    key = of_kill(asked(lab, "incidents", cluster=cluster), kill)["incident_key"]
    found = {row["topic_name"]: row["partitions"] for row in asked(lab, "topics-of-incident", key=key)}
    assert {change["topic"] for change in left} <= set(found) <= {one["topic"] for one in facts["partitions"]}
    for topic, partitions in found.items():
        assert partitions >= len({change["partition"] for change in left if change["topic"] == topic}), topic


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_noisy_node_falls_out_of_in_sync_sets(lab: Lab, cluster: str) -> None:
    fell: Counter[int] = Counter()
    for change in truth(lab.folder / cluster)["isr_changes"]:
        fell.update(set(change["before"]) - set(change["after"]))
    found = {row["node_id"]: row["replicas_fell_out"] for row in asked(lab, "noisiest-nodes", cluster=cluster)}
    assert {node: found.get(node, 0) for node in fell} == {node: pytest.approx(times, rel=0.02, abs=2) for node, times in fell.items()}


def last_record(folder: Path) -> int:
    """When the last line of any node's log was written, in epoch milliseconds: nothing is known of later times."""
    texts = (path.read_bytes() for path in (folder / "input").rglob("*.log"))
    last = (found[-1].decode() for text in texts if (found := STAMP.findall(text)))
    return max(millis_of(dt.datetime.fromisoformat(said.replace(",", "."))) for said in last)


def shares(folder: Path, *, by_topic: bool) -> dict[str, float]:
    """The share of partition-time without a leader, of each topic or of all, up to the last line of the logs."""
    facts, last = truth(folder), last_record(folder)
    existed: Counter[str] = Counter()
    stopped: Counter[str] = Counter()
    for one in facts["partitions"]:
        existed[one["topic"] if by_topic else ""] += max(0, min(one["until"] or last, last) - one["at"])
    for window in facts["leaderless"]:
        stopped[window["topic"] if by_topic else ""] += max(0, min(window["end"] or last, last) - window["start"])
    return {name: stopped[name] / time for name, time in existed.items() if time}


@pytest.mark.parametrize("cluster", ONE_RELEASE)
def test_a_month_keeps_its_promise_as_the_metadata_say(lab: Lab, cluster: str) -> None:
    [month] = asked(lab, "slo-by-month", cluster=cluster)
    assert month["month_start_date"] == NOVEMBER
    assert 1 - month["availability_ratio"] == pytest.approx(shares(lab.folder / cluster, by_topic=False)[""], abs=0.01)
    found = {row["topic_name"]: 1 - row["availability_ratio"] for row in asked(lab, "topic-slo-by-month", cluster=cluster)}
    wanted = {name: pytest.approx(share, abs=0.02) for name, share in shares(lab.folder / cluster, by_topic=True).items()}
    assert {name: found.get(name) for name in wanted} == wanted


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_no_controlled_shutdown_of_the_lab_is_slow(lab: Lab, cluster: str) -> None:
    longest = max(stop["until"] - stop["from"] for stop in actions(lab.folder / cluster, *STOPS))
    assert longest < 300_000
    assert asked(lab, "slow-shutdowns", cluster=cluster) == []
    stated = lab.rows(f"select max(shutdown_ms) as ms from marts.fct_node_restarts where cluster_id = '{cluster}'")[0].ms
    # 4.0 to 4.2 lose the last lines of a process, which say that it has stopped.
    assert (stated is None) == (cluster == "kraft-401-random")
    assert stated is None or 0 < stated <= longest + 1000


def test_the_offsets_topic_has_the_size_of_the_disk(lab: Lab) -> None:
    for cluster, sizes in (("zk-c-0.10.1.0-cleaner", old_sizes), ("kraft-372-offsets", new_sizes)):
        on_disk: Counter[int] = Counter()
        for (node, _), samples in sizes(lab.folder / cluster / "truth/log-dirs.jsonl").items():
            on_disk[node] += max(samples)[1]
        found = {row["node_id"]: row for row in asked(lab, "offsets-forecast", cluster=cluster)}
        # The segments to which the brokers still append are not in the estimates.
        partitions = Counter(node for node, _ in sizes(lab.folder / cluster / "truth/log-dirs.jsonl"))
        # Of a replica with less than a segment no size is told.
        assert all(on_disk[node] <= SEGMENT * partitions[node] for node in set(on_disk) - set(found))
        assert set(found) <= set(on_disk)
        assert all(0 <= on_disk[node] - row["bytes_at_end"] <= SEGMENT * partitions[node] for node, row in found.items())
        assert {row["days_known"] for row in found.values()} == {1}
        # One day makes no line.
        assert {row["bytes_per_day"] for row in found.values()} == {None}


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_releases_that_ran(lab: Lab, cluster: str) -> None:
    wanted = ["3.9.1", "4.1.1"] if cluster == UPGRADED else [release(lab.folder / cluster)]
    found = [(row["month_start_date"], row["kafka_version"], row["clusters"]) for row in asked(lab, "releases-over-time", cluster=cluster)]
    assert found == [(NOVEMBER, version, 1) for version in wanted]


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_brokers_are_down_from_their_end_to_their_next_start(lab: Lab, cluster: str) -> None:
    folder = lab.folder / cluster
    steps = sorted(
        [(one["from"], one["node"], "end", one["until"]) for one in actions(folder, *ENDS)]
        + [(one["from"], one["node"], one["release"] or release(folder), one["until"]) for one in actions(folder, *STARTS)]
    )
    # A node whose storage was formatted with another cluster id comes back as one of another cluster.
    formatted = (
        [action["start_ms"] for action in rows(folder / "truth/actions.jsonl") if action["action"] == "format"][-1:]
        if cluster == UPGRADED
        else []
    )
    down: dict[str | None, list[int]] = defaultdict(list)
    for node in {step[1] for step in steps}:
        for end, start in pairwise([step for step in steps if step[1] == node]):
            if end[2] == "end" and start[2] != "end" and not any(end[0] < at < start[0] for at in formatted):
                down[start[2]].append(start[0] - end[3])
    found = {row["kafka_version"]: row for row in asked(lab, "downtime-by-release", cluster=cluster)}
    assert {version: row["restarts"] for version, row in found.items()} == {version: len(times) for version, times in down.items()}
    for version, times in down.items():
        # A process needs some seconds until it is ready.
        assert 0 <= found[version]["longest_ms"] - max(times) <= 30_000
        assert found[version]["mean_ms"] <= found[version]["p95_ms"] <= found[version]["longest_ms"]
