"""Layouts that nobody listed are derived from lines whose wording is known, or not at all."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import pytest

from ingestion.records.derive import derive
from tests.python.test_wrappers import load

MESSAGES = [
    ("INFO", "main", "kafka.server.KafkaServer", "[KafkaServer id=3] started"),
    ("INFO", "kafka-scheduler-1", "kafka.log.LogManager", "Loading logs."),
    (
        "WARN",
        "executor-0",
        "kafka.cluster.Partition",
        "[Partition orders-0 broker=3] Shrinking ISR from 1,2,3 to 3. Leader: (highWatermark: 10, endOffset: 12). Out of sync replicas: (brokerId: 1, endOffset: 10).",
    ),
    ("INFO", "main", "com.example.Plugin", "ready: 7 rules"),
    ("INFO", "main", "kafka.server.KafkaServer", "[KafkaServer id=3] shutting down"),
    ("ERROR", "main", "kafka.server.KafkaServer", "[KafkaServer id=3] shut down completed"),
    ("INFO", "main", "kafka.server.KafkaServer", "[KafkaServer id=3] started"),
]
AT = [dt.datetime(2026, 11, 21, 10, 0, second, 250_000) for second in range(len(MESSAGES))]
Layout = Callable[[dt.datetime, str, str, str, str], str]
LAYOUTS: dict[str, tuple[Layout, str]] = {
    "bars": (
        lambda at, level, thread, logger, text: f"{at:%d.%m.%Y %H:%M:%S},250 | {level:5} | {thread} | {logger} | {text}",
        "%d{dd.MM.yyyy HH:mm:ss,SSS} | %-5p | %u | %c | %m%n",
    ),
    "level first": (
        lambda at, level, thread, logger, text: f"<{level}> {at:%Y/%m/%d %H:%M:%S}.250 ({thread}) {logger} :: {text}",
        "<%-5p> %d{yyyy/MM/dd HH:mm:ss.SSS} (%t) %c :: %m%n",
    ),
    "keys": (
        lambda at, level, thread, logger, text: f"ts={at:%Y-%m-%dT%H:%M:%S}.250+01:00 lvl={level} host=broker-a logger={logger} msg={text}",
        "ts=%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} lvl=%-5p host=broker-a logger=%c msg=%m%n",
    ),
    "logger behind": (
        lambda at, level, thread, logger, text: f"{at:%d/%b/%Y:%H:%M:%S} +0100 [{thread}] {level} {text} <{logger}>",
        "%d{dd/MMM/yyyy:HH:mm:ss Z} [%t] %-5p %m <%c>%n",
    ),
}


def lines_of(layout: Layout) -> list[str]:
    return [layout(at, *message) for at, message in zip(AT, MESSAGES, strict=True)]


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_is_derived_and_said_to_be(tmp_path: Path, name: str) -> None:
    layout, pattern = LAYOUTS[name]
    path = tmp_path / "server.log"
    trace = "java.lang.IllegalStateException: no\n\tat a.b.C(C.java:1)\n"
    path.write_text("".join(f"{line}\n{trace if number == 5 else ''}" for number, line in enumerate(lines_of(layout))))
    source, rows = load(path)
    assert (source.layout, source.layout_known_by, source.kind) == (pattern, "derived", "kafka_server_log")
    assert [(row["level"], row["logger"], row["event_type"]) for row in rows] == [
        ("INFO", "kafka.server.KafkaServer", "node_started"),
        ("INFO", "kafka.log.LogManager", "log_loading_started"),
        ("WARN", "kafka.cluster.Partition", "isr_shrunk"),
        ("INFO", "com.example.Plugin", None),
        ("INFO", "kafka.server.KafkaServer", "node_stopping"),
        ("ERROR", "kafka.server.KafkaServer", "node_stopped"),
        ("INFO", "kafka.server.KafkaServer", "node_started"),
    ]
    assert {row["node_id"] for row in rows} == {3}
    assert dict(rows[5]["fields"])["exception"] == "java.lang.IllegalStateException"
    assert [row["logged_at"].second for row in rows] == list(range(7))


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_derived_layout_lies_within_wrappers_too(tmp_path: Path, name: str) -> None:
    path = tmp_path / "compose.log"
    path.write_text("".join(f"kafka-3  | {line}\n" for line in lines_of(LAYOUTS[name][0])))
    source, rows = load(path)
    assert (source.layout, source.layout_known_by) == (f"{LAYOUTS[name][1]} in docker_compose", "derived")
    assert sum(row["event_type"] is not None for row in rows) == 6


@pytest.mark.parametrize(
    "lines",
    [
        # Too few.
        lines_of(LAYOUTS["bars"][0])[:4],
        # All of one message: what is before it may be a part of it.
        [LAYOUTS["bars"][0](at, *MESSAGES[0]) for at in AT],
        # Two layouts in one file, neither in nine of ten lines.
        lines_of(LAYOUTS["bars"][0]) + lines_of(LAYOUTS["level first"][0]),
        # A program that is none of Kafka's.
        [f"{at:%d.%m.%Y %H:%M:%S} | INFO | main | com.example.Shop | order {number} accepted" for number, at in enumerate(AT)],
        # Day and month cannot be told.
        [f"0{number + 1}/02/2026 10:00:00 INFO {logger} {text}" for number, (_, _, logger, text) in enumerate(MESSAGES)],
        # Prose that quotes messages.
        [
            f"On {at:%Y-%m-%d %H:%M:%S} we saw an INFO line, number {'x' * number}, that says [KafkaServer id=3] started"
            for number, at in enumerate(AT)
        ],
    ],
    ids=["few", "one message", "two layouts", "another program", "ambiguous days", "prose"],
)
def test_no_layout_is_better_than_a_wrong_one(lines: list[str]) -> None:
    assert derive(lines) is None
