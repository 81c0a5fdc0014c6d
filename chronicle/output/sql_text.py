"""Texts and times as SQL writes them."""

from __future__ import annotations

import datetime as dt


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def moment(at: dt.datetime) -> str:
    """A time in SQL."""
    return f"timestamp '{at.astimezone(dt.UTC):%Y-%m-%dT%H:%M:%S.%f}Z'"


def quoted(text: str) -> str:
    """Text for a SQL literal in single quotes."""
    return text.replace("\\", "\\\\").replace("'", "\\'")
