"""Sockets: netstat and ss, their counts, and lines that are no sockets."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from ingestion.captures import About, Row, Sample, lines_of
from ingestion.captures.system import sockets

FIXTURES = Path(__file__).parents[1] / "fixtures" / "captures" / "sockets"


def read(name: str) -> tuple[list[Row], list[Sample]]:
    text = (FIXTURES / name).read_text(encoding="utf-8")
    kind = sockets.kind_of(text, name)
    assert kind is not None
    found = list(sockets.read(kind, lines_of(text), About(name)))
    return [row for row in found if isinstance(row, Row)], [row for row in found if isinstance(row, Sample)]


def states(samples: list[Sample]) -> dict[str, float | None]:
    return {sample.labels["state"]: sample.value for sample in samples}


def test_ss_of_the_lab() -> None:
    rows, samples = read("20261121T094659Z-ss-tan.txt")
    assert len(rows) == 7
    assert rows[3].fields == {
        "state": "ESTABLISHED",
        "recv_q": "627",
        "send_q": "0",
        "local_address": "::ffff:127.0.0.1",
        "local_port": "20191",
        "peer_address": "::ffff:127.0.0.1",
        "peer_port": "57934",
    }
    assert rows[3].at == dt.datetime(2026, 11, 21, 9, 46, 59, tzinfo=dt.UTC)
    assert rows[3].at_known_by == "name"
    assert states(samples) == {"ESTABLISHED": 2.0, "LISTEN": 3.0, "TIME_WAIT": 2.0}


def test_netstat_of_linux_with_processes_and_unix_sockets() -> None:
    rows, samples = read("20261121T100000Z-netstat-linux.txt")
    assert [row.fields.get("state") for row in rows] == [
        "LISTEN",
        "CLOSE_WAIT",
        "CLOSE_WAIT",
        "FIN_WAIT1",
        "ESTABLISHED",
        "TIME_WAIT",
        None,
        "LISTENING",
    ]
    assert rows[1].fields["recv_q"] == "247"
    assert (rows[1].fields["process_id"], rows[1].fields["process_name"]) == ("4711", "java")
    assert "process_id" not in rows[3].fields
    assert (rows[3].fields["send_q"], rows[3].fields["peer_address"], rows[3].fields["peer_port"]) == ("53321", "10.0.0.2", "9092")
    assert (rows[4].fields["proto"], rows[4].fields["peer_port"]) == ("tcp6", "36841")
    assert (rows[5].fields["local_address"], rows[5].fields["local_port"]) == ("localhost", "XmlIpcRegSvc")
    assert (rows[6].fields["proto"], rows[6].fields["process_name"]) == ("udp", "dhclient")
    assert (rows[7].fields["proto"], rows[7].fields["path"]) == ("unix", "/run/systemd/private")
    assert states(samples) == {"CLOSE_WAIT": 2.0, "ESTABLISHED": 1.0, "FIN_WAIT1": 1.0, "LISTEN": 1.0, "TIME_WAIT": 1.0}


def test_netstat_of_macos_has_points_before_ports() -> None:
    rows, samples = read("20261121T100000Z-netstat-macos.txt")
    assert [(row.fields["local_address"], row.fields["local_port"]) for row in rows] == [
        ("127.0.0.1", "9092"),
        ("*", "9092"),
        ("127.0.0.1", "58300"),
        ("*", "5353"),
    ]
    assert rows[2].fields["state"] == "FIN_WAIT2"
    assert states(samples) == {"ESTABLISHED": 1.0, "LISTEN": 1.0, "FIN_WAIT2": 1.0}


def test_netstat_of_busybox() -> None:
    rows, _ = read("20261121T100000Z-netstat-busybox.txt")
    assert [(row.kind, row.fields["local_address"], row.fields["local_port"]) for row in rows] == [
        ("socket", "::", "9092"),
        ("socket", "::ffff:172.17.0.4", "9092"),
    ]


def test_ss_with_processes_of_old_and_new_releases() -> None:
    rows, _ = read("20261121T100000Z-ss-tanp.txt")
    assert [row.kind for row in rows] == ["socket", "socket", "socket_detail", "socket"]
    assert (rows[0].fields["recv_q"], rows[0].fields["send_q"], rows[0].fields["file_descriptor"]) == ("51", "50", "134")
    assert (rows[1].fields["state"], rows[1].fields["process_id"]) == ("CLOSE_WAIT", "4711")
    assert rows[2].fields == {"of_offset": "234"}
    assert (rows[3].fields["state"], rows[3].fields["process_id"], rows[3].fields["file_descriptor"]) == ("SYN_SENT", "4711", "77")


def test_the_summary_of_ss() -> None:
    rows, samples = read("20261121T100000Z-ss-s.txt")
    assert rows[1].fields == {
        "proto": "TCP",
        "total": "5903",
        "established": "300",
        "closed": "10",
        "orphaned": "2",
        "syn_recv": "0",
        "time_wait": "9",
    }
    assert rows[-1].fields == {"proto": "TCP", "total": "5893", "ipv4": "20", "ipv6": "5873"}
    assert states(samples) == {"ESTABLISHED": 300.0, "SYN_RECV": 0.0, "TIME_WAIT": 9.0}


def test_counts_by_state_without_what_awk_makes_of_the_headings() -> None:
    rows, samples = read("counts-20261121T100000Z.txt")
    assert {row.fields["state"]: row.fields["count"] for row in rows} == {
        "LISTEN": "11",
        "CLOSE_WAIT": "5589",
        "ESTABLISHED": "312",
        "TIME_WAIT": "27",
    }
    assert states(samples)["CLOSE_WAIT"] == 5589.0


def test_a_count_under_its_command_keeps_its_filter() -> None:
    rows, samples = read("counted-20261121T100000Z.txt")
    assert rows[0].fields == {"command": "netstat -antp | grep 9092 | wc -l", "filter": "9092", "count": "5589", "host": "broker-3"}
    assert samples[0].labels == {"filter": "9092", "host": "broker-3"}
    assert (rows[1].fields["count"], rows[1].warnings) == ("6012", ("the headings are counted too",))


def test_a_list_without_its_heading_is_an_excerpt() -> None:
    text = "tcp 55 0 10.0.0.3:9092 10.0.0.1:55954 CLOSE_WAIT 81068/java\n"
    found = list(sockets.read("sockets", lines_of(text), About("x")))
    assert [type(row) for row in found] == [Row]


def test_a_list_that_was_filtered_is_an_excerpt() -> None:
    text = (
        "[root@b ~]# ss -tan | head -2\nState  Recv-Q Send-Q Local Address:Port Peer Address:Port\nESTAB 0 0 10.0.0.3:9092 10.0.0.1:55954\n"
    )
    assert [row.kind for row in sockets.read("sockets", lines_of(text), About("x"))] == ["socket"]


def test_a_filter_by_state_leaves_the_state_out() -> None:
    text = "Recv-Q Send-Q Local Address:Port Peer Address:Port\n1 0 10.0.0.3:9092 10.0.0.1:55954\n"
    assert sockets.kind_of(text, "x") == "sockets"
    (row,) = sockets.read("sockets", lines_of(text), About("x"))
    assert isinstance(row, Row)
    assert (row.fields["recv_q"], "state" in row.fields) == ("1", False)


def test_foreign_lines_are_kept() -> None:
    text = "tcp 0 0 10.0.0.3:9092 10.0.0.1:55954 CLOSE_WAIT -\nwhat is this\n"
    assert [row.kind for row in sockets.read("sockets", lines_of(text), About("x"))] == ["socket", "unread"]


def test_other_texts_are_no_sockets() -> None:
    for text in (
        "Mode: leader\n",
        "1 apple\n2 pears\n",
        "[2020-05-15 12:00:01,123] INFO Closing socket connection to /10.0.0.1. (kafka.network.Processor)\n",
        "",
    ):
        assert sockets.kind_of(text, "netstat.txt") is None


def test_counts_with_states_of_unix_sockets_give_samples_of_the_others_alone() -> None:
    rows, samples = read("20261121T100000Z-uniq-unix.txt")
    assert {row.fields["state"]: row.fields["count"] for row in rows} == {"TIME_WAIT": "19", "LISTEN": "10", "CONNECTED": "4"}
    assert states(samples) == {"TIME_WAIT": 19.0, "LISTEN": 10.0}


def test_sockstat() -> None:
    rows, samples = read("20261121T100000Z-sockstat.txt")
    assert rows[0].fields == {"proto": "*", "total": "305"}
    assert rows[1].fields == {"proto": "TCP", "in_use": "43", "orphaned": "1", "time_wait": "19", "allocated": "45", "memory_pages": "7"}
    assert states(samples) == {"TIME_WAIT": 19.0}
