"""A cluster of two releases, with a topic that has two lives, a node that was replaced, and two incarnations: compared with its own metadata."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.flow.truth import millis, millis_of, rows, truth

CLUSTER = "upgraded-391-411"


@pytest.fixture(scope="module")
def folder(lab) -> Path:
    return lab.folder / CLUSTER


def of(lab, table: str, order: str = "1") -> list[Any]:
    return lab.rows(f"select * from {table} where cluster_id = '{CLUSTER}' order by {order}")


def actions(folder: Path, name: str) -> list[dict[str, Any]]:
    return [action for action in rows(folder / "truth/actions.jsonl") if action["action"] == name]


def cluster_ids(folder: Path) -> list[str]:
    return list(dict.fromkeys(record["cluster_id"] for record in rows(folder / "truth/metadata.jsonl")))


def topics(folder: Path) -> dict[tuple[int, str, int], dict[str, Any]]:
    """(incarnation, topic, life) → id, partitions and when they were created."""
    ids = cluster_ids(folder)
    found: dict[tuple[int, str, int], dict[str, Any]] = {}
    for record in rows(folder / "truth/metadata.jsonl"):
        if record["type"] == "TOPIC_RECORD":
            incarnation, name = ids.index(record["cluster_id"]) + 1, record["data"]["name"]
            life = 1 + sum((incarnation, name) == known[:2] for known in found)
            found[incarnation, name, life] = {"topic_id": record["data"]["topicId"], "at": record["ts"]}
    return found


def test_the_story_is_in_the_fixture(folder: Path) -> None:
    assert len(cluster_ids(folder)) == 2
    assert {action["release"] for action in actions(folder, "start")} == {"3.9.1", "4.1.1"}
    assert {name for _, name, _ in topics(folder)} == {"orders", "clicks", "solo", "drafts", "__consumer_offsets"}
    assert [life for (incarnation, name, life) in topics(folder) if (incarnation, name) == (1, "drafts")] == [1, 2]


def test_each_run_has_the_release_that_was_started(lab, folder: Path) -> None:
    wanted: dict[int, list[str]] = defaultdict(list)
    for action in actions(folder, "start"):
        wanted[action["node"]].append(action["release"])
    found: dict[int, list[str]] = defaultdict(list)
    for run in of(lab, "marts.dim_node_runs", "node_id, run_number"):
        found[run.node_id].append(run.kafka_version)
    assert found == wanted


def test_runs_begin_when_their_process_was_started(lab, folder: Path) -> None:
    starts = sorted((action["node"], action["end_ms"]) for action in actions(folder, "start"))
    runs = sorted((run.node_id, millis(run.started_at)) for run in of(lab, "marts.dim_node_runs"))
    late = [(start, run) for start, run in zip(starts, runs, strict=True) if start[0] != run[0] or not 0 <= run[1] - start[1] < 15_000]
    assert late == []


def test_a_node_has_one_release_at_each_time(lab, folder: Path) -> None:
    """Between a stop and the next start a node has the release that it had last."""
    releases = of(lab, "intermediate.int_nodes__releases")
    starts = sorted(actions(folder, "start"), key=lambda action: action["start_ms"])
    wrong = []
    for at in range(starts[0]["start_ms"] + 15_000, starts[-1]["start_ms"] + 60_000, 5000):
        for node in (1, 2, 3):
            own = [action for action in starts if action["node"] == node]
            # The process needs some seconds until it logs.
            if any(action["start_ms"] <= at < action["start_ms"] + 15_000 for action in own):
                continue
            wanted = [action["release"] for action in own if action["start_ms"] <= at][-1]
            told = [
                one.kafka_version for one in releases if one.node_id == node and millis_of(one.valid_from) <= at < millis_of(one.valid_to)
            ]
            if told != [wanted]:
                wrong.append((node, at, told, wanted))
    assert wrong == []


def test_incarnations_are_the_clusters_that_were_formatted(lab, folder: Path) -> None:
    found = of(lab, "marts.dim_clusters", "cluster_incarnation")
    assert [row.kafka_cluster_id for row in found] == cluster_ids(folder)
    [formatted] = [action for action in actions(folder, "format") if action["cluster_id"] == cluster_ids(folder)[1]]
    stopped = max(action["end_ms"] for action in rows(folder / "truth/actions.jsonl") if action["end_ms"] <= formatted["start_ms"])
    first_start = min(action["start_ms"] for action in actions(folder, "start") if action["start_ms"] > formatted["start_ms"])
    assert stopped <= millis_of(found[1].valid_from) <= first_start + 15_000
    assert found[0].valid_to == found[1].valid_from


def test_runs_are_of_the_incarnation_whose_storage_they_used(lab, folder: Path) -> None:
    formatted = max(action["end_ms"] for action in actions(folder, "format"))
    wanted = {}
    for node in (1, 2, 3):
        starts = sorted(action["start_ms"] for action in actions(folder, "start") if action["node"] == node)
        wanted |= {(node, number): 1 + (at >= formatted) for number, at in enumerate(starts, start=1)}
    assert {(run.node_id, run.run_number): run.cluster_incarnation for run in of(lab, "marts.dim_node_runs")} == wanted


def test_both_lives_of_a_topic_and_both_incarnations_are_topics(lab, folder: Path) -> None:
    wanted = {}
    for (incarnation, name, life), topic in topics(folder).items():
        own = [one for one in truth(folder)["partitions"] if (one["incarnation"], one["topic"], one["life"]) == (incarnation, name, life)]
        wanted[incarnation, name, life] = (topic["topic_id"], len(own), len(own[0]["replicas"]))
    found = {
        (row.cluster_incarnation, row.topic_name, row.topic_incarnation): (row.topic_id, row.partitions, row.replication_factor)
        for row in of(lab, "marts.dim_topics")
    }
    assert found == wanted


def test_partitions_have_the_replicas_that_they_had_last(lab, folder: Path) -> None:
    wanted = {
        (one["incarnation"], one["topic"], one["life"], one["partition"]): (one["replicas"], len(one["replicas"]))
        for one in truth(folder)["partitions"]
    }
    found = {
        (row.cluster_incarnation, row.topic_name, row.topic_incarnation, row.partition_id): (row.replicas, row.replication_factor)
        for row in of(lab, "marts.dim_partitions")
    }
    assert found == wanted


def test_partitions_have_the_min_isr_that_was_set_last(lab) -> None:
    """The describes of the first incarnation say nothing about the second; what was never set is the broker's default of 1."""
    found: dict[tuple[int, str], set[int | None]] = defaultdict(set)
    for row in of(lab, "marts.dim_partitions"):
        found[row.cluster_incarnation, row.topic_name].add(row.min_insync_replicas)
    assert {key: values for key, values in found.items() if key[1] in ("orders", "clicks")} == {
        (1, "orders"): {2},
        (1, "clicks"): {2},
        (2, "orders"): {2},
        (2, "clicks"): {1},
    }


def test_what_ran_at_a_time_is_one_row(lab, folder: Path) -> None:
    """From the first node with the new release to the last one, both ran."""
    starts = sorted(actions(folder, "start"), key=lambda action: action["start_ms"])
    formatted = max(action["end_ms"] for action in actions(folder, "format"))
    new = {
        action["node"]: action["start_ms"] for action in reversed(starts) if action["release"] == "4.1.1" and action["start_ms"] < formatted
    }
    borders = [
        starts[0]["start_ms"],
        min(new.values()),
        max(new.values()),
        min(one["start_ms"] for one in starts if one["start_ms"] > formatted),
    ]
    found = of(lab, "marts.dim_cluster_releases", "valid_from")
    assert [(row.cluster_incarnation, row.kafka_versions, row.is_mixed, row.is_current) for row in found] == [
        (1, ["3.9.1"], False, False),
        (1, ["3.9.1", "4.1.1"], True, False),
        (1, ["4.1.1"], False, False),
        (2, ["4.1.1"], False, True),
    ]
    # A process prints its first line some seconds after it was started.
    assert all(0 <= millis_of(row.valid_from) - border <= 30_000 for row, border in zip(found, borders, strict=True))
    assert [row.valid_to for row in found] == [*(row.valid_from for row in found[1:]), None]


def test_a_restart_says_which_release_went_and_which_came(lab, folder: Path) -> None:
    found: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for row in of(lab, "marts.fct_node_restarts", "node_id, stopped_at"):
        if row.next_node_run_key:
            found[row.node_id].append((row.kafka_version_before, row.kafka_version_after))
    formatted = max(action["end_ms"] for action in actions(folder, "format"))
    wanted: dict[int, list[tuple[str, str]]] = {}
    for is_second in (False, True):
        by_node: dict[int, list[str]] = defaultdict(list)
        for action in sorted(actions(folder, "start"), key=lambda action: action["start_ms"]):
            if (action["start_ms"] > formatted) == is_second:
                by_node[action["node"]].append(action["release"])
        for node, releases in by_node.items():
            wanted.setdefault(node, []).extend(pairwise(releases))
    assert found == wanted
