"""Local clocks to UTC."""

from __future__ import annotations

import datetime as dt
from zoneinfo import ZoneInfo

import numpy as np

# Local milliseconds before every log: from when the first zone of a source holds.
ALWAYS = -(10**15)


def zone_offsets(zones: tuple[tuple[int, str], ...], local: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For local clock times (int64 ms): (offset to UTC in ms, number of the zone that holds)."""
    number = np.clip(np.searchsorted(np.array([start for start, _ in zones]), local, side="right") - 1, 0, None)
    offsets = np.zeros(len(local), np.int64)
    for n, (_, name) in enumerate(zones):
        mine = number == n
        if not mine.any():
            continue
        zone = zone_of(name)
        if isinstance(zone, dt.timezone):
            offsets[mine] = int(zone.utcoffset(None).total_seconds() * 1000)
            continue
        # Offsets change on the quarter hour at most: one look-up for each quarter that occurs.
        quarters, back = np.unique(local[mine] // 900_000, return_inverse=True)
        epoch = dt.datetime(1970, 1, 1)
        looked_up = [(epoch + dt.timedelta(milliseconds=int(q) * 900_000)).replace(tzinfo=zone).utcoffset() for q in quarters]
        offsets[mine] = np.array([int(offset.total_seconds() * 1000) if offset else 0 for offset in looked_up])[back]
    return offsets, number


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
