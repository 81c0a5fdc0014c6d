"""The places that a build fills in are found in a model's query (`chronicle/build/template.py`), as macros write them."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

from chronicle.build import template
from chronicle.build.compiled import compiled, query
from chronicle.build.template import Place, Template

SQL = (
    "select * from t where cluster_id in ('/* built clusters */') and a.at >= '/* since 2 hours */' and day >= '/* from day */'"
    " and event_date in ('/* days of bronze.log_records */') and batch_id > '/* newest batch */'"
    "/* in part */ union all select * from __as_before__ where at >= '/* since 0 seconds */' /* whole */, __of_all_clusters__dim_nodes"
)


def test_each_kind_of_place_is_found_with_what_it_is_of() -> None:
    assert [(place.kind, place.of, place.less) for place in Template.of(SQL).places()] == [
        (template.CLUSTERS, "", ""),
        (template.SINCE, "a.at", "2 hours"),
        (template.SINCE_DAY, "day", ""),
        (template.DAYS, "bronze.log_records", ""),
        (template.BATCHES, "", ""),
        (template.IN_PART, "", ""),
        (template.AS_BEFORE, "", ""),
        (template.SINCE, "at", "0 seconds"),
        (template.ALL_CLUSTERS, "dim_nodes", ""),
    ]


def test_what_is_put_into_a_place_is_not_read_again() -> None:
    # As a cluster's name may look like a place.
    filled = Template.of(SQL).filled(lambda place: "cluster_id in ('/* built clusters */')", in_part=True)
    assert filled.count("/* built clusters */") == 8 and "since" not in filled and "__as_before__" not in filled


def test_sql_for_a_part_is_left_out_of_a_whole_table() -> None:
    def as_written(place: Place) -> str:
        return place.text

    whole = Template.of(SQL).filled(as_written, in_part=False)
    assert "union all" not in whole and whole.endswith(", __of_all_clusters__dim_nodes")
    assert Template.of(SQL).filled(as_written, in_part=True) == SQL.replace("/* in part */", "").replace("/* whole */", "")


@pytest.mark.parametrize(
    "mark", ["/* built", "/* since", "/* from day", "/* days of", "/* newest", "/* in part", "__as_before__", "__of_all"]
)
def test_no_place_in_the_projects_queries_is_overlooked(mark: str) -> None:
    asked = [model for model in compiled().models.values() if mark in model.sql]
    assert asked
    assert not [model.name for model in asked if mark in model.template.filled(lambda place: "", in_part=True)]


def test_no_query_has_a_with_inside_another() -> None:
    # A build lets an outer name hide an inner one (`chronicle/spark/internals/settings.py`).
    queries = {
        model.name: query(model, ["a"], of_all=lambda mart: f"marts.{mart}") for model in compiled().models.values() if model.kind != "seed"
    }
    assert [name for name, sql in queries.items() if sum(1 for _ in sqlglot.parse_one(sql, read="spark").find_all(exp.With)) > 1] == []
