"""What something else has put around the lines of a log: found for a file, and taken off line by line.

No Spark here.  Source of the wrappers: `catalogue/wrappers.yml`.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

from ingestion.reading.catalogue_files import CATALOGUE, read_yaml
from ingestion.reading.clocks import MONTHS, zone_abbreviated
from ingestion.recognition.forms import MARK
from ingestion.records.clues import clock_millis
from ingestion.records.framing import any_framed, is_framed
from ingestion.records.patterns import Cut, millis_of, resolution_of
from ingestion.records.split import whole

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
PARTS = {
    "time": r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)[T ](?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?"
    r"(?P<offset>Z|[+-]\d\d:?\d\d)?",
    "short_time": r"(?:<\d{1,3}>)?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?",
    "weekday": r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)",
    "zone": r"(?P<zone_name>[A-Z]{2,5})",
    "nanos": r"\d{19}",
    "labels": r"\{[^{}]*\}",
    "container": r"[\w.\-]+",
    "stream": r"[\w.\-/]+",
    "output": r"stdout|stderr",
    "flag": r"[PF](?::\S*)?",
    "program": r"[^\s:\[]+",
    "process_id": r"(?:\[\d+\])?",
    "priority": r"<\d{1,3}>1",
    "process": r"\S+",
    "message_id": r"\S+",
    "structured": r"-|(?:\[(?:[^\]\\]|\\.)*\])+",
    "message": r".*",
}
# Objects that hold the fields of an event: Splunk's, Elasticsearch's, Google Cloud's.
HOLDERS = ("result", "_source", "jsonPayload")
TIME = re.compile(PARTS["time"] + r"\Z")
# Kibana's form of a time.
NAMED_MONTH = re.compile(r"([A-Z][a-z]{2}) (\d{1,2}), (\d{4}) @ (\d\d:\d\d:\d\d)(?:\.(\d{3}))?")
# Share of the sample's lines that must have a wrapper; stack traces of a careless collector may lack it.
MOST = 0.8
# Lines before the first wrapped one: what the tool that fetched them says of itself.
MOST_BEFORE = 8
DEEPEST = 4
JSON = "json"


@dataclass(frozen=True)
class Inner:
    """A line out of one wrapper.  `millis`: UTC, if the wrapper states it, and `resolution` of that; `cut`: its parts, if it is a record of JSON;
    `writer`: the part of `stream` that says who wrote it (one writer may have several files)."""

    text: str
    stream: str = ""
    millis: int | None = None
    goes_on: bool = False
    cut: Cut | None = None
    writer: str = ""
    resolution: int = 1


@lru_cache(maxsize=1)
def wrappers() -> dict[str, re.Pattern[str] | dict[str, list[list[str]]]]:
    """Name → expression of a line, in the order of the file; for JSON the paths of its parts."""
    out: dict[str, Any] = {}
    for name, entry in read_yaml(CATALOGUE / "wrappers.yml").items():
        if "fields" in entry:
            out[name] = {part: [path.split(".") for path in paths] for part, paths in entry["fields"].items() if part != "__line__"}
            continue
        expression, at = [], 0
        for mark in MARK.finditer(entry["line"]):
            expression.append(re.sub(r"(?:\\ )+", "[ ]+", re.escape(entry["line"][at : mark.start()])))
            part = PARTS[mark[1]]
            expression.append(part if mark[1] == "time" else f"(?P<{mark[1]}>{part})")
            at = mark.end()
        # Collectors strip blanks at the end of a line, and with them the one before an empty message; some print none behind a bar.
        text = "".join(expression).replace("[ ]+(?P<message>.*)", "(?:[ ](?P<message>.*))?").replace(r"\|(?:[ ](", r"\|(?:[ ]?(")
        out[name] = re.compile(text + r"\Z", re.S)
    return out


@lru_cache(maxsize=1)
def json_paths() -> dict[str, list[list[str]]]:
    """The paths of the parts of a JSON log."""
    paths = wrappers()[JSON]
    assert isinstance(paths, dict)
    return paths


@lru_cache(maxsize=1)
def demanding() -> frozenset[str]:
    """The wrappers that fit many a line, and so count only around lines of a known layout."""
    return frozenset(name for name, entry in read_yaml(CATALOGUE / "wrappers.yml").items() if entry.get("around_records_only"))


def unwrap_line(name: str, line: str) -> Inner | None:
    """A line without one wrapper; None if it does not have it."""
    wrapper = wrappers()[name]
    if isinstance(wrapper, dict):
        return unwrap_json(line, wrapper)
    match = wrapper.match(line)
    if match is None:
        return None
    parts = match.groupdict()
    millis, is_utc = millis_of(parts)
    flag = parts.get("flag") or ""
    # Programs on one host are writers of their own: a line of the kernel or of cron is no part of a record of Kafka's.
    writer = "/".join(filter(None, (parts.get("stream"), parts.get("program"))))
    return Inner(
        parts.get("message") or "",
        writer,
        millis if is_utc else None,
        flag.startswith("P"),
        writer=writer,
        resolution=resolution_of(parts),
    )


def unwrap_json(line: str, paths: dict[str, list[list[str]]]) -> Inner | None:
    """The message of a JSON object, or its parts where it has a level of its own."""
    if not line.lstrip().startswith("{"):
        return None
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None
    # Exports have the event in an object of its own.
    for name in HOLDERS:
        if name in content and isinstance(held := content[name], dict):
            content = held | {key: part for key, part in content.items() if key != name}
            break
    return unwrap_object(content, paths)


def unwrap_object(content: dict[str, Any], paths: dict[str, list[list[str]]]) -> Inner | None:
    """The message among the fields of an object, or its parts where it has a level of its own; None if there is no message."""

    def part(name: str) -> Any:
        found = next((value for path in paths.get(name, ()) if (value := at_path(content, path)) not in (None, "")), None)
        return whole(found) if isinstance(found, str) else found

    message = part("message")
    if message is None:
        return None
    message = message if isinstance(message, str) else json.dumps(message)
    named = [
        str(value) for value in (part("stream"), part("program"), part("path")) if value is not None and not isinstance(value, (dict, list))
    ]
    stream, writer = "/".join(named), "/".join(named[: len(named) - (part("path") is not None and len(named) > 1)])
    time = part("time")
    millis, resolution = millis_of_json(time), resolution_of_json(time)
    local = local_millis_of(time) if millis is None else None
    if local is not None and "@message" in content:
        # CloudWatch exports UTC without saying so.
        millis, local = local, None
    level, logger = part("level"), part("logger")
    if isinstance(level, str) and logger and (millis is not None or local is not None) and not is_framed(message):
        trace = part("trace")
        if isinstance(trace, (dict, list)):
            trace = trace_of(trace)
        text = f"{message}\n{whole(str(trace))}" if trace else message
        level = level.upper().replace("WARNING", "WARN")
        thread = part("thread") and str(part("thread"))
        cut = Cut(local if millis is None else millis, millis is not None, level, str(logger), thread, text, resolution)
        return Inner(text, stream, millis, cut=cut, writer=writer, resolution=resolution)
    # A line that Docker has cut (16 KiB) lacks its line end.
    goes_on = "log" in content and "stream" in content and not message.endswith("\n")
    text = message.removesuffix("\n").removesuffix("\r")
    return Inner(text, stream, millis, goes_on, writer=writer, resolution=resolution)


def trace_of(thrown: Any, begin: str = "", depth: int = 0) -> str:
    """An exception as Java prints it, of its object in log4j2's and logback's JSON: class, message, frames and what caused it.  `begin`: what stands
    before its class."""
    if isinstance(thrown, list):
        return "\n".join(map(frame_of, thrown))
    if not isinstance(thrown, dict):
        return str(thrown)
    name = thrown.get("name") or thrown.get("class") or thrown.get("className")
    said = thrown.get("message") or thrown.get("localizedMessage")
    frames = next(
        (found for key in ("extendedStackTrace", "stackTrace", "stackTraceElementProxyArray", "frames") if (found := thrown.get(key))), None
    )
    lines = [begin + ": ".join(str(part) for part in (name, said) if part)] if name or said else []
    # As text it begins with the class itself.
    lines = [begin + frames] if isinstance(frames, str) else lines + [trace_of(frames)] * bool(frames)
    cause = thrown.get("cause")
    return "\n".join(lines + [trace_of(cause, "Caused by: ", depth + 1)] * (isinstance(cause, dict) and depth < DEEPEST))


def frame_of(frame: Any) -> str:
    """A frame of a stack trace."""
    if not isinstance(frame, dict):
        return str(frame)
    place = f"{frame['file']}:{frame['line']}" if frame.get("file") and frame.get("line") else frame.get("file") or "Unknown Source"
    return f"\tat {frame.get('class', '?')}.{frame.get('method', '?')}({place})"


def at_path(content: dict[str, Any], path: list[str]) -> Any:
    """A value by its path, written as nested objects or as one key with dots."""
    dotted = ".".join(path)
    if dotted in content:
        return content[dotted]
    value: Any = content
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return value


def millis_of_json(value: Any) -> int | None:
    """UTC milliseconds of a time as JSON logs have them: ISO 8601, or a number of seconds, milliseconds, micro- or nanoseconds since 1970;
    None if it is neither."""
    if isinstance(value, dict) and "epochSecond" in value:
        seconds, nanos = number_of(value["epochSecond"]), number_of(value.get("nanoOfSecond", 0))
        return None if seconds is None or nanos is None or not 0 <= seconds < 1e11 else int(seconds) * 1000 + int(nanos) // 1_000_000
    if isinstance(value, str) and not re.fullmatch(r"\d+(?:\.\d+)?", value):
        clock, _, letters = value.rpartition(" ")
        zone = zone_abbreviated(letters) if letters.isupper() else None
        match = TIME.match(clock if zone else value)
        millis, is_utc = millis_of(match.groupdict()) if match else (None, False)
        if millis is not None and zone and not is_utc:
            return millis - zone.utcoffset(None) // dt.timedelta(milliseconds=1)
        return millis if is_utc else None
    number = number_of(value)
    for limit, scale in ((1e11, 1000.0), (1e14, 1.0), (1e17, 1e-3), (1e20, 1e-6)):
        if number is not None and 0 < number < limit:
            return int(number * scale)
    return None


def local_millis_of(value: Any) -> int | None:
    """Milliseconds on the clock of a time without a zone, as Kibana and CloudWatch export it; None if it is no such time."""
    if not isinstance(value, str):
        return None
    if match := NAMED_MONTH.fullmatch(value):
        month = MONTHS.get(match[1].lower())
        return clock_millis(f"{match[3]}-{month:02}-{int(match[2]):02} {match[4]}.{match[5] or '000'}".encode()) if month else None
    return clock_millis(value.encode("utf-8", "replace"))


def resolution_of_json(value: Any) -> int:
    """Milliseconds between one time and the next that a time of JSON can tell: 1000 for whole seconds."""
    if isinstance(value, dict):
        return 1
    if isinstance(value, str) and value[19:20] in (".", ","):
        return 1
    if isinstance(value, str) and not re.fullmatch(r"\d+(?:\.\d+)?", value):
        return 1 if re.search(r":\d\d[.,]\d", value) else 1000
    number = number_of(value)
    return 1000 if number is not None and number < 1e11 and number == int(number) else 1


def number_of(value: Any) -> float | None:
    """A finite number, or the text of one; None for everything else."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def find_wrappers(sample: bytes) -> tuple[str, ...]:
    """The wrappers around the lines of a sample, outermost first; none if it is plain."""
    return wrappers_of(sample.decode("utf-8", "replace").split("\n"))


def wrappers_of(lines: Iterable[str]) -> tuple[str, ...]:
    """The wrappers around some lines."""
    lines = [plain_text(line) for line in islice((line for line in lines if line.strip()), 200)]
    found: list[str] = []
    while lines and len(found) < DEEPEST and not any_framed(lines):
        fitting = {name: inner for name in wrappers() if (inner := without(name, lines))}
        # Of those that fit, the first around lines of a layout: a time and a word before them are no part of the line.
        name = next((name for name, inner in fitting.items() if len(fitting) > 1 and frames(inner)), None)
        name = name or next((name for name in fitting if name not in demanding() or frames(fitting[name])), None)
        if name is None:
            break
        found.append(name)
        lines = [one.text for one in fitting[name] if one.text.strip() and one.cut is None]
    return tuple(found)


def without(name: str, lines: list[str]) -> list[Inner]:
    """Some lines without a wrapper; none if fewer than MOST have it, from the first on: what a tool says before them does not count."""
    inner = [unwrap_line(name, line) for line in lines]
    first = next((number for number, one in enumerate(inner[: MOST_BEFORE + 1]) if one is not None), 0)
    inner, lines = inner[first:], lines[first:]
    return [one for one in inner if one is not None] if sum(one is not None for one in inner) >= MOST * len(lines) else []


def frames(inner: Sequence[Inner]) -> bool:
    """Whether there are lines of a known layout among some lines."""
    return any_framed([line for one in inner if one.cut is None for line in one.text.split("\n")])


def plain_text(line: str) -> str:
    """A line without the colours of a terminal."""
    return ANSI.sub("", line) if "\x1b" in line else line


def unwrap(names: tuple[str, ...], line: str, inner: Inner | None = None) -> Inner:
    """A line out of all its wrappers; one that lacks them stays as it is.  `inner`: what is known of the line of an export."""
    line = plain_text(line)
    inner = inner or Inner(line)
    stream, writer, millis, resolution, goes_on = (
        [inner.stream] if inner.stream else [],
        inner.writer,
        inner.millis,
        inner.resolution,
        False,
    )
    for name in names if inner.cut is None else ():
        found = unwrap_line(name, inner.text)
        if found is None:
            break
        inner = found
        stream += [found.stream] if found.stream else []
        writer = "/".join(filter(None, (writer, found.writer)))
        if millis is None:
            millis, resolution = found.millis, found.resolution
        goes_on |= found.goes_on
        if found.cut:
            break
    text = plain_text(inner.text)
    return Inner(text.removesuffix("\r"), "/".join(stream), millis, goes_on, inner.cut, writer, resolution)
