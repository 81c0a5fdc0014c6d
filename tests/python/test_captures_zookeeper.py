"""ZooKeeper's four-letter words."""

from __future__ import annotations

from pathlib import Path

from ingestion.captures import About, Row, Sample, lines_of
from ingestion.captures.zookeeper import zookeeper

FIXTURES = Path(__file__).parents[1] / "fixtures" / "captures" / "zookeeper"


def read(name: str) -> tuple[list[Row], list[Sample]]:
    text = (FIXTURES / name).read_text(encoding="utf-8")
    kind = zookeeper.kind_of(text, name)
    assert kind is not None
    found = list(zookeeper.read(kind, lines_of(text), About(name)))
    return [row for row in found if isinstance(row, Row)], [row for row in found if isinstance(row, Sample)]


def test_stat_of_the_lab() -> None:
    rows, _ = read("20261121T094659Z-healthy-zk-stat.txt")
    assert [row.kind for row in rows] == ["zookeeper_connection"] * 6 + ["zookeeper_server"]
    assert rows[3].fields == {"queued": "0", "received": "7977", "sent": "7977", "client_address": "127.0.0.1", "client_port": "35192"}
    assert rows[6].fields == {
        "version": "3.5.9-83df9301aa5c2a5d284a9940177808c01bc35cef",
        "latency_min_ms": "0",
        "latency_avg_ms": "0",
        "latency_max_ms": "238",
        "received": "8423",
        "sent": "8434",
        "connections": "6",
        "outstanding": "0",
        "zxid": "0xa2",
        "mode": "standalone",
        "nodes": "116",
    }


def test_mntr_of_the_lab_is_samples_and_one_row() -> None:
    rows, samples = read("20261121T094659Z-healthy-zk-mntr.txt")
    assert {sample.metric: sample.value for sample in samples}["zk_max_latency"] == 238.0
    assert len(samples) == 13
    assert len(rows) == 1
    assert (rows[0].fields["mode"], rows[0].fields["watches"], rows[0].fields["open_files"], rows[0].fields["open_file_limit"]) == (
        "standalone",
        "25",
        "91",
        "20000",
    )


def test_cons_of_the_lab() -> None:
    rows, _ = read("20261121T094659Z-healthy-zk-cons.txt")
    assert rows[2].fields == {
        "queued": "0",
        "received": "95",
        "sent": "96",
        "session_id": "0x1000023db750002",
        "last_operation": "PING",
        "established_at": "2026-11-21T09:46:18.111+00:00",
        "timeout_ms": "6000",
        "last_cxid": "0x4b",
        "last_zxid": "0xa2",
        "last_response": "2396028",
        "latency_last_ms": "0",
        "latency_min_ms": "0",
        "latency_avg_ms": "4",
        "latency_max_ms": "238",
        "client_address": "127.0.0.1",
        "client_port": "32866",
    }


def test_srvr_of_a_leader_with_a_prompt() -> None:
    (row,), _ = read("20261121T094700Z-srvr-leader.txt")
    assert (row.fields["mode"], row.fields["latency_avg_ms"], row.fields["proposal_sizes"]) == ("leader", "0.5023", "32/32/36")


def test_dump_tells_sessions_and_their_ephemeral_nodes() -> None:
    rows, _ = read("20261121T094700Z-dump.txt")
    assert [(row.kind, row.fields.get("session_id"), row.fields.get("path")) for row in rows] == [
        ("zookeeper_session", "0x1000023db750001", None),
        ("ephemeral_node", "0x1000023db750001", "/brokers/ids/1"),
        ("ephemeral_node", "0x1000023db750001", "/controller"),
        ("zookeeper_connection", "0x1000023db750004", None),
    ]
    assert rows[0].fields["expires"] == "Sat Nov 21 09:47:03 UTC 2026"


def test_the_other_words() -> None:
    assert read("20261121T094700Z-ruok.txt")[0][0].fields == {"answer": "imok"}
    assert read("20261121T094700Z-stat-refused.txt")[0][0].fields == {"error": "This ZooKeeper instance is not currently serving requests"}
    conf, _ = read("20261121T094700Z-conf.txt")
    assert {row.fields["name"]: row.fields["value"] for row in conf}["maxSessionTimeout"] == "40000"
    assert {row.kind for row in conf} == {"zookeeper_setting"}
    environment, _ = read("20261121T094700Z-envi.txt")
    assert [(row.kind, row.fields["name"], row.fields["value"]) for row in environment][2] == (
        "environment_entry",
        "java.version",
        "1.8.0_212",
    )
    watches, _ = read("20261121T094700Z-wchs.txt")
    assert [row.fields for row in watches] == [{"connections": "6", "paths": "25"}, {"watches": "45"}]


def test_other_texts_are_no_zookeeper() -> None:
    for text in (
        "broker.id=1\nzookeeper.connect=zk1:2181\n",
        "tickTime=2000\ndataDir=/zk\nclientPort=2181\n",
        "2026-11-21 09:46:13,484 [myid:1] - INFO  [main:X@1] - Zookeeper version: 3.5.9\n",
        "[1, 2, 3]\n",
        "",
    ):
        assert zookeeper.kind_of(text, "zk.txt") is None


def test_watches_by_session_and_by_path() -> None:
    by_session, _ = read("20261121T094700Z-wchc.txt")
    assert [(row.kind, row.fields["session_id"], row.fields.get("path")) for row in by_session] == [
        ("zookeeper_session", "0x1000023db750001", None),
        ("zookeeper_watch", "0x1000023db750001", "/brokers/ids"),
        ("zookeeper_watch", "0x1000023db750001", "/controller"),
    ]
    by_path, _ = read("20261121T094700Z-wchp.txt")
    assert [(row.fields["path"], row.fields["session_id"]) for row in by_path] == [
        ("/brokers/ids", "0x1000023db750001"),
        ("/brokers/ids", "0x1000023db750002"),
    ]
