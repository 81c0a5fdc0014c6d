"""SQL selects events by role and never by name: the catalogue alone says what a message means for the facts."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from chronicle.catalogue import authoring
from chronicle.project import PROJECT
from ingestion.recognition.recognise import catalogue

FOLDERS = ("models", "tests/data", "tests/alerts", "analyses", "macros")
TOKEN = re.compile(r"'(?:[^'\\]|\\.|'')*'|[A-Za-z_]\w*|<>|!=|[^\s\w]")
# Columns that hold an event id.
COLUMN = re.compile(r"(\w+_)?event_type|event_before|released_by")
ROLES = re.compile(r"has_role\(\s*(\[[^]]*\]|'\w+')")
COMPARED = {"not", "in", "like", "any", "all", "=", "<", ">", "<>", "!="}
# Events that steps add: from captures, from measurements, and derived from other events.
MADE_BY_STEPS = {"size_measured", "partition_state_read", "leader_loss_derived"}
# Noise in the unit test about noise.
IN_NO_CATALOGUE = {"chatter"}


def asked(sql: str) -> Iterator[str]:
    """The texts that columns of event ids are compared with, and those that get such a column's name.  For `like`, the pattern."""
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
    """The text after each `when` of `case column when … end`."""
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
    """The operands of a comparison: one text, or those in brackets."""
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


def sql_files() -> dict[str, str]:
    """The texts of all SQL files by path, except for the macro generated from the catalogue."""
    paths = [path for folder in FOLDERS for path in (PROJECT / folder).rglob("*.sql") if path != authoring.MACRO]
    return {str(path.relative_to(PROJECT)): path.read_text(encoding="utf-8") for path in paths}


def test_sql_names_no_event() -> None:
    named = {path: sorted(set(asked(sql)) - MADE_BY_STEPS - {""}) for path, sql in sql_files().items()}
    assert {path: ids for path, ids in named.items() if ids} == {}


def roles_in(sql: str) -> set[str]:
    return {role for call in ROLES.findall(sql) for role in re.findall(r"\w+", call)}


def test_sql_asks_for_every_role_and_for_no_other() -> None:
    assert set().union(*map(roles_in, sql_files().values())) == set(catalogue().vocabulary.roles)


def test_staging_takes_every_role_that_is_asked_for_later() -> None:
    """Otherwise an event with only that role would not reach the step that selects it."""
    staged = set().union(*(roles_in(sql) for path, sql in sql_files().items() if path.startswith("models/staging/")))
    later = {path: sorted(roles_in(sql) - staged) for path, sql in sql_files().items()}
    assert {path: roles for path, roles in later.items() if roles} == {}


def test_evidence_of_known_issues_has_their_role() -> None:
    """Models see only events with this role: each event in the seed needs `roles: [known_issue_symptom]`."""
    with Path(PROJECT, "dbt_project/seeds/known_issue_evidence.csv").open(encoding="utf-8") as file:
        expected = {row["event_type"] for row in csv.DictReader(file) if row["event_type"]}
    assert set(authoring.events_of_roles(catalogue())["known_issue_symptom"]) == expected


def test_every_event_id_in_unit_tests_is_in_the_catalogue() -> None:
    """A unit test with an unknown event would test nothing, because no role has it."""
    known = {form.event for form in catalogue().forms} | MADE_BY_STEPS | IN_NO_CATALOGUE
    unknown = {}
    for path in (PROJECT / "models").rglob("_unit_tests.yml"):
        for test in yaml.load(path.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))["unit_tests"]:
            rows = [row for given in test["given"] for row in given["rows"] if isinstance(row, dict)]
            unknown[test["name"]] = {row["event_type"] for row in rows if row.get("event_type")} - known
    assert {name: ids for name, ids in unknown.items() if ids} == {}


def test_every_event_id_in_seeds_is_in_the_catalogue() -> None:
    known = {form.event for form in catalogue().forms}
    seeds = {}
    for path in Path(PROJECT, "dbt_project/seeds").glob("*.csv"):
        with path.open(encoding="utf-8") as file:
            found = {row["event_type"] for row in csv.DictReader(file) if row.get("event_type")}
        seeds[path.name] = found - known
    assert {name: ids for name, ids in seeds.items() if ids} == {}


@pytest.mark.parametrize(
    "sql",
    [
        "where event_type = 'node_stopped'",
        "where events.event_type <> 'node_stopped'",
        "where event_type not in ('node_started', 'node_stopped')",
        "case event_type when 'node_started' then case when x = 'y' then 'z' end when 'node_stopped' then 1 end",
        "case events.event_type when 'node_stopped' then 1 end",
        "where event_type like 'node\\_stopped%'",
        "where event_type like any ('node%', 'node_stopped')",
        "select 'node_stopped' as event_type, 'thing' as kind",
        "max_by(first_event_type = 'node_stopped', at)",
    ],
)
def test_an_event_is_found_however_it_is_named(sql: str) -> None:
    assert any("node_stopped" in text.replace("\\", "") for text in asked(sql))


@pytest.mark.parametrize(
    "sql",
    [
        "coalesce(event_type, '') = coalesce(other.event_type, '')",
        "case when {{ has_role('node_ready', 'events.event_type') }} then 'started' else 'no_event' end",
        "event_type in (select event_type from event_types)",
        "-- event_type = 'node_stopped'",
        "select 'node_stopped' as kind, event_type, 'x' as y",
    ],
)
def test_other_texts_are_none(sql: str) -> None:
    assert set(asked(sql)) <= {""}
