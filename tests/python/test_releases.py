"""Releases in the seeds and in the catalogue: each that is named exists, and what is said of its fixes fits together."""

from __future__ import annotations

import csv
from collections.abc import Iterator

import pytest

from chronicle.project import PROJECT
from ingestion.recognition.recognise import catalogue

Numbers = tuple[int, ...]
# These were never announced.
UNDATED = {"3.2.2", "3.3.0"}


def rows(name: str) -> list[dict[str, str]]:
    with (PROJECT / "dbt_project" / "seeds" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def numbers(release: str) -> Numbers:
    return tuple(int(part) for part in release.split("."))


def line_of(release: Numbers) -> Numbers:
    """0.x.y before 1.0, x.y since."""
    return release[: 3 if release[0] == 0 else 2]


RELEASES = [numbers(row["kafka_version"]) for row in rows("kafka_releases.csv")]


def exists(named: str) -> bool:
    """Whether a release, or a line or a group of lines (`0.10`), has a row."""
    return any(release[: len(numbers(named))] == numbers(named) for release in RELEASES)


def named() -> Iterator[tuple[str, str]]:
    """(where, release) of every release of Kafka that the catalogue and the seeds name.  ZooKeeper has releases of its own."""
    for form in catalogue().forms:
        if not form.loggers or not all(logger.startswith("org.apache.zookeeper.") for logger in form.loggers):
            yield from ((f"{form.path}:{form.at_line}", release) for release in (form.since, form.until) if release)
    for name in ("config_rules.csv", "config_defaults.csv", "known_settings.csv"):
        for row in rows(name):
            yield from ((name, release) for release in (row["since"], row["until"]) if release)
    for row in rows("known_issues.csv"):
        several = ",".join((row["first_affected"], row["last_affected"], row["fixed_in"]))
        yield from ((row["issue_id"], release) for release in several.split(",") if release)


def test_every_release_that_is_named_has_a_row() -> None:
    assert sorted({(where, release) for where, release in named() if not exists(release)}) == []


def test_releases_are_in_the_order_of_their_numbers_and_of_their_days_within_a_line() -> None:
    found = rows("kafka_releases.csv")
    assert sorted(RELEASES) == RELEASES
    assert [int(row["order_number"]) for row in found] == list(range(1, len(found) + 1))
    assert [row["release_line"] for row in found] == [".".join(map(str, line_of(release))) for release in RELEASES]
    assert {row["kafka_version"] for row in found if not row["released_on"]} == UNDATED
    days = [(row["release_line"], row["released_on"]) for row in found if row["released_on"]]
    assert sorted(days, key=lambda one: (numbers(one[0]), one[1])) == days


def has_fix(release: Numbers, fixed: list[Numbers]) -> bool:
    """The rule of int_issues__affected_releases, written once more."""
    own = [one for one in fixed if line_of(one) == line_of(release)]
    return release >= (min(own) if own else max(fixed))


@pytest.mark.parametrize("issue", [row for row in rows("known_issues.csv") if row["fixed_in"]], ids=lambda row: row["issue_id"])
def test_an_issue_ends_with_the_highest_release_that_has_no_fix(issue: dict[str, str]) -> None:
    fixed = [numbers(release) for release in issue["fixed_in"].split(",")]
    assert numbers(issue["last_affected"]) == max(release for release in RELEASES if not has_fix(release, fixed))
    assert fixed == sorted(fixed)
    for first in filter(None, issue["first_affected"].split(",")):
        assert not has_fix(numbers(first), fixed)


def test_every_issue_has_a_source() -> None:
    assert [row["issue_id"] for row in rows("known_issues.csv") if not row["sources"].strip()] == []
