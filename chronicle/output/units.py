"""Quantities as people read them."""

from __future__ import annotations

import datetime as dt

SIZES = ("B", "KB", "MB", "GB", "TB", "PB")


def duration_text(milliseconds: float) -> str:
    """850 ms, 12.3 s, 4 min 12 s, 3 h 05 min, 12 d 3 h."""
    sign, left = ("-" if milliseconds < 0 else ""), abs(milliseconds)
    if left < 1000:
        return f"{sign}{left:.0f} ms"
    # By the value as it will be shown: 59,960 ms are a minute, not 60.0 s.
    if left < 59_950:
        return f"{sign}{left / 1000:.1f} s"
    seconds = round(left / 1000)
    if seconds < 3600:
        return f"{sign}{seconds // 60} min {seconds % 60:02} s"
    minutes = round(left / 60_000)
    if minutes < 48 * 60:
        return f"{sign}{minutes // 60} h {minutes % 60:02} min"
    hours = round(left / 3_600_000)
    return f"{sign}{hours // 24:,} d {hours % 24} h"


def size_text(size: float) -> str:
    """0 B, 12 KB, 1.5 GB, 500 GB; a KB has 1,024 bytes, as in Kafka's own settings."""
    sign, left, unit = ("-" if size < 0 else ""), float(abs(size)), 0
    while round(left, 0) >= 1024 and unit < len(SIZES) - 1:
        left, unit = left / 1024, unit + 1
    shown = f"{left:.1f}".removesuffix(".0") if left < 100 and unit else f"{left:.0f}"
    return f"{sign}{shown} {SIZES[unit]}"


def count_text(count: int) -> str:
    """12,345."""
    return f"{count:,}"


def time_text(at: dt.datetime) -> str:
    """2026-06-10 15:48:30.006, in UTC; without the fraction where it is nought."""
    plain = at.replace(tzinfo=None)
    return plain.isoformat(sep=" ", timespec="milliseconds" if plain.microsecond else "seconds")
