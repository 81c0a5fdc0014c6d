"""Turns OpenTelemetry's JSON of logs (OTLP 1.x, `resourceLogs`), where one message holds records of many files, into lines of JSON, one a record.

The lines are of the form that `wrappers.yml` knows as `json`, with the record's text, its time, host, file, and, where an appender of the program itself
has sent it, level, logger, thread and stack trace.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

MARK = b'"resourceLogs"'
# The mark is the only key of such a message, so it stands within its first bytes.
MARK_WITHIN = 200
# Attributes of a resource or a record that say who wrote it, and into which file; the first that is there.
HOSTS = ("k8s.pod.name", "container.name", "host.name", "service.instance.id")
FILES = ("log.file.path", "log.file.name", "log.iostream")


def lines_of(message: bytes) -> bytes:
    """A message as lines; a message of another form stays as it is."""
    if MARK not in message[:MARK_WITHIN]:
        return message
    try:
        lines = [json.dumps(line, ensure_ascii=False) for line in _lines(json.loads(message))]
    except (ValueError, RecursionError, AttributeError, TypeError):
        return message
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace") or message


def _lines(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for resource in content["resourceLogs"]:
        of_resource = _attributes(resource.get("resource", {}))
        for scope in resource.get("scopeLogs", ()):
            logger = scope.get("scope", {}).get("name")
            for record in scope.get("logRecords", ()):
                yield _line(record, {**of_resource, **_attributes(record)}, logger)


def _line(record: dict[str, Any], attributes: dict[str, Any], logger: str | None) -> dict[str, Any]:
    body = _value(record.get("body", {}))
    line = {
        "time": next((record[key] for key in ("timeUnixNano", "observedTimeUnixNano") if int(record.get(key) or 0)), None),
        "host": next((attributes[key] for key in HOSTS if key in attributes), None),
        "file": next((attributes[key] for key in FILES if key in attributes), None),
        "level": record.get("severityText"),
        "logger": logger,
        "thread": attributes.get("thread.name"),
        "stack_trace": attributes.get("exception.stacktrace"),
    }
    said = {key: value for key, value in line.items() if value}
    return {**said, **(body if isinstance(body, dict) else {"message": body})}


def _attributes(of: dict[str, Any]) -> dict[str, Any]:
    return {entry["key"]: _value(entry.get("value", {})) for entry in of.get("attributes", ())}


def _value(given: dict[str, Any]) -> Any:
    """The value within OTLP's wrapper that names its type."""
    for kind, value in given.items():
        if kind == "kvlistValue":
            return {entry["key"]: _value(entry.get("value", {})) for entry in value.get("values", ())}
        if kind == "arrayValue":
            return [_value(entry) for entry in value.get("values", ())]
        return value
    return ""
