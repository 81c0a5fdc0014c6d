"""What a terminal shows around the output of a command: prompts, commands, dates, human-readable sizes.

Shared by the modules that read the output of system tools.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from ingestion.captures import About, Line, Row, Sample, time_of
from ingestion.reading import linear
from ingestion.reading.clocks import MONTHS, zone_abbreviated

# Each of these prints output of one kind, so a text with two of them is a document, even if one module knows most of its lines.
TELLING = frozenset(
    [
        "netstat",
        "ss",
        "lsof",
        "ls",
        "find",
        "df",
        "du",
        "top",
        "ps",
        "iostat",
        "vmstat",
        "free",
        "uptime",
        "dmesg",
        "ulimit",
        "sysctl",
        "jstack",
        "jcmd",
        "jmap",
    ]
)
PROGRAMS = TELLING | frozenset(
    [
        "cat",
        "jps",
        "echo",
        "nc",
        "wc",
        "grep",
        "date",
        "hostname",
        "uname",
        "zkCli.sh",
        "zookeeper-shell.sh",
        "zookeeper-shell",
        "curl",
        "promtool",
        "kubectl",
        "docker",
        "journalctl",
        "pgrep",
        "sar",
    ]
)
LOOK = 300  # Lines of a sample that decide what it is.
PROMPTS = (
    linear.for_lines(r"\[(?P<user>[\w.\-]+)@(?P<host>[\w.\-]+) [^\]\n]*\][#$%] ?(?P<text>.*)"),
    linear.for_lines(r"(?:\(\w+\) )?(?P<user>[\w.\-]+)@(?P<host>[\w.\-]+)(?::\S*|\s+\S+)\s?[#$%] (?P<text>.*)"),
    re.compile(r"(?:ba|z|)sh-\d[\w.]*[#$] ?(?P<text>.*)"),
    re.compile(r"\$ (?P<text>\S.*)"),
)
# A comment sign, `set -x`, or the heading of a script that collects outputs: commands only where a known program follows.
HEADINGS = (
    re.compile(r"\+ (?P<text>\S.*)"),
    linear.for_lines(r"[#=\-*>]+ ?(?P<text>[^\s#=\-*>].*?)(?: ?[#=\-*<]+)?:?"),
    re.compile(r"(?P<text>\S.*)"),
)
# The end of a pipeline that prints a number alone: `wc -l`, `grep -c`.
COUNTS = linear.for_lines(r"(?:\A|\|)\s*(?:sudo )?wc\s+-l\b[^|]*\Z|\|\s*[ef]?grep\s+(?:-\w+\s+)*-\w*c\w*\b[^|]*\Z")
NAMED_AFTER_COMMAND = linear.compile(r"[a-z]+(?:_-{1,2}\w[\w.=-]*)*(?:_\S+)?")
KAFKA_TOOL = re.compile(r"kafka-[a-z-]+(?:\.sh)?\Z")
# Output of `date` in the C locale and in ISO 8601, alone in its line.
DATE_C = re.compile(
    r"[A-Z][a-z]{2},? +(?:([A-Z][a-z]{2}) +(\d{1,2})|(\d{1,2}) +([A-Z][a-z]{2})(?: +(\d{4}))?) +(\d\d):(\d\d):(\d\d) (?:([AP]M) )?([A-Z]{3,5}|[+-]\d{2,4})(?: (\d{4}))?"
)
DATE_ISO = re.compile(r"(?:[=\-#* ]*)(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(?: ?(Z|UTC|GMT|[+-]\d\d:?\d\d))?(?:[=\-#* ]*)")
# What people and scripts write before the time of an output; a mail's own date is not one.
LABEL = re.compile(
    r"[\s=\-#*>]*(?:time ?stamp|time|date(?!:\s*[A-Z][a-z]{2}, )|captured(?: at| on)?|taken(?: at| on)?|collected(?: at| on)?|as of|snapshot(?: at| taken at)?)"
    r"\s*(?:\(UTC\)\s*)?[:=]\s*(?P<time>\S[^\n]{0,60})$",
    re.I,
)
EPOCH = re.compile(r"(1\d{9})(?:[.,]\d{1,9}|(\d{3}))?")
SIZE = re.compile(r"(\d+(?:[.,]\d+)?) ?([KMGTPEkmgtpe]?)i?B?")
POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5, "e": 6}


@dataclass(frozen=True)
class Command:
    """A command as it was typed.  `host`: from the prompt, where that names one."""

    text: str
    host: str | None = None

    @property
    def program(self) -> str:
        """The first program of the pipeline, without folder, `sudo` and variables."""
        return program_of(self.text)

    @property
    def counts(self) -> bool:
        """Whether the pipeline prints only the number of lines."""
        return bool(COUNTS.search(self.text))

    @property
    def filters(self) -> tuple[str, ...]:
        """What `grep` lets through, in the order of the pipeline."""
        found = re.findall(r"\|\s*[ef]?grep\s+((?:-\w+\s+)*)(\"[^\"]*\"|'[^']*'|[^\s|]+)", self.text)
        return tuple(("not " if re.search(r"-\w*v", options) else "") + word.strip("\"'") for options, word in found)


def program_of(text: str) -> str:
    words = [word for word in text.split("|")[0].split() if word not in ("sudo", "time", "timeout") and "=" not in word]
    return words[0].rsplit("/", 1)[-1] if words else ""


def command_of(text: str) -> Command | None:
    """The command of a line that begins with a prompt, or that is nothing but a command of a known program."""
    stripped = text.strip()
    for prompt in PROMPTS:
        match = prompt.fullmatch(stripped)
        if match:
            return Command(match["text"].strip(), match.groupdict().get("host"))
    for heading in HEADINGS:
        match = heading.fullmatch(stripped)
        if match and is_command(match["text"]):
            return Command(match["text"].strip())
    return None


def is_command(text: str) -> bool:
    """Whether a text without a prompt can only be a command: a known program, then options, a path or a pipe."""
    program = program_of(text)
    if not (program in PROGRAMS or KAFKA_TOOL.match(program)):
        return False
    rest = text.split(program, 1)[1]
    return bool(re.match(r"\s+(?:-{1,2}\w|/|\.\w*/|aux\b|[\w:.\-]+\s*\|)|\s*\||\s*\Z", rest)) and not rest.rstrip().endswith((".", "。"))


def date_of(text: str, zone: dt.tzinfo) -> dt.datetime | None:
    """UTC of a line that is nothing but a date and a time, as `date` prints it or in ISO 8601, or one after a word such as `Timestamp:`."""
    stripped = text.strip()
    if label := LABEL.match(stripped):
        stripped = label["time"].strip()
        if epoch := EPOCH.fullmatch(stripped):
            return dt.datetime.fromtimestamp(int(epoch[1]) + int(epoch[2] or 0) / 1000, dt.UTC)
    match = DATE_ISO.fullmatch(stripped)
    try:
        if match:
            local = dt.datetime.fromisoformat(f"{match[1]} {match[2]}").replace(microsecond=int((match[3] or "0").ljust(6, "0")[:6]))
            return local.replace(tzinfo=zone_of(match[4], zone)).astimezone(dt.UTC)
        match = DATE_C.fullmatch(stripped)
        if match:
            month, day = (match[1], match[2]) if match[1] else (match[4], match[3])
            hour = int(match[6]) % 12 + 12 * (match[9] == "PM") if match[9] else int(match[6])
            year = int(match[5] or match[11] or 0)
            local = dt.datetime(year, MONTHS[month.lower()], int(day), hour, int(match[7]), int(match[8]))
            return local.replace(tzinfo=zone_of(match[10], zone)).astimezone(dt.UTC)
    except (ValueError, KeyError):
        return None
    return None


def stated_time(text: str, zone: dt.tzinfo) -> dt.datetime | None:
    """UTC of a line that states when a text was taken; None if it states none, or by letters of a zone that may be several."""
    return None if zone_doubt(text, zone) else date_of(text, zone)


def zone_of(text: str | None, zone: dt.tzinfo) -> dt.tzinfo:
    """The zone printed after a time; if its letters are ambiguous, or there are none, the zone of the source."""
    if abbreviated := zone_abbreviated(text or ""):
        return abbreviated
    match = re.fullmatch(r"([+-])(\d\d):?(\d\d)?", text or "")
    if match:
        minutes = int(match[2]) * 60 + int(match[3] or 0)
        return dt.timezone(dt.timedelta(minutes=-minutes if match[1] == "-" else minutes))
    return zone


def zone_doubt(text: str, zone: dt.tzinfo) -> str | None:
    """Why a date that names its zone by letters cannot be trusted; None if it can, or if the source's zone was given."""
    found = re.search(r"\d\d:\d\d:\d\d (?:[AP]M )?([A-Z]{3,5})\b", text)
    if found is None or zone_abbreviated(found[1]) or zone is not dt.UTC:
        return None
    return f"the zone {found[1]} may be several"


def bytes_of(text: str, unit: int = 1) -> str | None:
    """Whole bytes of `12`, `1.5G`, `1,5G`, `20Ki` (powers of 1024); `unit`: bytes of one where no letter follows."""
    match = SIZE.fullmatch(text.strip())
    if match is None:
        return None
    number = float(match[1].replace(",", "."))
    return str(round(number * (1024 ** POWERS[match[2].lower()] if match[2] else unit)))


def at_millis(text: str) -> str | None:
    """UTC, ISO 8601, of milliseconds since 1970."""
    try:
        return dt.datetime.fromtimestamp(int(text) / 1000, dt.UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return None


def point(text: str) -> str:
    """A number with a decimal point, where the locale printed a comma."""
    return text.replace(",", ".")


# Cached: all modules ask about the same sample, one after the other.
@lru_cache(maxsize=2)
def lines_in(sample: str) -> tuple[str, ...]:
    """The lines of a sample that say something: not blank, no prompt, no date, and without the one that the end of the sample cut."""
    lines = sample.split("\n")
    if len(sample) >= 60_000 and len(lines) > 1:
        lines.pop()
    lines = [line.rstrip("\r") for line in lines if line.strip()][:LOOK]
    return tuple(line for line in lines if date_of(line, dt.UTC) is None and command_of(line) is None)


@lru_cache(maxsize=2)
def programs_in(sample: str) -> frozenset[str]:
    """The programs of the commands that a text shows."""
    return frozenset(command.program for line in sample.split("\n") if (command := command_of(line)))


def is_foreign(sample: str, programs: tuple[str, ...]) -> bool:
    """Whether a text holds commands whose output is not of these programs."""
    return any((name in TELLING or KAFKA_TOOL.match(name)) and name not in programs for name in programs_in(sample))


def mostly(lines: Sequence[str], known: Callable[[str], object], least: float = 0.8) -> bool:
    """Whether a module knows most of the lines."""
    return bool(lines) and sum(bool(known(line)) for line in lines) >= least * len(lines)


def number_of(text: str) -> str | None:
    """The number of a line that holds one alone, or as `wc -l FILE` prints it."""
    match = re.fullmatch(r"\s*(\d+)(?:\s+/\S+)?\s*", text)
    return match[1] if match else None


def counted(sample: str, programs: tuple[str, ...], about: re.Pattern[str] | None = None) -> bool:
    """Whether a text consists of commands that count, each with its number: `lsof -p 12 | wc -l`, then `326639`."""
    command, numbers = None, 0
    for line in sample.split("\n"):
        if not line.strip():
            continue
        found = command_of(line)
        if found:
            if not (found.program in programs and found.counts and (about is None or about.search(found.text))):
                return False
            command = found
        elif command is not None and number_of(line):
            numbers, command = numbers + 1, None
        else:
            return False
    return numbers > 0


@dataclass
class Page:
    """The context of a text's rows: its time (a `date` between the outputs moves it), the command, the host."""

    about: About
    command: Command | None = None
    at: dt.datetime | None = None
    known_by: str | None = None
    warnings: tuple[str, ...] = ()
    pending: list[Line] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.at, self.known_by, self.warnings = time_of(self.about)
        # A sosreport names its files after the commands: `free_-m`, `netstat_-W_-neopa`.
        name = self.about.name.rsplit("/", 1)[-1]
        if NAMED_AFTER_COMMAND.fullmatch(name) and name.split("_")[0] in PROGRAMS:
            self.command = Command(name.replace("_", " "))

    def passes(self, line: Line) -> bool:
        """Whether a line is blank, a date or a command; the last two are kept for the rows that follow."""
        text = line.text
        if not text.strip():
            return True
        date = date_of(text, self.about.zone)
        if date is not None:
            doubt = zone_doubt(text, self.about.zone)
            if doubt is None:
                self.at, self.known_by, self.warnings = date, "content", ()
            else:
                self.warnings = (*time_of(self.about)[2], f"{text.strip()}: {doubt}; not used")
            return True
        command = command_of(text)
        if command is not None:
            self.command = command
            self.pending = [line]
            return True
        return False

    @property
    def is_piped(self) -> bool:
        """Whether the command shows only a part of its output."""
        return self.command is not None and "|" in self.command.text

    def row(self, kind: str, line: Line, fields: dict[str, str | None], *warnings: str, raw_text: str | None = None) -> Row:
        """A row at the time of the page; fields without a value are left out."""
        kept = {key: value for key, value in fields.items() if value is not None}
        if self.command is not None and self.command.host:
            kept.setdefault("host", self.command.host)
        return Row(
            kind,
            line.offset,
            line.text if raw_text is None else raw_text,
            kept,
            self.at,
            self.known_by,
            None,
            (*self.warnings, *warnings),
        )

    def sample(self, metric: str, line_offset: int, value: float, labels: dict[str, str], unit: str, *warnings: str) -> Sample:
        """A gauge at the time of the page."""
        if self.command is not None and self.command.host:
            labels = {**labels, "host": self.command.host}
        return Sample(metric, line_offset, value, labels, None, unit, "gauge", self.at, self.known_by, None, (*self.warnings, *warnings))

    def count(self, kind: str, line: Line, metric: str | None, labels: dict[str, str], unit: str, *warnings: str) -> Iterator[Row | Sample]:
        """The number under a command that counts, as a row of the command and its number, and as a sample."""
        assert self.command is not None
        first = self.pending[0] if self.pending else line
        fields: dict[str, str | None] = {**labels, "count": number_of(line.text) or "", "command": self.command.text}
        if self.command.filters:
            fields["filter"] = " & ".join(self.command.filters)
        yield self.row(kind, first, fields, *warnings, raw_text=f"{first.text}\n{line.text}")
        if metric is not None:
            yield self.sample(metric, first.offset, float(number_of(line.text) or 0), labels, unit, *warnings)
        self.command, self.pending = None, []
