"""The keys of all steps between bronze and marts, tested on the lab: `python -m tests.keys LAB`.

Steps are views: a query of one asks all beneath it once more, and a test of each took four minutes of two cores. Here each is written
once, from what was written of those it reads, and DuckDB looks for keys that are there twice.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from chronicle.project import PROJECT
from tests import duck
from tests.lab import STEPS, Lab

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MODELS = PROJECT / "models"


@dataclass(frozen=True)
class Key:
    """A `unique_key` test of a step."""

    model: str
    columns: tuple[str, ...]
    where: str | None

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


def write_steps(spark: SparkSession, warehouse: str, folder: Path) -> dict[str, Path]:
    """Every view as a Parquet folder, in the order in which they read each other; with the steps that are Parquet already."""
    from chronicle.spark.catalog import kept_views, register_views
    from ingestion.warehouse import Warehouse

    place = Warehouse.at(warehouse)
    register_views(spark, place)
    written = {path.name: path for layer in ("staging", "intermediate") for path in Path(warehouse, layer).iterdir()}
    for schema, name, sql in kept_views(place):
        written[name] = folder / name
        storable(spark.sql(sql)).write.parquet(str(folder / name))
        spark.sql(f"drop view {schema}.`{name}`")
        spark.sql(f"create table {schema}.`{name}` using parquet location '{folder / name}'")
    return written


def storable(rows: DataFrame) -> DataFrame:
    """Columns without a type, which hold nothing but nulls, as texts: Parquet has no such type."""
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


def main(lab: Lab) -> int:
    began = time.monotonic()
    try:
        with tempfile.TemporaryDirectory() as folder:
            steps = write_steps(lab.spark, lab.warehouse, Path(folder))
            wrote = time.monotonic()
            found = doubled(steps)
    finally:
        lab.stop()
    for key, rows in found.items():
        print(f"{key}: not unique, as {', '.join(map(str, rows))}", file=sys.stderr)
    print(
        f"{len(list(keys()))} keys of {len(steps)} steps: {len(found)} are not unique ({wrote - began:.0f} s, {time.monotonic() - wrote:.0f} s)"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Lab.of(Path(sys.argv[1]).resolve())))
