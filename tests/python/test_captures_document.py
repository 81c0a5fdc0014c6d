"""Documents: pieces of captures and logs within prose."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingestion import captures
from ingestion.captures import About, Logged, Row, Sample, document, lines_of

TEXT = (Path(__file__).parents[1] / "fixtures" / "captures" / "document" / "post-mortem.md").read_text(encoding="utf-8")


def read(text: str) -> list[Row | Sample | Logged]:
    return list(document.read("document", lines_of(text), About("x.md")))


def of_kind(text: str, kind: str) -> list[Row]:
    return [row for row in read(text) if isinstance(row, Row) and row.kind == kind]


def test_pieces_are_read_by_their_modules() -> None:
    rows = [row for row in read(TEXT) if isinstance(row, Row)]
    assert [(row.kind, row.fields.get("piece")) for row in rows if row.kind != "prose"] == [
        ("command", None),
        ("open_file_count", "open_file_counts"),
        ("command", None),
        ("open_file_count", "open_file_counts"),
        ("socket", "sockets"),
        ("socket", "sockets"),
        ("file_system", "disk_usage"),
        ("znode_children", "zookeeper_nodes"),
        ("broker_listed", "zookeeper_nodes"),
        ("broker_listed", "zookeeper_nodes"),
        ("broker_listed", "zookeeper_nodes"),
        ("command", None),
        ("limit", "process_limits"),
    ]


def test_a_count_belongs_to_the_host_of_its_prompt() -> None:
    first, second = of_kind(TEXT, "open_file_count")
    assert (first.fields["host"], first.fields["process_id"], first.fields["count"]) == ("broker-1", "13517", "12824")
    assert (second.fields["host"], second.fields["process_id"], second.fields["count"]) == ("broker-3", "81068", "326639")
    assert second.raw_text == "[root@broker-3 ~]# lsof -p 81068 | wc -l\n326639"


def test_values_of_other_pieces() -> None:
    sockets = of_kind(TEXT, "socket")
    assert [(row.fields["state"], row.fields["recv_q"], row.fields["process_id"]) for row in sockets] == [
        ("CLOSE_WAIT", "247", "81068"),
        ("ESTABLISHED", "178232", "81068"),
    ]
    (disk,) = of_kind(TEXT, "file_system")
    assert (disk.fields["mounted_on"], disk.fields["available_bytes"]) == ("/opt/data", "408021893120")
    (limit,) = of_kind(TEXT, "limit")
    assert (limit.fields["name"], limit.fields["soft"], limit.fields["host"]) == ("open_files", "500000", "broker-3")
    (brokers,) = of_kind(TEXT, "znode_children")
    assert (brokers.fields["path"], brokers.fields["children"]) == ("/brokers/ids", "1,2,3")


def test_an_excerpt_makes_no_sample_of_its_sockets() -> None:
    samples = [row for row in read(TEXT) if isinstance(row, Sample)]
    assert [(sample.metric, sample.value) for sample in samples] == [("process_open_files", 12824.0), ("process_open_files", 326639.0)]


def test_the_records_of_a_fence_are_one_piece_of_a_log() -> None:
    (piece,) = [found for found in read(TEXT) if isinstance(found, Logged)]
    first, exception, frame, second = piece.lines
    assert [line.is_head for line in piece.lines] == [True, False, False, True]
    assert first.text.startswith("[2026-11-21 10:43:36,369] WARN [ReplicaFetcherThread-1-3], Error in fetch")
    assert exception.text == "java.io.IOException: Connection to 3 was disconnected before the response was read"
    assert frame.text == "\tat kafka.utils.NetworkClientBlockingOps$.recursivePoll$1(NetworkClientBlockingOps.scala:137)"
    assert "Shrinking ISR" in second.text


def test_prose_is_kept() -> None:
    prose = [row.raw_text for row in of_kind(TEXT, "prose")]
    assert prose[0] == "# Broker 3 hangs"
    assert "so we did not look further there." in prose
    assert prose[-1] == "Restarting broker 3 helped. ¿Why? Nobody knows."
    assert "We then looked at the sockets of broker 3, most of them wait to be closed:" in prose


def test_offsets_are_those_of_the_file() -> None:
    data = TEXT.encode()
    for row in read(TEXT):
        if isinstance(row, Row):
            first = row.raw_text.split("\n")[0].encode()
            assert data[row.offset : row.offset + len(first)] == first


def test_every_word_is_in_some_row_or_a_mark() -> None:
    found = read(TEXT)
    said = "".join(row.raw_text for row in found if isinstance(row, Row))
    said += "".join(line.raw for piece in found if isinstance(piece, Logged) for line in piece.lines)
    for line in TEXT.split("\n"):
        text = line.strip().removeprefix("> ")
        if text and text not in ("```", "{code:java}", "{code}", "1", "2") and not text.startswith(("Filesystem", "Limit ")):
            assert text in said


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# A readme\n\nIt says nothing that a machine said. Run the tool and wait for it.\n",
        "[2020-05-15 12:00:01,123] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n" * 30,
        "2020-05-15 12:00:01,123 [myid:1] - WARN  [main:X@3] - no such thing\njava.io.IOException: x\n\tat a.b.C(C.java:1)\n" * 20,
        '{"metrics": [1, 2, 3]}\n',
        "apiVersion: v1\nkind: ConfigMap\ndata:\n  x: the value is not known here\n    Mem: 1 2 3\n",
        "OpenJDK 64-Bit Server VM warning: the option was ignored here\n"
        + "[2020-05-15 12:00:01,123] INFO KafkaConfig values: (kafka.server.KafkaConfig)\n\ta = b\n\tc = d\n\te = f\n" * 20,
        "12:00:01 INFO some application said hello there\n12:00:02 WARN and then it stopped again (org.apache.kafka.clients.NetworkClient)\n",
    ],
)
def test_other_texts_are_no_documents(text: str) -> None:
    assert document.kind_of(text, "x") is None


def test_a_document_is_detected_when_nothing_else_fits() -> None:
    found = captures.detect(TEXT, "post-mortem.md")
    assert found is not None
    assert found[1] == "document"


def test_no_break_spaces_of_web_pages_are_read_as_blanks() -> None:
    text = "The\u00a0broker had many open sockets that day.\n\ntcp\u00a0\u00a00\u00a00\u00a010.0.0.3:9092\u00a010.0.0.1:58837\u00a0CLOSE_WAIT\u00a04711/java\n"
    (socket,) = of_kind(text, "socket")
    assert (socket.offset, socket.fields["peer_port"]) == (45, "58837")


def test_html_and_long_gutters_hold_their_block_together() -> None:
    text = "Some words about it.\n<pre>\n$ uptime\n 10:00:01 up 12 days,  3:04,  1 user,  load average: 9.52, 0.58, 0.59\n</pre>\nand after it\n1\n2\n3\n10.0.0.1\n\n10.0.0.2\nend of all that was said\n"
    (load,) = of_kind(text, "load_average")
    assert load.fields["load_1m"] == "9.52"
    assert [row.raw_text for row in of_kind(text, "prose")] == [
        "Some words about it.",
        "and after it",
        "10.0.0.1\n10.0.0.2",
        "end of all that was said",
    ]


def test_a_date_above_the_outputs_is_their_time() -> None:
    text = "Sat Nov 21 10:00:00 UTC 2026\n=== netstat -an ===\ntcp 0 0 10.0.0.3:9092 10.0.0.1:58837 CLOSE_WAIT -\n\n=== uptime ===\n 10:00:01 up 12 days,  3:04,  1 user,  load average: 9.52, 0.58, 0.59\n\nWe did nothing for an hour then.\n\nvm.max_map_count = 65530\n"
    assert document.kind_of(text, "x.txt") == "document"
    rows = {row.kind: row for row in read(text) if isinstance(row, Row)}
    for kind in ("socket", "load_average"):
        assert (str(rows[kind].at), rows[kind].at_known_by, rows[kind].warnings) == ("2026-11-21 10:00:00+00:00", "content", ())
    assert rows["kernel_setting"].at is None


def test_outputs_one_after_the_other_are_a_document_without_a_word_between_them() -> None:
    text = "Filesystem 1K-blocks Used Available Use% Mounted on\n/dev/sda1 100 50 50 50% /\n\nMax open files            1024                 4096                 files\nMax processes             10                   10                   processes\n"
    assert document.kind_of(text, "x.txt") == "document"
    assert [row.kind for row in read(text) if isinstance(row, Row)] == ["file_system", "limit", "limit"]


def test_a_transcript_of_a_terminal_is_a_document() -> None:
    text = "[kafka@broker-3 ~]$ lsof -p 4711 | wc -l\n326639\n[kafka@broker-3 ~]$ netstat -an | awk '{print $6}' | sort | uniq -c\n   5589 CLOSE_WAIT\n     11 LISTEN\n[kafka@broker-3 ~]$ exit\n"
    assert document.kind_of(text, "x.txt") == "document"
    rows = [row for row in read(text) if isinstance(row, Row)]
    assert [(row.kind, row.fields.get("host")) for row in rows] == [
        ("command", "broker-3"),
        ("open_file_count", "broker-3"),
        ("command", "broker-3"),
        ("socket_count", "broker-3"),
        ("socket_count", "broker-3"),
        ("command", "broker-3"),
    ]


def test_an_issue_that_begins_with_a_block_is_a_document() -> None:
    text = "{noformat}\nvm.max_map_count = 65530\n{noformat}\nThis is what we saw on the broker.\n"
    assert document.kind_of(text, "x.txt") == "document"


def test_a_command_is_told_once() -> None:
    text = "We looked at the groups of it.\n\n[kafka@b ~]$ kafka-consumer-groups.sh --bootstrap-server b:9092 --list\norders\nbilling\n"
    assert len(of_kind(text, "command")) == 1
