"""The questions about history, each compared with a count made from the lab's own metadata and the list of what was done to it."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from chronicle.ask.questions import answer, question
from ingestion.warehouse import Warehouse
from tests.flow.truth import millis, rows, truth
from tests.lab import CLUSTERS, Lab

UPGRADED = "upgraded-391-411"
# All of the others ran one release.
ONE_RELEASE = [cluster for cluster in CLUSTERS if cluster != UPGRADED]
NOW = dt.datetime(2027, 1, 1, tzinfo=dt.UTC)
NOVEMBER = dt.date(2026, 11, 1)


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
    """What was done to the cluster, as node, from and until in epoch milliseconds: the actions whose name begins with one of the words."""
    return [
        {
            "node": action.get("node", action.get("broker")),
            "from": action.get("start_ms", action.get("start")),
            "until": action.get("end_ms", action.get("end")),
        }
        for action in rows(folder / "truth/actions.jsonl")
        if action["action"].startswith(words)
    ]


STOPS = ("SIGTERM", "graceful stop broker")
KILLS = ("kill -9 broker", "kill -9")
STARTS = ("start", "broker_start")


def leaderless(folder: Path) -> list[dict[str, Any]]:
    """Windows without a leader of the metadata, with whether a line names the epoch that began each."""
    facts = truth(folder)
    named = {(one["topic"], one["partition"], one["at"]) for one in facts["leader_epochs"] if one["visible"]}
    return [one | {"visible": (one["topic"], one["partition"], one["start"]) in named} for one in facts["leaderless"]]


@pytest.mark.parametrize("cluster", ONE_RELEASE)
def test_leaderless_windows_of_a_month_and_release(lab: Lab, cluster: str) -> None:
    windows = leaderless(lab.folder / cluster)
    found = asked(lab, "leaderless-by-release", cluster=cluster)
    assert {(row["month_start_date"], row["kafka_version"]) for row in found} <= {(NOVEMBER, release(lab.folder / cluster))}
    counted = sum(row["windows"] for row in found)
    assert sum(window["visible"] for window in windows) <= counted <= len(windows)
    if all(window["visible"] for window in windows):
        ended = [window["end"] - window["start"] for window in windows if window["end"]]
        assert sum(row["still_open"] for row in found) == len(windows) - len(ended)
        assert [row["longest_ms"] for row in found if ended] == [pytest.approx(max(ended), abs=2000)] * bool(ended)
        assert [row["mean_ms"] for row in found if ended] == [pytest.approx(sum(ended) / len(ended), abs=1000)] * bool(ended)


def stopped_by(folder: Path) -> dict[tuple[str, int], int]:
    """The milliseconds without a leader of each topic and partition, of windows that ended."""
    found: Counter[str] = Counter()
    for window in leaderless(folder):
        found[window["topic"]] += window["end"] - window["start"]
    return found


def test_print(lab: Lab) -> None:
    for cluster in CLUSTERS:
        print("==", cluster)
        for name in (
            "leaderless-by-release worst-topics unclean-by-release noisiest-nodes slo-by-month topic-slo-by-month slow-shutdowns offsets-forecast "
            "releases-over-time mttr-by-cause after-maintenance downtime-by-release"
        ).split():
            print("--", name)
            for row in asked(lab, name, cluster=cluster):
                print({k: v for k, v in row.items() if not k.endswith("_key")})
