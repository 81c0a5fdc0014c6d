"""Saved questions and alerts without the lab's warehouse: names, parameters, times, rendering, and cases that the lab lacks."""

from __future__ import annotations

import datetime as dt
import re
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from chronicle.ask import alerts, evidence, known, questions
from chronicle.ask.render import render
from chronicle.cli import main
from chronicle.output.times import parse_moment
from ingestion.warehouse import Warehouse
from tests.python.test_names import typed

NOW = dt.datetime(2026, 11, 21, 12, 0, tzinfo=dt.UTC)
TIME = pa.timestamp("us", tz="UTC")


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("1d", dt.datetime(2026, 11, 20, 12, tzinfo=dt.UTC)),
        ("12h", dt.datetime(2026, 11, 21, 0, tzinfo=dt.UTC)),
        (" 90m ", dt.datetime(2026, 11, 21, 10, 30, tzinfo=dt.UTC)),
        ("2w", dt.datetime(2026, 11, 7, 12, tzinfo=dt.UTC)),
        ("2026-11-20", dt.datetime(2026, 11, 20, tzinfo=dt.UTC)),
        ("2026-11-20T10:00:00+02:00", dt.datetime(2026, 11, 20, 8, tzinfo=dt.UTC)),
        ("2026-11-20 10:00:00.250", dt.datetime(2026, 11, 20, 10, 0, 0, 250000, dt.UTC)),
    ],
)
def test_times_are_told(text: str, at: dt.datetime) -> None:
    assert parse_moment(text, NOW) == at


@pytest.mark.parametrize("text", ["", "yesterday", "1y", "d", "-1d"])
def test_what_is_no_time_is_said(text: str) -> None:
    with pytest.raises(ValueError, match=r"invalid time .*; use .*1d"):
        parse_moment(text, NOW)


def test_a_day_as_end_counts_whole() -> None:
    assert parse_moment("2026-11-20", NOW, is_end=True) == dt.datetime(2026, 11, 21, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["stale-node"], "unknown question 'stale-node'; did you mean stale-nodes"),
        (["xyzzy"], "`chronicle ask` lists them"),
        (["who-led"], "who-led needs TOPIC-NUMBER; usage: chronicle ask who-led TOPIC-NUMBER [--cluster NAME]"),
        (["who-led", "orders"], "--partition: invalid TOPIC-NUMBER 'orders'"),
        (["who-led", "orders-1", "now"], "unexpected argument 'now'"),
        (["who-led", "orders-1", "--at", "noon"], "--at: invalid time 'noon'"),
        (["what-happened", "2026-11-21"], "what-happened needs UNTIL; usage: chronicle ask what-happened SINCE UNTIL"),
        (["stale-nodes", "--group", "billing"], "stale-nodes has no option --group"),
        (["stale-nodes", "--node", "one"], "--node: invalid ID 'one'"),
        (["incident", "abc"], "--key: invalid KEY 'abc'"),
        (["incident", "ABCD"], "--key: invalid KEY 'ABCD'"),
        (["stale-nodes", "--format", "xml"], "unknown format 'xml'; use table, csv, json, parquet"),
    ],
)
def test_wrong_usage_is_one_line(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    assert main.execute(["ask", *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert said in told.err
    assert told.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--since", "tomorrow"], "invalid time 'tomorrow'"),
        (["--since", "2026-11-22", "--now", "2026-11-21"], "2026-11-22 is not before 2026-11-21"),
        (["--severity", "fatal"], "unknown severity 'fatal'; use warn, error"),
    ],
)
def test_wrong_usage_of_check_is_one_line(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    assert main.execute(["check", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_without_a_warehouse_asking_fails(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main.execute(["ask", "stale-nodes", "--warehouse", str(tmp_path / "none")]) == 1
    assert main.execute(["check", "--warehouse", str(tmp_path / "none")]) == 1
    assert capsys.readouterr().err.count("no warehouse there") == 2
    assert main.execute(["ask", "stale-nodes", "--warehouse", str(tmp_path)]) == 1
    assert main.execute(["check", "--warehouse", str(tmp_path)]) == 1
    assert capsys.readouterr().err.count("no build has been completed yet") == 2


def test_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.execute(["ask"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert len(listed) == len(questions.questions()) >= 25
    assert all(re.fullmatch(r"[a-z-]+ +[A-Z].*\?", line) for line in listed)
    assert main.execute(["check", "--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(list(alerts.alerts())) >= 10


@pytest.mark.parametrize("one", questions.questions().values(), ids=lambda one: one.name)
def test_a_question_shows_its_sql(one: questions.Question) -> None:
    assert set(one.takes) <= set(questions.PARAMETERS)
    shown = questions.shown(one, {})
    assert one.asks in shown
    assert one.reading in shown
    assert one.usage() in shown
    assert "{" not in render(one.path, {}).sql
    # Each parameter changes the query.
    for name in one.takes:
        value = {"node": "7", "partition": "orders-1", "key": "0" * 32}.get(name, "2026-11-21T00:00:00+00:00")
        assert render(one.path, {name: value}).sql != render(one.path, {}).sql, name


def test_values_cannot_leave_their_quotes() -> None:
    one = questions.question("stale-nodes")
    sql = render(one.path, one.values([], {"topic": "a' or 'b' = 'b"}, NOW)).sql
    assert "topic_name = 'a'' or ''b'' = ''b'" in sql


@pytest.mark.parametrize("alert", alerts.alerts(), ids=lambda alert: alert.name)
def test_an_alert_says_what_it_is(alert: alerts.Alert) -> None:
    assert alert.severity in alerts.SEVERITIES
    assert alert.ask.startswith("chronicle ")
    assert alert.description.endswith(".")
    assert alert.ask.format(key="k", cluster_id="c", at="t")
    config = render(alert.path, {}).config
    assert (config["tags"], config["enabled"]) == (["alert"], False)
    assert render(alert.path, {"since": "2026-11-21"}).config["enabled"] is True


def made(folder: Path, tables: dict[str, dict[str, Any]]) -> Warehouse:
    """A warehouse with these marts and reports."""
    for name, columns in tables.items():
        write_deltalake(str(folder / ("reports" if name.startswith("rpt_") else "marts") / name), pa.table(columns))
    return Warehouse.at(str(folder))


def at(*hours: int | None) -> pa.Array:
    return pa.array([None if hour is None else dt.datetime(2026, 11, 21, hour, tzinfo=dt.UTC) for hour in hours], TIME)


def test_missing_epochs_are_told_and_nodes_behind_are_not(tmp_path: Path) -> None:
    place = made(
        tmp_path,
        {
            "fct_epoch_gaps": {
                "cluster_id": ["prod"] * 4,
                "epoch_kind": ["leader", "leader", "controller", "leader"],
                "gap_kind": ["skipped", "stale_node", "regressed", "skipped"],
                "topic_name": ["orders", "orders", None, "orders"],
                "partition_id": pa.array([1, 1, None, 2], pa.int32()),
                "node_id": pa.array([1, 2, 3, 1], pa.int32()),
                "expected_epoch": [5, 6, 9, 7],
                "found_epoch": [7, 5, 8, 8],
                "missing_epochs": [2, 1, None, 1],
                "opened_at": at(3, 2, 1, 4),
                "ended_at": at(4, None, None, 5),
                "epoch_gap_key": ["a", "b", "c", "d"],
            }
        },
    )
    one = questions.question("missing-epochs")
    assert questions.answer(place, one, {})["epoch_gap_key"].to_pylist() == ["c", "a", "d"]
    assert questions.answer(place, one, one.values([], {"partition": "orders-1"}, NOW))["epoch_gap_key"].to_pylist() == ["a"]
    since = one.values([], {"since": "2026-11-21 04:30"}, NOW)
    assert questions.answer(place, one, since)["epoch_gap_key"].to_pylist() == ["c", "d"]


def test_shapes_without_a_form_are_told_the_commonest_first(tmp_path: Path) -> None:
    place = made(
        tmp_path,
        {
            "fct_unrecognised_shapes": {
                "cluster_id": ["prod", "prod", "other"],
                "records": [3, 40, 7],
                "level": ["WARN"] * 3,
                "logger": ["com.example.A"] * 3,
                "shape": ["a #", "b #", "c #"],
                "first_seen_at": at(1, 2, 3),
                "last_seen_at": at(2, 3, 4),
                "unrecognised_shape_key": ["a", "b", "c"],
            },
            "dim_clusters": {"cluster_id": ["prod", "other"]},
        },
    )
    one = questions.question("unrecognised-shapes")
    assert questions.answer(place, one, {})["shape"].to_pylist() == ["b #", "c #", "a #"]
    assert questions.answer(place, one, {"cluster": "prod"})["shape"].to_pylist() == ["b #", "a #"]
    with pytest.raises(ValueError, match=r"unknown cluster 'live'; .* has other, prod"):
        questions.answer(place, one, {"cluster": "live"})


def test_shutdowns_of_more_than_five_minutes_the_slowest_first(tmp_path: Path) -> None:
    place = made(
        tmp_path,
        {
            "fct_node_restarts": {
                "cluster_id": ["prod"] * 4,
                "node_id": pa.array([1, 2, 3, 4], pa.int32()),
                "stopping_at": at(1, 2, 3, None),
                "stopped_at": at(2, 3, 4, 5),
                "shutdown_ms": [300_000, 300_001, 900_000, None],
                "kafka_version_before": ["3.9.1"] * 4,
                "node_restart_key": ["a", "b", "c", "d"],
            }
        },
    )
    one = questions.question("slow-shutdowns")
    assert questions.answer(place, one, {})["node_restart_key"].to_pylist() == ["c", "b"]


def test_the_offsets_topic_grows_by_a_line_and_is_held_against_the_disk(tmp_path: Path) -> None:
    """Over the turn of a year, with a day of which nothing is known. The disk with the most space counts, as it was last."""
    days = [dt.date(2026, 12, 30), dt.date(2026, 12, 31), dt.date(2027, 1, 1), dt.date(2027, 1, 2)]
    place = made(
        tmp_path,
        {
            "rpt_offsets_topic_daily": {
                "cluster_id": ["prod"] * 6,
                "node_id": pa.array([1, 1, 1, 1, 1, 2], pa.int32()),
                "partition_id": pa.array([0, 0, 0, 0, 1, 0], pa.int32()),
                "day_date": [*days, days[3], days[3]],
                "bytes_at_end": [100, 110, None, 90, 40, 70],
            },
            "fct_resource_samples": {
                "cluster_id": ["prod"] * 5,
                "node_id": pa.array([1, 1, 1, 1, 2], pa.int32()),
                "resource": ["disk_bytes", "disk_bytes", "disk_bytes", "open_files", "heap_bytes"],
                "mounted_on": ["/data", "/data", "/", None, None],
                "sampled_at": at(1, 2, 2, 2, 2),
                "value": [100, 400, 90, 1, 1],
                "limit_value": [1000, 1000, 100, 5000, 5000],
            },
        },
    )
    one = questions.question("offsets-forecast")
    told = questions.answer(place, one, {}).to_pylist()
    columns = (
        "node_id",
        "days_known",
        "bytes_at_end",
        "bytes_per_day",
        "bytes_in_30_days",
        "disk_available_bytes",
        "days_until_disk_is_full",
    )
    assert [tuple(row[column] for column in columns) for row in told] == [
        (1, 3, 130, 10, 430, 600, 60.0),
        (2, 1, 70, None, None, None, None),
    ]


ROW = {"cluster_id": "prod", "node_id": 1, "topic_name": "orders", "partition_id": 0, "group_id": "billing", "kafka_version": "3.9.1"}


def of_names(folder: Path, *keys: str) -> Warehouse:
    """Two clusters with a node, a topic, a group and a release each, and incidents with those keys; nothing happened to them."""
    rows = [
        ROW,
        {name: value if name == "node_id" else f"{value}-2" for name, value in ROW.items() if name != "partition_id"} | {"partition_id": 0},
    ]
    tables = {"marts.dim_clusters", *(one.table for one in known.NAMES.values())}
    tables |= {
        table
        for name in ("stale-nodes", "stuck-groups", "exposures", "incident")
        for table in render(questions.question(name).path, {}).tables
    }
    for table in tables:
        name = table.split(".")[1]
        found = (
            [{"incident_key": key, "cluster_id": "prod"} for key in keys]
            if name == "fct_incidents"
            else rows
            if name.startswith("dim_")
            else []
        )
        schema = typed(name)
        write_deltalake(
            str(folder / "marts" / name), pa.Table.from_pylist([{at: row.get(at) for at in schema.names} for row in found], schema)
        )
    return Warehouse.at(str(folder))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["stale-nodes", "--topic", "order"], "unknown topic 'order'; did you mean orders, orders-2?"),
        (["stale-nodes", "--topic", "order", "--cluster", "prod"], "unknown topic 'order' of cluster prod; did you mean orders?"),
        (["stale-nodes", "--topic", "orders-2", "--cluster", "prod"], "unknown topic 'orders-2' of cluster prod; did you mean orders?"),
        (["stale-nodes", "--topic", "xyzzy"], "unknown topic 'xyzzy'; WAREHOUSE has orders, orders-2"),
        (
            ["stale-nodes", "--partition", "orders-9", "--cluster", "prod"],
            "unknown partition 'orders-9' of cluster prod; did you mean orders-0?",
        ),
        (["stale-nodes", "--node", "11"], "unknown node '11'; WAREHOUSE has 1"),
        (["stuck-groups", "--group", "biling"], "unknown group 'biling'; did you mean billing, billing-2?"),
        (["exposures", "--release", "3.9"], "unknown release '3.9'; did you mean 3.9.1, 3.9.1-2?"),
        (["stale-nodes", "--cluster", "prd"], "unknown cluster 'prd'; did you mean prod, prod-2?"),
        (["incident", "abcd"], f"ambiguous key 'abcd'; it may be {'abcd' + '0' * 28}, {'abcd' + '1' * 28}"),
        (["incident", "dddd"], "unknown key 'dddd'; no key in WAREHOUSE begins so"),
        (["incident", "d" * 32], f"unknown key '{'d' * 32}'; WAREHOUSE has {'abcd' + '0' * 28}, {'abcd' + '1' * 28}"),
    ],
)
def test_a_name_that_nothing_has_is_said_with_names_like_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], asked: list[str], said: str
) -> None:
    place = of_names(tmp_path, "abcd" + "0" * 28, "abcd" + "1" * 28)
    assert main.execute(["ask", *asked, "--warehouse", place.root]) == 1
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", f"chronicle: {said.replace('WAREHOUSE', place.root)}\n")


def test_nothing_of_what_is_known_is_an_empty_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = of_names(tmp_path, "abcd" + "0" * 28)
    for asked in (["stale-nodes", "--topic", "orders", "--node", "1", "--cluster", "prod"], ["incident", "abcd0"], ["incident", "abcd0…"]):
        assert main.execute(["ask", *asked, "--warehouse", place.root]) == 0, asked
        assert "0 rows" in capsys.readouterr().err


def test_a_question_is_asked_by_the_first_digits_of_a_key(tmp_path: Path) -> None:
    place = of_names(tmp_path, "abcd" + "0" * 28, "abce" + "0" * 28)
    event = {"incident_key": "abce" + "0" * 28, "cluster_id": "prod", "sentence": "Node 3 was killed.", "sequence": 1}
    schema = typed("fct_incident_events")
    write_deltalake(
        str(tmp_path / "marts/fct_incident_events"),
        pa.Table.from_pylist([{at: event.get(at) for at in schema.names}], schema),
        mode="overwrite",
    )
    one = questions.question("incident")
    assert questions.answer(place, one, one.values(["abce"], {}, NOW))["sentence"].to_pylist() == ["Node 3 was killed."]


def test_evidence_is_found_by_the_first_digits_of_a_key_of_any_fact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An election and the window that it began share their key: that is one key."""
    one, two, three = ("abcd" + digit * 28 for digit in "012")
    for name, keys in {"fct_elections": [one, two], "fct_windows": [one], "fct_gaps": [three]}.items():
        facts = pa.table(
            {
                f"{name}_key": keys,
                "cluster_id": ["prod"] * len(keys),
                "evidence": [[{"node_id": 1, "source_path": "/a", "byte_offset": 0}]] * len(keys),
            }
        )
        write_deltalake(str(tmp_path / "marts" / name), facts)
    write_deltalake(str(tmp_path / "marts/dim_other"), pa.table({"other_key": ["abcd9" + "9" * 27]}))
    place = Warehouse.at(str(tmp_path))
    assert [known.whole_key(start, partial(evidence.fact_keys, place), place.root) for start in ("abcd0", "abcd1…", "abcd2", "f" * 32)] == [
        one,
        two,
        three,
        "f" * 32,
    ]
    for start, said in (
        ("abcd", f"ambiguous key 'abcd'; it may be {one}, {two}, {three}"),
        ("abcd9", f"unknown key 'abcd9'; no key in {place.root} begins so"),
    ):
        assert main.execute(["evidence", start, "--warehouse", place.root]) == 1
        assert capsys.readouterr().err == f"chronicle: {said}\n"
    assert main.execute(["evidence", "abc", "--warehouse", place.root]) == 2
    assert "invalid key 'abc'" in capsys.readouterr().err


def test_what_happened_tells_like_facts_of_a_node_together(tmp_path: Path) -> None:
    """Three rebalances that failed within seconds, and one much later; leaders of four partitions lost at once; another node's."""

    def rebalance(second: int, outcome: str, key: str, node: int = 1) -> dict[str, Any]:
        row = {"cluster_id": "prod", "group_id": "billing", "coordinator_id": node, "outcome": outcome, "group_rebalance_key": key}
        return row | {"started_at": NOW + dt.timedelta(seconds=second)}

    def window(partition: int, ms: int | None) -> dict[str, Any]:
        row = {"cluster_id": "prod", "topic_name": "orders", "partition_id": partition, "last_leader_id": 3, "duration_ms": ms}
        return row | {"leaderless_window_key": f"w{partition}", "started_at": NOW + dt.timedelta(seconds=partition)}

    one = questions.question("what-happened")
    rows = {
        "fct_group_rebalances": [
            rebalance(0, "failed", "a"),
            rebalance(9, "failed", "b"),
            rebalance(10, "completed", "c"),
            rebalance(19, "failed", "d"),
            rebalance(30, "failed", "e"),
            rebalance(1, "failed", "f", node=2),
        ],
        "fct_leaderless_windows": [window(4, None), window(1, 200), window(2, 900), window(3, 100)],
    }
    for table in {*render(one.path, {}).tables, "marts.dim_clusters"}:
        name = table.split(".")[1]
        write_deltalake(str(tmp_path / "marts" / name), pa.Table.from_pylist(rows.get(name, []), typed(name)))
    given = one.values([], {"since": NOW.isoformat(), "until": (NOW + dt.timedelta(minutes=1)).isoformat()}, NOW)
    told = questions.answer(Warehouse.at(str(tmp_path)), one, given).to_pylist()
    seconds = [tuple(int((row[column] - NOW).total_seconds()) for column in ("happened_at", "last_happened_at")) for row in told]
    assert list(zip(seconds, [(row["node_id"], row["sentence"], row["fact_rows"], row["fact_key"]) for row in told], strict=True)) == [
        ((0, 19), (1, "group billing rebalanced: failed, 3 times", 3, "a")),
        ((1, 1), (2, "group billing rebalanced: failed", 1, "f")),
        ((1, 4), (3, "no leader, 4 times, for up to 900 ms: orders-1, orders-2, orders-3 and 1 more", 4, "w1")),
        ((10, 10), (1, "group billing rebalanced: completed", 1, "c")),
        ((30, 30), (1, "group billing rebalanced: failed", 1, "e")),
    ]
    # What one topic asks for is told alone.
    assert [row["fact_rows"] for row in questions.answer(Warehouse.at(str(tmp_path)), one, {**given, "topic": "orders"}).to_pylist()] == [4]
