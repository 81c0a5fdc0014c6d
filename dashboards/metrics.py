"""The metrics of the dbt project (`_metrics.yml` beside the models), each as an aggregate in SQL over one table.

dbt checks the form of these files (`dbt parse`), and MetricFlow runs them where it has an adapter, which Spark is not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

# The safe loader of libyaml where it is there: ten times as fast.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
PROJECT = Path(__file__).parent.parent
DIMENSION = re.compile(r"\{\{ *Dimension\('\w+?__(\w+)'\) *\}\}")
AGGREGATES = {
    "sum": "sum({})",
    "average": "avg({})",
    "max": "max({})",
    "count_distinct": "count(distinct {})",
    "percentile": "percentile({}, {percentile})",
}


@dataclass(frozen=True)
class Metric:
    """A metric.  `table`: the model that its rows are of, and `sql` the aggregate over them; both None where it needs several tables.
    `condition`: which rows count; `value`: what of a row is aggregated (1 counts rows); `daily`: its measure in the daily reports."""

    name: str
    label: str
    description: str
    table: str | None
    sql: str | None
    condition: str | None = None
    value: str | None = None
    daily: str | None = None


@cache
def semantic_files() -> list[dict[str, Any]]:
    """All files with metrics, as YAML."""
    return [yaml.load(path.read_text(encoding="utf-8"), LOADER) for path in sorted((PROJECT / "models").rglob("_metrics.yml"))]


@cache
def measures() -> dict[str, tuple[str, dict[str, Any]]]:
    """The measures of all semantic models, each with the name of the dbt model."""
    return {
        measure["name"]: (re.sub(r"ref\('(\w+)'\)", r"\1", model["model"]), measure)
        for said in semantic_files()
        for model in said["semantic_models"]
        for measure in model["measures"]
    }


@cache
def metrics() -> dict[str, Metric]:
    """All metrics by name.  Raises KeyError for one that is made of another that does not exist."""
    said = {one["name"]: one for file in semantic_files() for one in file["metrics"]}
    found: dict[str, Metric] = {}

    def made(name: str) -> Metric:
        if name not in found:
            found[name] = of(said[name])
        return found[name]

    def of(one: dict[str, Any]) -> Metric:
        parameters = one["type_params"]
        daily = one.get("config", {}).get("meta", {}).get("daily")
        named = (one["name"], one["label"], one["description"])
        if one["type"] == "simple":
            table, measure = measures()[parameters["measure"]]
            value = str(measure.get("expr", measure["name"]))
            condition = DIMENSION.sub(r"\1", one["filter"]) if "filter" in one else None
            counted = f"case when {condition} then {value} end" if condition else value
            sql = AGGREGATES[measure["agg"]].format(counted, **measure.get("agg_params", {}))
            return Metric(*named, table, sql, condition, value, daily)
        if one["type"] == "ratio":
            top, under = (made(parameters[part]) for part in ("numerator", "denominator"))
            parts, sql = [top, under], f"{top.sql} / nullif(cast({under.sql} as double), 0)"
        else:
            parts = [made(name) for name in parameters["metrics"]]
            sql = re.sub(r"\b(" + "|".join(part.name for part in parts) + r")\b", lambda found: str(made(found[0]).sql), parameters["expr"])
        tables = {part.table for part in parts}
        return Metric(*named, *((tables.pop(), sql) if len(tables) == 1 else (None, None)), daily=daily)

    for name in said:
        made(name)
    return found
