"""A build says its stages before it begins (`chronicle/build/stages.py`): a partial one those models that new rows may reach."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

from chronicle.build.changes import Arrivals
from chronicle.build.compiled import Model, Project
from chronicle.build.local import Plan, stages
from chronicle.build.outcome import Wanted
from chronicle.build.stages import NO_CLUSTER, BuildModel, BuildModels, Keep, Prepare, Publish, RunTests, explained

NOON = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)


def model(name: str, kind: str, reads: tuple[str, ...] = (), sources: tuple[str, ...] = (), column: str = "cluster_id") -> Model:
    parents = tuple(one for one in reads if "." not in one)
    read: dict[str, Any] = dict.fromkeys(reads)
    return Model(name, "marts", name, kind, "", parents, sources, f"{name}.sql", columns={column: ("string", "")}, columns_read=read)


MODELS = [
    model("owners", "seed"),
    model("lines", "incremental", ("bronze.log_records",), ("log_records",)),
    model("samples", "table", ("bronze.metric_samples",), ("metric_samples",)),
    model("fct_lines", "stable_table", ("lines", "owners")),
    model("fct_samples", "stable_table", ("samples",)),
    model("fct_owned", "stable_table", ("owners",)),
    model("dim_dates", "stable_table", ("samples",), column="day"),
]


def plan(arrived: Arrivals | None, *, tests: bool = False, taken: set[str] | None = None, is_anew: bool = False) -> Plan:
    project = Project({one.name: one for one in MODELS}, Path())
    return Plan(Wanted(tests=tests), project, taken or project.stored(), arrived, is_anew, [], "", None)


def built(found: list[Any]) -> dict[str, tuple[str, ...] | None]:
    (models,) = (stage for stage in found if isinstance(stage, BuildModels))
    return {one.model.name: one.may_change for one in models.models}


def test_a_full_build_makes_every_model_and_tests_before_it_publishes() -> None:
    found = stages(plan(None, tests=True))
    assert [type(stage) for stage in found] == [Prepare, BuildModels, RunTests, Publish, Keep]
    assert built(found) == {one.name: None for one in MODELS}
    assert list(explained(found)) == [
        "prepare: all clusters",
        "build: 7 models",
        "test: data and unit tests of what was built",
        "publish: what has changed of 4 marts",
        "keep: what the tables were made from",
    ]


def test_a_partial_build_makes_what_new_rows_may_reach() -> None:
    found = stages(plan(Arrivals(["a", "b"], {"log_records": {"a", "b"}}, {"log_records": NOON})))
    # Which rows of a table without a cluster are of those that are built cannot be told; the seeds' tables are not kept.
    assert built(found) == {"owners": None, "lines": ("bronze.log_records",), "fct_lines": ("lines",), "dim_dates": (NO_CLUSTER,)}
    assert list(explained(found))[:3] == [
        "prepare: clusters a, b; rows of others stay",
        "build: at most 4 models, which bronze.log_records may feed; 3 stay",
        "publish: what has changed of 2 marts",
    ]
    same = stages(plan(Arrivals(["a"], {"log_records": {"a"}}, is_same=True)))
    assert "dim_dates" not in built(same)


def test_a_changed_seed_reaches_its_readers() -> None:
    found = stages(plan(Arrivals(["a"], {}, is_same=True, seeds=frozenset({"owners"}))))
    assert built(found) == {"owners": None, "fct_lines": ("owners",), "fct_owned": ("owners",)}
    assert "build: at most 3 models, which changed seeds may feed; 4 stay" in explained(found)


def test_a_build_of_some_models_keeps_nothing_for_the_next() -> None:
    found = stages(plan(None, taken={"owners"}, is_anew=True))
    assert found[0] == Prepare(None, True, False) and Keep() not in found
    assert found[1] == BuildModels((BuildModel(MODELS[0]),))
    assert next(explained(found)) == "prepare: all clusters, tables by day whole"
