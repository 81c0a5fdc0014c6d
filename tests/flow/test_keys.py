"""The key of every step is unique, on clusters of several kinds: of ZooKeeper, of KRaft, with captures and metrics, with old consumers."""

from __future__ import annotations

from pathlib import Path

from tests.keys import doubled, write_steps
from tests.lab import INCIDENTS, Lab

CLUSTERS = ("kraft-372-offsets", "zk-a-2.8.2")
INCIDENT = "3_rebalance_storm"


def test_the_keys_of_all_steps_are_unique(lab: Lab, tmp_path: Path) -> None:
    some = Lab(lab.folder, str(tmp_path / "warehouse"))
    for cluster in CLUSTERS:
        some.load(cluster, lab.folder / cluster / "input")
    some.load("incident", INCIDENTS / INCIDENT / "input", timezone="Asia/Shanghai")
    assert doubled(write_steps(some.spark, some.warehouse, tmp_path / "steps")) == {}
