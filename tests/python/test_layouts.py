"""Layouts of brokers and clients, who wrote a line of a shared file, and how finely its times tell."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chronicle.catalogue.authoring import patterns_for
from ingestion.bronze.shares import read_all
from ingestion.bronze.tasks import Counted, task_of
from ingestion.ingest import ingest
from ingestion.outcome import little_known_said
from ingestion.sources.discover import Options
from ingestion.sources.identify import identify
from ingestion.sources.inspect import inspect
from ingestion.sources.resolve import place
from ingestion.sources.stages import Found
from tests.python.test_wrappers import load
from tests.rotations import Here

NOON = dt.datetime(2026, 11, 21, 12, 0, 1, 250_000, tzinfo=dt.UTC)
TRACE = "java.lang.IllegalStateException: no\n\tat a.b.C(C.java:1)\n"
# Layout → its lines of a broker: started, an error with a trace, stopped.
BROKER = {
    "cloudera": "2026-11-21 12:00:01,250 {level} {logger}: {text}",
    "cloudera_thread": "2026-11-21 12:00:01,250 {level} {logger}: [main]: {text}",
    "strimzi_thread_last": "2026-11-21 12:00:01,250 {level} {text} ({logger}) [main]",
    "log4j_thread": "2026-11-21 12:00:01,250 {level}  [main] {logger} - {text}",
    "confluent_kubernetes": "[{level}] 2026-11-21 12:00:01,250 [main] {logger} info - {text}",
    "confluent_kubernetes_plain": "[{level}] 2026-11-21 12:00:01,250 [main] {logger} - {text}",
    "kafka_thread": "[2026-11-21 12:00:01,250] {level} [main] {text} ({logger})",
    "kafka_iso_8601": "[2026-11-21T13:00:01,250+01] {level} {text} ({logger})",
    "quarkus": "2026-11-21 12:00:01,250 {level}  [{logger}] (main) {text}",
    "logback_date": "2026-11-21 12:00:01.250 [main] {level}  {logger} - {text}",
}
SAID = [("INFO", "[KafkaServer id=3] started"), ("ERROR", "[KafkaServer id=3] boom: x"), ("INFO", "[KafkaServer id=3] shutting down")]


def lines_of(form: str) -> str:
    lines = [form.format(level=level, logger="kafka.server.KafkaServer", text=text) + "\n" for level, text in SAID]
    return lines[0] + lines[1] + TRACE + lines[2]


@pytest.mark.parametrize("layout", BROKER)
def test_a_layout_of_brokers_is_known(tmp_path: Path, layout: str) -> None:
    path = tmp_path / "server.log"
    path.write_text(lines_of(BROKER[layout]))
    source, rows = load(path)
    assert (source.layout, source.layout_known_by, source.kind) == (layout, "content", "kafka_server_log")
    assert [(row["level"], row["logger"], row["event_type"], row["body"]) for row in rows] == [
        ("INFO", "kafka.server.KafkaServer", "node_started", "started"),
        ("ERROR", "kafka.server.KafkaServer", None, "boom: x"),
        ("INFO", "kafka.server.KafkaServer", "node_stopping", "shutting down"),
    ]
    assert {(row["node_id"], row["logged_at"], row["time_resolution_ms"]) for row in rows} == {(3, NOON, 1)}
    assert dict(rows[1]["fields"])["exception"] == "java.lang.IllegalStateException"


@pytest.mark.parametrize("form", ["{level} {logger}: {text}", "{level} {text} ({logger})"])
def test_a_layout_without_a_time_is_read_without_one(tmp_path: Path, form: str) -> None:
    path = tmp_path / "server.log"
    path.write_text(lines_of(form))
    source, rows = load(path)
    assert source.kind == "kafka_server_log"
    assert [row["event_type"] for row in rows] == ["node_started", None, "node_stopping"]
    assert {(row["logged_at"], row["time_resolution_ms"]) for row in rows} == {(None, None)}
    # What the container runtime says is their time, then.
    path.write_text("".join(f"2026-11-21T12:00:01.250000000Z stdout F {line}\n" for line in lines_of(form).splitlines()))
    source, rows = load(path)
    assert {(row["logged_at"], row["zone_known_by"], row["time_resolution_ms"]) for row in rows} == {(NOON, "content", 1)}


CLIENT = "[Consumer clientId=c-1, groupId=g] Discovered group coordinator b:9092 (id: 2147483646 rack: null)"
CLIENTS = {
    "spring_boot": "2026-11-21 12:00:01.250  INFO 7 --- [ntainer#0-0-C-1] o.a.k.c.c.internals.ConsumerCoordinator  : {}",
    "spring_boot_offset": "2026-11-21T13:00:01.250+01:00  INFO 7 --- [shop] [ntainer#0-0-C-1] o.a.k.c.c.internals.ConsumerCoordinator  : {}",
    "logback_date": "2026-11-21 12:00:01.250 [main] INFO  o.a.k.c.c.internals.ConsumerCoordinator - {}",
    "logback_level_first": "2026-11-21 12:00:01.250 INFO  [main] o.a.k.c.c.internals.ConsumerCoordinator - {}",
    "client_flume": "21 Nov 2026 12:00:01,250 INFO  [main] (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator.a:1)  - {}",
}


@pytest.mark.parametrize("layout", CLIENTS)
def test_a_layout_of_clients_is_known(tmp_path: Path, layout: str) -> None:
    path = tmp_path / "app.log"
    path.write_text("".join(CLIENTS[layout].format(text) + "\n" for text in (CLIENT, "an application's own words", CLIENT)))
    source, rows = load(path)
    assert source.layout == layout
    assert [(row["event_type"], row["logged_at"]) for row in rows] == [
        ("group_coordinator_found", NOON),
        (None, NOON),
        ("group_coordinator_found", NOON),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("%3|1498000000.123|FAIL|rdkafka#producer-1| [thrd:b:9092/1]: b:9092/1: Connect to ipv4#10.0.0.1:9092 failed\n", "librdkafka"),
        ("INFO shop: order 1 accepted\nINFO shop: order 2 accepted\n", "no known layout"),
        ("started\nstopped\n", "no known layout"),
    ],
)
def test_what_is_not_read_says_why(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "app.log"
    path.write_text(text)
    source = inspect(Found.at(str(path), "c"))
    assert (source.outcome, reason in (source.reason or "")) == ("unknown", True)


@pytest.mark.parametrize(
    ("form", "resolution"),
    [
        ("2026-11-21 12:00:01 {level}  [main] KafkaServer:66 - {text}", 1000),
        ("[2026-11-21 12:00:01] {level} {text} ({logger})", 1000),
        ("[2026-11-21 12:00:01,000] {level} {text} ({logger})", 1),
        ('{{"timestamp":"2026-11-21T12:00:01Z","level":"{level}","logger":"{logger}","message":"{text}"}}', 1000),
        ('{{"timestamp":1795262401,"level":"{level}","logger":"{logger}","message":"{text}"}}', 1000),
        ('{{"timestamp":1795262401000,"level":"{level}","logger":"{logger}","message":"{text}"}}', 1),
    ],
)
def test_a_record_says_how_finely_its_time_tells(tmp_path: Path, form: str, resolution: int) -> None:
    path = tmp_path / "server.log"
    path.write_text("".join(form.format(level=level, logger="kafka.server.KafkaServer", text=text) + "\n" for level, text in SAID))
    assert {row["time_resolution_ms"] for row in load(path)[1]} == {resolution}


def compose(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


AT = "[2026-11-21 12:00:01,250] INFO"
NAMELESS = f"{AT} Loading logs. (kafka.log.LogManager)"
NAMED = f"{AT} [KafkaServer id=7] started (kafka.server.KafkaServer)"


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        # Compose calls the first container of each service so.
        (compose(f"kafka-1  | {NAMELESS}"), {None}),
        (compose(f"kafka-1  |{NAMELESS}"), {None}),
        (compose(f"broker_1  | {NAMELESS}", f"zookeeper_1  | {AT} x (org.apache.zookeeper.server.NIOServerCnxn)"), {None}),
        # Names that differ in the number alone say more.
        (compose(f"kafka-1  | {NAMELESS}", f"kafka-2  | {NAMELESS}"), {1, 2}),
        (compose(f"kafka2-1  | {NAMELESS}"), {2}),
        # A stream that names none does not take the node of another; the numbers in names are no nodes if one contradicts.
        (compose(f"kafka-1  | {NAMED}", f"broker-x  | {NAMELESS}"), {7, None}),
        (compose(f"kafka-1  | {NAMED}", f"kafka-2  | {NAMELESS}"), {7, None}),
        # One that is alone in its file does, and so do the files of one host.
        (compose(f"kafka-1  | {NAMELESS}", f"kafka-1  | {NAMED}"), {7}),
        (
            compose(
                f'{{"@timestamp":"2026-11-21T12:00:01Z","host":{{"name":"h"}},"log":{{"file":{{"path":"/l/server.log"}}}},"message":"{NAMED}"}}',
                f'{{"@timestamp":"2026-11-21T12:00:01Z","host":{{"name":"h"}},"log":{{"file":{{"path":"/l/log-cleaner.log"}}}},"message":"{NAMELESS}"}}',
            ),
            {7},
        ),
    ],
)
def test_the_node_of_a_stream_is_what_it_says_itself(tmp_path: Path, text: str, nodes: set[int | None]) -> None:
    path = tmp_path / "compose.log"
    path.write_text(text)
    rows = [row for row in load(path)[1] if "zookeeper" not in (row["logger"] or "")]
    assert {row["node_id"] for row in rows} == nodes


JOURNAL = {
    "journal": "2026-11-21T12:00:0{}+0000 {} {}: {}",
    "journal_full": "Sat 2026-11-21 12:00:0{} UTC {} {}: {}",
    "syslog": "Nov 21 12:00:0{} {} {}: {}",
}
KILLED = "Out of memory: Killed process 812 (java) total-vm:2048kB, anon-rss:1024kB, file-rss:0kB"
SPOKEN = [
    (1, "b1", "kafka-server-start.sh[812]", NAMED),
    (2, "b1", "kernel", KILLED),
    (2, "b1", "systemd[1]", "kafka.service: Main process exited, code=killed, status=9/KILL"),
    (2, "b1", "systemd[1]", "kafka.service: Failed with result 'oom-kill'."),
    (2, "b1", "systemd[1]", "kafka.service: A process of this unit has been killed by the OOM killer."),
    (2, "b1", "sshd[99]", "Accepted publickey for admin"),
    (3, "b2", "kernel", KILLED),
    (4, "b1", "kafka-server-start.sh[990]", NAMED),
]


def read_journal(path: Path, start: int = 0) -> tuple[list[dict[str, Any]], list[dict[str, Any]], Counted]:
    """Rows of the log, rows of captures, and what was counted."""
    (source,) = identify(place([inspect(Found.at(str(path), "c"))]))
    counted: dict[str, Counted] = {}
    tables: dict[str, list[dict[str, Any]]] = {"log_records": [], "capture_rows": []}
    for table, batch in read_all([replace(task_of(source, False, 1, NOON), start=start)], counted):
        tables[table] += batch.to_pylist()
    return tables["log_records"], tables["capture_rows"], counted[source.source_id]


@pytest.mark.parametrize("layout", JOURNAL)
def test_a_journal_gives_kafkas_records_and_what_kernel_and_systemd_say(tmp_path: Path, layout: str) -> None:
    path = tmp_path / "20261121T130000Z-journal.log"
    lines = [JOURNAL[layout].format(*parts) for parts in SPOKEN]
    path.write_text("".join(f"{line}\n" for line in lines))
    records, rows, count = read_journal(path)
    # No record of Kafka's has a line of another program.
    assert [(row["event_type"], row["raw_text"]) for row in records if row["event_type"]] == [
        ("node_started", lines[0]),
        ("node_started", lines[7]),
    ]
    assert [(row["body"], row["node_id"]) for row in records if not row["event_type"]] == [("Accepted publickey for admin", None)]
    assert [(row["row_kind"], row["node_id"], row["captured_at"].second, row["byte_offset"]) for row in rows] == [
        ("oom_kill", 7, 2, len(lines[0]) + 1),
        ("unit_exit", 7, 2, sum(len(line) + 1 for line in lines[:2])),
        ("unit_failed", 7, 2, sum(len(line) + 1 for line in lines[:3])),
        ("unit_oom_kill", 7, 2, sum(len(line) + 1 for line in lines[:4])),
        # Another host, of which nothing says which node it has.
        ("oom_kill", None, 3, sum(len(line) + 1 for line in lines[:6])),
    ]
    assert dict(rows[0]["fields"])["resident_bytes"] == str(1024 * 1024)
    assert {key: dict(rows[1]["fields"])[key] for key in ("unit", "code", "status", "signal")} == {
        "unit": "kafka.service", "code": "killed", "status": "9", "signal": "KILL",
    }  # fmt: skip
    assert dict(rows[2]["fields"])["result"] == "oom-kill"
    assert (count.records, count.failed) == (8, None)


def test_of_a_journal_that_grew_only_the_new_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "20261121T130000Z-journal.log"
    lines = [JOURNAL["journal"].format(*parts) for parts in SPOKEN]
    path.write_text("".join(f"{line}\n" for line in lines))
    start = sum(len(line) + 1 for line in lines[:6])
    records, rows, _ = read_journal(path, start)
    assert [(row["row_kind"], row["byte_offset"]) for row in rows] == [("oom_kill", start)]
    assert [row["event_type"] for row in records] == ["node_started"]


STRANGE = ["{} INFO  {{x}} kafka.server.KafkaServer ~ [KafkaServer id=3] started".format(f"2026-11-21 10:00:0{n},250") for n in range(4)]


def test_a_log_of_which_less_than_half_is_recognised_names_itself_and_the_way_out(tmp_path: Path) -> None:
    """All lines say the same, so their layout is proposed, not taken."""
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "server.log").write_text("".join(f"{line}\n" for line in STRANGE))
    (folder / "good.log").write_text(lines_of(BROKER["cloudera"]))
    (folder / "connect.log").write_text(f"{AT} x (org.apache.kafka.connect.runtime.Worker)\n" * 5)
    options = Options([str(folder)], cluster="c", timezone="UTC", settled_after=0.0)
    outcome = ingest(Here, str(tmp_path / "warehouse"), options, tell=lambda text: None)
    first, last = little_known_said(outcome.little_known)
    assert first == (f"{folder}/server.log: 0 of 4 records recognised; most frequent of the others, 4 times: {STRANGE[0]}")
    assert "--pattern" in last and f"chronicle catalogue suggest {folder}/server.log" in last
    assert list(patterns_for([str(folder)])) == [
        f"# {folder}/server.log: its lines look like this layout\n--pattern '%d{{yyyy-MM-dd HH:mm:ss,SSS}} %-5p {{x}} %c ~ %m%n'\n"
    ]
    again = Options(
        [str(folder)], cluster="c2", timezone="UTC", settled_after=0.0, pattern="%d{yyyy-MM-dd HH:mm:ss,SSS} %-5p {x} %c ~ %m%n"
    )
    assert ingest(Here, str(tmp_path / "warehouse2"), again, tell=lambda text: None).recognised >= 4


def test_nothing_is_said_of_logs_that_are_understood() -> None:
    assert little_known_said([]) == []


def test_lines_without_a_time_are_a_warning_of_their_source(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_text(lines_of("{level} {logger}: {text}"))
    *_, count = read_journal(tmp_path / "server.log")
    assert count.doubts == {"its lines have no time, so nothing tells when it happened"}
