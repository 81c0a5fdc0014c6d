"""Full load = any sequence of partial loads, for ten cases; `make partial` tries as many as one likes."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

import pytest

from tests.equal import Verdict
from tests.partial import Loads, made_cases, run
from tests.partial_cases import Scale, archives

SCALE = Scale(rounds=2, most_bytes=150_000, most_days=10)
CASES, SEED = 10, 1


@dataclass
class Tried:
    """The cases after all rounds; a copy of the warehouse of before the last one; what was said of each round."""

    loads: Loads
    last: list[str]
    said: list[str]


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Tried:
    loads = Loads(tmp_path_factory.mktemp("partial"), list(made_cases(CASES, SEED, archives(), SCALE)))
    said = []
    for line in run(loads, SCALE.rounds):
        said.append(line)
        if len(said) == SCALE.rounds - 1:
            shutil.copytree(loads.place("partial"), loads.place("before"))
    return Tried(loads, [case.name for case in loads.cases if SCALE.rounds - 1 in case.rounds], said)


def told(different: list[Verdict]) -> str:
    return "\n".join(f"{', '.join(verdict.clusters)}: {verdict}" for verdict in different)


def test_any_sequence_of_partial_loads_gives_what_one_full_load_gives(tried: Tried) -> None:
    different = tried.loads.differences("full", "partial")
    assert not different, told(different)
    assert len(tried.said) == SCALE.rounds + 1
    assert 0 < len(tried.last) < CASES
    assert tried.said[-2].startswith(f"round {SCALE.rounds}: {len(tried.last)} cases, ")
    assert f" {len(tried.last)} clusters built" in tried.said[-2]


def test_what_a_build_has_left_is_found(tried: Tried) -> None:
    """The tables of before the last round are those that a build would leave which makes nothing."""
    different = {verdict.table: verdict for verdict in tried.loads.differences("full", "before")}
    assert different["marts.fct_sources"].clusters == tried.last
    assert set(different["marts.dim_nodes"].clusters) <= set(tried.last)
