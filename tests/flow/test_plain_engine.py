"""The plain engine makes the tables of the local one: of a cluster of the lab, built at once, and of ten cases whose logs arrive in pieces.

`make partial ENGINE=plain` tries any number of cases, and `.ci/nightly` the whole lab.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from chronicle.spark.engine import ENGINE, PLAIN
from tests.lab import Lab
from tests.made_by_dbt import bronze_of, differences
from tests.partial import Loads, made_cases, run
from tests.partial_cases import Scale, archives

SCALE = Scale(rounds=2, most_bytes=150_000, most_days=10)
CASES, SEED = 10, 3
CLUSTER = "zk-a-2.8.2"
# Rows of all clusters together, of which the lab has more.
OF_ALL = ("dim_dates", "rpt_fleet_daily", "rpt_fleet_reliability_monthly")


def test_a_cluster_of_the_lab(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert lab.spark
    bronze_of(lab.warehouse, CLUSTER, tmp_path)
    monkeypatch.setenv(ENGINE, PLAIN.name)
    built = Lab(tmp_path, str(tmp_path)).build()
    assert built.clusters is None and len(built.models) > 100
    assert [found for found in differences(Path(lab.warehouse), tmp_path, CLUSTER) if not found.startswith(OF_ALL)] == []


def test_cases_that_arrive_in_pieces(lab: Lab, tmp_path: Path) -> None:
    loads = Loads(tmp_path, list(made_cases(CASES, SEED, archives(), SCALE)), PLAIN)
    said = list(run(loads, SCALE.rounds))
    # The second build is of those that got something.
    assert "all clusters" in said[0] and " clusters built" in said[1] and "all clusters" not in said[1]
    assert [str(verdict) for verdict in loads.differences("full", "partial")] == []
