"""Databricks' adapter of dbt reads and compiles the project.  Nothing is run: there is no workspace here (docs/dbt-elsewhere.md)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chronicle.project import PROJECT
from tests.made_by_dbt import Checkout

DBT = PROJECT / ".cache/databricks/bin/dbt"


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What dbt has compiled, by its ids."""
    checkout = Checkout.at(tmp_path_factory.mktemp("checkout"), "databricks", program=str(DBT))
    checkout.dbt("compile", "--no-introspect", "--no-populate-cache")
    found: dict[str, Any] = json.loads((checkout.folder / "target/manifest.json").read_text())["nodes"]
    return found


def test_all_models_tests_and_questions_are_compiled(nodes: dict[str, Any]) -> None:
    kinds = {kind: [one for one in nodes.values() if one["resource_type"] == kind] for kind in ("model", "test", "analysis")}
    files = len(list((PROJECT / "models").rglob("*.sql")))
    assert len(kinds["model"]) == files
    for kind, some in kinds.items():
        assert some and [one["name"] for one in some if not one["compiled"] or not one["compiled_code"]] == [], kind


def test_models_read_and_write_schemas_of_the_catalog(nodes: dict[str, Any]) -> None:
    incidents = nodes["model.chronicle.fct_incidents"]
    assert incidents["relation_name"] == "`main`.`chronicle_marts`.`fct_incidents`"
    assert "`main`.`bronze`.`sources`" in nodes["model.chronicle.stg_sources__files"]["compiled_code"]


def test_no_hook_sets_what_a_warehouse_of_databricks_does_not_know(nodes: dict[str, Any]) -> None:
    assert [one["name"] for one in nodes.values() if one["config"].get("pre-hook") or one["config"].get("post-hook")] == []


def test_tables_are_deltas_and_have_no_location(nodes: dict[str, Any]) -> None:
    for one in nodes.values():
        if one["resource_type"] == "model":
            config = one["config"]
            assert config.get("file_format", "delta") == "delta" and not config.get("location_root"), one["name"]
