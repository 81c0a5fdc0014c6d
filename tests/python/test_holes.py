"""The histories of `tests.holes`, and what it takes for a row to be of the whole."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from chronicle.project import PROJECT
from tests.holes_cases import (
    HOLES,
    History,
    Pair,
    Scale,
    begins_of,
    between_two_lives,
    controllers_log_of_one_life,
    every_third_file,
    hours_of_one_broker,
    made,
    made_pairs,
    one_node,
    rotated,
    stretched,
    thinned,
    twice,
    with_new_ids,
)
from tests.holes_facts import FACTS, NOT_COMPARED, compared, incidents_compared
from tests.partial_cases import DAY, HOUR, Archive, Record, archives, records

FIRST = 1_795_255_200_000


def logged(*lines: tuple[int, str]) -> list[Record]:
    """Records at these seconds after the first."""
    stamps = [(dt.datetime(2026, 11, 21, 10) + dt.timedelta(seconds=at), text) for at, text in lines]
    return records("".join(f"[{at:%Y-%m-%d %H:%M:%S},000] INFO {text}\n" for at, text in stamps).encode())


def cluster() -> History:
    """Two brokers and ZooKeeper; broker 1 begins twice, and its controller's log has a line in each life."""
    begin = "starting (kafka.server.KafkaServer)"
    logs = {
        "broker-1/server.log": logged((0, begin), (30, "one (kafka.A)"), (100, begin), (130, "two (kafka.A)")),
        "broker-1/controller.log": logged((20, "elected (kafka.C)"), (120, "elected again (kafka.C)")),
        "broker-2/server.log": logged((1, begin), (101, "three (kafka.A)")),
        "zookeeper/zookeeper.log": logged((0, "Established session 0x1751000000a0001 (org.Z)")),
    }
    return History(logs, {"broker-2/server.properties": b"broker.id=2\n"})


def left(history: History) -> dict[str, list[int]]:
    """Seconds after the first, by file."""
    return {path: [(at - FIRST) // 1000 for at, _ in lines] for path, lines in history.logs.items()}


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    return made_pairs(range(14), 7, archives(), Scale(most_bytes=60_000, most_days=30))


def test_what_is_left_was_there(pairs: list[Pair]) -> None:
    for pair in pairs:
        assert pair.kinds and set(pair.kinds) <= set(HOLES)
        lines = {line for content in pair.whole.files.values() for line in content.splitlines()}
        assert all(path in pair.whole.files for path in pair.holes.files)
        for content in pair.holes.files.values():
            assert lines.issuperset(content.splitlines())
        assert sum(map(len, pair.holes.files.values())) < sum(map(len, pair.whole.files.values()))


def test_a_case_is_the_same_by_its_number_and_seed(pairs: list[Pair]) -> None:
    assert made(5, 7, archives(), Scale(most_bytes=60_000, most_days=30)) == pairs[5]
    assert len({pair.story.split()[0].rstrip(",") for pair in pairs}) == len(archives())


def test_a_history_in_its_pauses_keeps_what_happened_within_a_second() -> None:
    logs = {"broker-1/server.log": logged((0, "a"), (1, "b"), (61, "c"), (62, "d"))}
    histories = [stretched(History(logs, {"a.txt": b"x"}), Scale(most_days=10), Random(seed)) for seed in range(20)]
    styles = set()
    for history in histories:
        first, second, third, fourth = (at for at, _ in history.logs["broker-1/server.log"])
        assert [history.clock.original(at) - FIRST for at in (first, second, third, fourth)] == [0, 1000, 61_000, 62_000]
        if history.said.endswith("in its pauses"):
            assert (second - first, fourth - third) == (1000, 1000)
            assert third - second >= 11 * HOUR
        elif history.said.endswith("evenly"):
            assert second - first >= 11 * HOUR / 62
        assert ("a.txt" in history.others) == (history.said == ", as it was")
        styles.add(history.said.split(", ")[-1])
    assert styles == {"as it was", "evenly", "in its pauses"}


def test_a_thin_history_has_whole_partitions_and_all_of_its_time() -> None:
    lines = [
        (
            at,
            f"Partition [orders,{at % 20}] on broker 1: Shrinking ISR for partition [orders,{at % 20}] from 1,2 to 1 (kafka.cluster.Partition)",
        )
        for at in range(2000)
    ]
    logs = {"broker-1/state-change.log": logged(*lines), "broker-1/server.log": logged((0, "first (kafka.A)"), (1999, "last (kafka.A)"))}
    thin = thinned(logs, 15_000, Random(1), from_the_start=True)
    assert left(History(thin, {}))["broker-1/server.log"] == [0, 1999]
    partitions = {text.split(b"[orders,")[1].split(b"]")[0] for _, text in thin["broker-1/state-change.log"]}
    assert 4 <= len(partitions) < 20
    # Of those that are alike the first 150.
    assert max(left(History(thin, {}))["broker-1/state-change.log"]) < 150


def test_the_second_life_is_the_first_with_new_ids() -> None:
    history = twice(cluster(), Random(1))
    first, second = history.logs["zookeeper/zookeeper.log"]
    assert b"0x1751000000a0001 " in first[1] and b"0x1752000000a0001 " in second[1]
    assert second[0] - first[0] > 130_000 + HOUR / 2
    assert [history.clock.original(at) - FIRST for at in (first[0], second[0])] == [0, 130_000 + 3 * DAY]
    for seed in range(10):
        hole = between_two_lives(history, Random(seed))
        assert hole is not None
        times = [at for lines in hole[1].logs.values() for at, _ in lines]
        assert min(times) == first[0] and max(times) == history.span[1]
    assert between_two_lives(cluster(), Random(1)) is None


def test_new_ids_are_of_the_same_form() -> None:
    assert with_new_ids(b"owner '95789234567890123' (kafka.A)") == b"owner '95806826753934539' (kafka.A)"
    assert with_new_ids(b"Cluster ID = XcZZOzUqS4yHOjhMQB6JLQ (kafka.A)") == b"Cluster ID = J6BQMhjOHy4SqUzOZZcXLQ (kafka.A)"
    assert with_new_ids(b"broker-1, kafka.server.KafkaServer") == b"broker-1, kafka.server.KafkaServer"


def test_each_hole_takes_away_what_its_name_says() -> None:
    history = cluster()
    whole = left(history)
    assert begins_of(history, "broker-1") == [FIRST, FIRST + 100_000]
    lives = {
        str(left(hole[1])["broker-1/controller.log"]) for seed in range(9) if (hole := controllers_log_of_one_life(history, Random(seed)))
    }
    assert lives == {"[20]", "[120]"}
    nodes = {hole[0]: hole[1] for seed in range(9) if (hole := one_node(history, Random(seed)))}
    assert set(left(nodes["broker-2"])) == {"broker-1/server.log", "broker-1/controller.log", "zookeeper/zookeeper.log"}
    assert nodes["broker-2"].others == {}
    hole = every_third_file(history, Random(1))
    assert hole and len(hole[1].logs) + len(hole[1].others) == 3
    hole = hours_of_one_broker(history, Random(2))
    assert hole
    node = hole[0].split()[0]
    assert all(left(hole[1]).get(path) == times for path, times in whole.items() if not path.startswith(node))


def test_rotated_pieces_are_the_log() -> None:
    pieces = rotated(cluster().logs, 50_000)
    assert sorted(record for lines in pieces.values() for record in lines) == sorted(r for lines in cluster().logs.values() for r in lines)
    assert {path for path in pieces if path.startswith("broker-1/server")} == {
        "broker-1/server.log.2026-11-21-10",
        "broker-1/server.log",
    }


def test_every_fact_is_compared_or_left_out_for_a_reason() -> None:
    marts = {path.stem: path for path in Path(PROJECT / "models").rglob("fct_*.yml")}
    assert {*FACTS, *NOT_COMPARED, "fct_incidents"} == {*marts, "dim_node_runs"}
    runs = PROJECT / "models/marts/nodes/dim_node_runs.yml"
    for name, meaning in FACTS.items():
        (model,) = yaml.safe_load(marts.get(name, runs).read_text())["models"]
        columns = [column["name"] for column in model["columns"]]
        assert columns[0].endswith("_key") and set(meaning.columns) <= set(columns), name
        sql = marts.get(name, runs).with_suffix(".sql").read_text()
        assert all(warning in sql for warning in meaning.no_excuse), name


def at(second: float) -> dt.datetime:
    return dt.datetime(2026, 11, 21, 10) + dt.timedelta(seconds=second)


WINDOW: dict[str, Any] = {
    "leaderless_window_key": "a",
    "topic_name": "orders",
    "partition_id": 3,
    "isr": [1, 2],
    "last_leader_id": 1,
    "started_at": at(0),
    "ended_at": at(100),
    "warnings": [],
}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({}, None),
        ({"ended_at": None}, None),
        ({"isr": None, "last_leader_id": None}, None),
        ({"started_at": at(50)}, None),
        ({"ended_at": at(101)}, None),
        ({"ended_at": at(110)}, ("ended_at",)),
        ({"ended_at": at(60)}, ("ended_at",)),
        ({"started_at": at(-10)}, ("started_at",)),
        ({"started_at": at(110), "ended_at": None}, ("started_at",)),
        ({"isr": [1]}, ("isr",)),
        ({"partition_id": 4}, ()),
    ],
)
def test_a_row_is_of_the_whole_if_it_says_no_more(change: dict[str, Any], why: tuple[str, ...] | None) -> None:
    def clock(time: int) -> int:
        return time

    found = compared("fct_leaderless_windows", [WINDOW], [WINDOW | change], clock)
    assert [row.why for row in found.new] == ([] if why is None else [why])
    assert found.sound == ({"a"} if why is None else set())
    warned = compared("fct_leaderless_windows", [WINDOW], [WINDOW | change | {"warnings": ["no end in the logs"]}], clock)
    assert (warned.new, warned.warned, warned.sound) == ([], int(why is not None), {"a"})


def test_a_warning_that_says_nothing_of_holes_is_no_excuse() -> None:
    stall = {
        "process_stall_key": "s", "node_id": 1, "owner": None, "process_name": None, "found_by": "hole", "cause": None, "cpu_ms": None,
        "started_at": at(0), "ended_at": at(10), "warnings": ["could also be a network failure"],
    }  # fmt: skip
    found = compared("fct_process_stalls", [], [stall], lambda time: time)
    assert [row.why for row in found.new] == [()]


@pytest.mark.parametrize(
    ("settings", "is_new"),
    [
        ({"@longest_pause_ms": "13025 (measured)"}, False),
        ({"@longest_pause_ms": "34105933 (measured)"}, True),
        ({"@longest_pause_ms": "13025"}, True),
        ({"replica.lag.time.max.ms": "10000"}, True),
    ],
)
def test_a_finding_rests_on_no_higher_measurement(settings: dict[str, str], is_new: bool) -> None:
    broken = {"replica.lag.time.max.ms": "2500", "@longest_pause_ms": "34105932 (measured)"}
    finding = {
        "config_finding_key": "f", "node_id": 2, "owner_kind": "broker", "owner": "2", "rule_id": "lag_time_below_pause", "kafka_version": "4.1.1",
        "severity": "degraded", "settings": broken, "warnings": [],
    }  # fmt: skip
    found = compared("fct_config_findings", [finding], [finding | {"settings": broken | settings}], lambda time: time)
    assert [row.why for row in found.new] == [("settings",)] * is_new


def test_an_incident_needs_a_root_that_is_sound() -> None:
    incident = {"root_cause_key": "a", "root_cause_kind": "leaderless", "warnings": [], "started_at": at(0), "summary": "none"}
    assert incidents_compared([], [incident], {"a"}).same == 1
    assert incidents_compared([], [incident | {"warnings": ["doubtful"]}], set()).warned == 1
    assert [row.why for row in incidents_compared([], [incident], set()).new] == [("root",)]


def test_an_archive_without_a_controllers_log_has_other_holes(tmp_path: Path) -> None:
    log = tmp_path / "plain/broker-1/server.log"
    log.parent.mkdir(parents=True)
    line = b"[2026-11-21 10:%02d:00,000] INFO [Partition orders-1 broker=1] Shrinking ISR from 1,2 to 1 (kafka.cluster.Partition)\n"
    log.write_bytes(b"".join(line % minute for minute in range(60)))
    found = [Archive("plain", tmp_path / "plain")]
    kinds = {kind for pair in made_pairs(range(30), 1, found, Scale()) for kind in pair.kinds}
    assert kinds == {"hours of one node", "before a date"} | ({"every third file"} & kinds)
