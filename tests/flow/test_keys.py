"""The key of every step is unique, in the rows of all clusters and incidents of the lab."""

from __future__ import annotations

from pathlib import Path

from ingestion.warehouse import Warehouse
from tests.keys import doubled, write_steps
from tests.lab import Lab


def test_the_keys_of_all_steps_are_unique(lab: Lab, tmp_path: Path) -> None:
    assert doubled(write_steps(lab.spark, Warehouse.at(lab.warehouse), tmp_path)) == {}
