"""The rules by which one event causes another: no event can be its own cause, however many steps lie between."""

from __future__ import annotations

import csv
from collections.abc import Iterable

import pytest

from chronicle.project import PROJECT

SEEDS = PROJECT / "dbt_project" / "seeds"
# (cause, effect, how long after its cause an effect begins at least, in ms)
Rule = tuple[str, str, int]


def rows(name: str) -> list[dict[str, str]]:
    with (SEEDS / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def rules() -> list[Rule]:
    """The rules as int_incidents__causes applies them: an effect that ranks above its cause begins after it.

    An effect that names its cause (`key`) comes after it.
    """
    rank = {row["event_kind"]: int(row["rank"]) for row in rows("incident_kinds.csv")}
    found = []
    for row in rows("causes.csv"):
        cause, effect = row["cause_kind"], row["effect_kind"]
        least = 0 if row["matched_by"] == "key" else -int(row["earliest_ms"])
        found.append((cause, effect, least if rank[cause] < rank[effect] else max(1, least)))
    return found


def circle(rules: Iterable[Rule]) -> list[str]:
    """Kinds that can cause each other in a circle, because the delays around it may add up to zero or less; empty if none can."""
    rules = list(rules)
    kinds = {kind for rule in rules for kind in rule[:2]}
    # Bellman-Ford from all kinds: a path that still becomes shorter after as many rounds as there are kinds contains a circle.  Delays are
    # scaled, and each step is one shorter, so that a circle of length zero counts as well.
    way, before = dict.fromkeys(kinds, 0), dict.fromkeys(kinds, "")
    scale = len(kinds) + 1
    for number in range(len(kinds) + 1):
        changed = ""
        for cause, effect, delay in rules:
            if way[cause] + delay * scale - 1 < way[effect]:
                way[effect], before[effect], changed = way[cause] + delay * scale - 1, cause, effect
        if not changed:
            return []
        if number == len(kinds):
            for _ in kinds:
                changed = before[changed]
            found = [changed]
            while before[found[-1]] != changed:
                found.append(before[found[-1]])
            return found[::-1]
    return []


def test_no_event_can_cause_itself() -> None:
    assert circle(rules()) == []


@pytest.mark.parametrize(
    ("delay", "kinds"),
    [(-30_000, ["death", "expiry", "stale"]), (4_000, ["death", "expiry", "stale"]), (4_001, [])],
)
def test_a_circle_of_kinds_needs_delays_that_make_up_for_each_other(delay: int, kinds: list[str]) -> None:
    """An expiry may begin 2 s before the death that caused it, and a stale node 2 s before the expiry: 4 s together."""
    found = circle([("stall", "death", 0), ("death", "expiry", -2_000), ("expiry", "stale", -2_000), ("stale", "death", delay)])
    assert sorted(found) == kinds


def test_rules_speak_of_known_kinds_and_once_of_each_way() -> None:
    known = {row["event_kind"] for row in rows("incident_kinds.csv")}
    causes = rows("causes.csv")
    assert {row[name] for row in causes for name in ("cause_kind", "effect_kind")} <= known
    ways = [(row["cause_kind"], row["effect_kind"], row["matched_by"]) for row in causes]
    assert sorted(ways) == sorted(set(ways))
