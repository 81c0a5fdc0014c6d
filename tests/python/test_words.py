"""Texts for people: sentences, labels and reports use plain words, not the values of columns."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from chronicle.ask.render import project_vars
from chronicle.project import PROJECT
from chronicle.report.report import cell, heading

WORDS: dict[str, dict[str, str]] = project_vars()["words"]
# Models and the columns that their sentences mention: every possible value of these has words.
SAID = [
    ("fct_process_stalls", "found_by"),
    ("fct_log_cleaner_outages", "found_by"),
    ("fct_thread_deadlocks", "found_by"),
    ("fct_session_expiries", "cause_kind"),
    ("dim_node_runs", "end_kind"),
    ("fct_process_failures", "failure_kind"),
    ("fct_controller_tenures", "end_kind"),
    ("fct_group_rebalances", "reason_kind"),
    ("fct_group_rebalances", "outcome"),
    ("fct_incidents", "root_cause_kind"),
]


def values(model: str, column: str) -> list[str]:
    """The values that a column of a mart may have."""
    (place,) = (PROJECT / "models").rglob(f"{model}.yml")
    described = yaml.safe_load(place.read_text(encoding="utf-8"))["models"][0]["columns"]
    tests = next(one["data_tests"] for one in described if one["name"] == column)
    return next(test["accepted_values"]["arguments"]["values"] for test in tests if "accepted_values" in test)


def inner_words(text: str) -> list[str]:
    """Words with underscores, as in our tables; placeholders and Kafka's own names do not count."""
    return re.findall(r"(?<![\w.])[a-z]+(?:_[a-z0-9]+)+(?![\w.])", text)


def seed(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(Path(PROJECT, f"dbt_project/seeds/{name}.csv").read_text(encoding="utf-8").splitlines()))


@pytest.mark.parametrize(("model", "column"), SAID)
def test_every_value_that_a_sentence_says_has_words(model: str, column: str) -> None:
    assert [value for value in values(model, column) if value not in WORDS[column]] == []


def test_words_are_words() -> None:
    assert [words for column in WORDS.values() for words in column.values() if inner_words(words) or "'" in words] == []


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("incident_kinds", ["sentence", "recovery_sentence", "as_cause"]),
        ("causes", ["why"]),
        ("config_rules", ["why", "consequence", "remedy", "not_evaluated_because"]),
    ],
)
def test_sentences_of_seeds_name_no_inner_terms(name: str, columns: list[str]) -> None:
    texts = [row[column] for row in seed(name) for column in columns]
    # Text in brackets names the rule to look at.
    assert [text for text in texts if inner_words(re.sub(r"\([^()]*\)", "", text))] == []


def test_every_harm_has_a_condition_and_known_places() -> None:
    """A harm without a condition would be in no summary, and an unknown place would be shown as it is."""
    macro = (PROJECT / "macros/incident_harms.sql").read_text(encoding="utf-8")
    conditions, rest = macro.split("fill_harm(sentence)")
    harms: dict[str, str] = project_vars()["harms"]
    assert sorted(re.findall(r"^    '(\w+)': '", conditions, re.MULTILINE)) == sorted(harms)
    places = set(re.findall(r"^        '(\w+)': ", rest, re.MULTILINE))
    assert {place for sentence in harms.values() for place in re.findall(r"{(\w+)}", sentence)} == places
    assert [sentence for sentence in harms.values() if inner_words(re.sub(r"{\w+}", "", sentence)) or "'" in sentence] == []


def test_a_rule_has_terms_or_a_reason() -> None:
    evaluated = {row["rule_id"] for row in seed("config_rule_terms")}
    # Rules of names apply to any process and need no terms.
    evaluated |= {row["rule_id"] for row in seed("config_rules") if row["applies_to"] == "any"}
    assert [row["rule_id"] for row in seed("config_rules") if (row["rule_id"] in evaluated) == bool(row["not_evaluated_because"])] == []


@pytest.mark.parametrize(
    ("value", "name", "shown"),
    [
        ("late_tick", "found_by", "a periodic task that ran late"),
        ("stale_node", "gap_kind", "stale node"),
        ("data_loss", "impact", "data loss"),
        ("process_death", "cause_kind", "its process ended"),
        (
            [("@longest_pause_ms", "11543 (measured)"), ("queued.max.requests", "500")],
            "settings",
            "longest pause ms=11543 (measured), queued.max.requests=500",
        ),
        # Names of topics and clients are not ours.
        ("late_tick", "topic_name", "late_tick"),
    ],
)
def test_the_report_says_values_in_words(value: Any, name: str, shown: str) -> None:
    assert cell(value, name) == shown


def test_the_report_says_columns_in_words() -> None:
    assert (heading("session_kind"), heading("cause_kind"), heading("leaderless_ms")) == ("session", "cause", "leaderless, partition-time")


def test_a_wording_of_a_reason_has_a_text() -> None:
    """A wording without a text would match every reason; reasons are compared in lower case."""
    texts = [row["begins_with"] + row["has_text"] for row in seed("rebalance_reasons")]
    assert "" not in texts and [text.lower() for text in texts] == texts
