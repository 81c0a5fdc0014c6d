"""Every event id that SQL asks for is one of the catalogue: a misspelt one would find nothing, and say nothing."""

from __future__ import annotations

import csv
import fnmatch
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingestion.build import PROJECT
from ingestion.recognise import catalogue

FOLDERS = ("models", "tests/data", "tests/alerts", "analyses", "macros")
TOKEN = re.compile(r"'(?:[^'\\]|\\.|'')*'|[A-Za-z_]\w*|<>|!=|[^\s\w]")
# Columns that hold an event id.
COLUMN = re.compile(r"(\w+_)?event_type|released_by")
COMPARED = {"not", "in", "like", "any", "all", "=", "<", ">", "<>", "!="}
# What steps add to the events: from captures, measurements and what follows from other events.
MADE_BY_STEPS = {"size_measured", "partition_state_read", "leader_loss_derived"}


def asked(sql: str) -> Iterator[str]:
    """The texts that columns of event ids are compared with, and those that are named so.  Of `like`, the pattern."""
    tokens = TOKEN.findall(re.sub(r"--[^\n]*|\{#.*?#\}", "", sql, flags=re.S))
    lower = [token.lower() for token in tokens]
    for at, token in enumerate(lower):
        if not COLUMN.fullmatch(token):
            continue
        first = at - 2 if lower[at - 1] == "." else at
        if lower[first - 1] == "as" and tokens[first - 2].startswith("'"):
            yield tokens[first - 2][1:-1]
        if lower[first - 1] == "case":
            yield from branches(tokens[at + 1 :])
        else:
            yield from operands(tokens[at + 1 :])


def branches(tokens: list[str]) -> Iterator[str]:
    """What stands after each `when` of `case column when … end`."""
    depth = 0
    for at, token in enumerate(tokens):
        match token.lower():
            case "case":
                depth += 1
            case "end" if depth:
                depth -= 1
            case "end":
                return
            case "when" if not depth and tokens[at + 1].startswith("'"):
                yield tokens[at + 1][1:-1]


def operands(tokens: list[str]) -> Iterator[str]:
    """What a column is compared with: one text, or those in brackets."""
    at = 0
    while at < len(tokens) and tokens[at].lower() in COMPARED:
        at += 1
    if not at or at == len(tokens):
        return
    if tokens[at] != "(":
        if tokens[at].startswith("'"):
            yield tokens[at][1:-1]
        return
    for token in tokens[at + 1 :]:
        if token.startswith("'"):
            yield token[1:-1]
        elif token != ",":
            return


def unknown(texts: Iterator[str], known: set[str]) -> list[str]:
    """Those that no event of the catalogue fits; `''` stands for none."""
    patterns = {text: text.replace("\\\\", "\\").replace("\\_", "_").replace("%", "*") for text in texts if text}
    return sorted(text for text, pattern in patterns.items() if not fnmatch.filter(known, pattern))


@pytest.fixture(scope="module")
def known() -> set[str]:
    return {form.event for form in catalogue().forms} | MADE_BY_STEPS


def test_every_event_id_in_sql_is_in_the_catalogue(known: set[str]) -> None:
    files = [path for folder in FOLDERS for path in (PROJECT / folder).rglob("*.sql")]
    wrong = {str(path.relative_to(PROJECT)): unknown(asked(path.read_text(encoding="utf-8")), known) for path in files}
    assert {path: ids for path, ids in wrong.items() if ids} == {}


def test_every_event_id_in_seeds_is_in_the_catalogue(known: set[str]) -> None:
    seeds = {}
    for path in Path(PROJECT, "dbt_project/seeds").glob("*.csv"):
        with path.open(encoding="utf-8") as file:
            found = {row["event_type"] for row in csv.DictReader(file) if row.get("event_type")}
        seeds[path.name] = found - known
    assert {name: ids for name, ids in seeds.items() if ids} == {}


@pytest.mark.parametrize(
    "sql",
    [
        "where event_type = 'node_startd'",
        "where events.event_type <> 'node_startd'",
        "where event_type not in ('node_started', 'node_startd')",
        "case event_type when 'node_started' then case when x = 'y' then 'z' end when 'node_startd' then 1 end",
        "case events.event_type when 'node_startd' then 1 end",
        "where event_type like 'node\\_startd%'",
        "where event_type like any ('node%', 'node_startd')",
        "select 'node_startd' as event_type, 'thing' as kind",
        "max_by(first_event_type = 'node_startd', at)",
    ],
)
def test_a_misspelt_one_is_found(sql: str, known: set[str]) -> None:
    assert len(unknown(asked(sql), known)) == 1


@pytest.mark.parametrize(
    "sql",
    [
        "coalesce(event_type, '') = coalesce(other.event_type, '')",
        "if(event_type like '%old\\\\_controller', 'controller', 'leader') as epoch_kind",
        "case when event_type = 'node_started' then 'started' else 'no_event' end",
        "-- event_type = 'node_startd'",
        "select 'node_startd' as kind, event_type, 'x' as y",
    ],
)
def test_other_texts_are_none(sql: str, known: set[str]) -> None:
    assert unknown(asked(sql), known) == []
