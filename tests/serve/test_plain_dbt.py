"""dbt by itself in a checkout, on a Spark that it starts: no session and no server of ours, and no option for profile or target.

Tested on one cluster of the lab and a selection of models.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pyarrow as pa
import pytest

from chronicle.project import PROJECT
from chronicle.spark import jars
from tests.lab import Lab
from tests.made_by_dbt import BUILD, DBT, bronze_of, content
from tests.wheel import DBT as PROJECT_FILES
from tests.wheel import in_git

# A fact with keys and evidence above steps that are tables, and an incremental model.
MADE = ("fct_coordinator_loads", "fct_parse_coverage_daily")
CLUSTER = "zk-a-2.8.2"


class Checkout:
    """A copy of the dbt project, with bronze of one cluster in the folder `warehouse` beside it."""

    def __init__(self, folder: Path, lab: Lab) -> None:
        self.folder = folder
        for name in in_git():
            if name.startswith(PROJECT_FILES):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(PROJECT / name, folder / name)
        bronze_of(lab.warehouse, CLUSTER, folder / "warehouse")

    def dbt(self, *arguments: str) -> None:
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("CHRONICLE_", "DBT_"))}
        environment |= {"CHRONICLE_JARS": str(jars.folder()), "PWD": str(self.folder), "HOME": str(self.folder / "home")}
        done = subprocess.run([DBT, *arguments], cwd=self.folder, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr

    def made(self) -> set[str]:
        """Models and tests of the last command that succeeded."""
        results = json.loads((self.folder / "target/run_results.json").read_text())["results"]
        return {one["unique_id"].split(".")[2] for one in results if one["status"] in ("success", "pass")}

    def rows(self, schema: str, table: str) -> pa.Table:
        return content(self.folder / ".cache/dbt/tables" / f"{schema}.db" / table, None)


@pytest.fixture(scope="module")
def checkout(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """With the models built as `ci`."""
    found = Checkout(tmp_path_factory.mktemp("checkout"), lab)
    found.dbt(*BUILD, "--target", "ci", "--select", *(f"+{name}" for name in MADE))
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
        checkout.dbt(*BUILD, "--select", "state:modified+,fct_coordinator_loads", "--defer", "--state", "state")
    finally:
        model.write_text(text)
    assert "fct_coordinator_loads" in checkout.made()
    assert checkout.rows("dev_marts", "fct_coordinator_loads").num_rows == 0 < checkout.rows("ci_marts", "fct_coordinator_loads").num_rows
    assert not (checkout.folder / ".cache/dbt/tables/dev_intermediate.db").exists()


def test_tests_run_on_what_was_built(checkout: Checkout) -> None:
    # Those that need no other tables than these.
    checkout.dbt("test", "--target", "ci", "--select", *MADE, "--indirect-selection", "cautious")
    assert any("fct_coordinator_loads" in name for name in checkout.made())


def test_docs_and_freshness_are_made(checkout: Checkout) -> None:
    checkout.dbt("docs", "generate", "--target", "ci")
    described = json.loads((checkout.folder / "target/catalog.json").read_text())
    assert described["errors"] is None
    assert {f"model.chronicle.{name}" for name in MADE} <= set(described["nodes"])
    checkout.dbt("source", "freshness", "--target", "ci")
    fresh = json.loads((checkout.folder / "target/sources.json").read_text())["results"]
    assert fresh and {one["status"] for one in fresh} == {"pass"}
