"""dbt by itself in a checkout, on a Spark that it starts: no session and no server of ours, and no option for the profile.

What dbt does besides is tested on a server of other people (`test_stock.py`).
"""

from __future__ import annotations

from pathlib import Path

from chronicle.spark import jars
from tests.lab import Lab
from tests.made_by_dbt import BUILD, Checkout, bronze_of, differences

# An incremental model with a seed and few steps beneath it.
MADE = "fct_parse_coverage_daily"
CLUSTER = "zk-a-2.8.2"


def test_a_build_makes_what_our_own_makes_in_schemas_of_its_target(lab: Lab, tmp_path: Path) -> None:
    checkout = Checkout.at(tmp_path, "ci", CHRONICLE_JARS=str(jars.folder()))
    bronze_of(lab.warehouse, CLUSTER, tmp_path / "warehouse")
    checkout.dbt(*BUILD, "--select", f"+{MADE}")
    assert differences(Path(lab.warehouse), tmp_path / ".cache/dbt/tables", CLUSTER, {MADE}, "ci_{}.db") == []
