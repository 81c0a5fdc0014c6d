"""Log lines inside documents: they become records, each piece as if its lines were a file, and what is prose stays prose."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from ingestion.bronze.capture_rows import read_capture
from ingestion.bronze.tasks import Counted, task_of
from ingestion.records.pasted import is_whole, of_cells, of_unknown_layout, records_in, without_marks
from ingestion.sources.identify import identify
from ingestion.sources.inspect import inspect
from ingestion.sources.resolve import place
from ingestion.sources.stages import Found
from tests.python.pasted import NOW, records_of, said, source_of, tables_of

SHRUNK = (
    "[2026-11-21 10:43:36,369] INFO [Partition orders-7 broker=2] Shrinking ISR from 2,1,3 to 2,1. Leader: (highWatermark: 884213, endOffset: 884221). "
    "Out of sync replicas: (brokerId: 3, endOffset: 883740). (kafka.cluster.Partition)"
)
EXPANDED = "[2026-11-21 10:44:02,118] INFO [Partition orders-7 broker=2] Expanding ISR from 2,1 to 2,1,3 (kafka.cluster.Partition)"
FAILED = "[2026-11-21 10:45:10,002] WARN [ReplicaManager broker=2] Stopping serving replicas in dir /data/k1 (kafka.server.ReplicaManager)"
FATAL = (
    "[2026-11-21 10:46:00,900] ERROR [KafkaServer id=2] Fatal error during KafkaServer startup. Prepare to shutdown (kafka.server.KafkaServer)\n"
    "java.lang.RuntimeException: No readable meta.properties files found.\n"
    "\tat org.apache.kafka.metadata.properties.MetaPropertiesEnsemble.verify(MetaPropertiesEnsemble.java:493)"
)
EXPIRED = "2026-11-21 10:43:30,500 [myid:1] - INFO  [SessionTracker:ZooKeeperServer@398] - Expiring session 0x1000034f5a80001, timeout of 6000ms exceeded"
STARTED = "[2026-11-21 10:47:12,455] INFO [KafkaServer id=4] started (kafka.server.KafkaServer)"


def wrapped(line: str, width: int, before: str = "") -> str:
    return "\n".join(before + part for part in textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False))


def cut(line: str, width: int) -> str:
    return "\n".join(line[at : at + width] for at in range(0, len(line), width))


IS_SHRUNK = ("isr_shrunk", 2, "10:43:36.369")
IS_EXPANDED = ("isr_expanded", 2, "10:44:02.118")
IS_STARTED = ("node_started", 4, "10:47:12.455")
HAS_EXPIRED = ("session_expired", None, "10:43:30.500")
IS_FATAL = ("node_start_failed", 2, "10:46:00.900")

# Texts as people paste them, with what their records are.
PASTED: dict[str, tuple[str, list[tuple[str | None, int | None, str | None]]]] = {
    "an issue with fences": (
        f"Replicas of our cluster drop out at night.\n\nThe broker says:\n\n```\n{SHRUNK}\n{EXPANDED}\n```\n\nWhat can we do?\n",
        [IS_SHRUNK, IS_EXPANDED],
    ),
    "a fence with the name of a language and a trace": (
        f"It does not start any more.\n\n~~~log\n{FATAL}\n~~~\n\nWe changed nothing.\n",
        [IS_FATAL],
    ),
    "a question after the lines": (f"{EXPIRED}\n\nWhy does this happen to us each night?\n", [HAS_EXPIRED]),
    "a question before the lines": (f"Our broker prints this, any idea?\n\n{EXPANDED}\n", [IS_EXPANDED]),
    "JIRA's noformat": (f"{{noformat}}\n{SHRUNK}\n{{noformat}}\nThis is what the leader printed.\n", [IS_SHRUNK]),
    "JIRA's bold lines": (
        f"h3. What we saw\nThe set of in-sync replicas shrank.\n\n*{SHRUNK}*\n*{EXPANDED}*\n\nThen all was well again.\n",
        [IS_SHRUNK, IS_EXPANDED],
    ),
    "bold words in a line": (
        "The interesting words are bold.\n\n"
        + EXPANDED.replace("INFO", "*INFO*").replace("Expanding ISR from 2,1 to 2,1,3", "*Expanding ISR from 2,1 to 2,1,3*")
        + "\n\nWe think it is a bug.\n",
        [IS_EXPANDED],
    ),
    "JIRA's monospaced and coloured lines": (
        f"The log of our broker:\n\n{{{{{SHRUNK}}}}}\n{{color:red}}{EXPANDED}{{color}}\n",
        [IS_SHRUNK, IS_EXPANDED],
    ),
    "Markdown's bold and code": (f"We saw two lines.\n\n**{SHRUNK}**\n`{EXPANDED}`\n\nNothing else was there.\n", [IS_SHRUNK, IS_EXPANDED]),
    "brackets that Markdown needed escaped": (
        "That is all that we have.\n\n" + STARTED.replace("[", "\\[").replace("]", "\\]") + "\n\nPlease help us.\n",
        [IS_STARTED],
    ),
    "a list": (
        f"What happened, in order:\n\n- {EXPIRED}\n- {SHRUNK}\n1. {EXPANDED}\n\nAfter this we went home.\n",
        [HAS_EXPIRED, IS_SHRUNK, IS_EXPANDED],
    ),
    "a table of lines": (
        f"What the machines said.\n\n| broker | line |\n|---|---|\n| two | {SHRUNK} |\n| four | `{STARTED}` |\n\nThe others said nothing of it.\n",
        [IS_SHRUNK, IS_STARTED],
    ),
    "a table of parts": (
        "The search of our logs gave this.\n\n| Time | Level | Logger | Message |\n|---|---|---|---|\n"
        "| 2026-11-21 10:44:02,118 | INFO | kafka.cluster.Partition | [Partition orders-7 broker=2] Expanding ISR from 2,1 to 2,1,3 |\n"
        "| 2026-11-21T10:47:12.455Z | INFO | kafka.server.KafkaServer | [KafkaServer id=4] started |\n\nWe found no other lines.\n",
        [IS_EXPANDED, IS_STARTED],
    ),
    "HTML with entities and breaks": (
        f"We copied it from the page of the vendor.\n\n&gt; {SHRUNK}\n<p>{EXPANDED}</p>\n<b>{STARTED[:25]}</b>{STARTED[25:]}<br>{EXPANDED}<br/>\n",
        [IS_SHRUNK, IS_EXPANDED, IS_STARTED, IS_EXPANDED],
    ),
    "a mail that is quoted": ("\n".join(f"> {line}" for line in f"{SHRUNK}\n{FATAL}".split("\n")) + "\n", [IS_SHRUNK, IS_FATAL]),
    "a quote in a quote": (f"On Friday Ann wrote:\n> > {EXPANDED}\n> > {STARTED}\n> and we think so, too.\n", [IS_EXPANDED, IS_STARTED]),
    "a mail, wrapped at 72": (
        f"Hello,\n\nwe see this again and again:\n\n{wrapped(SHRUNK, 72)}\n{wrapped(FAILED, 72)}\n\nThanks!\n",
        [IS_SHRUNK, ("log_dir_failed", 2, "10:45:10.002")],
    ),
    "an answer, wrapped and quoted": (
        f"That is normal for you.\n\n{wrapped(SHRUNK, 70, '> ')}\n{wrapped(EXPANDED, 70, '> ')}\n\nDo not worry.\n",
        [IS_SHRUNK, IS_EXPANDED],
    ),
    "lines whose rest is indented": (
        "Our log:\n\n```\n" + wrapped(SHRUNK, 76).replace("\n", "\n    ") + f"\n{EXPANDED}\n```\n\nWhat is it?\n",
        [IS_SHRUNK, IS_EXPANDED],
    ),
    "nothing but wrapped lines": (f"{wrapped(SHRUNK, 78)}\n{wrapped(EXPANDED, 78)}\n", [IS_SHRUNK, IS_EXPANDED]),
    "lines that a terminal cut": (f"{cut(SHRUNK, 80)}\n{cut(EXPANDED, 80)}\n{cut(STARTED, 80)}\n", [IS_SHRUNK, IS_EXPANDED, IS_STARTED]),
    "records joined by a blank": (f"{SHRUNK} {EXPANDED} {STARTED}\n", [IS_SHRUNK, IS_EXPANDED, IS_STARTED]),
    "records joined by a bar": (f"{EXPANDED} | {STARTED}\n", [IS_EXPANDED, IS_STARTED]),
    "records joined by nothing": (f"{EXPIRED}{EXPIRED.replace('80001', '80002')}\n", [HAS_EXPIRED, HAS_EXPIRED]),
    "the machine before the line": (
        f"The logs of the two machines:\n\nkafka-a: {EXPANDED}\nkafka-b: {STARTED}\n\nWe are lost.\n",
        [IS_EXPANDED, IS_STARTED],
    ),
    "a line within a sentence": (f'We found "{SHRUNK}" in the log of the broker.\n\nIt comes every ten seconds.\n', [IS_SHRUNK]),
    "paragraphs of single lines": (f"This is what we have got.\n\n{SHRUNK}\n\n{EXPANDED}\n\nNothing more.\n", [IS_SHRUNK, IS_EXPANDED]),
    "a page that is indented as a whole": (
        "".join(f"      {line}\n" for line in f"Our broker does not come back.\n\n{SHRUNK}\n{FATAL}\n\nWe use three machines.".split("\n")),
        [IS_SHRUNK, IS_FATAL],
    ),
    "colours of a terminal": (
        f"We start it with compose.\n\n[36mkafka-a  |[0m {EXPANDED}[0m\n[33mkafka-b  | [0m{STARTED}\n\nWhat is wrong?\n",
        [IS_EXPANDED, IS_STARTED],
    ),
    "bars that a page put before its lines": (
        f"We have two starts.\n\n```\n{STARTED}\n--\n  | {STARTED}\n```\n\nIs this right?\n",
        [IS_STARTED, IS_STARTED],
    ),
    "lines without a time": (
        "It says this when we start it:\n\n```\nINFO [KafkaServer id=4] started (kafka.server.KafkaServer)\n```\n\nWhat now?\n",
        [("node_started", 4, None)],
    ),
    "one line of a container among prose": (
        f"The start is fine.\n\nkafka-a  | {STARTED}\n\nBut then we see:\n\n{EXPANDED}\n",
        [IS_STARTED, IS_EXPANDED],
    ),
    "an indented block": (f"The log of our broker:\n\n    {SHRUNK}\n    {EXPANDED}\n\nWhat is wrong?\n", [IS_SHRUNK, IS_EXPANDED]),
}


@pytest.mark.parametrize("name", PASTED)
def test_lines_of_a_log_become_records_however_they_are_pasted(name: str, tmp_path: Path) -> None:
    text, expected = PASTED[name]
    assert said(records_of(tmp_path, text)) == expected


def test_fields_are_those_of_the_whole_record(tmp_path: Path) -> None:
    for name in ("a mail, wrapped at 72", "lines that a terminal cut", "JIRA's bold lines", "a line within a sentence"):
        fields = dict(records_of(tmp_path, PASTED[name][0])[0]["fields"])
        assert (fields["isr_before"], fields["isr_after"], fields["high_watermark"]) == ("2,1,3", "2,1", "884213")
        assert fields["lagging_replicas"] == "(brokerId: 3, endOffset: 883740)"


def test_the_raw_text_and_the_place_are_those_of_the_file(tmp_path: Path) -> None:
    text = f"Ä note.\n\n> *{EXPANDED}*\n> {STARTED} | {EXPANDED}\n\nWe copied it by hand from the screen.\n"
    first, second, third = records_of(tmp_path, text)
    data = text.encode()
    assert first["raw_text"] == f"*{EXPANDED}*"
    assert data[first["byte_offset"] :].startswith(b"*[2026-11-21 10:44:02,118]")
    assert data[second["byte_offset"] :].startswith(b"[2026-11-21 10:47:12,455]")
    assert data[third["byte_offset"] :].startswith(b"[2026-11-21 10:44:02,118]")
    assert third["byte_offset"] + third["byte_length"] == data.index(b"\n\nWe copied") + 1


def test_a_broken_record_has_all_its_lines_as_raw_text(tmp_path: Path) -> None:
    (record,) = records_of(tmp_path, f"Hello,\n\nour broker says:\n\n{wrapped(SHRUNK, 72)}\n\nRegards\n")
    assert record["raw_text"] == wrapped(SHRUNK, 72)
    assert record["body"].startswith("Shrinking ISR from 2,1,3 to 2,1. Leader: (highWatermark: 884213, endOffset: 884221). Out of sync")


def test_a_node_that_one_piece_names_is_not_that_of_another(tmp_path: Path) -> None:
    other = EXPANDED.replace("[Partition orders-7 broker=2] ", "[Partition orders-7] ")
    lost = (
        "[2026-11-21 10:50:00,000] INFO Created log for partition orders-9 in /data/k1/orders-9 with properties {} (kafka.log.LogManager)"
    )
    text = f"The first machine:\n\n```\n{SHRUNK}\n{lost}\n```\n\nAnd the second one:\n\n```\n{lost}\n{other}\n```\n\nWe do not know why.\n"
    nodes = [(record["node_id"], record["node_known_by"]) for record in records_of(tmp_path, text)]
    assert nodes == [(2, "content"), (2, "neighbour"), (None, None), (None, None)]


def test_paragraphs_with_a_word_between_them_are_pieces_of_their_own(tmp_path: Path) -> None:
    lost = (
        "[2026-11-21 10:50:00,000] INFO Created log for partition orders-9 in /data/k1/orders-9 with properties {} (kafka.log.LogManager)"
    )
    text = f"This is what we have got.\n\n{STARTED}\n\n{lost}\n\nAnd on the other machine we saw this:\n\n{lost}\n"
    assert [record["node_id"] for record in records_of(tmp_path, text)] == [4, 4, None]


def test_a_node_that_was_given_holds_where_a_piece_names_none(tmp_path: Path) -> None:
    lost = (
        "[2026-11-21 10:50:00,000] INFO Created log for partition orders-9 in /data/k1/orders-9 with properties {} (kafka.log.LogManager)"
    )
    text = f"The log of our broker:\n\n```\n{lost}\n```\n\nZooKeeper said:\n\n```\n{EXPIRED}\n```\n"
    records = records_of(tmp_path, text, node=5)
    assert [(record["node_id"], record["event_type"]) for record in records] == [(5, "log_created"), (None, "session_expired")]


def test_each_piece_has_its_own_layout(tmp_path: Path) -> None:
    text = (
        f"What the broker and ZooKeeper said:\n\n```\n{SHRUNK}\n{EXPIRED}\n{EXPANDED}\n```\n\nWhat compose shows of it:\n\n```\nkafka-b  | {STARTED}\n"
        f"kafka-b  | {STARTED.replace('12,455', '13,455')}\n```\n\nAnd as JSON, from our collector:\n\n```json\n"
        '{"@timestamp": "2026-11-21T10:44:02.118Z", "level": "INFO", "logger": "kafka.cluster.Partition", "message": "[Partition orders-7 broker=2] Expanding ISR from 2,1 to 2,1,3"}\n```\n'
    )
    assert sorted(said(records_of(tmp_path, text)), key=str) == sorted(
        [IS_SHRUNK, IS_EXPANDED, HAS_EXPIRED, IS_STARTED, ("node_started", 4, "10:47:13.455"), IS_EXPANDED], key=str
    )


def test_a_settings_dump_stays_one_record(tmp_path: Path) -> None:
    dump = "[2026-11-21 09:00:00,001] INFO KafkaConfig values: \n\tbroker.id = 6\n\tlog.dirs = /data/k1\n\tmin.insync.replicas = 2\n (kafka.server.KafkaConfig)"
    for text in (dump, dump.replace("\t", ""), dump.replace("values: ", "values:")):
        (record,) = records_of(tmp_path, f"Our settings are these:\n\n```\n{text}\n```\n\nIs something wrong with them?\n")
        assert (record["event_type"], record["node_id"]) == ("kafka_config_logged", 6)
        assert dict(record["fields"])["min.insync.replicas"] == "2"


def test_a_trace_without_indentation_belongs_to_its_record(tmp_path: Path) -> None:
    text = f"It stops at once, as you see.\n\n{FATAL.replace(chr(9), '')}\n\nWhat should we do?\n"
    (record,) = records_of(tmp_path, text)
    assert (record["event_type"], dict(record["fields"])["exception"]) == ("node_start_failed", "java.lang.RuntimeException")


def test_prose_counts_neither_as_read_nor_as_unread(tmp_path: Path) -> None:
    text = f"We have two lines.\n\n```\n{EXPANDED}\n[2026-11-21 10:44:03,118] INFO Nobody ever wrote this line (com.example.Nothing)\n```\n\nOne of them is new to us.\n"
    tables, count = tables_of(tmp_path, text)
    assert (count.records, count.recognised) == (2, 1)
    assert [row["row_kind"] for row in tables["capture_rows"]] == ["prose", "prose"]


def test_a_line_of_no_known_layout_is_an_unrecognised_record(tmp_path: Path) -> None:
    text = "Our own service prints this when it fails.\n\n```\n21/11/2026 10:44:03 [main] ERROR billing: no offsets for us\n21/11/26 10:44:03 WARN nothing\n```\n\nWe do not know why.\n"
    tables, count = tables_of(tmp_path, text)
    assert (count.records, count.recognised) == (2, 0)
    assert [(record["outcome"], record["level"], record["logged_at"]) for record in tables["log_records"]] == [
        ("unrecognised", "ERROR", None),
        ("unrecognised", "WARN", None),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "# Levels of logs\n\nAt 2026-11-21 10:43:36 the WARN level was too noisy, so we changed it.\n\nThen all was well.\n",
        "2026-11-21 10:43:36 we saw an ERROR in the dashboard.\n\nIt was nothing. The ISR shrank from 1,2,3 to 1,2 and we slept.\n",
        "# Readme\n\nRun it with `--node 1` on your logs.\n\nThen look at INFO and WARN lines, as [2026-11-21] shows.\n",
        "We plan the upgrade for [2026-12-01 10:00:00] and will write an INFO mail.\n\nPlease tell us if you cannot come.\n",
        "Shrinking ISR from 1,2,3 to 1,2 is what it said, I think.\n\nCan anybody confirm it?\n",
    ],
)
def test_prose_that_looks_like_a_log_gives_no_record(text: str, tmp_path: Path) -> None:
    tables, _ = tables_of(tmp_path, text)
    assert not any(record["event_type"] or record["logged_at"] for record in tables.get("log_records", []))


@pytest.mark.parametrize(
    "text",
    [
        f"{SHRUNK}\n{EXPANDED}\n" * 30,
        f"{FATAL}\n" * 10,
        f"OpenJDK 64-Bit Server VM warning: the option was ignored here\n{STARTED}\n" + f"{EXPANDED}\n" * 20,
        "[2026-11-21 09:00:00,001] INFO KafkaConfig values: \n\tbroker.id = 6\n\n\tlog.dirs = /data\n (kafka.server.KafkaConfig)\n" * 3,
        "".join(f"kafka-2  | {line}\n" for line in (SHRUNK, EXPANDED, STARTED)),
        f"2026-11-21T10:43:36.400000000Z {SHRUNK}\n2026-11-21T10:44:02.200000000Z {EXPANDED}\n",
    ],
)
def test_a_log_as_its_program_wrote_it_is_no_document(text: str, tmp_path: Path) -> None:
    source = source_of(tmp_path, text, "server.log")
    assert source.capture is None
    assert source.envelope is not None


def test_two_processes_that_write_one_file_do_not_make_it_a_document(tmp_path: Path) -> None:
    text = f"{SHRUNK}\n{EXPANDED}\n" * 40 + f"{SHRUNK}{EXPANDED}\n" + f"{STARTED}\n" * 20
    assert source_of(tmp_path, text, "server.log").capture is None


def test_a_document_that_grew_gives_only_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    text = f"Notes of our outage.\n\n```\n{SHRUNK}\n```\n\nWe wait for more of it.\n"
    path.write_text(text + f"\n```\n{EXPANDED}\n```\n")
    (source,) = identify(place([inspect(Found.at(str(path), "c1"))]))
    task = replace(task_of(source, False, 1, NOW), start=len(text))
    rows = [row for table, batch in read_capture(task, Counted()) if table == "log_records" for row in batch.to_pylist()]
    assert said(rows) == [IS_EXPANDED]


def test_the_zone_of_a_piece_is_its_own(tmp_path: Path) -> None:
    # It prints milliseconds in UTC, which are two hours earlier than its clock.
    began = "[2026-11-21 12:00:00,250] INFO Kafka startTimeMs: 1795255200250 (org.apache.kafka.common.utils.AppInfoParser)"
    text = f"The first broker:\n\n```\n{began}\n{STARTED}\n```\n\nThe second one:\n\n```\n{EXPANDED}\n```\n\nWe are lost.\n"
    records = records_of(tmp_path, text)
    assert [(record["zone"], record["zone_known_by"]) for record in records] == [("+02:00", "evidence")] * 2 + [("UTC", "default")]
    assert [f"{record['logged_at']:%H:%M:%S}" for record in records] == ["10:00:00", "08:47:12", "10:44:02"]


def test_what_stands_before_a_record_is_not_part_of_it() -> None:
    before, record = records_in(100, 200, f"Then we saw {STARTED}")
    assert (before.text, before.is_head, record.offset, record.text) == ("Then we saw ", False, 112, STARTED)


@pytest.mark.parametrize("label", ["kafka-a: ", "server.log:", "logs/server.log:1204:", "server.log-", "root@host-1> "])
def test_a_name_before_a_record_is_a_label_of_its_line(label: str) -> None:
    (record,) = records_in(100, 200, f"{label}{STARTED}")
    assert (record.offset, record.length, record.text, bool(record.label)) == (100, 200, STARTED, True)


def test_lines_that_grep_found_with_the_names_of_their_files(tmp_path: Path) -> None:
    lost = (
        "[2026-11-21 10:50:00,000] INFO Created log for partition orders-9 in /data/k1/orders-9 with properties {} (kafka.log.LogManager)"
    )
    first, *trace = FATAL.split("\n")
    text = (
        f"a/server.log:{first}\n"
        + "".join(f"a/server.log-{line}\n" for line in trace)
        + f"--\na/server.log:{lost}\n--\nb/server.log:{lost}\n"
    )
    records = records_of(tmp_path, text, "found.txt")
    assert said(records) == [IS_FATAL, ("log_created", 2, "10:50:00.000"), ("log_created", None, "10:50:00.000")]
    assert dict(records[0]["fields"])["exception"] == "java.lang.RuntimeException"


def test_marks_are_taken_off_only_from_what_is_a_record_without_them() -> None:
    assert without_marks(f"| `{STARTED}` |") == STARTED
    assert without_marks("| `a cell` |") is None
    assert without_marks("*** NOTE ***") is None


def test_a_row_of_a_table_needs_a_time_and_a_level() -> None:
    assert of_cells("| 10:00 | INFO | a text |") is None
    assert of_cells("| 2026-11-21 10:00:00 | a text | another |") is None
    found = of_cells("| 2026-11-21 10:00:00 | **WARN** | a text |")
    assert found is not None
    assert (found.level, found.message, found.millis) == ("WARN", "a text", 1795255200000)


def test_a_text_with_a_time_and_a_word_in_capitals_is_no_line_of_a_log() -> None:
    assert of_unknown_layout("2026-11-21 10:43:36 we saw an ERROR in it") is None
    assert of_unknown_layout("21/11/26 10:44:03 WARN nothing") is not None


def test_a_record_is_whole_with_its_logger() -> None:
    assert is_whole(EXPANDED)
    assert not is_whole(EXPANDED.removesuffix(" (kafka.cluster.Partition)"))


THREADS = (
    '"kafka-request-handler-0" #51 daemon prio=5 os_prio=0 tid=0x00007f3a4d0b2800 nid=0x6b runnable [0x00007f39f1ef0000]\n'
    "   java.lang.Thread.State: RUNNABLE\n" + "".join(f"\tat kafka.log.Log.append(Log.scala:{number})\n" for number in range(20))
)


@pytest.mark.parametrize(
    ("text", "row_kind"),
    [
        # Marked, so that no layout frames the file: it is read as the capture that most of it is.
        (f"The dump and the log:\n\n{THREADS}\n> {EXPANDED}\n> {STARTED}\n", "thread"),
        (f"*{EXPANDED}*\n*{STARTED}*\n" + "Topic: orders\tPartition: 0\tLeader: none\tReplicas: 1,2\tIsr: 1\n" * 8, "topic_partition"),
        (
            f"`{EXPANDED}`\n`{STARTED}`\n"
            + "[2026-11-21T10:43:40.120+0000][gc] GC(12) Pause Young (Normal) (G1 Evacuation Pause) 6M->2M(10M) 3.5ms\n" * 9,
            "gc_pause",
        ),
    ],
)
def test_records_among_the_lines_of_another_capture_are_not_lost(text: str, row_kind: str, tmp_path: Path) -> None:
    tables, _ = tables_of(tmp_path, text)
    assert row_kind in {row["row_kind"] for row in tables["capture_rows"]}
    assert said(tables["log_records"]) == [IS_EXPANDED, IS_STARTED]
    assert not any("INFO" in row["raw_text"] for row in tables["capture_rows"])


def test_a_capture_and_records_one_after_the_other(tmp_path: Path) -> None:
    text = f"We looked at it at once.\n\n{SHRUNK}\n\nTopic: orders\tPartition: 7\tLeader: 2\tReplicas: 2,1,3\tIsr: 2,1\n\n{EXPANDED}\n\n{THREADS}\nThat is all that we have.\n"
    tables, _ = tables_of(tmp_path, text)
    assert said(tables["log_records"]) == [IS_SHRUNK, IS_EXPANDED]
    assert [row["row_kind"] for row in tables["capture_rows"]] == ["prose", "topic_partition", "thread_dump", "thread", "prose"]


def test_a_dump_between_paragraphs_is_one_piece(tmp_path: Path) -> None:
    two = THREADS + "\n" + THREADS.replace("handler-0", "handler-1")
    tables, _ = tables_of(
        tmp_path, f"Our broker printed this before it hung:\n\n{EXPANDED}\n\nAnd its threads are these:\n\n{two}\nWhat do they do?\n"
    )
    assert said(tables["log_records"]) == [IS_EXPANDED]
    assert [row["row_kind"] for row in tables["capture_rows"]].count("thread_dump") == 1
    assert [row["row_kind"] for row in tables["capture_rows"]].count("thread") == 2


def test_pauses_in_a_fence_with_records_are_read(tmp_path: Path) -> None:
    pause = "[2026-11-21T10:43:40.120+0000][gc] GC(12) Pause Young (Normal) (G1 Evacuation Pause) 612M->201M(1024M) 2310.554ms"
    tables, _ = tables_of(tmp_path, f"It pauses for seconds.\n\n```\n{SHRUNK}\n{pause}\n{EXPANDED}\n```\n\nHow can we find out why?\n")
    assert said(tables["log_records"]) == [IS_SHRUNK, IS_EXPANDED]
    assert [row["row_kind"] for row in tables["capture_rows"]] == ["prose", "gc_pause", "prose"]


def test_a_nodes_record_between_settings_is_a_record(tmp_path: Path) -> None:
    """A dump of the settings is known as such; what the broker logs after it stays a record of its log."""
    text = (
        "We changed this:\n\n```\n\tlog.retention.hours = 168\n\tnum.partitions = 1\n\tzookeeper.connect = zk:2181\n\tbroker.id = 3\n"
        "[2026-03-01 10:00:00,100] INFO [KafkaServer id=3] started (kafka.server.KafkaServer)\n```\n"
    )
    tables, _ = tables_of(tmp_path, text)
    assert [record["event_type"] for record in tables["log_records"]] == ["node_started"]
    assert {row["row_kind"] for row in tables["capture_rows"]} >= {"setting"}
