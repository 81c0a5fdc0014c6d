"""The kernel's log: `dmesg`, `dmesg -T`, and its lines and those of systemd in syslog; among them those of the out-of-memory killer.

Rows: `oom_kill`: process_id, process_name, resident_bytes, virtual_bytes, since_boot_seconds, host; `oom_choice` (older kernels say
first whom they will kill): process_id, process_name, score; `kernel_message`: since_boot_seconds, host; `unit_exit` (systemd says how the
process of a unit ended): unit, exit_code (exited, killed, dumped), exit_status (as printed: 1/FAILURE, 9/KILL), exit_result (oom-kill, signal …), host;
`unit_message`: host.

Seconds since boot are no time of day: such a row has the time of the capture, with a warning.

Sources: dmesg(1), mm/oom_kill.c of Linux 2.6 to 6, src/core/service.c and unit.c of systemd 219 to 256.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ingestion.captures import About, Line, Row, Sample, unread
from ingestion.captures._terminal import Page, bytes_of, is_foreign, lines_in, mostly
from ingestion.reading import linear
from ingestion.reading.clocks import MONTHS, local_time

PROGRAMS = ("dmesg",)
KINDS = {"kernel_log": "Messages of the kernel (dmesg) and of systemd, among them those of the out-of-memory killer."}
OF_NODE = frozenset(KINDS)
DMESG = re.compile(
    r"(?:kern\s*:\w+\s*: )?(?:\[\s*(?P<since_boot>\d+\.\d{6})\]|\[(?P<date>[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})\]"
    r"|(?:(?P<syslog>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d)|(?P<iso>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)))"
    r" (?P<host>\S+) (?:kernel:(?: \[\s*(?P<since_boot_2>\d+\.\d{6})\])?|(?P<systemd>systemd\[1\]:))) (?P<message>.*)"
)
UNIT_EXIT = linear.for_lines(
    r"(?P<unit>\S+\.service): (?:[Mm]ain process exited, code=(?P<exit_code>\w+), status=(?P<exit_status>\S+)"
    r"|Failed with result '(?P<exit_result>[\w-]+)'\.?|A process of this unit has been killed by the (?P<killer>OOM killer)\.)"
)
OOM = linear.for_lines(
    r".*?Kill(?P<done>ed)? process (?P<process_id>\d+),?(?: UID \d+,)? \((?P<process_name>[^)]*)\)(?:.*?\bscore (?P<score>\d+))?(?:.*?total-vm:(?P<virtual>\d+)kB)?(?:.*?anon-rss:(?P<resident>\d+)kB)?.*"
)


def kind_of(sample: str, name: str) -> str | None:
    """By the shape of the lines: what syslog prints of other programs is not a message of the kernel."""
    if is_foreign(sample, PROGRAMS):
        return None
    return "kernel_log" if mostly(lines_in(sample), DMESG.fullmatch) else None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    page = Page(about)
    for line in lines:
        message = DMESG.fullmatch(line.text)
        if message:
            yield kernel_row(page, line, message)
        elif not page.passes(line):
            yield from unread([line], "no message of the kernel")


def kernel_row(page: Page, line: Line, match: re.Match[str]) -> Row:
    """A message of the kernel or of systemd.  Seconds since boot are no time of day; with `-T` or syslog's prefix they are."""
    message = match["message"]
    if match["systemd"]:
        return timed(page, page.row(*unit_row(line, message, match["host"])), match)
    kill = OOM.fullmatch(message) if "ill" in message else None
    fields: dict[str, str | None] = {"since_boot_seconds": match["since_boot"] or match["since_boot_2"], "host": match["host"]}
    if kill:
        fields |= {key: kill[key] for key in ("process_id", "process_name", "score")}
        fields |= {"virtual_bytes": bytes_of(kill["virtual"] or "", 1024), "resident_bytes": bytes_of(kill["resident"] or "", 1024)}
    row = page.row("kernel_message" if not kill else "oom_kill" if kill["done"] else "oom_choice", line, fields)
    return timed(page, row, match)


def unit_row(line: Line, message: str, host: str | None) -> tuple[str, Line, dict[str, str | None]]:
    """Kind, line and fields of what systemd says about a unit."""
    exit_of = UNIT_EXIT.fullmatch(message)
    if exit_of is None:
        return "unit_message", line, {"host": host}
    result = "oom-kill" if exit_of["killer"] else exit_of["exit_result"]
    return "unit_exit", line, {key: exit_of[key] for key in ("unit", "exit_code", "exit_status")} | {"exit_result": result, "host": host}


def timed(page: Page, row: Row, match: re.Match[str]) -> Row:
    """A row with the time that its line prints; else that of the capture."""
    at = None
    try:
        if match["iso"]:
            at = dt.datetime.fromisoformat(match["iso"])
        elif match["date"]:
            month, day, clock, year = match["date"].split()[1:]
            at = local_time(int(year), MONTHS[month.lower()], int(day), clock, page.about.zone)
        elif match["syslog"] and page.at is not None:
            month, day, clock = match["syslog"].split()
            before = page.at.astimezone(page.about.zone) + dt.timedelta(days=1)
            this_year = before.year - ((MONTHS[month.lower()], int(day)) > (before.month, before.day))
            at = local_time(this_year, MONTHS[month.lower()], int(day), clock, page.about.zone)
    except (ValueError, KeyError):
        at = None
    if at is not None:
        return replace(row, at=at.astimezone(dt.UTC), at_known_by="content", warnings=())
    if "since_boot_seconds" in row.fields:
        return replace(row, warnings=(*row.warnings, "the kernel says seconds since boot; the time is the capture's"))
    return row
