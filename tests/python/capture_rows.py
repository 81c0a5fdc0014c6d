"""Reads fixtures of captures with their module."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from ingestion.captures import About, Row, lines_of

FIXTURES = Path(__file__).parents[1] / "fixtures" / "captures"


def rows_of(module: ModuleType, name: str) -> list[Row]:
    """The rows of a fixture of the module's own folder."""
    folder = module.__name__.rsplit(".", 1)[-1]
    return rows_in(module, (FIXTURES / folder / name).read_text(), name)


def rows_in(module: ModuleType, text: str, name: str = "capture.txt") -> list[Row]:
    """The rows of a text, read as the kind that the module detects."""
    kind = module.kind_of(text, name)
    assert kind in module.KINDS
    rows = list(module.read(kind, lines_of(text), About(name)))
    assert all(isinstance(row, Row) for row in rows)
    return rows


def fields_of(rows: list[Row], kind: str) -> list[dict[str, str]]:
    return [row.fields for row in rows if row.kind == kind]
