"""dbt by itself in a checkout, on a Spark that it starts: no session and no server of ours, and no option for profile or target.

Tested on one cluster of the lab and a selection of models; `tests/cluster/test_dbt.py` makes all of them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable, write_deltalake

from chronicle.build import parsed
from chronicle.project import PROJECT
from chronicle.spark import jars
from ingestion.warehouse import Warehouse
from tests.lab import Lab
from tests.made_by_dbt import content

# A fact with keys and evidence above steps that are tables, and an incremental model.
MADE = ("fct_coordinator_loads", "fct_parse_coverage_daily")
CLUSTER = "zk-a-2.8.2"
MODELS_ALONE = ("--exclude-resource-type", "test", "unit_test")


class Checkout:
    """A copy of the dbt project, bronze of one cluster in the folder `warehouse` beside it, and what dbt printed."""

    def __init__(self, folder: Path, bronze: Warehouse) -> None:
        self.folder = folder
        for name in ("models", "macros", "analyses", "dbt_project", "tests/data", "tests/alerts"):
            shutil.copytree(PROJECT / name, folder / name)
        for name in ("dbt_project.yml", "profiles.yml"):
            shutil.copy(PROJECT / name, folder)
        for name in bronze.tables("bronze"):
            held = DeltaTable(bronze.bronze(name))
            rows = held.to_pyarrow_table(filters=[("cluster_id", "=", CLUSTER)])
            write_deltalake(str(folder / "warehouse" / "bronze" / name), rows, configuration=held.metadata().configuration)

    def dbt(self, *arguments: str) -> str:
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("CHRONICLE_", "DBT_"))}
        environment |= {"CHRONICLE_JARS": str(jars.folder()), "PWD": str(self.folder), "HOME": str(self.folder / "home")}
        line = [str(Path(sys.executable).with_name("dbt")), *arguments]
        done = subprocess.run(line, cwd=self.folder, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def made(self) -> set[str]:
        """Models and tests of the last command."""
        results = self.read("run_results.json")["results"]
        return {one["unique_id"].split(".")[2] for one in results if one["status"] in ("success", "pass")}

    def read(self, name: str) -> Any:
        return json.loads((self.folder / "target" / name).read_text())

    def rows(self, schema: str, table: str) -> Any:
        return content(self.folder / ".cache/dbt/tables" / f"{schema}.db" / table, None)


@pytest.fixture(scope="module")
def checkout(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """With the models built as `ci`."""
    found = Checkout(tmp_path_factory.mktemp("checkout"), Warehouse.at(lab.warehouse))
    found.dbt("build", "--target", "ci", "--select", *(f"+{name}" for name in MADE), *MODELS_ALONE)
    return found


def test_a_build_makes_what_our_own_makes_in_schemas_of_its_target(lab: Lab, checkout: Checkout) -> None:
    assert set(MADE) <= checkout.made()
    assert {path.name for path in (checkout.folder / ".cache/dbt/tables").iterdir()} >= {"ci_marts.db", "ci_intermediate.db"}
    for name in MADE:
        assert checkout.rows("ci_marts", name).equals(content(Path(lab.warehouse) / "marts" / name, CLUSTER)), name


def test_what_was_modified_is_built_alone_and_reads_the_rest_where_it_is(checkout: Checkout) -> None:
    shutil.copytree(checkout.folder / "target", checkout.folder / "state")
    model = next((checkout.folder / "models").rglob("fct_coordinator_loads.sql"))
    text = model.read_text()
    model.write_text(text + "\nwhere false\n")
    try:
        checkout.dbt("build", "--select", "state:modified+,fct_coordinator_loads", "--defer", "--state", "state", *MODELS_ALONE)
    finally:
        model.write_text(text)
    assert "fct_coordinator_loads" in checkout.made()
    assert checkout.rows("dev_marts", "fct_coordinator_loads").num_rows == 0 < checkout.rows("ci_marts", "fct_coordinator_loads").num_rows
    assert not (checkout.folder / ".cache/dbt/tables/dev_intermediate.db").exists()


def test_tests_run_on_what_was_built(checkout: Checkout) -> None:
    # Those that need no other tables than these.
    checkout.dbt("test", "--target", "ci", "--select", *MADE, "--indirect-selection", "cautious")
    assert any("fct_coordinator_loads" in name for name in checkout.made())


def test_the_hash_of_the_project_has_its_profiles(tmp_path: Path) -> None:
    """They decide how a build is made."""
    for name in ("dbt_project.yml", "profiles.yml"):
        shutil.copy(PROJECT / name, tmp_path)
    before = parsed.project_hash(tmp_path)
    (tmp_path / "profiles.yml").write_text("chronicle: {}")
    assert parsed.project_hash(tmp_path) != before
