"""dbt on a Spark Thrift Server of other people: Spark's own jars and Delta's, adaptive execution, 200 shuffle partitions, ANSI, nothing of ours.

Tested on one cluster of the lab and a selection of models; `tests/cluster/test_stock.py` makes all of them and runs all tests.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab import Lab
from tests.made_by_dbt import BUILD, Checkout, bronze_of, content, differences
from tests.stock import FOLDER, QUICK, Stock, stock_server

# A fact with keys and evidence above steps that are tables, and an incremental model.
MADE = ("fct_coordinator_loads", "fct_parse_coverage_daily")
CLUSTER = "zk-a-2.8.2"
# dbt's own settings of a session must not reach it.
DEFAULTS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.shuffle.partitions": "200",
    "spark.sql.legacy.ctePrecedencePolicy": "CORRECTED",
}


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stock]:
    with stock_server(tmp_path_factory.mktemp("stock"), **QUICK) as server:
        yield server


@pytest.fixture(scope="module")
def checkout(lab: Lab, stock: Stock, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """With the models built, and their unit tests and those of their data tests that need no other tables run."""
    made = stock.checkout(tmp_path_factory.mktemp("checkout"))
    bronze_of(lab.warehouse, CLUSTER, made.folder / "warehouse")
    made.dbt("build", "--select", *(f"+{name}" for name in MADE), "--indirect-selection", "cautious")
    return made


def test_a_build_makes_what_our_own_makes(lab: Lab, stock: Stock, checkout: Checkout) -> None:
    assert differences(Path(lab.warehouse), stock.tables, CLUSTER, MADE, FOLDER) == []


def test_the_server_is_as_spark_has_it(stock: Stock, checkout: Checkout) -> None:
    assert {key: stock.ask(f"set {key}")[0][1] for key in DEFAULTS} == DEFAULTS


def test_tests_have_run_in_the_build(checkout: Checkout) -> None:
    results = checkout.results()
    assert set(results.values()) == {"success", "pass"}
    assert any(name.startswith("unique_fct_coordinator_loads") for name in results)


def test_what_was_modified_is_built_alone_and_reads_the_rest_where_it_is(stock: Stock, checkout: Checkout) -> None:
    shutil.copytree(checkout.folder / "target", checkout.folder / "state")
    model = next((checkout.folder / "models").rglob("fct_coordinator_loads.sql"))
    text = model.read_text()
    model.write_text(text + "\nwhere false\n")
    try:
        selected = "state:modified+,fct_coordinator_loads"
        checkout.dbt(*BUILD, "--select", selected, "--defer", "--favor-state", "--state", "state", schema="mine")
    finally:
        model.write_text(text)
    assert checkout.results()["fct_coordinator_loads"] == "success"
    assert content(stock.tables / "mine_marts.db/fct_coordinator_loads", None).num_rows == 0
    assert content(stock.tables / FOLDER.format("marts") / "fct_coordinator_loads", None).num_rows > 0
    assert not list((stock.tables / "mine_staging.db").glob("base_*"))


def test_docs_and_freshness_are_made(checkout: Checkout) -> None:
    checkout.dbt("docs", "generate")
    described = json.loads((checkout.folder / "target/catalog.json").read_text())
    assert described["errors"] is None
    assert {f"model.chronicle.{name}" for name in MADE} <= set(described["nodes"])
    checkout.dbt("source", "freshness")
    fresh = checkout.results("sources")
    assert fresh and set(fresh.values()) == {"pass"}
