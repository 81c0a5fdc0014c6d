"""The same lines in every wrapper that collectors and container runtimes put around them."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ingestion.bronze import pieces
from ingestion.bronze.log_records import read_tasks
from ingestion.bronze.tasks import task_of
from ingestion.sources.identify import identify
from ingestion.sources.inspect import inspect
from ingestion.sources.resolve import place
from ingestion.sources.stages import Found, Identified

LINES = [
    "[2020-05-15 14:00:01,123] INFO [KafkaServer id=3] started (kafka.server.KafkaServer)",
    "[2020-05-15 14:00:02,000] ERROR [KafkaServer id=3] boom (kafka.server.KafkaServer)",
    "java.lang.IllegalStateException: no",
    "\tat a.b.C(C.java:1)",
    '[2020-05-15 14:00:03,500] WARN a "quoted" word (a.b.C)',
]
WRITTEN = dt.datetime(2020, 5, 15, 12, 0, 1, 200_000, tzinfo=dt.UTC)


def at(number: int) -> str:
    return (WRITTEN + dt.timedelta(seconds=number)).strftime("%Y-%m-%dT%H:%M:%S.%f000Z")


def filebeat(number: int, line: str) -> str:
    return json.dumps(
        {"@timestamp": at(number), "message": line, "host": {"name": "kafka-3"}, "log": {"file": {"path": "/x/server.log"}, "offset": 1}}
    )


WRAPPERS: dict[str, Callable[[int, str], str]] = {
    "docker_compose": lambda n, line: f"kafka-3  | {line}",
    "cri": lambda n, line: f"{at(n)} stdout F {line}",
    "kubectl_prefix": lambda n, line: f"[pod/kafka-3/kafka] {line}",
    "docker_timestamps": lambda n, line: f"{at(n)} {line}",
    "journal": lambda n, line: f"2020-05-15T12:00:0{n + 1}+0000 host3 kafka-server-start.sh[1234]: {line}",
    "syslog": lambda n, line: f"May 15 12:00:0{n + 1} host3 kafka-server-start.sh[1234]: {line}",
    "syslog_5424": lambda n, line: f"<134>1 {at(n)} host3 kafka 1234 - - {line}",
    "json": filebeat,
}


def load(path: Path, pattern: str | None = None) -> tuple[Identified, list[dict]]:
    (source,) = identify(place([inspect(Found.at(str(path), "c"), pattern)]))
    task = task_of(source, False, 1, dt.datetime(2026, 1, 1, tzinfo=dt.UTC))
    return source, [row for batch in read_tasks([task], cache={}) for row in batch.to_pylist()]


@pytest.mark.parametrize("name", WRAPPERS)
def test_a_wrapped_log_is_read_as_if_it_were_plain(tmp_path: Path, name: str) -> None:
    wrapped = [WRAPPERS[name](number, line) for number, line in enumerate(LINES)]
    path = tmp_path / "broker.log"
    path.write_text("".join(f"{line}\n" for line in wrapped))
    source, rows = load(path)
    assert (source.layout, source.kind) == (f"kafka in {name}", "kafka_server_log")
    assert [(row["level"], row["logger"], row["body"], row["event_type"]) for row in rows] == [
        ("INFO", "kafka.server.KafkaServer", "started", "node_started"),
        ("ERROR", "kafka.server.KafkaServer", "boom", None),
        ("WARN", "a.b.C", 'a "quoted" word', None),
    ]
    assert dict(rows[1]["fields"])["exception"] == "java.lang.IllegalStateException"
    assert rows[1]["raw_text"] == "\n".join(wrapped[1:4])
    assert [row["byte_offset"] for row in rows] == [0, len(wrapped[0]) + 1, sum(len(line) + 1 for line in wrapped[:4])]
    assert sum(row["byte_length"] for row in rows) == path.stat().st_size
    assert {row["node_id"] for row in rows} == {3}
    # The wrapper's clock is UTC, the broker's is two hours ahead; syslog and compose do not give a zone.
    known = name not in ("docker_compose", "kubectl_prefix", "syslog")
    assert rows[0]["logged_at"] == dt.datetime(2020, 5, 15, 12 if known else 14, 0, 1, 123_000, tzinfo=dt.UTC)
    assert rows[0]["zone_known_by"] == ("evidence" if known else "default")


def test_streams_of_several_nodes_are_kept_apart(tmp_path: Path) -> None:
    """Lines of two containers, interleaved: a stack trace belongs to the record of its own container."""
    path = tmp_path / "compose.log"
    path.write_text(
        f"kafka-1  | {LINES[1].replace('id=3', 'id=1')}\n"
        f"kafka-2  | {LINES[0].replace('id=3', 'id=2')}\n"
        f"kafka-1  | {LINES[2]}\n"
        f"kafka-2  | {LINES[4]}\n"
        f"kafka-1  | {LINES[3]}\n"
    )
    _, rows = load(path)
    lengths = [len(line) + 1 for line in path.read_text().split("\n")]
    assert sorted((row["node_id"], row["body"], row["byte_offset"]) for row in rows) == [
        (1, "boom", 0),
        (2, 'a "quoted" word', sum(lengths[:3])),
        (2, "started", lengths[0]),
    ]
    first = next(row for row in rows if row["body"] == "boom")
    assert first["raw_text"].count("\n") == 2
    assert dict(first["fields"])["exception_message"] == "no"


def test_parts_of_a_line_are_joined(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    head, tail = LINES[0][:40], LINES[0][40:]
    path.write_text(f"{at(0)} stdout P {head}\n{at(0)} stdout F {tail}\n{at(1)} stdout F {LINES[4]}\n")
    _, rows = load(path)
    assert [row["body"] for row in rows] == ["started", 'a "quoted" word']
    docker = [{"log": head, "stream": "stdout", "time": at(0)}, {"log": tail + "\n", "stream": "stdout", "time": at(0)}]
    path.write_text("".join(json.dumps(line) + "\n" for line in docker))
    assert [row["event_type"] for row in load(path)[1]] == ["node_started"]


@pytest.mark.parametrize(
    "record",
    [
        {
            "instant": {"epochSecond": 1589544001, "nanoOfSecond": 123000000},
            "thread": "main",
            "level": "INFO",
            "loggerName": "kafka.server.KafkaServer",
            "message": "[KafkaServer id=3] started",
        },
        {
            "timeMillis": 1589544001123,
            "thread": "main",
            "level": "INFO",
            "loggerName": "kafka.server.KafkaServer",
            "message": "[KafkaServer id=3] started",
        },
        {
            "@timestamp": "2020-05-15T12:00:01.123Z",
            "ecs.version": "1.2.0",
            "log.level": "INFO",
            "message": "[KafkaServer id=3] started",
            "process.thread.name": "main",
            "log.logger": "kafka.server.KafkaServer",
        },
        {
            "@timestamp": "2020-05-15T12:00:01.123Z",
            "log": {"level": "INFO", "logger": "kafka.server.KafkaServer"},
            "message": "[KafkaServer id=3] started",
            "process": {"thread": {"name": "main"}},
        },
        {
            "@timestamp": "2020-05-15T14:00:01.123+02:00",
            "message": "[KafkaServer id=3] started",
            "logger_name": "kafka.server.KafkaServer",
            "level": "INFO",
            "thread_name": "main",
            "@version": 1,
        },
    ],
    ids=["log4j2", "log4j2 millis", "ecs flat", "ecs nested", "logstash"],
)
def test_json_layouts_are_records(tmp_path: Path, record: dict) -> None:
    path = tmp_path / "server.json"
    failed = record | {"message": "boom", "error.stack_trace": "java.lang.IllegalStateException: no\n\tat a.b.C(C.java:1)"}
    path.write_text(json.dumps(record) + "\n" + json.dumps(failed) + "\n")
    source, rows = load(path)
    assert source.layout == "json"
    assert [(row["event_type"], row["level"], row["thread"], row["logger"], row["node_id"]) for row in rows] == [
        ("node_started", "INFO", "main", "kafka.server.KafkaServer", 3),
        (None, "INFO", "main", "kafka.server.KafkaServer", 3),
    ]
    assert rows[0]["logged_at"] == dt.datetime(2020, 5, 15, 12, 0, 1, 123_000, tzinfo=dt.UTC)
    assert rows[0]["zone_known_by"] == "content"
    assert dict(rows[1]["fields"])["exception"] == "java.lang.IllegalStateException"
    assert rows[0]["raw_text"] == json.dumps(record)


def test_an_exception_that_is_an_object_is_read_as_java_prints_it(tmp_path: Path) -> None:
    frame = {"class": "kafka.zk.KafkaZkClient", "method": "create", "file": "KafkaZkClient.scala", "line": 17}
    cause = {"name": "java.net.ConnectException", "message": "Connection refused"}
    thrown = {"commonElementCount": 0, "localizedMessage": "no", "message": "no", "name": "java.lang.IllegalStateException", "cause": cause}
    record = {"timeMillis": 1589544001123, "level": "ERROR", "loggerName": "kafka.server.KafkaServer", "message": "[KafkaServer id=3] boom"}
    path = tmp_path / "server.json"
    texts = [
        record | {"thrown": thrown | {"extendedStackTrace": [frame]}},
        record | {"thrown": {"message": "no", "extendedStackTrace": "java.io.IOException: no\n\tat a.b.C(C.java:1)"}},
    ]
    path.write_text("".join(json.dumps(text) + "\n" for text in texts))
    first, second = (dict(row["fields"]) for row in load(path)[1])
    assert (first["exception"], first["exception_message"]) == ("java.lang.IllegalStateException", "no")
    assert (first["root_exception"], first["root_exception_message"]) == ("java.net.ConnectException", "Connection refused")
    assert second["exception"] == "java.io.IOException"


def test_lines_before_the_first_record_have_the_time_that_is_around_them(tmp_path: Path) -> None:
    path = tmp_path / "stdout.log"
    path.write_text(f"{at(0)} java.lang.OutOfMemoryError: Java heap space\n{at(1)} {LINES[0]}\n")
    rows = load(path)[1]
    assert [(row["outcome"], row["logged_at"]) for row in rows] == [
        ("orphan", WRITTEN),
        ("recognised", dt.datetime(2020, 5, 15, 12, 0, 1, 123_000, tzinfo=dt.UTC)),
    ]
    path.write_text(f"java.lang.OutOfMemoryError: Java heap space\n{LINES[0]}\n")
    assert [row["logged_at"] is None for row in load(path)[1]] == [True, False]


def test_syslog_may_have_its_priority_before_the_time(tmp_path: Path) -> None:
    path = tmp_path / "broker.log"
    path.write_text("".join(f"<30>{WRAPPERS['syslog'](number, line)}\n" for number, line in enumerate(LINES)))
    source, rows = load(path)
    assert source.layout == "kafka in syslog"
    assert [row["event_type"] for row in rows] == ["node_started", None, None]


def test_json_in_a_container_runtime_is_unwrapped_twice(tmp_path: Path) -> None:
    record = {
        "@timestamp": "2020-05-15T12:00:01.123Z",
        "log.level": "INFO",
        "message": "[KafkaServer id=3] started",
        "log.logger": "kafka.server.KafkaServer",
    }
    path = tmp_path / "0.log"
    path.write_text("".join(f"{at(n)} stdout F {json.dumps(record)}\n" for n in range(3)))
    source, rows = load(path)
    assert source.layout == "json in cri"
    assert [row["event_type"] for row in rows] == ["node_started"] * 3


def test_colours_line_ends_of_windows_and_a_byte_order_mark_are_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(LINES).encode() + b"\r\n")
    _, rows = load(path)
    assert [(row["body"], row["logger"]) for row in rows] == [
        ("started", "kafka.server.KafkaServer"),
        ("boom", "kafka.server.KafkaServer"),
        ('a "quoted" word', "a.b.C"),
    ]
    assert dict(rows[1]["fields"])["exception_message"] == "no"
    assert rows[0]["byte_offset"] == 3
    path.write_text("".join(f"\x1b[32m{line}\x1b[0m\n" for line in LINES))
    _, rows = load(path)
    assert [row["body"] for row in rows] == ["started", "boom", 'a "quoted" word']


def test_a_pattern_of_the_users_own(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    path.write_text(
        "15.05.2020|12:00:01|INFO|kafka.server.KafkaServer|[KafkaServer id=3] started\n"
        "15.05.2020|12:00:02|ERROR|a.b.C|boom\njava.lang.IllegalStateException: no\n\tat a.b.C(C.java:1)\n"
    )
    assert inspect(Found.at(str(path), "c")).outcome == "unknown"
    source, rows = load(path, "%d{dd.MM.yyyy|HH:mm:ss}|%p|%c|%m%n")
    assert source.layout == "given"
    assert [(row["event_type"], row["level"]) for row in rows] == [("node_started", "INFO"), (None, "ERROR")]
    assert rows[0]["logged_at"] == dt.datetime(2020, 5, 15, 12, 0, 1, tzinfo=dt.UTC)
    assert rows[1]["raw_text"].endswith("\tat a.b.C(C.java:1)")


def test_chunks_do_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "compose.log"
    path.write_text("".join(f"kafka-{n % 3}  | {LINES[n % 5].replace('id=3', f'id={n % 3}')}\n" for n in range(400)))

    def key(rows: list[dict]) -> list[tuple]:
        return sorted((row["byte_offset"], row["body"], row["raw_text"], row["node_id"]) for row in rows)

    whole = key(load(path)[1])
    for size in (100, 3000):
        monkeypatch.setattr(pieces, "CHUNK", size)
        assert key(load(path)[1]) == whole


def test_what_is_held_back_of_one_stream_holds_back_what_follows_it(tmp_path: Path) -> None:
    path = tmp_path / "compose.log"
    lines = [f"kafka-{n % 2}  | {LINES[0].replace('id=3', f'id={n % 2}')}\n" for n in range(6)]
    path.write_text("".join(lines))
    (source,) = identify(place([inspect(Found.at(str(path), "c"))]))
    counted: dict = {}
    now = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    first = [row for batch in read_tasks([task_of(source, True, 1, now)], counted, {}) for row in batch.to_pylist()]
    end = counted[source.source_id].end
    assert (len(first), end) == (4, len("".join(lines[:4])))
    path.write_text("".join(lines * 2))
    (source,) = identify(place([inspect(Found.at(str(path), "c"))]))
    from dataclasses import replace

    task = replace(task_of(source, False, 2, now), start=end, zones=((-(10**15), "UTC"),))
    second = [row for batch in read_tasks([task], cache={}) for row in batch.to_pylist()]
    assert sorted(row["byte_offset"] for row in first + second) == [sum(map(len, (lines * 2)[:n])) for n in range(12)]


@pytest.mark.parametrize(
    ("pattern", "line", "expected"),
    [
        (
            "%d{yyyy-MM-dd HH:mm:ss.SSS} [%thread] %-5level %logger{36} - %msg%n",
            "2020-05-15 12:00:0{}.123 [main] WARN  o.a.k.clients.NetworkClient - boom",
            ("WARN", "o.a.k.clients.NetworkClient", "main", "boom"),
        ),
        (
            "%d{yyyy-MM-dd HH:mm:ss.SSS} %5p ${PID} --- [%t] %-40.40logger{39} : %m%n".replace("${PID}", "%pid"),
            "2020-05-15 12:00:0{}.123  WARN 7 --- [main] o.a.k.c.NetworkClient                    : boom",
            ("WARN", "o.a.k.c.NetworkClient", "main", "boom"),
        ),
        (
            "%d{yyyy-MM-dd HH:mm:ss.SSS} [%t] %c{1}:%L %p - %m%n",
            "2020-05-15 12:00:0{}.123 [main] KafkaServer:66 WARN - boom",
            ("WARN", "KafkaServer", "main", "boom"),
        ),
        (
            "%d{yyyy-MM-dd HH:mm:ss,SSS} %c %m%n",
            "2020-05-15 12:00:0{},123 kafka.log.LogManager boom",
            (None, "kafka.log.LogManager", None, "boom"),
        ),
    ],
)
@pytest.mark.parametrize("wrapper", ["", "kubectl_prefix", "cri", "docker_timestamps", "json"])
def test_a_pattern_that_begins_with_date_and_time_is_tried_before_they_are_taken_off(
    tmp_path: Path, pattern: str, line: str, expected: tuple[str | None, ...], wrapper: str
) -> None:
    lines = [text for n in range(3) for text in (line.format(n), "java.lang.IllegalStateException: no", "\tat a.b.C(C.java:1)")]
    wrap = WRAPPERS.get(wrapper, lambda n, text: text)
    (tmp_path / "app.log").write_text("".join(f"{wrap(n, text)}\n" for n, text in enumerate(lines)))
    source, rows = load(tmp_path / "app.log", pattern)
    assert source.layout == (f"given in {wrapper}" if wrapper else "given")
    assert [(row["level"], row["logger"], row["thread"] or None, row["body"]) for row in rows] == [expected] * 3
    assert {dict(row["fields"])["exception"] for row in rows} == {"java.lang.IllegalStateException"}
    assert [row["logged_at"].second for row in rows] == [0, 1, 2]
