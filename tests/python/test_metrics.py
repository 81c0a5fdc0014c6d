"""Each metric is defined once: what daily reports and dashboards show is held against the definition."""

from __future__ import annotations

import re

import pytest
import yaml

from chronicle.project import PROJECT
from dashboards.described import load
from dashboards.metrics import Metric, metrics, semantic_files
from tests.measures import daily_measures

WORDS = {"case", "when", "then", "end", "else", "and", "not", "in", "true", "false", "null"}
# What a stretch of time adds to a day is its part of that day; the metric has the whole of it.
STRETCH = {"duration_ms", "duration_so_far_ms", "unavailable_so_far_ms"}


def columns_of(model: str) -> set[str]:
    (place,) = (PROJECT / "models").rglob(f"{model}.yml")
    return {column["name"] for column in yaml.safe_load(place.read_text(encoding="utf-8"))["models"][0]["columns"]}


def plain(condition: str | None) -> str:
    """A condition as both places write it: `is_x = true` is `is_x`."""
    text = " ".join((condition or "").split())
    return re.sub(r"^(\w+) = false$", r"not \1", re.sub(r"^(\w+) = true$", r"\1", text))


def test_there_are_enough_metrics_and_each_is_described() -> None:
    assert len(metrics()) >= 40
    assert [one.name for one in metrics().values() if not one.label or not one.description.endswith(".")] == []


@pytest.mark.parametrize(
    "model", [model for said in semantic_files() for model in said["semantic_models"]], ids=lambda model: model["name"]
)
def test_a_semantic_model_names_columns_of_its_model(model: dict[str, object]) -> None:
    table = re.sub(r"ref\('(\w+)'\)", r"\1", str(model["model"]))
    said: list[str] = []
    for part in ("entities", "dimensions", "measures"):
        said += [str(one.get("expr", one["name"])) for one in model[part]]  # type: ignore[attr-defined]
    names = {name for text in said for name in re.findall(r"\b[a-z_]\w*", re.sub(r"'[^']*'", "", text))}
    assert names - WORDS <= columns_of(table)


@pytest.mark.parametrize("one", [one for one in metrics().values() if one.condition], ids=lambda one: one.name)
def test_a_filter_names_columns_of_its_model(one: Metric) -> None:
    names = set(re.findall(r"\b[a-z_]\w*", re.sub(r"'[^']*'", "", one.condition or "")))
    assert names - WORDS <= columns_of(str(one.table))


@pytest.mark.parametrize("row", daily_measures(), ids=lambda row: row["name"])
def test_a_measure_of_the_days_is_a_metric(row: dict[str, str]) -> None:
    (one,) = [one for one in metrics().values() if one.daily == row["name"]]
    if one.table == "rpt_cluster_daily":
        assert one.value == row["name"]
        return
    assert (one.table, plain(one.condition)) == (row["fact"], "" if row.get("where") == "ended_at is not null" else plain(row.get("where")))
    if "day" in row:
        assert one.value == row.get("value", "1")
    else:
        assert one.value in STRETCH


def test_no_metric_names_a_measure_that_is_gone() -> None:
    assert {one.daily for one in metrics().values()} - {None} == {row["name"] for row in daily_measures()}


def test_dashboards_take_their_ratios_from_the_metrics() -> None:
    shown = {
        (dataset.name, one.name): one.sql
        for board in load().dashboards
        for chart in board.charts
        for dataset in [chart.dataset]
        for one in dataset.metrics.values()
    }
    ratios = {place: sql for place, sql in shown.items() if place[1].endswith("_ratio")}
    assert set(ratios.values()) <= {one.sql for one in metrics().values()} and ratios
