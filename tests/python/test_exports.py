"""Exports of log stores are read as if their messages were the lines of a log: CSV, JSON documents, lines with the newest first."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from pathlib import Path
from typing import Any

import pytest

from ingestion.records.exports import Export, find_export, rows_of
from ingestion.sources.inspect import inspect
from ingestion.sources.stages import Found
from tests.python.test_wrappers import load

# Three records, the second of three lines; the times are UTC.
RECORDS = [
    (1, "INFO", "kafka.server.KafkaServer", "[KafkaServer id=3] started", ""),
    (
        2,
        "ERROR",
        "kafka.server.KafkaServer",
        '[KafkaServer id=3] boom, "really"',
        "java.lang.IllegalStateException: no\n\tat a.b.C(C.java:1)",
    ),
    (3, "INFO", "kafka.server.KafkaServer", "[KafkaServer id=3] shutting down", ""),
]
# What is to be read, whatever the records are wrapped into.
EXPECTED = [
    (1, "node_started", "started", None),
    (2, None, 'boom, "really"', "java.lang.IllegalStateException"),
    (3, "node_stopping", "shutting down", None),
]


def clock(second: int, form: str = "%Y-%m-%dT%H:%M:%S.250Z") -> str:
    return dt.datetime(2026, 11, 21, 10, 0, second).strftime(form)


def millis(second: int) -> int:
    return int(dt.datetime(2026, 11, 21, 10, 0, second, 250_000, tzinfo=dt.UTC).timestamp() * 1000)


def printed(record: tuple[int, str, str, str, str]) -> str:
    """A record in Kafka's layout."""
    second, level, logger, message, trace = record
    return f"[{clock(second, '%Y-%m-%d %H:%M:%S,250')}] {level} {message} ({logger})" + (f"\n{trace}" if trace else "")


def each_line() -> list[tuple[int, str]]:
    return [(record[0], line) for record in RECORDS for line in printed(record).split("\n")]


def table(head: list[str], rows: list[list[str]], delimiter: str = ",", quoting: Any = csv.QUOTE_MINIMAL) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, quoting=quoting).writerows([head, *rows] if head else rows)
    return out.getvalue()


FIELDS = [
    {"@timestamp": clock(second), "log.level": level, "log.logger": logger, "message": message, "error.stack_trace": trace}
    for second, level, logger, message, trace in RECORDS
]
CSVS = {
    "CloudWatch Logs Insights, newest first": table(
        ["@timestamp", "@message"], [[clock(r[0], "%Y-%m-%d %H:%M:%S.250"), printed(r)] for r in reversed(RECORDS)]
    ),
    "CloudWatch, an event a line, newest first": table(
        ["@message", "@timestamp", "@logStream"],
        [[line, clock(second, "%Y-%m-%d %H:%M:%S.250"), "kafka-3"] for second, line in reversed(each_line())],
    ),
    "CloudWatch, the console's timestamp,message": table(
        ["timestamp", "message"], [[str(millis(second)), line] for second, line in each_line()]
    ),
    "Splunk": table(
        ["_raw", "_time", "host", "source"],
        [[printed(r), clock(r[0], "%Y-%m-%dT%H:%M:%S.250+0000"), "h", "/var/log/kafka/server.log"] for r in reversed(RECORDS)],
        quoting=csv.QUOTE_ALL,
    ),
    "Kibana": table(
        ["@timestamp", "message"], [[clock(r[0], "%b %d, %Y @ %H:%M:%S.250"), printed(r)] for r in reversed(RECORDS)], quoting=csv.QUOTE_ALL
    ),
    "Kibana, fields": table(list(FIELDS[0]), [list(row.values()) for row in FIELDS]),
    "Grafana": table(
        ["labels", "Time", "Line", "tsNs"],
        [['{"pod":"kafka-3"}', "2026-11-21 11:00:00", line, f"{millis(second)}000000"] for second, line in each_line()],
    ),
    "semicolons": table(["Date", "Host", "Message"], [[clock(r[0]), "h", printed(r)] for r in RECORDS], delimiter=";"),
    "tabs": table(["Message", "time"], [[printed(r), clock(r[0])] for r in RECORDS], delimiter="\t"),
    "columns of other names": table(["when", "what", "n"], [[clock(r[0]), printed(r), "1"] for r in RECORDS]),
    "no head": table([], [["h", clock(r[0]), printed(r)] for r in RECORDS]),
}
EVENTS = [{"timestamp": millis(second), "message": line, "ingestionTime": millis(9)} for second, line in each_line()]
DOCUMENTS = {
    "aws logs get-log-events": json.dumps({"events": EVENTS, "nextForwardToken": "f/1"}, indent=4),
    "aws logs filter-log-events": json.dumps(
        {"events": [event | {"logStreamName": "kafka-3"} for event in EVENTS], "searchedLogStreams": []}
    ),
    "aws logs get-query-results": json.dumps(
        {
            "results": [
                [{"field": "@timestamp", "value": clock(r[0], "%Y-%m-%d %H:%M:%S.250")}, {"field": "@message", "value": printed(r)}]
                for r in reversed(RECORDS)
            ],
            "status": "Complete",
        }
    ),
    "Elasticsearch": json.dumps(
        {"took": 1, "hits": {"hits": [{"_id": str(r[0]), "_source": {"@timestamp": clock(r[0]), "message": printed(r)}} for r in RECORDS]}},
        indent=2,
    ),
    "Elasticsearch, fields": json.dumps({"hits": {"hits": [{"_source": row} for row in FIELDS]}}),
    "Loki's API": json.dumps(
        {
            "status": "success",
            "data": {
                "resultType": "streams",
                "result": [{"stream": {"pod": "kafka-3"}, "values": [[f"{millis(s)}000000", line] for s, line in reversed(each_line())]}],
            },
        }
    ),
    "Grafana": json.dumps([{"line": printed(r), "timestamp": f"{millis(r[0])}000000", "fields": {"pod": "kafka-3"}} for r in RECORDS]),
    "Splunk, one object": json.dumps({"results": [{"_raw": printed(r), "_time": clock(r[0])} for r in reversed(RECORDS)]}),
    "Google Cloud": json.dumps(
        [{"textPayload": printed(r), "timestamp": clock(r[0]), "resource": {"labels": {"pod_name": "kafka-3"}}} for r in RECORDS]
    ),
}
LINES = {
    "Splunk": [
        json.dumps({"preview": False, "result": {"_raw": printed(r), "_time": clock(r[0], "%Y-%m-%d %H:%M:%S.250 UTC")}})
        for r in reversed(RECORDS)
    ],
    "logcli": [json.dumps({"labels": {"pod": "kafka-3"}, "line": line, "timestamp": clock(s)}) for s, line in reversed(each_line())],
    "Elasticsearch": [json.dumps({"_index": "x", "_source": {"@timestamp": clock(r[0]), "message": printed(r)}}) for r in RECORDS],
    "Grafana's text": [
        'Common labels: {"app":"kafka"}',
        "Line limit: 1000 (5 returned)",
        "",
        "",
        *(f"{millis(s)}000000\t{clock(s)}\t{line}" for s, line in each_line()),
    ],
    "logcli's text": [f'{clock(s)} {{pod="kafka-3"}} {line}' for s, line in each_line()],
    "aws logs tail": [f"{clock(s, '%Y-%m-%dT%H:%M:%S.250000+00:00')} kafka/broker/0a1b {line}" for s, line in each_line()],
    "stern": [f"kafka-3 kafka {line}" for _, line in each_line()],
}
ALL = {f"csv: {name}": text for name, text in CSVS.items()}
ALL |= {f"document: {name}": text for name, text in DOCUMENTS.items()}
ALL |= {f"lines: {name}": "".join(f"{line}\n" for line in some) for name, some in LINES.items()}


@pytest.mark.parametrize("name", ALL)
def test_an_export_gives_the_records_of_the_log(tmp_path: Path, name: str) -> None:
    path = tmp_path / "export"
    path.write_bytes(ALL[name].encode())
    source, rows = load(path)
    assert (source.outcome, source.kind) == ("read", "kafka_server_log")
    heads = [row for row in rows if row["outcome"] != "orphan"]
    found = [(row["logged_at"], row["event_type"], row["body"], dict(row["fields"]).get("exception")) for row in heads]
    assert found == [(dt.datetime(2026, 11, 21, 10, 0, s, 250_000, tzinfo=dt.UTC), *rest) for s, *rest in EXPECTED]
    assert {(row["node_id"], row["level"], row["logger"]) for row in heads} == {
        (3, "INFO", "kafka.server.KafkaServer"),
        (3, "ERROR", "kafka.server.KafkaServer"),
    }
    # The bytes of a record are those of the file.
    content = path.read_bytes()
    for row in heads:
        assert row["raw_text"][:12].encode() == content[row["byte_offset"] :][:12]
    assert len({row["byte_offset"] for row in rows}) == len(rows)


@pytest.mark.parametrize("name", ["aws logs get-log-events", "Elasticsearch", "Grafana"])
def test_of_a_document_that_is_cut_off_the_whole_entries_are_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / "export.json"
    text = DOCUMENTS[name]
    path.write_text(text[: text.rindex("shutting")])
    assert [row["event_type"] for row in load(path)[1]] == ["node_started", None]


def test_a_message_without_a_time_has_that_of_its_entry(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    rows = [[clock(s, "%Y-%m-%d %H:%M:%S.250"), f"INFO {message} (kafka.server.KafkaServer)"] for s, _, _, message, _ in RECORDS]
    path.write_text(table(["@timestamp", "@message"], rows))
    source, found = load(path)
    assert source.layout == "kafka_without_time in csv"
    assert [(row["logged_at"].second, row["zone_known_by"]) for row in found] == [(1, "content"), (2, "content"), (3, "content")]


def test_records_of_two_pods_in_one_export_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    rows = [[clock(s), line.replace("id=3", f"id={n}"), f"kafka-{n}"] for s, line in each_line() for n in (4, 5)]
    path.write_text(table(["timestamp", "message", "pod"], rows))
    _, found = load(path)
    assert sorted((row["node_id"], row["body"], dict(row["fields"]).get("exception")) for row in found) == sorted(
        (node, body, exception) for node in (4, 5) for _, _, body, exception in EXPECTED
    )


@pytest.mark.parametrize(
    "text",
    [
        "topic,partition,offset\norders,0,12\n",
        "time,message\n2026-11-21,hello\n2026-11-22,world\n",
        '{"version":1,"partitions":[{"topic":"a","partition":0,"replicas":[1,2]}]}',
        '{"events":[]}',
        "[" * 5000,
        '{"a":' * 5000,
        '"',
        ",,,\n,,,\n",
        "message\n",
    ],
)
def test_other_tables_and_documents_are_no_logs(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other"
    path.write_text(text)
    assert inspect(Found.at(str(path), "c")).envelope is None


def test_an_ordinary_log_is_no_export() -> None:
    assert find_export("\n".join(line for _, line in each_line()).encode()) is None
    assert find_export(b'{"log":"a\\n","stream":"stdout","time":"2026-11-21T10:00:00Z"}\n' * 3) is None
    newest_first = find_export("\n".join(LINES["logcli"]).encode())
    assert newest_first == Export("lines", newest_first=True)


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (b'a,"b\nc",d\ne,f,g\n', [(0, 10, ["a", "b\nc", "d"]), (10, 16, ["e", "f", "g"])]),
        (b'"say ""hi""",2', [(0, 14, ['say "hi"', "2"])]),
        (b"a,b\r\n,\r\n", [(0, 5, ["a", "b"]), (5, 8, ["", ""])]),
        (b'x"y,z\n', [(0, 6, ['x"y', "z"])]),
        (b'"never closed,\nnext\n', [(0, 15, ['"never closed', ""]), (15, 20, ["next"])]),
    ],
)
def test_rows_of_csv_have_their_places(data: bytes, rows: list[tuple[int, int, list[str]]]) -> None:
    assert list(rows_of(data, ",")) == rows
