"""Lines of the kernel and of systemd: in `dmesg`, in syslog and in the journal.  What they say is read in `captures/system/kernel_log.py`.

Sources: dmesg(1), journalctl(1), systemd.journal-fields(7), syslog(3), RFC 5424.
"""

from __future__ import annotations

import datetime as dt
import json
import re

DMESG = re.compile(
    r"(?:kern\s*:\w+\s*: )?(?:\[\s*(?P<since_boot>\d+\.\d{6})\]|\[(?P<date>[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})\]"
    r"|(?:(?:<\d{1,3}>)?(?P<syslog>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d)(?:\.(?P<syslog_fraction>\d{1,9}))?"
    r"|(?:<\d{1,3}>1 )?(?P<iso>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d))"
    r"|[A-Z][a-z]{2} (?P<full>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? (?:UTC|GMT)))"
    r" (?P<host>\S+) (?P<program>kernel|systemd)(?:(?:\[\d+\])?:(?: \[\s*(?P<since_boot_2>\d+\.\d{6})\])?| \S+ \S+ (?:-|(?:\[[^\]]*\])+))) (?P<message>.*)"
)


NEEDLE = re.compile(r' (?:kernel|systemd)[:\[ ]|"SYSLOG_IDENTIFIER" ?: ?"(?:kernel|systemd)"')


def message_in(line: str) -> re.Match[str] | None:
    """The groups of `DMESG` in a line of a system log; None if it is not the kernel's or systemd's."""
    if not NEEDLE.search(line):
        return None
    match = DMESG.fullmatch(as_printed(line) if line.startswith("{") else line)
    return match if match and match["program"] else None


def as_printed(line: str) -> str:
    """A line of `journalctl -o json` in the form of `-o short-iso`; as it is if it has no message or no time."""
    try:
        entry = json.loads(line)
        at = dt.datetime.fromtimestamp(int(entry["__REALTIME_TIMESTAMP"]) / 1_000_000, dt.UTC)
        return f"{at.isoformat()} {entry.get('_HOSTNAME', '-')} {entry['SYSLOG_IDENTIFIER']}: {entry['MESSAGE']}"
    except (ValueError, TypeError, KeyError, OverflowError, OSError, RecursionError):
        return line


def takes(line: str) -> bool:
    """Whether a line of a system log is the kernel's or systemd's."""
    return message_in(line) is not None
