"""The questions about history, each compared with a count made from the lab's own metadata and the list of what was done to it."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from chronicle.ask.questions import answer, question
from ingestion.warehouse import Warehouse
from tests.flow.test_offsets_truth import new_sizes, old_sizes
from tests.flow.test_questions import unclean
from tests.flow.truth import millis, rows, truth
from tests.lab import CLUSTERS, Lab

UPGRADED = "upgraded-391-411"
# All of the others ran one release, for some minutes of one month.
ONE_RELEASE = [cluster for cluster in CLUSTERS if cluster != UPGRADED]
NOVEMBER = dt.date(2026, 11, 1)
NOW = dt.datetime(2027, 1, 1, tzinfo=dt.UTC)
STOPS = ("SIGTERM", "graceful stop broker")
ENDS = (*STOPS, "kill -9")
STARTS = ("start", "broker_start")


def asked(lab: Lab, name: str, **given: str) -> list[dict[str, Any]]:
    one = question(name)
    return answer(Warehouse.at(lab.warehouse), one, one.values([], given, NOW)).to_pylist()


def manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return found


def release(folder: Path) -> str:
    told = manifest(folder)
    return str(told.get("kafka_version") or told["version"])


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


def leaderless(folder: Path) -> list[dict[str, Any]]:
    """Windows without a leader of the metadata, with whether a line names the epoch that began each."""
    facts = truth(folder)
    named = {(one["topic"], one["partition"], one["at"]) for one in facts["leader_epochs"] if one["visible"]}
    return [one | {"visible": (one["topic"], one["partition"], one["start"]) in named} for one in facts["leaderless"]]


@pytest.mark.parametrize("cluster", ONE_RELEASE)
def test_windows_without_a_leader_by_month_and_release(lab: Lab, cluster: str) -> None:
    windows = leaderless(lab.folder / cluster)
    found = asked(lab, "leaderless-by-release", cluster=cluster)
    assert {(row["month_start_date"], row["kafka_version"]) for row in found} <= {(NOVEMBER, release(lab.folder / cluster))}
    assert sum(window["visible"] for window in windows) <= sum(row["windows"] for row in found) <= len(windows)
    ended = [window["end"] - window["start"] for window in windows if window["end"]]
    if ended and all(window["visible"] for window in windows):
        [row] = found
        assert row["still_open"] == len(windows) - len(ended)
        assert row["longest_ms"] == pytest.approx(max(ended), abs=2000)
        assert row["mean_ms"] == pytest.approx(sum(ended) / len(ended), abs=1000)


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_topics_suffer_as_long_as_their_partitions_had_no_leader(lab: Lab, cluster: str) -> None:
    by_topic: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for window in leaderless(lab.folder / cluster):
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
    assert releases == (["3.9.1", "4.1.1", "4.1.1", "4.1.1"] if cluster == UPGRADED else [release(folder)])


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_noisy_node_falls_out_of_in_sync_sets(lab: Lab, cluster: str) -> None:
    fell: Counter[int] = Counter()
    for change in truth(lab.folder / cluster)["isr_changes"]:
        fell.update(set(change["before"]) - set(change["after"]))
    found = {row["node_id"]: row["replicas_fell_out"] for row in asked(lab, "noisiest-nodes", cluster=cluster)}
    assert {node: found.get(node, 0) for node in fell} == {node: pytest.approx(times, rel=0.02, abs=2) for node, times in fell.items()}


def shares(folder: Path, key: str | None) -> dict[str, float]:
    """The share of partition-time without a leader, of each topic or of all."""
    facts, last = truth(folder), manifest(folder)["end_ms"]
    existed: Counter[str] = Counter()
    stopped: Counter[str] = Counter()
    for one in facts["partitions"]:
        existed[one["topic"] if key else ""] += (one["until"] or last) - one["at"]
    for window in facts["leaderless"]:
        stopped[window["topic"] if key else ""] += (window["end"] or last) - window["start"]
    return {name: stopped[name] / time for name, time in existed.items()}


@pytest.mark.parametrize("cluster", ONE_RELEASE)
def test_a_month_keeps_its_promise_as_the_metadata_say(lab: Lab, cluster: str) -> None:
    [month] = asked(lab, "slo-by-month", cluster=cluster)
    assert month["month_start_date"] == NOVEMBER
    assert 1 - month["availability_ratio"] == pytest.approx(shares(lab.folder / cluster, None)[""], abs=0.01)
    found = {row["topic_name"]: 1 - row["availability_ratio"] for row in asked(lab, "topic-slo-by-month", cluster=cluster)}
    wanted = {name: pytest.approx(share, abs=0.02) for name, share in shares(lab.folder / cluster, "topic").items()}
    assert {name: found.get(name) for name in wanted} == wanted


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_no_controlled_shutdown_of_the_lab_is_slow(lab: Lab, cluster: str) -> None:
    longest = max(stop["until"] - stop["from"] for stop in actions(lab.folder / cluster, *STOPS))
    assert longest < 300_000
    assert asked(lab, "slow-shutdowns", cluster=cluster) == []
    stated = lab.rows(f"select max(shutdown_ms) as ms from marts.fct_node_restarts where cluster_id = '{cluster}'")[0].ms
    assert 0 < stated <= longest + 1000


def test_the_offsets_topic_has_the_size_of_the_disk(lab: Lab) -> None:
    for cluster, sizes in (("zk-c-0.10.1.0-cleaner", old_sizes), ("kraft-372-offsets", new_sizes)):
        on_disk: Counter[int] = Counter()
        for (node, _), samples in sizes(lab.folder / cluster / "truth/log-dirs.jsonl").items():
            on_disk[node] += max(samples)[1]
        found = {row["node_id"]: row for row in asked(lab, "offsets-forecast", cluster=cluster)}
        print(cluster, {node: row["bytes_at_end"] for node, row in found.items()}, on_disk)
        assert {row["days_known"] for row in found.values()} == {1}
        # One day makes no line.
        assert {row["bytes_per_day"] for row in found.values()} == {None}


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_releases_that_ran(lab: Lab, cluster: str) -> None:
    wanted = {"3.9.1", "4.1.1"} if cluster == UPGRADED else {release(lab.folder / cluster)}
    found = [(row["month_start_date"], row["kafka_version"], row["clusters"]) for row in asked(lab, "releases-over-time", cluster=cluster)]
    assert found == [(NOVEMBER, version, 1) for version in sorted(wanted)]


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_brokers_are_down_from_their_end_to_their_next_start(lab: Lab, cluster: str) -> None:
    folder = lab.folder / cluster
    steps = sorted(
        [(one["from"], one["node"], "end", one["until"]) for one in actions(folder, *ENDS)]
        + [(one["from"], one["node"], one["release"] or release(folder), one["until"]) for one in actions(folder, *STARTS)]
    )
    down: dict[str, list[int]] = defaultdict(list)
    for node in {step[1] for step in steps}:
        for end, start in pairwise([step for step in steps if step[1] == node]):
            if end[2] == "end" and start[2] != "end":
                down[start[2]].append(start[0] - end[3])
    found = {row["kafka_version"]: row for row in asked(lab, "downtime-by-release", cluster=cluster)}
    print({version: (len(times), max(times)) for version, times in down.items()}, found)
    assert {version: row["restarts"] for version, row in found.items()} == {version: len(times) for version, times in down.items()}
    for version, times in down.items():
        # A process needs some seconds until it is ready.
        assert 0 <= found[version]["longest_ms"] - max(times) <= 30_000
        assert found[version]["mean_ms"] <= found[version]["p95_ms"] <= found[version]["longest_ms"]


def test_print(lab: Lab) -> None:
    for cluster in CLUSTERS:
        print("==", cluster)
        for end in actions(lab.folder / cluster, *ENDS):
            print("   ", end, dt.datetime.fromtimestamp(end["from"] / 1000, dt.UTC))
        for name in ["incidents", "mttr-by-cause", "after-maintenance"]:
            print("--", name)
            for row in asked(lab, name, cluster=cluster):
                print({k: str(v)[:60] for k, v in row.items() if not k.endswith("_key")})
