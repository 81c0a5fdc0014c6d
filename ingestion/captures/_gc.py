"""What the two forms of GC logs (JDK 8 and unified logging) have in common: stamps, quantities, names, one event."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field
from decimal import Decimal

DATE = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.,]\d{3}(?:[+-]\d{4}|Z)"
NUMBER = r"\d+[.,]\d+"
SIZE = r"\d+(?:[.,]\d+)?[BKMGTbkmgt]"
HEAP = rf"(?P<before>{SIZE})(?:\(\d+%\))?->(?P<after>{SIZE})\((?P<total>{SIZE}|\d+%)\)"
TIMES = re.compile(rf"(?i)user=(?P<user>{NUMBER})s? sys=(?P<sys>{NUMBER})s?,? real=(?P<real>{NUMBER})")
CAUSE = r"\(((?:[^()]|\(\))*)\)"  # the one cause with parentheses in it is System.gc()

UNITS = {"b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


@dataclass
class Event:
    """One row in the making.  `at`, `clock_ms`: the beginning, as wall clock and as time since the start of the JVM."""

    kind: str
    offset: int
    raw: list[str]
    fields: dict[str, str] = field(default_factory=dict)
    at: dt.datetime | None = None
    clock_ms: Decimal | None = None
    warnings: list[str] = field(default_factory=list)


def number(text: str) -> Decimal:
    """A printed number; a JVM with such a locale prints decimal commas."""
    return Decimal(text.replace(",", "."))


def plain(value: Decimal) -> str:
    """Without exponent and trailing zeros."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def ms_of_seconds(text: str) -> str:
    """`0.0092810` s → `9.281` ms."""
    return plain(number(text) * 1000)


def bytes_of(text: str) -> str:
    """`297.5M` → `311951360`; K, M and G are powers of 1024 in all that a JVM prints."""
    return str(int(number(text[:-1]) * UNITS[text[-1].lower()]))


def heap_fields(match: re.Match[str], name: str = "heap") -> dict[str, str]:
    """Fields of a match of `HEAP`; ZGC prints percentages of the heap where others print its size."""
    fields = {f"{name}_before_bytes": bytes_of(match["before"]), f"{name}_after_bytes": bytes_of(match["after"])}
    if not match["total"].endswith("%"):
        fields[f"{name}_total_bytes"] = bytes_of(match["total"])
    return fields


def times_fields(match: re.Match[str]) -> dict[str, str]:
    """`user_ms`, `sys_ms`, `real_ms` of a match of `TIMES`."""
    return {f"{name}_ms": ms_of_seconds(match[name]) for name in ("user", "sys", "real")}


def date_of(text: str) -> dt.datetime | None:
    """UTC of `2021-05-05T16:17:25.693+0530`; None where the digits are no date."""
    try:
        return dt.datetime.fromisoformat(text.replace(",", ".")).astimezone(dt.UTC)
    except (ValueError, OverflowError):
        return None


def back(at: dt.datetime | None, duration_ms: Decimal) -> dt.datetime | None:
    """The time `duration_ms` earlier, to the microsecond."""
    try:
        return None if at is None else at - dt.timedelta(microseconds=round(duration_ms * 1000))
    except OverflowError:
        return None
