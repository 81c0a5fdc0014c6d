"""Jolokia's JSON: answers to `read`, alone, in bulk and by patterns.

Samples: one per numeric attribute, keys of composite attributes after a dot.  Rows, with their keys:
- `jolokia_error`: mbean, attribute, operation, status, error_type, error (an answer that is an error, with a warning);
- `mbean_attribute`: mbean, attribute, value (a text or a list);
- `jolokia_response`: type, mbean, operation, status (answers to search, list, exec, version, write).

Time: `timestamp` of each answer, in seconds; errors of old agents have none.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from ingestion.captures import UNREAD, About, Line, Row, Sample, time_of
from ingestion.captures.metrics._documents import Document, answers
from ingestion.captures.metrics._metrics import catalogue, instant, number, of_bean

KINDS = {"jolokia_json": "Answers of a Jolokia agent: MBeans and their attributes as JSON."}
OF_NODE = frozenset(KINDS)
START = re.compile(r"\s*(?:\[\s*)?\{")
REQUEST = re.compile(r'"request"\s*:\s*\{[^{}]{0,2000}"type"\s*:\s*"(?:read|search|list|exec|version|write|config)"')

Time = tuple[dt.datetime | None, str | None, tuple[str, ...]]


def kind_of(sample: str, name: str) -> str | None:
    """An answer repeats its request, with the request's type."""
    return "jolokia_json" if START.match(sample) and REQUEST.search(sample) else None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    """Samples and rows of each answer."""
    yield from answers(lines, lambda document: answer(document, time_of(about)))


def answer(document: Document, fallback: Time) -> Iterator[Row | Sample]:
    """One answer."""
    said = document.value
    request = said.get("request")
    if not isinstance(request, dict):
        yield Row(UNREAD, document.offset, document.text, warnings=("no answer of Jolokia: it repeats no request",))
        return
    said_at = instant(number(said.get("timestamp")))
    time: Time = fallback if said_at is None else (said_at, "content", ())
    at, known_by, warnings = time
    if "error" in said or said.get("status") not in (200, None):
        fields = {**texts(request, "mbean", "attribute", "operation"), **texts(said, "status", "error_type", "error")}
        yield Row("jolokia_error", document.offset, document.text, fields, at, known_by, warnings=(*warnings, "the answer is an error"))
    elif request.get("type") != "read" or "mbean" not in request:
        fields = {**texts(request, "type", "mbean", "operation"), **texts(said, "status")}
        yield Row("jolokia_response", document.offset, document.text, fields, at, known_by, warnings=warnings)
    else:
        for mbean, attribute, value in values(request, said.get("value")):
            yield from reading(mbean, attribute, value, document, time)


def reading(mbean: str, attribute: str, value: Any, document: Document, time: Time) -> Iterator[Row | Sample]:
    """One attribute as a sample or, where it is not a number, as a row.  Null is a number that is not known yet, if a number at all."""
    metric = of_bean(mbean, attribute)
    if attribute.split(".")[0] in catalogue().decoration or (value is None and metric.kind is None):
        return
    sample = None if isinstance(value, list | dict) else metric.sample(document.offset, value, *time)
    if sample is not None:
        yield sample
    else:
        text = value if isinstance(value, str) else json.dumps(value)
        fields = {"mbean": mbean, "attribute": attribute, "value": text}
        yield Row("mbean_attribute", document.offset, document.beginning, fields, time[0], time[1], warnings=time[2])


def values(request: dict[str, Any], value: Any) -> Iterator[tuple[str, str, Any]]:
    """(MBean, attribute, value) of an answer to `read`: a pattern gives beans, a bean its attributes, an attribute its value."""
    mbean, attribute = str(request["mbean"]), request.get("attribute")
    if ("*" in mbean or "?" in mbean) and isinstance(value, dict):
        for bean, attributes in value.items():
            yield from flat(bean, "", attributes)
    elif isinstance(attribute, str):
        path = str(request.get("path") or "").replace("/", ".")
        yield from flat(mbean, f"{attribute}.{path}".rstrip("."), value)
    else:
        yield from flat(mbean, "", value)


def flat(mbean: str, attribute: str, value: Any) -> Iterator[tuple[str, str, Any]]:
    """Attributes, and the keys of composite ones."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from flat(mbean, f"{attribute}.{key}" if attribute else key, part)
    elif attribute:
        yield mbean, attribute, value


def texts(source: dict[str, Any], *keys: str) -> dict[str, str]:
    """Those of the keys that are there, as text."""
    return {key: value if isinstance(value, str) else json.dumps(value) for key in keys if (value := source.get(key)) is not None}
