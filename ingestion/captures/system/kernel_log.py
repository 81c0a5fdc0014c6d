"""The kernel's log: `dmesg`, `dmesg -T`, and its lines in syslog and the journal (as text and as JSON), with those of systemd; among them those of the out-of-memory killer.

Rows: `oom_kill`: process_id, process_name, resident_bytes, virtual_bytes, since_boot_seconds, host; `oom_choice` (older kernels say
first whom they will kill): process_id, process_name, score; `kernel_message`: since_boot_seconds, host.
Of systemd: `unit_exit`: unit, host, code (exited, killed, dumped), status (number), signal (its name); `unit_oom_kill`: unit, host; `unit_failed`: unit,
host, result (oom-kill, signal, exit-code, timeout …); `service_message`: host, and unit if it names one.

Seconds since boot are no time of day: such a row has the time of the capture, with a warning.  A journal that also holds lines of Kafka is a log,
of which these lines alone are read here (`records/system_lines.py`).

Sources: dmesg(1), mm/oom_kill.c of Linux 2.6 to 6; src/core/service.c and unit.c of systemd 219 to 256, journalctl(1).
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice

from ingestion.captures import About, Line, Row, Sample, unread
from ingestion.captures._terminal import Page, bytes_of, is_foreign, lines_in, mostly
from ingestion.reading import linear
from ingestion.reading.clocks import MONTHS, local_time
from ingestion.records.system_lines import DMESG, message_in, takes

PROGRAMS = ("dmesg",)
KINDS = {"kernel_log": "Messages of the kernel (dmesg), among them those of the out-of-memory killer."}
OF_NODE = frozenset(KINDS)
# What systemd says of a unit: `kafka.service: Main process exited, code=killed, status=9/KILL`.
UNIT = re.compile(r"(?P<unit>[\w@.:\\-]+\.(?:service|scope|slice)): (?P<said>.*)")
EXIT = linear.for_lines(
    r"[Mm]ain process exited, code=(?P<code>\w+), status=(?P<status>\d+)(?:/(?P<signal>[A-Z]+(?:\d+)?|[\w/]+))?.*|(?P<oom>A process of this unit has been killed by the OOM killer.*)"
    r"|Failed with result '(?P<result>[\w-]+)'.*"
)
FULL_DATE = re.compile(r"(?<!\d)(20\d\d)-([01]\d)-([0-3]\d)(?!\d)")
LINES_LOOKED_AT = 1000
OOM = linear.for_lines(
    r".*?Kill(?P<done>ed)? process (?P<process_id>\d+),?(?: UID \d+,)? \((?P<process_name>[^)]*)\)(?:.*?\bscore (?P<score>\d+))?(?:.*?total-vm:(?P<virtual>\d+)kB)?(?:.*?anon-rss:(?P<resident>\d+)kB)?.*"
)


def kind_of(sample: str, name: str) -> str | None:
    """By the shape of the lines: what syslog prints of other programs is not a message of the kernel."""
    if is_foreign(sample, PROGRAMS):
        return None
    return "kernel_log" if mostly(lines_in(sample), line_of) else None


def line_of(text: str) -> re.Match[str] | None:
    """The groups of a line of the kernel's log, or of its line in a system log."""
    return message_in(text) if text.startswith("{") else DMESG.fullmatch(text)


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    page = Page(about)
    for line in lines:
        message = line_of(line.text)
        if message:
            yield kernel_row(page, line, message)
        elif not page.passes(line):
            yield from unread([line], "no message of the kernel")


def read_beside(lines: Iterable[Line], about: About) -> Iterator[Row]:
    """The kernel's and systemd's lines among those of a log.  Syslog prints no year: it is taken from the record before the line, or from the first
    one after it."""
    page, lines = Page(about), iter(lines)
    first = list(islice(lines, LINES_LOOKED_AT))
    near = next((date for line in first if not takes(line.text) and (date := date_in(line.text))), None)
    for line in chain(first, lines):
        message = message_in(line.text)
        if message:
            yield kernel_row(page, line, message, near)
        else:
            near = date_in(line.text) or near


def date_in(text: str) -> dt.date | None:
    """The first full date of a line."""
    found = FULL_DATE.search(text)
    try:
        return dt.date(*map(int, found.groups())) if found else None
    except ValueError:
        return None


def kernel_row(page: Page, line: Line, match: re.Match[str], near: dt.date | None = None) -> Row:
    """A message of the kernel.  Its time is known with `dmesg -T` or syslog's prefix; seconds since boot alone do not give one.  `near`: the date of
    the nearest record in the log, for a prefix without a year."""
    message = match["message"]
    if match["program"] == "systemd":
        return timed(page, unit_row(page, line, match), match, near)
    kill = OOM.fullmatch(message) if "ill" in message else None
    fields: dict[str, str | None] = {"since_boot_seconds": match["since_boot"] or match["since_boot_2"], "host": match["host"]}
    if kill:
        fields |= {key: kill[key] for key in ("process_id", "process_name", "score")}
        fields |= {"virtual_bytes": bytes_of(kill["virtual"] or "", 1024), "resident_bytes": bytes_of(kill["resident"] or "", 1024)}
    row = page.row("kernel_message" if not kill else "oom_kill" if kill["done"] else "oom_choice", line, fields)
    return timed(page, row, match, near)


def unit_row(page: Page, line: Line, match: re.Match[str]) -> Row:
    """A message of systemd."""
    unit = UNIT.fullmatch(match["message"])
    told = EXIT.fullmatch(unit["said"]) if unit else None
    fields: dict[str, str | None] = {"host": match["host"], "unit": unit["unit"] if unit else None}
    if told is None:
        return page.row("service_message", line, fields)
    if told["code"]:
        return page.row("unit_exit", line, fields | {name: told[name] for name in ("code", "status", "signal")})
    return page.row("unit_failed", line, fields | {"result": told["result"]}) if told["result"] else page.row("unit_oom_kill", line, fields)


def timed(page: Page, row: Row, match: re.Match[str], near: dt.date | None) -> Row:
    """A row with the time of its line, if that is one of day."""
    at = None
    try:
        if match["iso"]:
            at = dt.datetime.fromisoformat(match["iso"].replace(",", "."))
        elif match["full"]:
            at = dt.datetime.fromisoformat(match["full"].rpartition(" ")[0] + "+00:00")
        elif match["date"]:
            month, day, clock, year = match["date"].split()[1:]
            at = local_time(int(year), MONTHS[month.lower()], int(day), clock, page.about.zone)
        elif match["syslog"] and (near or page.at) is not None:
            month, day, clock = match["syslog"].split()
            at = local_time(year_of(MONTHS[month.lower()], int(day), near, page), MONTHS[month.lower()], int(day), clock, page.about.zone)
            at += dt.timedelta(microseconds=int(((match["syslog_fraction"] or "") + "000000")[:6]))
    except (ValueError, KeyError):
        at = None
    if at is not None:
        return replace(row, at=at.astimezone(dt.UTC), at_known_by="content", warnings=())
    if row.fields.get("since_boot_seconds"):
        return replace(row, warnings=(*row.warnings, "the kernel says seconds since boot; the time is the capture's"))
    return row


def year_of(month: int, day: int, near: dt.date | None, page: Page) -> int:
    """The year of a day: the one that is nearest to a date beside it, else within the year before the capture."""
    if near is not None:
        return min(
            (near.year - 1, near.year, near.year + 1),
            key=lambda year: abs((year - near.year) * 372 + (month - near.month) * 31 + day - near.day),
        )
    assert page.at is not None
    before = page.at.astimezone(page.about.zone) + dt.timedelta(days=1)
    return before.year - ((month, day) > (before.month, before.day))
