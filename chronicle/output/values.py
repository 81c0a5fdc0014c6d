"""A value as text: for JSON, for CSV and for people.  A report writes values by the units in the names of their columns (`report.cell`)."""

from __future__ import annotations

import base64
import datetime as dt
import json
import math
from decimal import Decimal
from typing import Any

from chronicle.output.console import visible


def plain(value: Any) -> Any:
    """A value as JSON holds it: times in ISO 8601 with Z where they are UTC, durations in ms, binary in base64, NaN as null."""
    if isinstance(value, dict):
        return {str(plain(key)): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, dt.datetime):
        text = value.replace(tzinfo=None).isoformat(timespec="microseconds" if value.microsecond % 1000 else "milliseconds")
        return text + ("Z" if value.tzinfo else "")
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, dt.timedelta):
        return round(value / dt.timedelta(milliseconds=1))
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value


def cell(value: Any) -> str:
    """A value as text in a CSV file: as in JSON, without quotes around what is not a list or record; null is empty."""
    value = plain(value)
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def shown(value: Any, null: str = "null") -> str:
    """A value as people read it: times in UTC with a blank, lists and records as JSON does; no control characters."""
    if value is None:
        return null
    if isinstance(value, dt.datetime):
        text = value.replace(tzinfo=None).isoformat(" ", "microseconds" if value.microsecond % 1000 else "milliseconds")
    elif isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, float):
        text = repr(value)
    elif isinstance(value, Decimal):
        text = f"{value:f}"
    elif isinstance(value, dict | list | tuple | dt.timedelta | bytes):
        text = json.dumps(plain(value), ensure_ascii=False)
    else:
        text = str(value)
    return visible(text)
