"""Texts as SQL for delta-rs writes them."""

from __future__ import annotations


def literal(text: str) -> str:
    """A text in SQL for delta-rs, to which a backslash is an ordinary character."""
    return "'" + text.replace("'", "''") + "'"
