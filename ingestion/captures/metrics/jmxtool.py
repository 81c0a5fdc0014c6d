"""What kafka.tools.JmxTool prints: its own CSV, and the report formats properties, csv and tsv (a line for each attribute).

Its own CSV quotes the header and no value, so that composite attributes spread over columns.  Values are therefore cut only at
commas outside of brackets, and an `ObjectName` is the bean's own name; a line that still does not fit the header is `unread`,
because null values are left out and would shift the rest.

Samples: one per numeric attribute, keys of composite attributes after a dot.  Rows, with their keys:
- `mbean_attribute`: mbean, attribute, value (a text or an array);
- `jmx_connection`: url (from the tool's error output: where it tried to connect);
- `jmx_error`: exception, message (from there too, with the trace as raw text).

Time: the column or line `time`, in milliseconds or as `--date-format` prints it; of errors the name or the file says it.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ingestion.captures import UNREAD, About, Line, Row, Sample, time_of
from ingestion.captures.metrics._documents import BEGINNING
from ingestion.captures.metrics._metrics import OBJECT_NAME, catalogue, instant, number, of_bean

KINDS = {
    "jmxtool_csv": "Output of kafka.tools.JmxTool: a header of MBean attributes, then a line for each poll.",
    "jmxtool_report": "Output of kafka.tools.JmxTool with --report-format: a line for each attribute.",
    "jmxtool_errors": "Error output of kafka.tools.JmxTool: where it tried to connect, and why it could not.",
}
OF_NODE = frozenset(KINDS)
COLUMN = re.compile(rf'"({OBJECT_NAME}):([^":]+)"(?:,|$)')
HEADER = re.compile(rf'"time"(?:,"{OBJECT_NAME}:[^":]+")+')
HEADER_START = re.compile(rf'"time","{OBJECT_NAME}:[^":]+"(?:,|$)')
REPORT = re.compile(rf'(?P<key>time|(?P<mbean>{OBJECT_NAME}):(?P<attribute>[^:=,\t]+))(?P<cut>[=\t]|,(?="))(?P<value>.*)')
CONNECT = re.compile(r"(?:Trying to connect to|Could not connect to) JMX url: (?P<url>service:jmx:\S*?)\.?(?= |$)(?P<rest>.*)")
EXCEPTION = re.compile(r"(?:Caused by: )?(?P<exception>[\w.$]+(?:Exception|Error))(?:: (?P<message>.*))?$")
COMPOSITE, CONTENTS = "javax.management.openmbean.CompositeDataSupport(", ",contents={"
DEEPEST = 20
DATES = ("%Y-%m-%dT%H:%M:%S.%f%z", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S", "%Y%m%d%H%M%S", "%Y-%m-%d-%H-%M-%S")


class Poll(NamedTuple):
    """When the attributes were read."""

    at: dt.datetime | None
    known_by: str | None
    warnings: tuple[str, ...]


def kind_of(sample: str, name: str) -> str | None:
    """By the first line after any attempt to connect: the header, or `time` and an attribute below it."""
    lines = [line.strip() for line in sample.lstrip("\ufeff").splitlines()[:40] if line.strip()]
    output = [line for line in lines if not CONNECT.match(line)]
    if output and HEADER_START.match(output[0]):
        return "jmxtool_csv"
    matches = [match for line in output[:3] if (match := REPORT.fullmatch(line))]
    if len(matches) > 1 and any(match["mbean"] for match in matches):
        return "jmxtool_report"
    return "jmxtool_errors" if lines and CONNECT.match(lines[0]) else None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    """Samples and rows in the order of the text."""
    match kind:
        case "jmxtool_csv":
            yield from table(lines, about)
        case "jmxtool_report":
            yield from report(lines, about)
        case _:
            yield from errors(lines, about)


def table(lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    """The tool's own CSV."""
    columns: list[tuple[str, str]] = []
    for line in lines:
        text = line.text.strip("\ufeff\r ")
        if not text:
            continue
        if connection := CONNECT.match(text):
            yield connected(line, connection, about)
            continue
        if text.startswith('"time",'):
            columns = COLUMN.findall(text) if HEADER.fullmatch(text) else []
            if not columns:
                yield Row(UNREAD, line.offset, line.text, warnings=("the header is torn",))
            continue
        time, _, rest = text.partition(",")
        values = cells(rest, columns)
        if len(values) != len(columns) or not columns or text.count("(") != text.count(")") or text.count("{") != text.count("}"):
            warning = f"{len(values)} values for {len(columns)} attributes: torn, or a value was null and left out"
            yield Row(UNREAD, line.offset, line.text, warnings=(warning,))
            continue
        poll = polled(time, about)
        for (mbean, attribute), value in zip(columns, values, strict=True):
            yield from reading(mbean, attribute, value, line, poll)


def report(lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    """A line for each attribute; `time` begins a poll."""
    poll = Poll(*time_of(about))
    for line in lines:
        match = REPORT.fullmatch(line.text.strip("\ufeff\r"))
        if connection := CONNECT.match(line.text):
            yield connected(line, connection, about)
        elif match is None:
            if line.text.strip():
                yield Row(UNREAD, line.offset, line.text, warnings=("no attribute",))
        else:
            value = match["value"][1:].removesuffix('"') if match["cut"] == "," else match["value"]
            if match["mbean"] is None:
                poll = polled(value, about)
            else:
                yield from reading(match["mbean"], match["attribute"], value, line, poll)


def errors(lines: Iterable[Line], about: About) -> Iterator[Row]:
    """Attempts to connect, and the exceptions between them."""
    at, known_by, warnings = time_of(about)
    trace: list[Line] = []

    def failure() -> Iterator[Row]:
        found = next((match for line in trace if (match := EXCEPTION.match(line.text))), None)
        fields = {key: value for key, value in found.groupdict().items() if value} if found else {}
        text = "\n".join(line.text for line in trace).rstrip()
        if text:
            yield Row("jmx_error", trace[0].offset, text, fields, at, known_by, warnings=warnings)
        trace.clear()

    for line in lines:
        match = CONNECT.match(line.text)
        if match is None:
            if trace or line.text.strip():
                trace.append(line)
            continue
        yield from failure()
        yield connected(line, match, about)
    yield from failure()


def connected(line: Line, match: re.Match[str], about: About) -> Row:
    """An attempt to connect."""
    at, known_by, warnings = time_of(about)
    return Row("jmx_connection", line.offset, line.text, {"url": match["url"]}, at, known_by, warnings=warnings)


def reading(mbean: str, attribute: str, value: str, line: Line, poll: Poll) -> Iterator[Row | Sample]:
    """One attribute as samples or, where it is not a number, as a row."""
    if attribute in catalogue().decoration or value == "null":
        return
    if value.startswith(COMPOSITE) and value.endswith("})") and attribute.count(".") < DEEPEST:
        for part in split(value.partition(CONTENTS)[2][:-2]):
            key, _, inner = part.strip().partition("=")
            yield from reading(mbean, f"{attribute}.{key}", inner, line, poll)
        return
    sample = None if value.startswith("[") else of_bean(mbean, attribute).sample(line.offset, value, *poll)
    if sample is not None:
        yield sample
    else:
        fields = {"mbean": mbean, "attribute": attribute, "value": value}
        yield Row("mbean_attribute", line.offset, line.text[:BEGINNING], fields, poll.at, poll.known_by, warnings=poll.warnings)


def cells(text: str, columns: list[tuple[str, str]]) -> list[str]:
    """The values of a line, cut at commas outside of brackets; an ObjectName may have commas, but is known."""
    out: list[str] = []
    at = 0
    for mbean, attribute in columns:
        if at > len(text):
            return out
        end = at + len(mbean) if attribute == "ObjectName" and text.startswith(mbean, at) else next_comma(text, at)
        out.append(text[at:end])
        at = end + 1
    return out if at > len(text) else [*out, text[at:]]


def split(text: str) -> list[str]:
    """The parts of a text between commas outside of brackets."""
    out, at = [], 0
    while at <= len(text):
        end = next_comma(text, at)
        out.append(text[at:end])
        at = end + 1
    return out


def next_comma(text: str, at: int) -> int:
    """Position of the next comma outside of brackets; the text's end if there is none.  `[J@1f` is an array's identity, not a bracket."""
    depth = 0
    for place in range(at, len(text)):
        match text[place]:
            case "," if depth <= 0:
                return place
            case "(" | "{":
                depth += 1
            case ")" | "}":
                depth -= 1
    return len(text)


def polled(text: str, about: About) -> Poll:
    """The time of a poll."""
    stamp = number(text)
    if stamp is not None and stamp > 1e11 and len(text) == 13:
        return Poll(instant(stamp), "content", ())
    for form in DATES:
        try:
            found = dt.datetime.strptime(re.sub("[ _]", "T", text.strip(), count=1), form)
        except ValueError:
            continue
        return Poll((found if found.tzinfo else found.replace(tzinfo=about.zone)).astimezone(dt.UTC), "content", ())
    at, known_by, warnings = time_of(about)
    return Poll(at, known_by, (*warnings, f"the time '{text}' is of no known form"))
