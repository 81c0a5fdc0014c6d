"""Facts of a history with holes are a subset of the whole's, for ten cases; `make holes` tries any number of cases."""

from __future__ import annotations

import pytest

from tests.holes import Tried, built, told, tried
from tests.holes_cases import HOLES, Scale, made_pairs
from tests.partial_cases import archives

SCALE = Scale(most_bytes=100_000, most_days=30)
CASES, SEED = range(10), 1


@pytest.fixture(scope="module")
def holes(tmp_path_factory: pytest.TempPathFactory) -> Tried:
    pairs = made_pairs(CASES, SEED, archives(), SCALE)
    return tried(built(tmp_path_factory.mktemp("holes"), pairs), pairs)


def test_what_remains_is_of_the_whole_or_has_a_warning(holes: Tried) -> None:
    assert not list(holes.new), "\n".join(told(holes))


def test_the_cases_have_every_kind_of_hole_and_enough_facts(holes: Tried) -> None:
    assert {kind for pair in holes.pairs for kind in pair.kinds} == set(HOLES)
    remaining = {name: 0 for tables in holes.tables.values() for name in (table.table for table in tables)}
    for tables in holes.tables.values():
        for table in tables:
            remaining[table.table] += table.same
    filled = {name for name, rows in remaining.items() if rows}
    assert filled >= {
        "fct_leader_elections",
        "fct_isr_changes",
        "fct_controller_tenures",
        "fct_group_rebalances",
        "fct_incidents",
        "dim_node_runs",
    }
