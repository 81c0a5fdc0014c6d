"""A mart without `cluster_id` is of all clusters, and a partial build makes it from all: what it reads has to hold them all while models are built.

A step holds only the clusters that are built until the others are carried over, and so does a new mart until it is published; a view that asks for
the built clusters gives these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from chronicle.build import template
from chronicle.build.compiled import Model, Project, compiled

# How macros ask for the built clusters, and for the rows of all of a mart.
BUILT = "cluster_id in ('/* built clusters */')"
OF_ALL = "__of_all_clusters__"
# Tables that hold all clusters during a build.
OF_ALL_KINDS = ("seed", "incremental")


def faults(project: Project) -> Iterator[str]:
    """What marts without a `cluster_id` read that may be of some clusters alone: the mart, and the name of what it reads."""
    fed = project.fed()
    for mart in project.of_kind("stable_table"):
        if "cluster_id" in mart.columns or mart.name not in fed:
            continue
        for reader in (project.models[name] for name in project.with_views([mart.name])):
            if reader.template.has(template.CLUSTERS):
                yield f"{mart.name}: {reader.name}"
            for name in reader.parents:
                parent = project.models[name]
                is_whole = parent.is_view or parent.kind in OF_ALL_KINDS or name not in fed
                if not is_whole and not is_asked_of_all(reader, name):
                    yield f"{mart.name}: {name}"


def is_asked_of_all(reader: Model, mart: str) -> bool:
    """Whether a query reads a mart by the macro `of_all_clusters` alone."""
    return OF_ALL + mart in reader.sql and not re.search(rf"(?<!{OF_ALL})\b{mart}\b", reader.sql)


def test_marts_without_a_cluster_read_only_what_holds_all_clusters() -> None:
    found = list(faults(compiled()))
    assert found == [], "read an incremental table, a seed, or a mart by `of_all_clusters`; or give the mart a cluster_id"


def model(name: str, kind: str, sql: str = "", *parents: str, sources: tuple[str, ...] = ()) -> Model:
    columns = {"day": ("date", "")} if name.startswith("dim") else {"cluster_id": ("string", "")}
    return Model(name, "marts", name, kind, sql, parents, sources, f"{name}.sql", columns=columns)


@pytest.mark.parametrize(
    ("sql", "parents", "found"),
    [
        ("select * from staging.`lines`, marts.`days`", ("lines", "days"), []),
        ("select * from step", ("step",), ["dim: step"]),
        ("select * from __dbt__cte__looked_through", ("looked_through",), ["dim: step"]),
        ("select * from __dbt__cte__of_built", ("of_built",), ["dim: of_built"]),
        ("select * from fct", ("fct",), ["dim: fct"]),
        (f"select * from {OF_ALL}fct", ("fct",), []),
        (f"select * from {OF_ALL}fct union all select * from fct", ("fct",), ["dim: fct"]),
        (f"select * from {OF_ALL}fct, step", ("fct", "step"), ["dim: step"]),
    ],
)
def test_steps_and_marts_of_some_clusters_are_found(sql: str, parents: tuple[str, ...], found: list[str]) -> None:
    models = [
        model("days", "seed"),
        model("lines", "incremental", "", sources=("log_records",)),
        model("step", "table", "select * from lines", "lines"),
        model("looked_through", "ephemeral", "select * from step", "step"),
        model("of_built", "ephemeral", f"select * from lines where {BUILT}", "lines"),
        model("fct", "stable_table", "select * from step", "step"),
        model("dim", "stable_table", sql, *parents),
    ]
    assert list(faults(Project({one.name: one for one in models}, Path()))) == found
