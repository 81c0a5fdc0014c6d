"""Nodes of ZooKeeper, as zkCli prints them."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from zoneinfo import ZoneInfo

from ingestion.captures import About, Row, lines_of
from ingestion.captures.zookeeper import znodes

FIXTURES = Path(__file__).parents[1] / "fixtures" / "captures" / "znodes"


def read(name: str, zone: dt.tzinfo = dt.UTC) -> list[Row]:
    text = (FIXTURES / name).read_text(encoding="utf-8")
    kind = znodes.kind_of(text, name)
    assert kind is not None
    return [row for row in znodes.read(kind, lines_of(text), About(name, zone=zone)) if isinstance(row, Row)]


def test_nodes_of_kafka() -> None:
    rows = read("20261121T094700Z-zkcli.txt")
    controller, state, brokers, *listed, epoch = rows
    assert controller.fields["path"] == "/controller"
    assert (controller.fields["broker_id"], controller.fields["said_at"]) == ("2", "2026-11-21T09:46:13.484+00:00")
    assert (controller.fields["created_at"], controller.fields["czxid"], controller.fields["ephemeral_owner"]) == (
        "2026-11-21T09:46:13+00:00",
        "0x1a",
        "0x1000023db750001",
    )
    assert (
        state.fields["topic_name"],
        state.fields["partition_id"],
        state.fields["leader_id"],
        state.fields["leader_epoch"],
        state.fields["isr"],
        state.fields["controller_epoch"],
    ) == (
        "orders.eu",
        "3",
        "-1",
        "14",
        "2,3",
        "12",
    )
    assert (brokers.kind, brokers.fields) == ("znode_children", {"path": "/brokers/ids", "children": "217,218,219"})
    assert [(row.kind, row.fields["broker_id"]) for row in listed] == [
        ("broker_listed", "217"),
        ("broker_listed", "218"),
        ("broker_listed", "219"),
    ]
    assert (epoch.fields["path"], epoch.fields["controller_epoch"]) == ("/controller_epoch", "12")


def test_a_zone_whose_letters_mean_several_is_only_used_when_it_was_told() -> None:
    controller = read("20261121T094700Z-zkcli.txt")[0]
    assert controller.fields["modified_printed"] == "Sat Nov 21 17:46:13 CST 2026"
    assert "modified_at" not in controller.fields
    assert controller.warnings == ("the zone CST may be several",)
    told = read("20261121T094700Z-zkcli.txt", ZoneInfo("Asia/Shanghai"))[0]
    assert told.fields["modified_at"] == "2026-11-21T09:46:13+00:00"


def test_a_node_without_its_command_is_known_by_its_data() -> None:
    (row,) = read("20261121T094700Z-get.txt")
    assert "path" not in row.fields
    assert (row.fields["host"], row.fields["port"], row.fields["endpoints"], row.fields["data_version"]) == (
        "b1",
        "9092",
        "PLAINTEXT://b1:9092",
        "1",
    )


def test_the_shell_of_kafka_names_the_path_in_its_command() -> None:
    (row,) = read("20261121T094700Z-shell-get.txt")
    assert (row.fields["path"], row.fields["broker_id"], row.fields["data"]) == (
        "/controller",
        "3",
        '{"version":1,"brokerid":3,"timestamp":"1795254373484"}',
    )


def test_other_texts_are_no_nodes() -> None:
    for text in ("[1, 2, 3]\n", '{"version":1,"brokerid":3}\n', "zookeeper.connect=zk1:2181\n", "Mode: leader\n", ""):
        assert znodes.kind_of(text, "zkcli.txt") is None
