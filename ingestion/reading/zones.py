"""Local clocks to UTC."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from zoneinfo import ZoneInfo

import numpy as np

# Local milliseconds before every log: where the first zone of a source begins.
ALWAYS = -(10**15)


# Lines of several threads may be out of time order, by less than this.
OUT_OF_ORDER_MS = 60_000


@dataclass(frozen=True)
class Offsets:
    """Offsets of local clock times from UTC, in ms: `first` and `second`, which differ around a change of the clock: `second` is smaller for a time
    that the clock shows twice, larger for one that it skips; `zone`: number of the zone that holds."""

    first: np.ndarray
    second: np.ndarray
    zone: np.ndarray


def zone_offsets(zones: tuple[tuple[int, str], ...], local: np.ndarray) -> Offsets:
    """Offsets for local clock times (int64 ms); `zones`: (local ms from which it holds, name)."""
    number = np.clip(np.searchsorted(np.array([start for start, _ in zones]), local, side="right") - 1, 0, None)
    first, second = np.zeros(len(local), np.int64), np.zeros(len(local), np.int64)
    for n, (_, name) in enumerate(zones):
        mine = number == n
        if not mine.any():
            continue
        zone = zone_of(name)
        if isinstance(zone, dt.timezone):
            first[mine] = second[mine] = int(zone.utcoffset(None).total_seconds() * 1000)
            continue
        # Offsets change only on quarter hours: one look-up for each quarter that occurs.
        quarters, back = np.unique(local[mine] // 900_000, return_inverse=True)
        for offsets, fold in ((first, 0), (second, 1)):
            offsets[mine] = np.array([offset_millis(int(quarter) * 900_000, zone, fold) for quarter in quarters])[back]
    return Offsets(first, second, number)


def offset_millis(local: int, zone: dt.tzinfo, fold: int) -> int:
    """Offset of a local time from UTC, in ms; `fold`: 1 for the second time that the clock shows it."""
    at = dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=local)
    offset = at.replace(tzinfo=zone, fold=fold).utcoffset()
    return int(offset.total_seconds() * 1000) if offset else 0


def is_mirrored(printed: int, proven: int) -> bool:
    """Whether an offset from UTC (ms) is that of a clock with the wrong sign, as the JDK of macOS prints it in GC logs; summer time may be between the
    two.  (hotspot/share/runtime/os.cpp, iso8601_time: it takes BSD's offset for its negative.)"""
    return abs(printed + proven) <= 3_600_000 < abs(printed - proven)


@dataclass
class Clock:
    """Tells by the order of a log's records which pass of a doubled hour they are in.  `latest`: local ms of the latest record so far;
    `is_told`: whether the order decides it."""

    latest: int | None = None
    was_doubled: bool = False
    is_second: bool = False
    is_told: bool = True

    def passes(self, local: np.ndarray, doubled: np.ndarray) -> np.ndarray:
        """For records in order, whether each is in the second pass.  `doubled`: the clock shows their times twice."""
        out = np.zeros(len(local), bool)
        for n, (at, is_doubled) in enumerate(zip(local.tolist(), doubled.tolist(), strict=True)):
            steps_back = self.latest is not None and at < self.latest - OUT_OF_ORDER_MS
            if is_doubled and steps_back and self.was_doubled:
                self.is_second = self.is_told = True
            elif is_doubled and not self.was_doubled:
                # After an earlier time comes the first pass; a log that begins within the hour may begin in either.
                self.is_second, self.is_told = False, self.latest is not None and not steps_back
            out[n] = is_doubled and self.is_second
            self.was_doubled = is_doubled
            self.latest = at if self.latest is None or steps_back else max(self.latest, at)
        return out


def mirrored(zone: str) -> str:
    """'+0500' → '-0500'."""
    return {"+": "-", "-": "+"}.get(zone[:1], "") + zone[1:] if zone[:1] in "+-" else zone


def fixed_offset(zone: str) -> int:
    """The offset of '+0530' or '+05:30', in ms."""
    offset = zone_of(zone).utcoffset(None)
    return int(offset.total_seconds() * 1000) if offset else 0


def zone_of(name: str) -> dt.tzinfo:
    """'Asia/Kolkata', 'UTC', '+05:30', '+0530', 'Z' -> tzinfo.  Raises ValueError with what to write."""
    if name in ("UTC", "Z", "GMT"):
        return dt.UTC
    if name[:1] in "+-":
        digits = name[1:].replace(":", "")
        if digits.isdigit() and len(digits) in (2, 4):
            minutes = int(digits[:2]) * 60 + int(digits[2:] or 0)
            return dt.timezone(dt.timedelta(minutes=-minutes if name[0] == "-" else minutes))
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f"unknown time zone '{name}'; write a name such as Asia/Kolkata or an offset such as +05:30") from error
