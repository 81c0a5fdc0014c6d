"""What the outputs of Kafka's command line tools have in common: the command that was typed before them, lines of the tool's
own log between them, traces below them, tables, JSON.

Rows that every module of a tool may give:

- `command`: command, tool;
- `log_line`: level, message, logger (the tool's own log, its time is content);
- `remark`: message (a sentence of the tool that no other row takes);
- `tool_error`: what the tool printed as it failed, with the trace below it (`_tool_errors`).
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ingestion.captures import UNREAD, About, Line, Row, lines_of, time_of
from ingestion.captures._tool_errors import TOOLS_ONLY, error_of, fields_of, tool_in_trace, tool_of, tool_of_command
from ingestion.reading import linear

COMMAND = linear.for_lines(
    r"(?:^|[\s/\\])(?:kafka|zookeeper|connect)-[a-z]+(?:-[a-z]+)*(?:\.sh|\.bat)?\s+(?:-|describe\b|list\b|format\b|info\b|kafka\.)"
    r"|^\s*\[[^\]\s]+@[^\]]*\]\s*[#$%]|^[\w.-]+@[\w.-]+:\S*\s*[#$%]\s|^\$ \S|^\s*--[a-z][a-z-]+(?:[ =]|$)"
)
TOOL = re.compile(r"(?:^|[\s/\\])((?:kafka|zookeeper|connect)-[a-z]+(?:-[a-z]+)*)(?:\.sh|\.bat)?(?=\s)")
LOG_LINE = re.compile(
    r"^\[(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] (?P<level>TRACE|DEBUG|INFO|WARN|ERROR|FATAL) (?P<message>.*?)"
    r"(?: \((?P<logger>[\w.$]+)\))?$"
)
# Notices of the JVM, of the logging library, of kubectl, and of every tool about a deprecated option.
NOTICE = re.compile(
    r"^(?:SLF4J: |log4j:|Picked up |OpenJDK |Java HotSpot|Defaulted container|Defaulting container|DEPRECATED:|To use a Log4j 2\.x configuration, please see"
    r"|You can also use the \$KAFKA_HOME/config/|Unable to use a TTY|(?:\S+ main |\S+ \S+ main )?(?:WARN|ERROR) StatusLogger |\S+ main (?:WARN|ERROR) "
    r"|\[[\d.,]+m?s\]\[(?:warning|error|info) *\]|WARNING: (?:An illegal reflective|Illegal reflective|Please consider reporting|Use --|All illegal access"
    r"|A terminally deprecated|A restricted method|sun\.misc\.Unsafe|Restricted methods|java\.lang\.)"
    r"|(?:Warning: |WARNING: )?(?:The )?(?:[Oo]ption )?['\"\[]?(?:--)?[\w-]+['\"\]]? (?:option )?(?:is|has been) deprecated\b)"
)
LOGGER_LINE = re.compile(r"^ \((?P<logger>[a-z][\w.]*\.[A-Z][\w$]*)\)$")
TRACE = re.compile(
    r"^ \([a-z][\w.]*\.[A-Z][\w$]*\)$|^\s+at [\w.$/@<>]+\(|^Caused by: |^\s*Suppressed: |^\s+\.\.\. \d+ (?:more|common)|^[a-z][\w.]+\.[A-Z]\w*(?:Exception|Error)\b"
)
BARE = re.compile(r"^[a-z][\w.]+\.[A-Z]\w*(?:Exception|Error)\b")
FAILED = re.compile(r"[Ee]rror|ERROR|Exception|[Ff]ail|[Tt]imed out|FATAL")
DECORATION = re.compile(r"^[\s`~=*_+|.…-]*$|^\s*```\w*$")
JSON_START = re.compile(r"^\s*(?:\{\s*(?:\"|$)|\[\s*\{)")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
# The beginning of a line shows what it is; a line of JSON may have megabytes.
LONGEST_LINE = 4000
LONGEST_DOCUMENT = 200_000
GROUP_NAME = re.compile(r"\(\?P<\w+>")
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
TOPIC_PARTITION = re.compile(r"^(?P<topic>[\w.-]+)-(?P<partition>\d+)$|^\[(?P<old_topic>[\w.-]+),(?P<old_partition>\d+)\]$")


@dataclass
class Stamp:
    """The time for which the rows of a text hold; a line of the tool's own log tells it better than the file's last change.

    `tool`: the one whose output it is, until a command names another; `command`: the one above.
    """

    about: About
    tool: str | None = None
    command: str | None = None
    at: dt.datetime | None = None
    known_by: str | None = None
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.at, self.known_by, self.warnings = time_of(self.about)

    def says(self, at: dt.datetime | None) -> None:
        """The text itself says when it was written."""
        if at is not None:
            self.at, self.known_by, self.warnings = at, "content", ()

    def row(
        self, kind: str, line: Line, fields: Mapping[str, str | None], node_id: int | None = None, warnings: tuple[str, ...] = ()
    ) -> Row:
        """A row of this text.  A value that is None is not known and is left out."""
        known = {name: value for name, value in fields.items() if value is not None}
        return Row(kind, line.offset, line.text, known, self.at, self.known_by, node_id, self.warnings + warnings)

    def common(self, line: Line) -> Row | None:
        """The row of a line that any tool may print, or of a typed command."""
        first, *below = line.text.split("\n")
        log = LOG_LINE.match(first)
        if log:
            at = local_time(log["at"], self.about)
            if self.known_by not in ("name", "content"):
                self.says(at)
            fields = {"level": log["level"], "message": log["message"], "logger": log["logger"] or logger_below(below)}
            return replace(self.row("log_line", line, fields), at=at, at_known_by="content", warnings=())
        command = COMMAND.search(line.text)
        if command:
            tool = TOOL.search(line.text)
            self.command = line.text.strip()
            self.tool = tool_of_command(line.text, tool[1] if tool else None) or self.tool
            return self.row("command", line, {"command": self.command, "tool": tool[1] if tool else None})
        error = error_of(line.text, is_tool=False)
        if error:
            return self.row("tool_error", line, fields_of(line.text, error, self.tool, self.command))
        if NOTICE.match(line.text) or TRACE.match(line.text):
            return self.row("remark", line, {"message": line.text.strip()})
        return None

    def said(self, line: Line) -> Row:
        """The row of a sentence of the tool: an error or a remark."""
        error = error_of(line.text, is_tool=True)
        if error:
            return self.row("tool_error", line, fields_of(line.text, error, self.tool, self.command))
        return self.row("remark", line, {"message": line.text.strip()})

    def unread(self, line: Line, warning: str) -> Row:
        return self.row(UNREAD, line, {}, warnings=(warning,))


def logger_below(lines: Sequence[str]) -> str | None:
    """The logger of a line whose message ended with a line of its own, as a printed stack trace does."""
    found = LOGGER_LINE.match(lines[-1]) if lines else None
    return found["logger"] if found else None


def local_time(text: str, about: About) -> dt.datetime | None:
    """`2026-11-21 09:33:22,802` in the text's zone, as UTC; None for a day that does not exist."""
    try:
        return dt.datetime.strptime(text, "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=about.zone).astimezone(dt.UTC)
    except ValueError:
        return None


def millis_time(text: str | None) -> dt.datetime | None:
    """Milliseconds since 1970 as UTC; None if there is none (-1) or it is out of range."""
    if text is None or not text.isdigit() or not 0 < int(text) < 1 << 47:
        return None
    return dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(milliseconds=int(text))


@lru_cache(maxsize=4)
def significant(sample: str) -> tuple[str, ...]:
    """The lines of a sample that show its kind: no blanks, no commands, no lines of a log, no traces."""
    lines = (line.rstrip("\r") for line in sample.split("\n"))
    neutral = (DECORATION.match, LOG_LINE.match, NOTICE.match, TRACE.match, COMMAND.search)
    return tuple(line for line in lines if not any(form(line) for form in neutral))


def mostly(lines: Sequence[str], own: re.Pattern[str] | linear.ForLines) -> bool:
    """Whether at least half of the lines are of a tool's forms."""
    return bool(lines) and 2 * sum(bool(own.search(line[:LONGEST_LINE])) for line in lines) >= len(lines)


def any_of(*forms: re.Pattern[str] | linear.ForLines) -> linear.ForLines:
    """One pattern for several, their groups without names."""
    return linear.for_lines("|".join(f"(?:{GROUP_NAME.sub('(?:', form.pattern)})" for form in forms))


def typed(sample: str, tool: str, option: str = "") -> bool:
    """Whether the sample begins with a command line of a tool (and an option in it)."""
    for line in sample.split("\n")[:20]:
        named = TOOL.search(line) if COMMAND.search(line) else None
        if named and named[1] == tool and option in line:
            return True
    return False


def whole(lines: Iterable[Line]) -> Iterator[Line]:
    """Lines without blanks and fences; a trace belongs to the line above it, if that says that something failed."""
    held: Line | None = None
    for line in lines:
        if DECORATION.match(line.text):
            continue
        if held is not None and TRACE.match(line.text) and not (BARE.match(line.text) and not FAILED.search(held.text)):
            held = Line(held.offset, f"{held.text}\n{line.text}")
            continue
        if held is not None:
            yield held
        held = line
    if held is not None:
        yield held


def documents(lines: Iterable[Line]) -> Iterator[tuple[Line, object | None]]:
    """Lines with None, and JSON documents (on one line or over several) with their value; a torn document comes with None."""
    held: list[Line] = []
    depth = 0
    for line in lines:
        if not held and not JSON_START.match(line.text):
            yield line, None
            continue
        held.append(line)
        bare = STRING.sub("", line.text)
        depth += bare.count("{") + bare.count("[") - bare.count("}") - bare.count("]")
        if depth <= 0 or len(held) >= LONGEST_DOCUMENT:
            yield document(held)
            held, depth = [], 0
    if held:
        yield document(held)


def document(held: list[Line]) -> tuple[Line, object | None]:
    """The lines of one document as one, with its value."""
    text = "\n".join(line.text for line in held)
    try:
        return Line(held[0].offset, text), json.loads(text)
    except (ValueError, RecursionError):
        return Line(held[0].offset, text), None


@lru_cache(maxsize=4)
def failed_tool(sample: str) -> str | None:
    """The tool whose errors are all that a text holds besides commands and a log; "" if the tool is unknown, None for another text."""
    if not FAILED.search(sample):
        return None
    tool, errors = None, []
    for line in whole(lines_of(sample)):
        command = COMMAND.search(line.text)
        if command:
            word = TOOL.search(line.text)
            tool = tool_of_command(line.text, word[1] if word else None) or tool
        elif not (LOG_LINE.match(line.text.split("\n", 1)[0]) or NOTICE.match(line.text)):
            found = error_of(line.text, is_tool=tool is not None or tool_in_trace(line.text) is not None)
            if found is None:
                return None
            errors.append((line.text, found))
    by_error = next((named for text, found in errors if (named := tool_of(text, found))), tool)
    if not errors or by_error:
        return by_error if errors else None
    return "" if any(found.re in TOOLS_ONLY for _, found in errors) else None


def slices(line: Line, form: re.Pattern[str]) -> Iterator[Line]:
    """The parts of a line that a form takes, each with its own offset."""
    offset, position = line.offset, 0
    for found in form.finditer(line.text):
        offset += len(line.text[position : found.start()].encode())
        position = found.start()
        yield Line(offset, found[0])


@lru_cache(maxsize=4096)
def snake(name: str) -> str:
    """`currentTxnFirstOffset`, `TARGET-EPOCH` → snake case."""
    return re.sub(r"[^\w]+", "_", CAMEL.sub("_", name)).strip("_").lower()


def flat(value: object, prefix: str = "") -> dict[str, str | None]:
    """A JSON object as fields: names in snake case, nested ones joined; lists stay JSON; null is left out."""
    if not isinstance(value, dict):
        return {prefix.rstrip("_"): plain(value)} if value is not None else {}
    fields: dict[str, str | None] = {}
    for name, part in value.items():
        fields |= flat(part, f"{prefix}{snake(name)}_")
    return fields


def plain(value: object) -> str:
    """One JSON value as it is printed."""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def partition_of(text: str) -> dict[str, str]:
    """topic_name, partition_id of `orders-3`, of `[orders,3]` before 1.0."""
    match = TOPIC_PARTITION.match(text.strip())
    if not match:
        return {}
    return {"topic_name": match["topic"] or match["old_topic"], "partition_id": match["partition"] or match["old_partition"]}


def number(text: str | None) -> int | None:
    """A node's id; None for none."""
    return int(text) if text is not None and text.isdigit() and len(text) < 10 else None
