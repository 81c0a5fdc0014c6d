"""The keys of all steps between bronze and marts (`tests/flow/test_keys.py`).

Most steps are views: a query of one runs everything beneath it again, and a test of each took four minutes of two cores. Here each is written
once, from the stored rows of the steps it reads, and DuckDB looks for duplicate keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from chronicle.build.compiled import VIEW, compiled, query
from chronicle.project import PROJECT
from ingestion.warehouse import Warehouse
from tests import duck
from tests.lab import STEPS, delta_tables, listed, set_to_build

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MODELS = PROJECT / "models"


@dataclass(frozen=True)
class Key:
    """A `unique_key` test of a step."""

    model: str
    columns: tuple[str, ...]
    where: str | None

    def reads(self, column: str) -> bool:
        """Whether `query` reads a column."""
        return column in self.columns or column in re.findall(r"\w+", self.where or "")

    @property
    def query(self) -> str:
        """The keys that are there more than once, with nulls as values."""
        columns = ", ".join(self.columns)
        where = f" where {self.where}" if self.where else ""
        return f"select {columns}, count(*) as rows from rows_of_step{where} group by {columns} having count(*) > 1 order by all"


def keys() -> Iterator[Key]:
    """All of them, as the steps' .yml states them."""
    for folder in STEPS:
        for path in sorted((MODELS / folder).rglob("*.yml")):
            for model in (yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader) or {}).get("models", []):
                yield from keys_of(model)


def keys_of(model: dict[str, Any]) -> Iterator[Key]:
    for test in model.get("data_tests", []):
        if isinstance(test, dict) and (given := test.get("unique_key")):
            yield Key(model["name"], tuple(given["arguments"]["columns"]), given.get("config", {}).get("where"))


def write_steps(spark: SparkSession, place: Warehouse, folder: Path) -> dict[str, Path]:
    """Every step of a warehouse that was built and is registered, as a folder of Parquet or Delta.  Views are written below `folder`, each once and from the stored
    rows of what it reads; of those that no other view reads, the columns of their keys.  Nothing else is written."""
    project, stored = compiled(), {}
    read = {name for model in project.models.values() if model.is_view for name in model.parents}
    checked = {key.model: key for key in keys()}
    with set_to_build(spark), listed(spark, place, delta_tables(place)):
        for model in project.models.values():
            if not model.is_view:
                stored[model.name] = Path(place.table(model.schema, model.alias))
            elif model.name in read or model.name in checked:
                rows = spark.sql(query(model, None))
                if model.name not in read:
                    rows = rows.select(*filter(checked[model.name].reads, rows.columns))
                rows = storable(rows)
                stored[model.name] = folder / model.name
                rows.write.parquet(str(stored[model.name]))
                if model.name in read:
                    spark.read.schema(rows.schema).parquet(str(stored[model.name])).createOrReplaceTempView(VIEW + model.name)
        for model in project.models.values():
            if model.is_view:
                spark.catalog.dropTempView(VIEW + model.name)
    return stored


def storable(rows: DataFrame) -> DataFrame:
    """Casts columns of the void type, which hold only nulls, to texts: Parquet has no such type."""
    for column in rows.schema.fields:
        if column.dataType.typeName() == "void":
            rows = rows.withColumn(column.name, rows[column.name].cast("string"))
    return rows


def doubled(steps: dict[str, Path]) -> dict[str, list[tuple[Any, ...]]]:
    """Per model the keys that are there more than once."""
    session = duck.connect()
    found = {}
    for key in keys():
        folder = steps[key.model]
        rows = f"delta_scan('{folder}')" if (folder / "_delta_log").exists() else f"read_parquet('{folder}/**/*.parquet')"
        session.execute(f"create or replace temp view rows_of_step as select * from {rows}")
        if rows := session.execute(key.query).fetchmany(3):
            found[f"{key.model} {', '.join(key.columns)}"] = rows
    return found
