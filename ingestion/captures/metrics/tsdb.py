"""Prometheus' own history: `promtool tsdb dump`, and the JSON of its HTTP API (query_range, query, series, metadata, errors).

Samples: one per value.  A histogram of its own kind ("native") is not a number and stays `unread`.  Rows, with their keys:
- `prometheus_series`: metric and the labels of a series (the answer to /series);
- `prometheus_metadata`: metric, type, unit, help (the answer to /metadata);
- `prometheus_error`: error_type, error, also the warnings of an answer.

Time: milliseconds in a dump, seconds in the API.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from ingestion.captures import UNREAD, About, Line, Row, Sample, time_of
from ingestion.captures.metrics._documents import Document, answers
from ingestion.captures.metrics._metrics import EPOCH, Metric, instant, number, of_series
from ingestion.captures.metrics._series import LABELS, NUMBER, metric_of

KINDS = {
    "prometheus_tsdb_dump": "Output of promtool tsdb dump: series, value and time in each line.",
    "prometheus_api_json": "An answer of Prometheus' HTTP API.",
}
DUMPED = re.compile(rf"(?P<labels>{LABELS})\s+(?P<value>{NUMBER})\s+(?P<stamp>-?\d+)")
START = re.compile(r'\s*\{(?=.{0,65536}?"status"\s*:\s*"(?:success|error)")', re.DOTALL)
MARK = re.compile(r'"resultType"\s*:|"errorType"\s*:|"data"\s*:\s*\[\s*\{\s*"|"data"\s*:\s*\{\s*"[\w:]+"\s*:\s*\[\s*\{\s*"type"')
UNNAMED = "the result of an expression: it has no metric name"


def kind_of(sample: str, name: str) -> str | None:
    """Each line of a dump begins with labels that hold the metric's name; an answer has its status and the type of its result."""
    lines = [line for line in sample.lstrip("\ufeff").splitlines()[:100] if line.strip()]
    dumped = sum(1 for line in lines if line.startswith("{__name__=") and DUMPED.fullmatch(line.strip()))
    if dumped and dumped >= 0.7 * len(lines) - 1:
        return "prometheus_tsdb_dump"
    return "prometheus_api_json" if START.match(sample) and MARK.search(sample) else None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    """Samples and rows in the order of the text."""
    yield from dump(lines) if kind == "prometheus_tsdb_dump" else answers(lines, lambda document: answered(document, time_of(about)))


def dump(lines: Iterable[Line]) -> Iterator[Row | Sample]:
    """The lines of a dump."""
    for line in lines:
        text = line.text.strip("\ufeff\r ")
        if not text:
            continue
        match = DUMPED.fullmatch(text)
        metric = metric_of("", match["labels"], "") if match else None
        if match is None or metric is None:
            yield Row(UNREAD, line.offset, line.text, warnings=("no series with a value and a time",))
            continue
        try:
            at = EPOCH + dt.timedelta(milliseconds=int(match["stamp"]))
        except (OverflowError, ValueError):
            yield Row(UNREAD, line.offset, line.text, warnings=("the time is none",))
            continue
        sample = metric.sample(line.offset, number(match["value"]), at, "content")
        if sample is not None:
            yield sample


def answered(document: Document, now: tuple[dt.datetime | None, str | None, tuple[str, ...]]) -> Iterator[Row | Sample]:
    """One answer of the API."""
    at, known_by, warnings = now
    answer = document.value
    if "status" not in answer:
        yield Row(UNREAD, document.offset, document.text, warnings=("no answer of Prometheus",))
        return
    said = [str(text) for text in answer.get("warnings") or ()]
    if answer["status"] != "success" or said:
        fields = {"error_type": str(answer.get("errorType", "warning")), "error": str(answer.get("error") or "; ".join(said))}
        yield Row(
            "prometheus_error",
            document.offset,
            document.text[:4096],
            fields,
            at,
            known_by,
            warnings=(*warnings, "the answer is an error"),
        )
    data = answer.get("data")
    if isinstance(data, dict) and "resultType" in data:
        yield from results(data, document)
    elif isinstance(data, dict):
        for name, entries in data.items():
            for entry in entries if isinstance(entries, list) else ():
                fields = {"metric": name, **{key: str(entry[key]) for key in ("type", "unit", "help") if entry.get(key)}}
                yield Row("prometheus_metadata", document.offset, document.beginning, fields, at, known_by, warnings=warnings)
    elif isinstance(data, list):
        for labels in data:
            if isinstance(labels, dict):
                metric = of_series(str(labels.pop("__name__", "")), {key: str(value) for key, value in labels.items()})
                fields = {**metric.labels, "metric": metric.metric}
                yield Row("prometheus_series", document.offset, document.beginning, fields, at, known_by, warnings=warnings)
            else:
                yield Row(
                    "prometheus_series", document.offset, document.beginning, {"metric": str(labels)}, at, known_by, warnings=warnings
                )


def results(data: dict[str, Any], document: Document) -> Iterator[Row | Sample]:
    """Matrix, vector and scalar."""
    result = data.get("result")
    if data["resultType"] == "string":
        yield Row(UNREAD, document.offset, document.text, warnings=("a text is not a number",))
        return
    if data["resultType"] == "scalar":
        result = [{"metric": {}, "value": result}]
    for series in result if isinstance(result, list) else ():
        if not isinstance(series, dict) or not isinstance(series.get("metric"), dict):
            yield unread_part(document, series, "no series")
            continue
        labels = {str(key): str(value) for key, value in series["metric"].items()}
        name = labels.pop("__name__", "")
        metric, warnings = (of_series(name, labels), ()) if name else (Metric("unnamed", of_series("", labels).labels), (UNNAMED,))
        pairs = series.get("values") or ([series["value"]] if "value" in series else [])
        for pair in pairs:
            sample = None
            if isinstance(pair, list) and len(pair) == 2 and (at := instant(number(pair[0]))):
                sample = metric.sample(document.offset, number(pair[1]), at, "content", warnings)
            if sample is not None:
                yield sample
            else:
                yield unread_part(document, pair, "no time and value")
        if "histogram" in series or "histograms" in series:
            yield unread_part(document, series, "a native histogram is not a number")


def unread_part(document: Document, part: Any, warning: str) -> Row:
    """A part of an answer that could not be made out, in the field `part`."""
    return Row(UNREAD, document.offset, document.beginning, {"part": json.dumps(part)}, warnings=(warning,))
