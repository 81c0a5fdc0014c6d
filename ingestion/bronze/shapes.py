"""Shapes of records: all records that differ only in their digits are recognised once and cut by the same spans.

No Spark here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ingestion.captures._within_log import needles
from ingestion.recognition.forms import Form
from ingestion.recognition.recognise import Catalogue, Recognised
from ingestion.records.clues import node_at
from ingestion.records.envelope import Envelope
from ingestion.records.kinds import Speaker, is_of_application, speaker_of

# Fields that name the node that writes a record, the surest first.
NODE_FIELDS = ("node", "node.id", "broker.id")
# How Scala and Java print a value that there may not be, and one that there is not.
OPTION = re.compile(rb"(?:Some\(|Optional(?:Int|Long|Double)?\[)(?P<value>.*)[)\]]", re.S)
NOTHING = frozenset([b"None", b"null", b"Optional.empty", b"OptionalInt.empty", b"OptionalLong.empty", b"OptionalDouble.empty"])
# The line of an exception or of its cause.
EXCEPTION = re.compile(rb"\n(?:Caused by: )?[a-z][\w.$]*(?:Exception|Error|Throwable): (?P<message>[^\r\n]+)")
PLACE = ("topic", "partition", "segment_name")
CAUSED_BY = b"\nCaused by: "
RECOGNISED, UNRECOGNISED, ORPHAN = "recognised", "unrecognised", "orphan"


@dataclass
class Shape:
    """What all records of one shape have in common: the event, and where its parts are.  `node`: where it names the node that writes it;
    `speaker`: whose it is by its logger; `is_followed`: whether a JVM may have printed something after it."""

    level: str | None = None
    outcome: str = UNRECOGNISED
    event_type: str | None = None
    logger: tuple[int, int] | None = None
    thread: tuple[int, int] | None = None
    context: tuple[int, int] | None = None
    node: tuple[int, int] | None = None
    speaker: Speaker = Speaker.ANY
    body: tuple[int, int] = (0, 0)
    keys: list[str] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    picked: list[Form | None] = field(default_factory=list)
    recheck: bool = False
    hides: bool = False
    is_followed: bool = False


def shape_of(record: bytes, has_head: bool, envelope: Envelope, known: Catalogue) -> Shape:
    """Recognise one record with the position of each part; holds for every record that differs only in digits."""
    shape = Shape(outcome=ORPHAN, body=(0, len(record)), is_followed=is_followed(record, has_head))
    cut = envelope.cut(record) if has_head else None
    if cut is None:
        shape.outcome = UNRECOGNISED if has_head else ORPHAN
        return shape
    shape.outcome = UNRECOGNISED
    # A pattern need not have one.
    shape.level = record[slice(*cut["level"])].decode() or None
    shape.logger, shape.thread = cut.get("logger"), cut.get("thread")
    start, end = cut["message"]
    logger = record[slice(*shape.logger)] if shape.logger else None
    message = record[start:end]
    context, found = known.understood(logger, message)
    body = start + (context.end if context else 0)
    shape.body = (body, end)
    for part, at in ((context, start), (found, body)):
        if part is None:
            continue
        for span in part.spans:
            value: tuple[int, int] | None = (at + span.start, at + span.end)
            if value and not known.vocabulary.fields.get(span.name, {}).get("given"):
                value = bare(record, *value)
            if span.name not in shape.keys and value is not None:
                shape.keys.append(span.name)
                shape.spans.append(value)
                shape.picked.append(part.form if span.name in part.form.picks else None)
    if context is not None:
        shape.context = (start, start + context.end)
    if found is not None:
        shape.outcome, shape.event_type = RECOGNISED, found.form.event
        shape.recheck = found.form.digits_matter
        if found.form.continues == "settings":
            _add_settings(shape, record, body + found.end, end)
    _add_exception(shape, record, end)
    _add_told(shape, record, end, known)
    shape.node = None if logger and is_of_application(logger.decode("utf-8", "replace")) else _node_in(shape, record, start)
    shape.speaker = _speaker(logger, found)
    return shape


def is_followed(record: bytes, has_head: bool) -> bool:
    """Whether words of a JVM are in the lines after the first of a record, or in those of a record without a head."""
    start = record.find(b"\n") if has_head else 0
    return start >= 0 and any(record.find(needle, start) >= 0 for needle in needles())


def bare(record: bytes, start: int, end: int) -> tuple[int, int] | None:
    """The span of a value out of the Some(…) or Optional[…] around it; None if the value says that there is none."""
    if record[start:end] in NOTHING:
        return None
    option = OPTION.fullmatch(record, start, end)
    return option.span("value") if option else (start, end)


def _node_in(shape: Shape, record: bytes, start: int) -> tuple[int, int] | None:
    """Where a record names the node that writes it: in a field, else where its message begins."""
    for name in NODE_FIELDS:
        if name in shape.keys:
            return shape.spans[shape.keys.index(name)]
    return node_at(record, start)


def _speaker(logger: bytes | None, found: Recognised | None) -> Speaker:
    """Whose a record is: by its logger; by the class that prints such texts if the layout shortens loggers or has none."""
    printed = speaker_of(logger.decode("utf-8", "replace")) if logger else Speaker.ANY
    if printed is Speaker.ANY and found is not None and found.form.loggers and b"." not in (logger or b""):
        return speaker_of(found.form.loggers[0])
    return printed


def _add_told(shape: Shape, record: bytes, end: int, known: Catalogue) -> None:
    """What the exception whose trace follows the message, or one of its causes, tells about the record; a partition only if its own text names none."""
    own = {*shape.keys, *(PLACE if "topic" in shape.keys else ())}
    for line in EXCEPTION.finditer(record, end):
        told = known.told_by(line["message"])
        if told is None:
            continue
        for span in told.spans:
            if span.name not in own:
                shape.keys.append(span.name)
                shape.spans.append((line.start("message") + span.start, line.start("message") + span.end))
                shape.picked.append(None)
        shape.recheck |= told.form.digits_matter
        return


def _add_settings(shape: Shape, record: bytes, start: int, end: int) -> None:
    """The lines '\\tkey = value' of a configuration dump, each as a field of its own."""
    at = start
    known = set(shape.keys)
    for line in record[start:end].split(b"\n"):
        key, equals, _ = line.partition(b" = ")
        name = key.strip().decode("utf-8", "replace")
        if equals and name and name not in known:
            known.add(name)
            value = at + len(key) + 3
            shape.keys.append(name)
            shape.spans.append((value, at + len(line.rstrip(b"\r"))))
            shape.picked.append(None)
        at += len(line) + 1


def _add_exception(shape: Shape, record: bytes, end: int) -> None:
    """Class and message of the exception whose trace follows the message, and of the last cause that the trace names."""
    line_end = record.find(b"\n", end)
    if line_end < 0:
        return
    _add_class(shape, record, line_end + 1, "exception")
    caused = record.rfind(CAUSED_BY, line_end)
    if caused >= 0:
        _add_class(shape, record, caused + len(CAUSED_BY), "root_exception")


def _add_class(shape: Shape, record: bytes, start: int, key: str) -> None:
    """The exception that a line of a trace begins with, as `key`, and its message as `key_message`; what the record's own text says counts first."""
    stop = record.find(b"\n", start)
    line = record[start : len(record) if stop < 0 else stop].rstrip(b"\r")
    name, colon, _ = line.partition(b": ")
    if key in shape.keys or not name or b" " in name or b"." not in name or not name.endswith((b"Exception", b"Error", b"Throwable")):
        return
    spans = {key: (start, start + len(name))}
    if colon:
        spans[f"{key}_message"] = (start + len(name) + 2, start + len(line))
    for name_of_field, span in spans.items():
        shape.keys.append(name_of_field)
        shape.spans.append(span)
        shape.picked.append(None)
