"""Texts and times as SQL writes them.  dbt's queries quote with the macros `text_literal` (both engines) and `sql_text` (Spark alone)."""

from __future__ import annotations

import datetime as dt


def moment(at: dt.datetime) -> str:
    """A time in SQL."""
    return f"timestamp '{at.astimezone(dt.UTC):%Y-%m-%dT%H:%M:%S.%f}Z'"


def spark_literal(text: str) -> str:
    """A text in SQL as Spark alone reads it, to which a backslash is an escape."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
