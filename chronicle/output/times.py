"""Times as people write them on the command line."""

from __future__ import annotations

import datetime as dt
import re

UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_time(text: str, is_end: bool = False) -> dt.datetime:
    """A time as people write it, in UTC if it names no zone; a day means its beginning, or as an end all of it.

    Raises ValueError with what to write instead.
    """
    try:
        at = dt.datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"invalid time '{text}'; use 2026-06-10, '2026-06-10 15:48' or 2026-06-10T15:48:30+02:00") from None
    at = at.replace(tzinfo=dt.UTC) if at.tzinfo is None else at.astimezone(dt.UTC)
    return at + dt.timedelta(days=1) if is_end and re.fullmatch(r"\s*\d{4}-?\d\d-?\d\d\s*", text) else at


def parse_moment(text: str, now: dt.datetime, is_end: bool = False) -> dt.datetime:
    """A time, or how long ago it was: 30m, 12h, 1d, 2w before `now`.  Raises ValueError as `parse_time` does."""
    ago = re.fullmatch(r"\s*(\d{1,6})\s*([mhdw])\s*", text)
    if ago:
        return now - dt.timedelta(**{UNITS[ago[2]]: int(ago[1])})
    try:
        return parse_time(text, is_end)
    except ValueError as error:
        raise ValueError(f"{error}, or 30m, 12h, 1d, 2w (ago)") from None
