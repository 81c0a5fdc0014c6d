"""Fatal error reports of a JVM, `hs_err_pidN.log` (JDK 7 to 25; source: HotSpot's vmError.cpp).

One `jvm_crash` row per report: reason (signal, internal error or memory that was refused, as printed), signal, signal_code, problematic_frame,
error (detail of an internal error), memory_call (mmap, malloc …), memory_refused_bytes, memory_purpose, pid, tid, jre_version, jvm, current_thread,
thread_state, vm_operation, frames and java_frames (the first 8), command_line, jvm_args, java_command, host, elapsed_ms, physical_bytes,
physical_free_bytes, swap_bytes, swap_free_bytes, max_map_count, memory_maps (how many the process had), open_files_limit, java_threads.
`at`: when it was written.  The raw text holds the head and the lines that the fields are taken from.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ingestion.captures import About, Line, Row, time_of, unread
from ingestion.reading import linear
from ingestion.reading.clocks import MONTHS, local_time, zone_abbreviated

KINDS = {"hs_err": "Fatal error report of a JVM: why it died, in which thread, with which memory."}
OF_NODE = frozenset(KINDS)
WITHIN_LOGS = (b"# A fatal error has been detected", b"# There is insufficient memory for the Java")
EMPTY_LINES = re.compile(r"Java Runtime Environment|, pid=\d|Native memory allocation")

BEGINNING = re.compile(
    r"\s*(?:# ?)?(?:A fatal error has been detected by the Java Runtime Environment|There is insufficient memory for the Java Runtime Environment to continue)"
)
SECTION = re.compile(r"-{3,}\s+(?:S U M M A R Y|T H R E A D|P R O C E S S|S Y S T E M)")
REASON = re.compile(
    r"#?\s*(?P<reason>(?:(?P<signal>SIG[A-Z0-9]+|EXCEPTION_\w+) \(0x[0-9a-f]+\)|Internal Error|Out of Memory Error).*?), pid=(?P<pid>\d+)(?:, tid=(?P<tid>\w+))?"
)
REFUSED = linear.for_lines(
    r"\s*(?:# ?)?(?P<reason>Native memory allocation \((?P<call>\w+)\) failed to (?:map|allocate) (?P<bytes>\d+) bytes(?:(?: for|\. Error detail:) (?P<purpose>.*?))?\.?)\s*$"
)
FRAME = re.compile(r"(?P<frame>[A-Za-z~]\s+\S.*)")
TIME = re.compile(
    r"[Tt]ime: \w{3} (?P<month>\w{3}) +(?P<day>\d+) (?P<clock>\d\d:\d\d:\d\d) (?P<year>\d{4})(?: (?P<zone>[A-Z][A-Za-z]+|[+-]\d\d(?:\d\d)?)\b)?"
)
ELAPSED = re.compile(r"elapsed time: (?P<seconds>\d+(?:\.\d+)?) seconds")
MEMORY = re.compile(
    r"Memory: \d+k page, physical (?P<physical>\d+)k ?\((?P<physical_free>\d+)k free\)(?:, swap (?P<swap>\d+)k ?\((?P<swap_free>\d+)k free\))?"
)
ONE_LINE: dict[str, re.Pattern[str] | linear.ForLines] = {
    "error": re.compile(r"#?\s*((?:assert|guarantee)\(.*|(?:fatal error|Error): .*)"),
    "jre_version": re.compile(r"\s*(?:# ?)?JRE version: (.*)"),
    "jvm": re.compile(r"\s*(?:# ?)?Java VM: (.*)"),
    "current_thread": linear.for_lines(r"Current thread(?: \(0x[0-9a-f]+\))?(?::| is)\s+(.*?)(?: \[.*)?$"),
    "thread_state": re.compile(r"Current thread .*\[(_thread_\w+)"),
    "vm_operation": re.compile(r"VM_Operation \(0x[0-9a-f]+\): (\w+)"),
    "signal_code": re.compile(r"siginfo: ?.*si_code(?:: \d+ \(|=\d+ \()?(\w+)"),
    "command_line": re.compile(r"Command Line: (.*)"),
    "jvm_args": re.compile(r"jvm_args: (.*)"),
    "java_command": re.compile(r"java_command: (.*)"),
    "host": re.compile(r"Host: (.*)"),
    "max_map_count": re.compile(r"/proc/sys/vm/max_map_count[^:]*: (\d+)"),
    "open_files_limit": re.compile(r"rlimit.*\bNOFILE (\w+)"),
}
# Lines of the head, whose marks a wiki takes for headings and drops.
HEAD = re.compile(
    r"\s*#|\s*$|\s*(?:JRE version|Java VM|Problematic frame|Core dump|An error report file|If you would like|The crash happened|See problematic frame"
    r"|Failed to write core dump|https?://\S+\s*$|Possible reasons|Possible solutions|[CJVvjA] +\[|/\S+$|Out of Memory Error|Internal Error|SIG[A-Z]+ \(|\(mmap\)|\(malloc\))"
)
SHOWN_FRAMES = 8
LIST_HEADS = {
    "Native frames:": "frames",
    "Java frames:": "java_frames",
    "Java Threads:": "java_threads",
    "Dynamic libraries:": "memory_maps",
    "/proc/sys/vm/max_map_count": "max_map_count",
}


@dataclass
class Report:
    """One report in the making.  `listing`: which list the lines that follow belong to."""

    offset: int
    raw: list[str] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    listing: str = ""
    time: re.Match[str] | None = None
    timezone: str | None = None
    in_head: bool = True


def kind_of(sample: str, name: str = "") -> str | None:
    """`hs_err` where the head of a report begins the text."""
    lines = [line for line in sample.split("\n")[:40] if line.strip().strip("#")]
    begins = any(BEGINNING.match(line) for line in lines[:4]) or any(map(is_torn_head, lines[:1]))
    return "hs_err" if begins or (SECTION.match(lines[0]) if lines else None) else None


def is_torn_head(text: str) -> bool:
    """Whether a line is the second of a report, whose first was not copied."""
    return bool(REASON.match(text) or REFUSED.match(text))


def begins(text: str) -> bool:
    """Whether a line is the first of a report."""
    return bool(BEGINNING.match(text))


def goes_on(text: str) -> bool:
    """Whether a line may belong to the head of a report."""
    return bool(HEAD.match(text))


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row]:
    """Rows of all reports of a text."""
    report: Report | None = None
    strangers: list[Line] = []
    for line in lines:
        if BEGINNING.match(line.text) or (report is None and (SECTION.match(line.text) or is_torn_head(line.text))):
            if report is not None:
                yield row(report, about)
            report = Report(line.offset)
        if report is None:
            strangers += [] if line.text.strip() in ("", "#") else [line]
            continue
        yield from unread(strangers, "no line of a fatal error report")
        strangers = []
        take(report, line.text.rstrip())
    yield from unread(strangers, "no line of a fatal error report")
    if report is not None:
        yield row(report, about)


def take(report: Report, text: str) -> None:
    """What one line says."""
    fields = report.fields
    found: dict[str, str] = {}
    if report.in_head and text and not (goes_on(text) or BEGINNING.match(text) or is_torn_head(text)):
        report.in_head = False
    if match := REASON.match(text):
        found = {"reason": match["reason"], "pid": match["pid"]} | {key: match[key] for key in ("signal", "tid") if match[key]}
    elif match := REFUSED.match(text):
        found = {"reason": match["reason"], "memory_call": match["call"], "memory_refused_bytes": match["bytes"]}
        found |= {"memory_purpose": match["purpose"]} if match["purpose"] else {}
    elif match := MEMORY.match(text):
        found = {f"{key}_bytes": str(int(value) * 1024) for key, value in match.groupdict().items() if value}
    elif report.listing == "problematic_frame" and report.in_head:
        found = {"problematic_frame": text.lstrip("# ")}
        report.listing = ""
    for key, pattern in ONE_LINE.items():
        if match := pattern.match(text):
            found[key] = match[1].strip()
    if match := ELAPSED.search(text):
        found["elapsed_ms"] = f"{float(match['seconds']) * 1000:.0f}"
    if match := TIME.match(text):
        report.time = report.time or match
        report.raw.append(text)
    elif text.startswith("timezone: "):
        report.timezone = text.removeprefix("timezone: ").strip()
    new = {key: value for key, value in found.items() if value and key not in fields}
    fields |= new
    if new or report.in_head:
        report.raw.append(text)
    listed(report, text)


def listed(report: Report, text: str) -> None:
    """Lists go from their head to the next empty line."""
    if "Problematic frame:" in text:
        report.listing = "problematic_frame"
        return
    for head, name in LIST_HEADS.items():
        if text.startswith(head):
            report.listing = name
            return
    if not text:
        report.listing = ""
    elif report.listing in ("frames", "java_frames") and FRAME.match(text):
        shown = report.lists.setdefault(report.listing, [])
        if len(shown) < SHOWN_FRAMES:
            shown.append(text.strip())
            report.raw.append(text)
    elif report.listing in ("java_threads", "memory_maps") and not text.startswith("Total"):
        report.counts[report.listing] = report.counts.get(report.listing, 0) + 1
    elif report.listing == "max_map_count" and text.strip().isdigit():
        report.fields.setdefault("max_map_count", text.strip())


def row(report: Report, about: About) -> Row:
    at, known_by, warnings = time_of_report(report, about)
    fields = (
        report.fields
        | {name: "\n".join(frames) for name, frames in report.lists.items()}
        | {name: str(count) for name, count in report.counts.items()}
    )
    if "reason" not in fields:
        warnings = (*warnings, "the head of the report is missing")
    return Row("jvm_crash", report.offset, "\n".join(report.raw).strip("\n"), fields, at, known_by, None, warnings)


def time_of_report(report: Report, about: About) -> tuple[dt.datetime | None, str | None, tuple[str, ...]]:
    match = report.time
    if match is None or match["month"].lower() not in MONTHS:
        return time_of(about)
    try:
        local = local_time(int(match["year"]), MONTHS[match["month"].lower()], int(match["day"]), match["clock"])
    except ValueError:
        return time_of(about)
    name = match["zone"] or report.timezone
    warnings: tuple[str, ...] = ()
    zone: dt.tzinfo = about.zone
    if abbreviated := zone_abbreviated(name or ""):
        zone = abbreviated
    elif name and name[0] in "+-":
        zone = dt.timezone((1 if name[0] == "+" else -1) * dt.timedelta(hours=int(name[1:3]), minutes=int(name[3:5] or 0)))
    elif name:
        warnings = (f"the abbreviation {name} means several zones; that of the source is taken",)
    return local.replace(tzinfo=zone).astimezone(dt.UTC), "content", warnings
