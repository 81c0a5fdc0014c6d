"""Containers of pods that ended."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from ingestion.captures import About, Row, lines_of
from ingestion.captures.system import pods

FIXTURES = Path(__file__).parents[1] / "fixtures" / "captures" / "pods"
PART = """\
    Last State:     Terminated
      Reason:       Error
      Exit Code:    3
"""
HEALTHY = "Name: broker-4\nContainers:\n  kafka:\n    State:          Running\n      Started:      Tue, 09 Jul 2024 06:12:44 +0000\n"


def read(text: str) -> list[Row]:
    kind = pods.kind_of(text, "x.txt")
    assert kind == "kubernetes_pod"
    return [row for row in pods.read(kind, lines_of(text), About("x.txt")) if isinstance(row, Row)]


def test_a_container_that_was_killed() -> None:
    (row,) = read((FIXTURES / "describe-oom-killed.txt").read_text(encoding="utf-8"))
    assert (row.kind, row.at, row.at_known_by) == ("container_exit", dt.datetime(2024, 7, 9, 6, 12, 42, tzinfo=dt.UTC), "content")
    assert row.fields == {
        "unit": "broker-4/kafka",
        "image": "apache/kafka:3.7.1",
        "reason": "OOMKilled",
        "exit_code": "137",
        "code": "killed",
        "status": "9",
        "result": "oom-kill",
        "started_at": "2024-07-08T22:01:10+00:00",
    }


def test_a_part_of_the_output_names_no_container_and_no_time() -> None:
    (row,) = read(PART)
    assert row.fields == {"reason": "Error", "exit_code": "3", "code": "exited", "status": "3"}
    assert row.at_known_by != "content"


def test_a_pod_that_runs_has_not_ended() -> None:
    assert pods.kind_of(HEALTHY, "x.txt") is None
    assert pods.kind_of("The State: of Exit Code: 137 is explained here\n", "x.md") is None
