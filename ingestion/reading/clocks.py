"""Names of months, abbreviations of time zones and times of day, as programs print them."""

from __future__ import annotations

import datetime as dt

MONTHS = {name: n for n, name in enumerate(("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1)}
# Minutes ahead of UTC.  Only letters that mean one zone; CST, IST and BST mean several.
ABBREVIATIONS = {
    "UTC": 0, "GMT": 0, "Z": 0, "CET": 60, "CEST": 120, "EET": 120, "EEST": 180, "MSK": 180, "JST": 540, "KST": 540, "HKT": 480, "SGT": 480,
    "PST": -480, "PDT": -420, "MST": -420, "MDT": -360, "CDT": -300, "EST": -300, "EDT": -240, "AEST": 600, "AEDT": 660,
}  # fmt: skip


def zone_abbreviated(letters: str) -> dt.timezone | None:
    """The zone of 'CEST'; None if the letters are not known, or mean several zones."""
    minutes = ABBREVIATIONS.get(letters)
    return None if minutes is None else dt.timezone(dt.timedelta(minutes=minutes))


def local_time(year: int, month: int, day: int, clock: str, zone: dt.tzinfo | None = None) -> dt.datetime:
    """The time of '12:34' or '12:34:56' on a day.  Raises ValueError if it does not exist."""
    hour, minute, second = (*(int(part) for part in clock.split(":")), 0)[:3]
    return dt.datetime(year, month, day, hour, minute, second, tzinfo=zone)
