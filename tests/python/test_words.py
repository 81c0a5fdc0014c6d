"""Texts for people: sentences, labels and reports use plain words, not the values of columns, and one word for one thing."""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from chronicle.ask import alerts
from chronicle.ask.questions import questions
from chronicle.ask.render import project_vars
from chronicle.cli.main import app
from chronicle.project import PROJECT
from chronicle.report.report import cell, heading
from docs.outputs import pages

LIST: dict[str, Any] = yaml.safe_load((PROJECT / "docs/words.yml").read_text(encoding="utf-8"))
# Pages that are written elsewhere: Kafka's wordings, steps of ours, the past.
OTHERS = ("messages", "architecture", "benchmarks", "bench-serve", "changelog", "decisions", "contributing", "upgrading", "reliability")
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


def described(parts: Any, keys: tuple[str, ...]) -> Iterator[str]:
    """The texts below these keys of a piece of YAML, at any depth."""
    if isinstance(parts, dict):
        for key, value in parts.items():
            if key in keys and isinstance(value, str):
                yield value
            yield from described(value, keys)
    elif isinstance(parts, list):
        for part in parts:
            yield from described(part, keys)


def of_files(paths: Iterator[Path] | list[Path], *keys: str) -> Iterator[tuple[str, str]]:
    for path in paths:
        for text in described(yaml.safe_load(path.read_text(encoding="utf-8")), keys):
            yield str(path.relative_to(PROJECT)), text


def of_pages() -> Iterator[tuple[str, str]]:
    """The pages, paragraph by paragraph, without what stands as code: values, names of columns, what a program prints."""
    for page in pages():
        if page.stem not in OTHERS and page.parent.name not in OTHERS:
            text = re.sub(r"^```(?!mermaid).*?^```$|^    .*$|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
            for part in text.splitlines():
                yield str(page.relative_to(PROJECT)), part


def of_tables() -> Iterator[tuple[str, str]]:
    """What is said of tables that people read, and of questions."""
    paths = [path for path in (PROJECT / "models").rglob("*.yml") if not {"staging", "intermediate"} & set(path.parts)]
    yield from of_files([path for path in paths if path.name != "_unit_tests.yml"], "description", "label")
    for block in re.findall(
        r"{% docs .*?%}(.*?){% enddocs %}", (PROJECT / "models/marts/_columns.md").read_text(encoding="utf-8"), re.DOTALL
    ):
        yield "models/marts/_columns.md", block
    for one in questions().values():
        yield from ((f"analyses/{one.name}.yml", text) for text in (one.asks, one.reading, *one.columns.values()))
    for alert in alerts.alerts():
        yield f"tests/alerts/{alert.name}.sql", alert.description


def of_boards() -> Iterator[tuple[str, str]]:
    boards = [*(PROJECT / "dashboards/boards").glob("*.yml"), PROJECT / "dashboards/datasets.yml"]
    yield from of_files(boards, "title", "asks", "description", "count", "empty", "nothing", "label")


def of_sentences() -> Iterator[tuple[str, str]]:
    """Values in words, sentences of incidents, captions of the report, lines of a summary."""
    yield from (("dbt_project.yml", text) for column in WORDS.values() for text in column.values())
    yield from (("seeds", row[column]) for name, column in (("incident_kinds", "sentence"), ("causes", "why")) for row in seed(name))
    for path in [
        *(PROJECT / "chronicle/report").glob("*.py"),
        PROJECT / "chronicle/ask/run_summary.py",
        PROJECT / "chronicle/ask/looked_at.py",
    ]:
        for text in spoken(ast.parse(path.read_text(encoding="utf-8"))):
            yield str(path.relative_to(PROJECT)), text


def spoken(tree: ast.AST) -> Iterator[str]:
    """The texts in a piece of Python, without those that explain it, names and SQL."""
    explaining = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)}
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in explaining else ""
        if " " in text.strip() and not re.search(r"\b(select|from|where|case when|order by)\b", text):
            yield text


def of_commands() -> Iterator[tuple[str, str]]:
    """The help of every command and option."""
    waiting = [("chronicle", typer.main.get_command(app))]
    for name, command in waiting:
        yield name, command.help or ""
        yield from ((f"{name} {option.name}", getattr(option, "help", None) or "") for option in command.params)
        waiting += [(f"{name} {one}", found) for one, found in getattr(command, "commands", {}).items()]


def wrong(text: str) -> list[str]:
    """What is said otherwise than the glossary says it: the word to write, and what stands there."""
    found = []
    for word, rule in LIST["things"].items():
        rest = text
        for phrase in rule.get("but", ()):
            rest = re.sub(phrase, "", rest, flags=re.IGNORECASE)
        found += [
            f"{word}, not {hit[0]!r}" for old in rule["not"] for hit in re.finditer(rf"(?<![\w/])(?:{old})(?![\w/])", rest, re.IGNORECASE)
        ]
    return found


@pytest.mark.parametrize("texts", [of_pages, of_tables, of_boards, of_sentences, of_commands], ids=lambda one: one.__name__)
def test_one_word_for_one_thing(texts: Any) -> None:
    given = list(texts())
    assert len(given) > 50
    assert {(place, text[:200], *wrong(text)) for place, text in given if wrong(text)} == set()


def test_the_glossary_explains_each_of_these_words() -> None:
    entries = re.findall(r"^\*\*(.+?)\*\*", (PROJECT / "docs/glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(LIST["things"]) - {entry.lower() for entry in entries} == set()


@pytest.mark.parametrize(
    ("text", "instead"),
    [("Three lives of node 1.", ["run", "incarnation"]), ("The last sign of life.", []), ("Its term ended; N/A", ["tenure", "null"])],
)
def test_another_word_is_found(text: str, instead: list[str]) -> None:
    assert [one.split(",")[0] for one in wrong(text)] == instead


@pytest.mark.parametrize("path", sorted((PROJECT / "models").rglob("*.yml")), ids=lambda path: path.stem)
def test_descriptions_are_in_plain_english(path: Path) -> None:
    found = []
    for model in yaml.safe_load(path.read_text(encoding="utf-8")).get("models", ()):
        for text in (model.get("description", ""), *(column.get("description", "") for column in model.get("columns", ()))):
            found += [
                f"{text!r}: not {old!r} but {new!r}"
                for old, new in LIST["phrases"].items()
                if re.search(rf"\b{old}\b", text, re.IGNORECASE)
            ]
    assert found == []
