"""The five incidents by query: the answers of the marts to each bundle's questions, compared with rows typed by hand from the evidence."""

from __future__ import annotations

import datetime as dt
import decimal
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.lab import Lab

QUESTIONS = [
    # Answers known to be wrong are marked with the reason; once an answer is right, its mark must be removed.
    pytest.param(
        question,
        id=f"{path.parent.name}: {question['asks']}",
        marks=[pytest.mark.xfail(strict=True, reason=question["told_otherwise"])] if "told_otherwise" in question else [],
    )
    for path in sorted(Path(__file__).parent.glob("*/questions.yml"))
    for question in yaml.safe_load(path.read_text())
]


def plain(value: Any) -> Any:
    """A value as it is typed in YAML: times in UTC with milliseconds, arrays as lists."""
    match value:
        case dt.datetime():
            return value.isoformat(" ", "milliseconds")
        case dt.date():
            return value.isoformat()
        case decimal.Decimal():
            return float(value)
        case list() | tuple():
            return [plain(one) for one in value]
        case dict():
            return {plain(key): plain(one) for key, one in value.items()}
    return value


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_marts_answer(lab: Lab, question: dict[str, Any]) -> None:
    assert set(re.findall(r"\b(?:from|join)\s+(\w+)\.", question["query"])) == {"marts"}
    assert [plain(row) for row in lab.rows(question["query"])] == question["rows"]


def test_every_incident_is_asked() -> None:
    asked = {str(param.id)[0] for param in QUESTIONS}
    assert asked == {"1", "2", "3", "4", "5"}
