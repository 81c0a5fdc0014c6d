"""dbt with all models and all tests on a Spark Thrift Server of other people makes the same tables as `chronicle build`, also of what arrives later."""

from __future__ import annotations

import tarfile
from pathlib import Path

from tests.cluster.commands import chronicle, done
from tests.lab import ARCHIVES, INCIDENTS
from tests.made_by_dbt import BUILD, differences
from tests.stock import FOLDER, stock_server

# The smallest of the lab's clusters, and what arrives while its tables are there.
CLUSTER = "elr-411-emptied"
LATER = "4_*/input"


def test_all_models_with_all_tests_and_then_what_arrives(tmp_path: Path) -> None:
    warehouse, server = tmp_path / "warehouse", tmp_path / "server"
    with tarfile.open(ARCHIVES / f"{CLUSTER}.tar.xz") as packed:
        packed.extractall(tmp_path / "logs", filter="data")
    server.mkdir()
    with stock_server(server) as stock:
        checkout = stock.checkout(tmp_path / "checkout", CHRONICLE_WAREHOUSE=str(warehouse))
        done(
            chronicle(None, None, "run", tmp_path / "logs" / CLUSTER / "input", "-w", warehouse, "--cluster", CLUSTER, "--timezone", "UTC")
        )
        checkout.dbt("build")
        # Dashboards, as dbt's exposures, are nothing to do.
        assert {name: status for name, status in checkout.results().items() if status not in ("success", "pass", "no-op")} == {}
        assert differences(warehouse, stock.tables, schema=FOLDER) == []

        (later,) = INCIDENTS.glob(LATER)
        done(chronicle(None, None, "run", later, "-w", warehouse, "--cluster", "later", "--timezone", "Asia/Shanghai"))
        checkout.dbt(*BUILD)
        assert differences(warehouse, stock.tables, schema=FOLDER) == []
