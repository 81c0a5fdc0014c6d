"""Burrow's HTTP answers (paths of v2 and v3): state and lag of groups, offsets of groups and topics.

Samples: `consumer_group_status`, `consumer_group_total_lag`, `consumer_group_lag` and `consumer_group_committed_offset` by partition,
`partition_end_offset`.  A window's offsets and lags have the time of their commit; the present lag, the status and the ends of
partitions that of the answer, which does not say it.  Rows, with their keys:
- `burrow_group`: cluster, group, status, complete, partition_count, total_lag;
- `burrow_group_partition`: cluster, group, topic, partition, status, complete, owner, client_id, current_lag;
- `burrow_list`: list (clusters, topics, consumers), of (the request's path), names;
- `burrow_answer`: error, message, path (any other answer; an error has a warning).
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from ingestion.captures import UNREAD, About, Line, Row, Sample, time_of
from ingestion.captures.metrics._documents import Document, answers
from ingestion.captures.metrics._metrics import instant, number, of_series

KINDS = {"burrow_json": "An answer of Burrow: lag and state of consumer groups."}
PATH = re.compile(
    r"/v\d+/kafka(?:/(?P<cluster>[^/\s?]+))?(?:/(?:consumer/(?P<group>[^/\s?]+)|topic/(?P<topic>[^/\s?]+)))?(?:/topic/(?P<of>[^/\s?]+))?"
)
START = re.compile(r'\s*(?:\[\s*)?\{(?=.*"error"\s*:\s*(?:true|false))(?=.*"message"\s*:)', re.DOTALL)
MARK = re.compile(r'"ur[li]"\s*:\s*"(?:https?://[^/"]+)?/v\d+/kafka|"message"\s*:\s*"(?:consumer|broker|topic|cluster)[\w ]* returned"')
STATUSES = ("NOTFOUND", "OK", "WARN", "ERR", "STOP", "STALL", "REWIND")
LAG, TOTAL_LAG, STATUS = "burrow_kafka_consumer_partition_lag", "burrow_kafka_consumer_lag_total", "burrow_kafka_consumer_status"
COMMITTED, END = "burrow_kafka_consumer_current_offset", "burrow_kafka_topic_partition_offset"

Time = tuple[dt.datetime | None, str | None, tuple[str, ...]]


def kind_of(sample: str, name: str) -> str | None:
    """An answer has `error` and `message`, and a path or a message that is Burrow's."""
    return "burrow_json" if START.match(sample) and MARK.search(sample) else None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    """Samples and rows of each answer."""
    yield from answers(lines, lambda document: answered(document, time_of(about)))


def answered(document: Document, now: Time) -> Iterator[Row | Sample]:
    """One answer, by what it holds."""
    answer = document.value
    if "error" not in answer:
        yield Row(UNREAD, document.offset, document.text, warnings=("no answer of Burrow",))
        return
    request = answer.get("request")
    path = str(request.get("url") or request.get("uri") or "") if isinstance(request, dict) else ""
    found = PATH.search(path)
    labels = {key: value for key, value in (found.groupdict() if found else {}).items() if value}
    if "of" in labels:
        labels["topic"] = labels.pop("of")
    status, offsets, topics = answer.get("status"), answer.get("offsets"), answer.get("topics")
    if not answer["error"] and isinstance(status, dict):
        yield from group(document, status, now)
    elif not answer["error"] and isinstance(offsets, list) and "topic" in labels:
        name = COMMITTED if "group" in labels else END
        for partition, offset in enumerate(offsets):
            yield sample(name, {**labels, "partition": str(partition)}, offset, document.offset, now)
    elif not answer["error"] and isinstance(topics, dict) and any(isinstance(part, list) for part in topics.values()):
        for topic, partitions in topics.items():
            for partition, part in enumerate(partitions if isinstance(partitions, list) else ()):
                if isinstance(part, dict):
                    known = {**labels, "topic": topic, "partition": str(partition)}
                    yield from group_partition(part, known, part.get("offsets") or (), document, now)
    else:
        named = next((key for key in ("clusters", "topics", "consumers") if isinstance(answer.get(key), list)), None)
        if named and not answer["error"]:
            fields = {"list": named, "of": path, "names": ", ".join(str(name) for name in answer[named])}
            yield Row("burrow_list", document.offset, document.text, fields, now[0], now[1], warnings=now[2])
        else:
            fields = {"error": str(bool(answer["error"])).lower(), "message": str(answer.get("message", "")), "path": path}
            warnings = ("the answer is an error",) if answer["error"] else ()
            yield Row("burrow_answer", document.offset, document.text, fields, now[0], now[1], warnings=(*now[2], *warnings))


def group(document: Document, status: dict[str, Any], now: Time) -> Iterator[Row | Sample]:
    """The state of a group, and its partitions, where they are given (`/status` gives the bad ones, `/lag` all)."""
    labels = texts(status, cluster="cluster", group="group")
    extra = texts(status, status="status", complete="complete", partition_count="partition_count", total_lag="totallag")
    yield Row("burrow_group", document.offset, document.text, {**labels, **extra}, now[0], now[1], warnings=now[2])
    if status.get("status") in STATUSES:
        yield sample(STATUS, labels, STATUSES.index(status["status"]), document.offset, now)
    if status.get("totallag") is not None:
        yield sample(TOTAL_LAG, labels, status["totallag"], document.offset, now)
    partitions = [part for part in status.get("partitions") or () if isinstance(part, dict)]
    if not partitions and isinstance(status.get("maxlag"), dict):
        partitions = [status["maxlag"]]
    for part in partitions:
        known = {**labels, **texts(part, topic="topic", partition="partition")}
        yield from group_partition(part, known, (part.get("start"), part.get("end")), document, now)


def group_partition(
    part: dict[str, Any], labels: dict[str, str], window: Iterable[Any], document: Document, now: Time
) -> Iterator[Row | Sample]:
    """A partition of a group: commits of the window, then the present lag."""
    lag = part.get("current_lag", part.get("current-lag"))
    extra = texts(part, status="status", complete="complete", owner="owner", client_id="client_id")
    fields = {**labels, **extra, **({"current_lag": str(lag)} if lag is not None else {})}
    yield Row("burrow_group_partition", document.offset, document.beginning, fields, now[0], now[1], warnings=now[2])
    for commit in window:
        at = instant(number(commit.get("timestamp"))) if isinstance(commit, dict) else None
        if at is not None:
            yield sample(COMMITTED, labels, commit.get("offset"), document.offset, (at, "content", ()))
            if isinstance(commit.get("lag"), int):
                yield sample(LAG, labels, commit["lag"], document.offset, (at, "content", ()))
    if isinstance(lag, int):
        yield sample(LAG, labels, lag, document.offset, now)


def sample(name: str, labels: dict[str, str], value: Any, offset: int, time: Time) -> Sample:
    """A sample under the name that Burrow's own exporter gives it."""
    found = of_series(name, labels).sample(offset, number(value), *time)
    assert found is not None  # a number always gives one
    return found


def texts(source: dict[str, Any], **keys: str) -> dict[str, str]:
    """Those keys that are there and say something, as text."""
    out = {}
    for key, name in keys.items():
        value = source.get(name)
        if value is not None and value != "":
            out[key] = value if isinstance(value, str) else json.dumps(value)
    return out
