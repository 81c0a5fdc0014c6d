"""The dbt project as its manifest states it: which layer reads which, and that nothing goes without description, contract or test."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ingestion.build import PROJECT, parse
from ingestion.warehouse import Warehouse

# What each layer reads.  An incident is made of facts, and the measures of a day of facts and incidents: their steps read marts.
READS = {
    "staging": {"source", "seed", "staging"},
    "intermediate": {"seed", "staging", "intermediate"},
    "int_incidents": {"seed", "marts", "int_incidents"},
    "int_days": {"marts", "int_days"},
    "marts": {"seed", "intermediate", "int_incidents"},
    "reports": {"marts", "reports", "int_days", "intermediate"},
}
# The days of coverage are those that arrivals touch: they are asked of bronze when the model is compiled.
TOUCHED_DAYS = {"int_logs__coverage"}


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return parse(Warehouse.at(str(tmp_path_factory.mktemp("warehouse"))), inline=False)


def models(manifest: Any, *layers: str) -> Iterator[Any]:
    for node in manifest.nodes.values():
        if str(node.resource_type) == "model" and (not layers or layer(node) in layers):
            yield node


def layer(node: Any) -> str:
    if str(node.resource_type) != "model":
        return str(node.resource_type)
    for steps in ("int_incidents", "int_days"):
        if node.name.startswith(f"{steps}__"):
            return steps
    return node.path.split("/")[0]


def parents(manifest: Any, node: Any) -> Iterator[Any]:
    for key in node.depends_on.nodes:
        yield manifest.sources.get(key) or manifest.nodes[key]


def kinds_of_test(manifest: Any, node: Any) -> set[str]:
    kinds = set()
    for test in manifest.nodes.values():
        if str(test.resource_type) == "test" and node.unique_id in test.depends_on.nodes:
            metadata = getattr(test, "test_metadata", None)
            kinds.add(metadata.name if metadata else test.name)
    return kinds


def test_questions_and_alerts_read_marts_and_reports_alone(manifest: Any) -> None:
    questions = [node for node in manifest.nodes.values() if str(node.resource_type) == "analysis"]
    off = [nodes[0] for nodes in manifest.disabled.values() if "alert" in nodes[0].tags]
    assert len(questions) == len(list((PROJECT / "analyses").glob("*.sql")))
    assert all(node.description and node.config.meta["asks"] for node in questions)
    assert len(off) == len(list((PROJECT / "tests/alerts").glob("*.sql")))
    assert [node.name for node in manifest.nodes.values() if "alert" in node.tags] == []
    read = {parent.name for node in questions for parent in parents(manifest, node)} | {ref.name for node in off for ref in node.refs}
    assert {name.split("_")[0] for name in read} == {"dim", "fct", "rpt"}


def test_every_layer_reads_only_the_one_before(manifest: Any) -> None:
    wrong = [
        (node.name, parent.name)
        for node in models(manifest)
        for parent in parents(manifest, node)
        if layer(parent) not in READS[layer(node)] and not (node.name in TOUCHED_DAYS and layer(parent) == "source")
    ]
    assert wrong == []


def test_a_step_that_reads_facts_is_read_by_nothing_below_them(manifest: Any) -> None:
    """Marts read int_incidents, which reads marts: a circle cannot be, but a fact that hangs on incidents would be a detour."""
    wrong = [
        (node.name, parent.name)
        for node in models(manifest, "marts", "intermediate")
        for parent in parents(manifest, node)
        if layer(parent) == "int_incidents" and not node.name.startswith("fct_incident")
    ]
    assert wrong == []


def test_names_say_the_layer(manifest: Any) -> None:
    forms = {
        "staging": r"stg_[a-z]+__[a-z_]+",
        "intermediate": r"int_[a-z_]+?__[a-z_]+",
        "int_incidents": r"int_incidents__[a-z_]+",
        "int_days": r"int_days__[a-z_]+",
        "marts": r"(dim|fct)_[a-z_]+",
        "reports": r"rpt_[a-z_]+",
    }
    assert [node.name for node in models(manifest) if not re.fullmatch(forms[layer(node)], node.name)] == []


def test_a_model_is_one_step(manifest: Any) -> None:
    long = []
    for node in models(manifest):
        text = Path(PROJECT, node.original_file_path).read_text(encoding="utf-8")
        code = re.sub(r"--[^\n]*", "", text)
        if text.count("\n") >= 100 or len(re.findall(r"\bjoin\b", code)) > 5:
            long.append((node.name, text.count("\n"), len(re.findall(r"\bjoin\b", code))))
    assert long == []


def test_messages_are_recognised_in_ingestion_not_in_sql(manifest: Any) -> None:
    matching = r"\b(rlike|regexp|regexp_\w+)\b"
    assert [node.name for node in models(manifest) if re.search(matching, re.sub(r"--[^\n]*", "", node.raw_code))] == []


def test_everything_is_described(manifest: Any) -> None:
    bare = [node.name for node in models(manifest) if not node.description.startswith("One row per")]
    bare += [
        f"{node.name}.{column.name}" for node in models(manifest) for column in node.columns.values() if not column.description.strip()
    ]
    bare += [node.name for node in models(manifest) if not node.columns]
    bare += [node.name for node in manifest.nodes.values() if str(node.resource_type) == "seed" and not node.description]
    bare += [
        macro.name
        for macro in manifest.macros.values()
        if macro.package_name == "chronicle"
        and not macro.description
        and not macro.name.startswith(("spark__", "dbt_spark", "materialization_"))
    ]
    assert bare == []


def test_marts_and_reports_have_a_contract_an_owner_and_a_key(manifest: Any) -> None:
    lacking = []
    for node in models(manifest, "marts", "reports"):
        tests = kinds_of_test(manifest, node)
        if not node.config.contract.enforced or node.config.meta.get("owner") is None or not node.config.meta.get("grain"):
            lacking.append((node.name, "contract, owner or grain"))
        if not {"unique", "unique_key"} & tests:
            lacking.append((node.name, "test of its key"))
        if node.name.startswith("fct_") and "evidence" in node.columns and "sound_fact" not in tests:
            lacking.append((node.name, "sound_fact"))
    assert lacking == []


def test_every_mart_is_counted_against_the_layer_before(manifest: Any) -> None:
    counted = {parent for node in manifest.nodes.values() if node.name.startswith("reconcile_") for parent in node.depends_on.nodes}
    assert [node.name for node in models(manifest, "marts") if node.unique_id not in counted] == []


def test_facts_hold_the_columns_that_all_facts_share(manifest: Any) -> None:
    shared = {"cluster_id", "cluster_incarnation", "evidence", "evidence_count", "warnings"}
    about_evidence = {"fct_sources", "fct_parse_coverage_daily", "fct_unrecognised_shapes"}
    lacking = [
        (node.name, sorted(shared - set(node.columns)))
        for node in models(manifest, "marts")
        if node.name.startswith("fct_") and node.name not in about_evidence and shared - set(node.columns)
    ]
    assert lacking == []


def test_every_report_has_an_exposure(manifest: Any) -> None:
    exposed = {parent for exposure in manifest.exposures.values() for parent in exposure.depends_on.nodes}
    assert [node.name for node in models(manifest, "reports") if node.unique_id not in exposed] == []
