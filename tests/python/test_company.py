"""What only the company knows, as files in a warehouse's folder `company`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.dataset
import pytest
from deltalake import write_deltalake

from chronicle.build import company
from chronicle.build.change_tracker import ChangeTracker
from chronicle.build.changes import Arrivals, arrivals, built_from
from chronicle.build.compiled import Model, compiled, seed_rows
from chronicle.build.dbt_runs import BuildFailed
from chronicle.build.previous import Previous
from chronicle.build.tables import Tables
from ingestion.warehouse import Warehouse

HEAD = "cluster_id,environment,region,team,tier,slo_target\n"


@pytest.fixture(scope="module")
def seeds() -> dict[str, Model]:
    return {seed.name: seed for seed in compiled().of_kind("seed")}


def told(tmp_path: Path, name: str, text: str | bytes) -> Warehouse:
    file = company.file_of(Warehouse.at(str(tmp_path)), name)
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return Warehouse.at(str(tmp_path))


def rows(place: Warehouse, seed: Model) -> list[dict[str, Any]]:
    return company.rows(place, seed, seed_rows(seed)).to_pylist()


def test_the_seeds_are_empty_and_have_types(seeds: dict[str, Model]) -> None:
    assert set(company.SEEDS) <= set(seeds)
    for name in company.SEEDS:
        assert seed_rows(seeds[name]).num_rows == 0
    assert seed_rows(seeds["cluster_attributes"]).schema.field("slo_target").type == pa.float64()


def test_without_a_file_the_project_has_the_rows(tmp_path: Path, seeds: dict[str, Model]) -> None:
    place = Warehouse.at(str(tmp_path))
    assert rows(place, seeds["cluster_attributes"]) == []
    assert rows(place, seeds["incident_kinds"]) == seed_rows(seeds["incident_kinds"]).to_pylist() != []


def test_a_file_in_the_warehouse_takes_the_place_of_the_seed(tmp_path: Path, seeds: dict[str, Model]) -> None:
    """With a byte order mark, as spreadsheets write it; columns in another order; a blank line; a cell in quotes with a line break."""
    place = told(
        tmp_path, "cluster_attributes", b'\xef\xbb\xbfslo_target,cluster_id,team\r\n0.999,orders,"pay,\nments"\r\n\r\n,billing,\r\n'
    )
    assert rows(place, seeds["cluster_attributes"]) == [
        {"cluster_id": "orders", "environment": None, "region": None, "team": "pay,\nments", "tier": None, "slo_target": 0.999},
        {"cluster_id": "billing", "environment": None, "region": None, "team": None, "tier": None, "slo_target": None},
    ]
    place = told(tmp_path, "topic_owners", "cluster_id,topic_pattern,owner\n,pay-*,payments\norders,pay-*,orders\n")
    assert rows(place, seeds["topic_owners"]) == [
        {"cluster_id": None, "topic_pattern": "pay-*", "owner": "payments"},
        {"cluster_id": "orders", "topic_pattern": "pay-*", "owner": "orders"},
    ]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("cluster_attributes", "cluster_id,env\norders,production\n", "unknown column 'env'; use cluster_id, environment, region, team, tier, slo_target"),
        ("cluster_attributes", "environment\nproduction\n", "there is no column cluster_id"),
        ("cluster_attributes", "", "there is no column cluster_id"),
        ("cluster_attributes", HEAD + "orders,production\n", "line 2 has 2 cells; the first line names 6 columns"),
        ("cluster_attributes", HEAD + ",production,,,,\n", "line 2 has no cluster_id"),
        ("cluster_attributes", HEAD + "orders,,,,,99.9\n", "line 2: slo_target is '99.9'; use a ratio between 0 and 1, as 0.999"),
        ("cluster_attributes", HEAD + "orders,,,,,high\n", "line 2: slo_target is 'high'"),
        ("cluster_attributes", HEAD + "orders,,,,,\nbilling,,,,,\norders,,,,,\n", "lines 2 and 4 have the same cluster_id"),
        ("topic_owners", "topic_pattern,owner\npay-*,\n", "line 2 has no owner"),
        ("topic_owners", "cluster_id,topic_pattern,owner\n,a,x\n,a,y\n", "lines 2 and 3 have the same cluster_id and topic_pattern"),
        ("cluster_attributes", b"cluster_id\nM\xfcnchen\n", "byte 12 is not UTF-8"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_named_with_its_line(
    tmp_path: Path, seeds: dict[str, Model], name: str, text: str | bytes, said: str
) -> None:
    place = told(tmp_path, name, text)
    with pytest.raises(BuildFailed) as failed:
        rows(place, seeds[name])
    assert str(company.file_of(place, name)) in str(failed.value)
    assert said in str(failed.value)


def test_what_the_company_says_anew_makes_its_tables_and_no_others(tmp_path: Path) -> None:
    place = Warehouse.at(str(tmp_path))
    write_deltalake(place.bronze("sources"), pa.table({"cluster_id": ["orders", "billing", "orders"]}))
    place.work.mkdir()
    place.built.write_text(built_from(place))
    assert arrivals(place, built_from(place)) == Arrivals([""], {})
    told(tmp_path, "cluster_attributes", HEAD + "orders,production,,,,\n")
    found = arrivals(place, built_from(place))
    assert found == Arrivals(["billing", "orders"], {}, seeds=frozenset({"cluster_attributes"}))
    project = compiled()
    tracker = ChangeTracker(project, found, Previous(place, found.clusters, cast(Any, None)), Tables(place, project))
    # Without a table of the build before, everything would be built.
    held = pa.dataset.dataset(pa.table({"cluster_id": ["orders"]}))
    tracker.previous._tables |= dict.fromkeys(project.stored(), held)
    due = {name for name in project.stored() if project.models[name].kind != "seed" and tracker.reasons(project.models[name])}
    assert due == {"dim_clusters"}
    place.built.write_text(built_from(place))
    told(tmp_path, "cluster_attributes", HEAD)
    assert arrivals(place, built_from(place)) == found
    company.file_of(place, "cluster_attributes").unlink()
    assert arrivals(place, built_from(place)) == found
    assert json.loads(built_from(place))["company"] == {}
