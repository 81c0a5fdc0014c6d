"""Finds in log lines which node wrote them, and its time zone.  No Spark here."""

from __future__ import annotations

import datetime as dt
import re

# The node in the prefix of a line, in the configuration dump, and in old texts that begin with it.  Each pattern begins with
# fixed text, which `re` finds fast; before the prefix stands a level.
NODE = (
    re.compile(
        rb" \[(?<=[A-Z]{4} \[)(?:(?:[A-Za-z]+ )?(?:id|broker|brokerId|nodeId|replicaId|controllerId)=(\d{1,9})[\], ]"
        rb"|(?:Controller|Kafka Server|Replica Manager on Broker|Group Metadata Manager on Broker|GroupCoordinator) (\d{1,9})(?:[\]:]| epoch ))"
    ),
    re.compile(rb"\n\t(?:broker|node)\.id = (\d{1,9})\r?\n"),
    re.compile(rb" Property broker\.id is overridden to (\d{1,9}) "),
    re.compile(rb" Broker (?<=[A-Z]{4} Broker )(\d{1,9})(?:[\]:]| epoch )"),
    re.compile(rb" Controller (?<=[A-Z]{4} Controller )(\d{1,9})(?:[\]:]| epoch )"),
)
CLOCK = re.compile(rb"(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:[,.](\d{3}))?")


def first_node(text: bytes, start: int = 0) -> tuple[int, int] | None:
    """(offset, node) where a text first names the node that writes it."""
    found = [match for match in (pattern.search(text, start) for pattern in NODE) if match]
    match = min(found, key=lambda match: match.start(), default=None)
    return (match.start(), int(next(group for group in match.groups() if group))) if match else None


def node_number(digits: str | None) -> int | None:
    """The node that a path names; None if it names none, or has more digits than Kafka's ids."""
    return int(digits) if digits and len(digits) < 10 else None


def clock_millis(text: bytes) -> int | None:
    """'2020-05-15 12:00:01,123…' (or T between, or no milliseconds) as milliseconds on the local clock; None if it is not a time."""
    match = CLOCK.match(text)
    if match is None:
        return None
    try:
        year, month, day, hour, minute, second, millis = (int(part or 0) for part in match.groups())
        return (dt.datetime(year, month, day, hour, minute, second) - dt.datetime(1970, 1, 1)) // dt.timedelta(milliseconds=1) + millis
    except ValueError:
        return None


def zone_between(local: int, utc: int) -> str | None:
    """'+05:30' if a local clock differs from UTC by whole quarters of an hour, within a minute (both in ms); else None."""
    quarters = round((local - utc) / 900_000)
    if abs(local - utc - quarters * 900_000) >= 60_000 or abs(quarters) > 56:
        return None
    return f"{'-' if quarters < 0 else '+'}{abs(quarters) // 4:02}:{abs(quarters) % 4 * 15:02}"
