"""What the two forms of GC logs (JDK 8 and unified logging) have in common: stamps, quantities, names, one event."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field
from decimal import Decimal

from ingestion.reading.zones import is_mirrored

DATE = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.,]\d{3}(?:[+-]\d{4}|Z)"
NUMBER = r"\d+[.,]\d+"
SIZE = r"\d+(?:[.,]\d+)?[BKMGTbkmgt]"
HEAP = rf"(?P<before>{SIZE})(?:\(\d+%\))?->(?P<after>{SIZE})\((?P<total>{SIZE}|\d+%)\)"
TIMES = re.compile(rf"(?i)user=(?P<user>{NUMBER})s? sys=(?P<sys>{NUMBER})s?,? real=(?P<real>{NUMBER})")
CAUSE = r"\(((?:[^()]|\(\))*)\)"  # the one cause with parentheses in it is System.gc()

KINDS_OF_PAUSE = {
    "Pause Young": "young",
    "Pause Mixed": "mixed",
    "Pause Full": "full",
    "Pause Initial Mark": "initial_mark",
    "Pause Init Mark": "initial_mark",
    "Pause Final Mark": "final_mark",
    "Pause Init Update Refs": "init_update_refs",
    "Pause Final Update Refs": "final_update_refs",
    "Pause Final Evac": "final_evacuation",
    "Pause Final Roots": "final_roots",
    "Pause Degenerated GC": "degenerated",
    "Pause Remark": "remark",
    "Pause Cleanup": "cleanup",
    "Pause Mark Start": "mark_start",
    "Pause Mark End": "mark_end",
    "Pause Relocate Start": "relocate_start",
}
VARIANTS = {"Normal", "Mixed", "Prepare Mixed", "Concurrent Start", "Concurrent End", "Major", "Minor", "Young", "Global", "Old"}
WITH_CAUSE = {"young", "mixed", "full", "initial_mark"}
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


def date_of(text: str, zone: dt.tzinfo | None = None) -> dt.datetime | None:
    """UTC of `2021-05-05T16:17:25.693+0530`; None if the digits are not a date.  `zone`: that of the local times, which tells an offset with the wrong
    sign."""
    try:
        at = dt.datetime.fromisoformat(text.replace(",", "."))
        printed, known = offset_ms(at), offset_ms(at.replace(tzinfo=zone)) if zone else 0
        if printed and zone and is_mirrored(printed, known):
            at += dt.timedelta(milliseconds=2 * printed)
        return at.astimezone(dt.UTC)
    except (ValueError, OverflowError):
        return None


def offset_ms(at: dt.datetime) -> int:
    """The offset of a time from UTC, in ms."""
    offset = at.utcoffset()
    return offset // dt.timedelta(milliseconds=1) if offset else 0


def back(at: dt.datetime | None, duration_ms: Decimal) -> dt.datetime | None:
    """The time `duration_ms` earlier, to the microsecond."""
    try:
        return None if at is None else at - dt.timedelta(microseconds=round(duration_ms * 1000))
    except OverflowError:
        return None


def pause_of(name: str) -> dict[str, str]:
    """`pause_kind`, `pause_name`, `cause`, `failure` of a name as the JVM prints it."""
    base = re.sub(r" ?\(.*", "", name)
    groups = re.findall(CAUSE, name)
    kind = KINDS_OF_PAUSE.get(base) or base.removeprefix("Pause ").lower().replace(" ", "_")
    if kind == "young" and "Mixed" in groups:
        kind = "mixed"
    fields = {"pause_kind": kind, "pause_name": name}
    failures = [group for group in groups if group.startswith(("Evacuation Failure", "to-space"))]
    causes = [group for group in groups if group not in VARIANTS and group not in failures]
    # Shenandoah and ZGC print in the same place what a pause does besides marking, which is not a cause
    if causes and kind in WITH_CAUSE and not base.startswith("Pause Init "):
        fields["cause"] = causes[0]
    if failures:
        fields["failure"] = failures[0]
    return fields
