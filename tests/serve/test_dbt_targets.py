"""dbt by hand, in a session of ours and over thrift through `chronicle serve`, makes the same tables as `chronicle build`.

Tested on one cluster of the lab and a selection of models; `tests/cluster/test_dbt.py` makes all of them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.lab import Lab
from tests.made_by_dbt import BUILD, bronze_of, differences, over_thrift, run

# Steps in Parquet, an incremental model, facts with keys, times and evidence, and few models beneath them.
MADE = ("fct_coordinator_loads", "fct_parse_coverage_daily", "dim_event_types")
CLUSTER = "zk-a-2.8.2"
SELECTED = [*BUILD, "--select", *(f"+{name}" for name in MADE)]


@pytest.fixture(scope="module")
def warehouse(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Bronze of one cluster and nothing else: each test makes the rest, over the tables of the test before it."""
    return bronze_of(lab.warehouse, CLUSTER, tmp_path_factory.mktemp("dbt") / "warehouse")


def chronicle(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "chronicle", *arguments]


def test_dbt_in_a_session_makes_what_a_build_makes(lab: Lab, warehouse: Path) -> None:
    run(chronicle("dbt", "--warehouse", str(warehouse), *SELECTED))
    assert differences(Path(lab.warehouse), warehouse, CLUSTER, MADE) == []


def test_dbt_over_thrift_makes_what_a_build_makes(lab: Lab, warehouse: Path, tmp_path: Path) -> None:
    over_thrift(warehouse, tmp_path, *SELECTED)
    assert differences(Path(lab.warehouse), warehouse, CLUSTER, MADE) == []
