"""Exports of log stores: CSV, JSON documents, and lines with the newest first.

No Spark here.  CloudWatch, Kibana, Splunk, Grafana, Datadog and their like export tables: a time, the message, who wrote it, in columns or fields of
any order, often the newest first.  An entry is a row of CSV (which may go over lines), an object of a JSON document, or a line; its fields are
named as those of JSON logs are (`catalogue/wrappers.yml`), and its bytes are those of the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from ingestion.records.clues import clock_millis
from ingestion.records.framing import is_framed
from ingestion.records.unwrap import HOLDERS, Inner, json_paths, millis_of_json, unwrap_json, unwrap_object

CSV, DOCUMENT, LINES = "csv", "json_document", "lines"
DELIMITERS = ",;\t"
# A row of CSV may be so long; a quote that is not closed within it belongs to the text.
LONGEST_ROW = 1 << 20
# Arrays and objects within each other in which entries are looked for.
DEEPEST = 8
# More objects that hold the fields of an entry, and fields of objects that hold those of all entries below.
MORE_HOLDERS = ("attributes", "fields", "content", "event")
LABELS = ("stream", "labels", "metric", "resource")
# Numbers below are no times: 1973.
FIRST_YEARS = 100_000_000_000


@dataclass(frozen=True)
class Export:
    """How entries lie in a file.  `delimiter`, `columns` (names of fields, empty for others), `has_head`: of a CSV; `newest_first`: entries are
    read from the end."""

    kind: str
    delimiter: str = ","
    columns: tuple[str, ...] = ()
    has_head: bool = True
    newest_first: bool = False


@dataclass(frozen=True)
class Entry:
    """An entry and where it lies in the bytes that it was found in; `content`: its fields, None for a line."""

    start: int
    end: int
    text: str
    content: dict[str, Any] | None = None

    @property
    def inner(self) -> Inner:
        """What it holds; its text as it is where its fields have no message."""
        found = unwrap_object(self.content, json_paths()) if self.content is not None else None
        return found or Inner(self.text)


def find_export(sample: bytes, by_content: bool = False) -> Export | None:
    """How entries lie in a file, by its first bytes; None if it is an ordinary log or something else.  `by_content`: whether a CSV without a known
    head counts, too, if the lines of a log are in it."""
    text = sample.removeprefix(b"\xef\xbb\xbf")
    first = text.lstrip()[:1]
    if first in (b"{", b"["):
        lines = [line for line in text.split(b"\n")[:20] if line.strip()]
        if all(unwrap_json(line.decode("utf-8", "replace"), json_paths()) for line in lines[:-1] or lines):
            export = Export(LINES)
        else:
            export = Export(DOCUMENT)
            if not any(entry.inner.text for entry in entries_of(export, text)):
                return None
    else:
        found = csv_of(text, by_content)
        if found is None:
            return None
        export = found
    entries = list(entries_of(export, text))
    if export.kind == LINES:
        entries = [replace(entry, content=flat(content)) for entry in entries if (content := loaded(entry.text))]
    if is_newest_first([time for entry in entries if (time := time_of(entry)) is not None]):
        return replace(export, newest_first=True)
    return export if export.kind != LINES else None


def loaded(text: str) -> dict[str, Any] | None:
    """A line of JSON as an object; None if it is none."""
    try:
        value = json.loads(text) if text.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def is_newest_first(times: Sequence[int]) -> bool:
    """Whether times run backwards: none, or nearly none, is later than the one before."""
    down = sum(later < earlier for earlier, later in pairwise(times))
    up = sum(later > earlier for earlier, later in pairwise(times))
    return down > 10 * up


def time_of(entry: Entry) -> int | None:
    """The time of an entry, that of its message if it has no other."""
    inner = entry.inner
    if inner.millis is not None:
        return inner.millis
    if inner.cut is not None and inner.cut.millis is not None:
        return inner.cut.millis
    return clock_millis(inner.text.lstrip("[ ").encode("utf-8", "replace")[:32])


def entries_of(export: Export, data: bytes, is_begin: bool = True) -> Iterator[Entry]:
    """The entries in some bytes.  `is_begin`: whether they are the first of the file, where the head of a CSV is."""
    if export.kind == DOCUMENT:
        yield from objects_in(data)
    elif export.kind == CSV:
        rows = rows_of(data, export.delimiter)
        for number, (start, end, fields) in enumerate(rows):
            if is_begin and number == 0 and export.has_head:
                continue
            if any(fields):
                content = {name: value for name, value in zip(export.columns, fields, strict=False) if name and value}
                yield Entry(start, end, data[start:end].decode("utf-8", "replace").rstrip("\r\n"), with_objects(content))
    else:
        at = 0
        while at < len(data):
            end = min(data.find(b"\n", at) + 1 or len(data), at + LONGEST_ROW)
            yield Entry(at, end, data[at:end].decode("utf-8", "replace").rstrip("\r\n"))
            at = end


def with_objects(content: dict[str, Any]) -> dict[str, Any]:
    """Fields with those in JSON as objects: Grafana's labels."""
    return {name: loaded(value) or value if value.startswith("{") and name != "message" else value for name, value in content.items()}


def rows_of(data: bytes, delimiter: str) -> Iterator[tuple[int, int, list[str]]]:
    """(start, end, fields) of each row of CSV; a field in quotes may go over lines."""
    mark = re.escape(delimiter.encode())
    field = re.compile(rb'(?:"([^"]*(?:""[^"]*)*)"|([^\n' + mark + rb"]*))(?:(" + mark + rb")|\r?\n|\r?\Z)")
    at = start = 0
    fields: list[str] = []
    while at < len(data):
        match = field.match(data, at, at + LONGEST_ROW)
        if match is None:
            # Not CSV here: the rest of the line is a field of its own.
            stop = data.find(b"\n", at) + 1 or len(data)
            fields.append(data[at:stop].decode("utf-8", "replace").strip())
            yield start, stop, fields
            at = start = stop
            fields = []
            continue
        value = match[1].replace(b'""', b'"') if match[1] is not None else match[2].rstrip(b"\r")
        fields.append(value.decode("utf-8", "replace"))
        at = match.end()
        if not match[3]:
            yield start, at, fields
            start, fields = at, []
    if fields:
        yield start, len(data), fields


def csv_of(text: bytes, by_content: bool) -> Export | None:
    """The CSV that a text is: a column of its head is known as the one of messages, or the lines of a log are in one of its columns."""
    line = text.split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    for delimiter in sorted(DELIMITERS, key=line.count, reverse=True):
        rows = [fields for _, _, fields in rows_of(text[:LONGEST_ROW], delimiter)][:50]
        width = len(rows[0]) if rows else 0
        if width == 1 and delimiter != ",":
            continue
        head = tuple(known_names().get(name.strip().lower(), "") for name in rows[0])
        if "message" in roles_of(head):
            return Export(CSV, delimiter, head)
        body = [row for row in rows[1:] if len(row) == width]
        if not by_content or width < 2 or len(body) < 0.8 * len(rows[1:]):
            continue
        framed = [sum(is_framed(row[number]) for row in body) for number in range(width)]
        best = max(range(width), key=lambda number: framed[number])
        if framed[best] >= 0.5 * len(body) > 0:
            names = [names_by_value(row) for row in zip(*body, strict=True)]
            names[best] = "message"
            is_head = not any(map(is_framed, rows[0]))
            return Export(CSV, delimiter, tuple(name or known for name, known in zip(names, head, strict=True)), is_head)
    return None


def names_by_value(values: Sequence[str]) -> str:
    """`time` for a column of times, else nothing."""
    return "time" if all((millis_of_json(value) or 0) > FIRST_YEARS for value in values) else ""


def roles_of(names: Sequence[str]) -> set[str]:
    """What the fields of some names are: message, time, stream …"""
    return {role for role, paths in json_paths().items() for path in paths if ".".join(path) in names}


def known_names() -> dict[str, str]:
    """Names of columns in lower case → of fields."""
    return {".".join(path).lower(): ".".join(path) for paths in json_paths().values() for path in paths}


def objects_in(data: bytes) -> Iterator[Entry]:
    """The entries of a JSON document, which may be cut off: objects with a message, wherever they are in its arrays."""
    for found in Document(data.decode("utf-8", "replace")).values(0, {}, 0):
        if isinstance(found, Entry):
            yield found


class Document:
    """A JSON document.  Its walks give entries, and last where the value ends; nothing more where the text is cut off."""

    def __init__(self, text: str) -> None:
        self.text, self.decoder = text, json.JSONDecoder()
        self.at = self.offset = 0

    def values(self, start: int, labels: dict[str, Any], depth: int) -> Iterator[Entry | int]:
        """The entries of the value at a place.  `labels`: the objects around it that hold labels."""
        start = self.blank(start)
        value, end = self.decoded(start)
        if end and (content := entry_of(value, labels)) is not None:
            yield Entry(*self.where(start, end), self.text[start:end], content)
            yield end
        elif depth >= DEEPEST or (end and not isinstance(value, (dict, list))):
            yield from [end] if end else []
        elif self.text[start : start + 1] == "[":
            yield from self.items(start, labels, depth, has_names=False)
        elif self.text[start : start + 1] == "{":
            known = labels | {name: value[name] for name in LABELS if isinstance(value, dict) and isinstance(value.get(name), dict)}
            yield from self.items(start, known, depth, has_names=True)

    def items(self, start: int, labels: dict[str, Any], depth: int, has_names: bool) -> Iterator[Entry | int]:
        """The entries within an array, or an object, whose values have names."""
        place = self.blank(start + 1)
        while place < len(self.text) and self.text[place] not in "]}":
            place = self.after_name(place) if has_names else place
            last: Entry | int | None = None
            for last in self.values(place, labels, depth + 1) if place >= 0 else ():
                if isinstance(last, Entry):
                    yield last
            if not isinstance(last, int):
                return
            place = self.blank(last)
            if self.text[place : place + 1] == ",":
                place = self.blank(place + 1)
        if place < len(self.text):
            yield place + 1

    def after_name(self, place: int) -> int:
        """The place behind a name and its colon; -1 if there is none."""
        name, end = self.decoded(place)
        end = self.blank(end)
        return end + 1 if isinstance(name, str) and self.text[end : end + 1] == ":" else -1

    def decoded(self, start: int) -> tuple[Any, int]:
        """The value at a place and where it ends, which is 0 if it is no whole value."""
        try:
            return self.decoder.raw_decode(self.text, start)
        except (ValueError, RecursionError):
            return None, 0

    def blank(self, place: int) -> int:
        """The next place that is not blank."""
        while place < len(self.text) and self.text[place] in " \t\r\n\ufeff":
            place += 1
        return place

    def where(self, start: int, end: int) -> tuple[int, int]:
        """The bytes of a part of the text; parts are asked for in order."""
        begin = self.offset + len(self.text[self.at : start].encode("utf-8", "replace"))
        self.at, self.offset = end, begin + len(self.text[start:end].encode("utf-8", "replace"))
        return begin, self.offset


def entry_of(value: Any, labels: dict[str, Any]) -> dict[str, Any] | None:
    """The fields of an entry: of an object, a list of fields and values (CloudWatch), a pair of time and line (Loki); None if it is none."""
    if isinstance(value, list):
        if len(value) >= 2 and all(isinstance(part, dict) and "field" in part and "value" in part for part in value):
            value = {str(part["field"]): part["value"] for part in value}
        elif len(value) in (2, 3) and isinstance(value[1], str) and isinstance(value[0], str) and value[0].isdigit():
            return {"message": value[1], "time": value[0], "labels": labels.get("stream") or labels.get("metric") or {}}
        else:
            return None
    if not isinstance(value, dict):
        return None
    content = flat(value)
    found = unwrap_object(content, json_paths())
    return content if found is not None and (found.millis is not None or found.cut is not None or is_framed(found.text)) else None


def flat(value: dict[str, Any]) -> dict[str, Any]:
    """An object with the fields of the objects that hold an entry's: Splunk's `result`, Elasticsearch's `_source`; a list of one value is the value."""
    out = dict(value)
    for name in (*HOLDERS, *MORE_HOLDERS):
        if isinstance(held := out.get(name), dict):
            out = held | {key: part for key, part in out.items() if key != name}
    return {name: part[0] if isinstance(part, list) and len(part) == 1 else part for name, part in out.items()}
