"""Marts to Delta: what a build wrote aside as Parquet becomes the tables that people read, when all of it is there.

Spark writes plain Parquet files, delta-rs adds them to the tables.  A commit by Spark takes 1.5 s of CPU however small; here
it takes 20 ms.  And nothing is published of a build that failed: readers see the marts of one build, never a mixture.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
from deltalake import DeltaTable, Schema
from deltalake.transaction import AddAction

from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    from dbt.contracts.graph.nodes import ModelNode
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType


class BrokenContract(ValueError):
    """A table is not as its contract says; the text names columns, what was found and what is wanted."""


def publish(spark: SparkSession, place: Warehouse, models: list[ModelNode]) -> dict[str, int]:
    """Commit the tables of models that lie in the building folder, each in one transaction that replaces its rows.

    Returns rows by model.  The catalog forgets them: `register` makes them known again as what they are now.
    Raises BrokenContract, and publishes nothing, where a table is not as its contract says.
    """
    rows = {}
    found = {model.name: spark.table(f"{model.schema}.`{model.alias}`").schema for model in models}
    broken = [f"{model.name}.{fault}" for model in models for fault in faults(model, found[model.name])]
    if broken:
        raise BrokenContract("; ".join(broken))
    for model in models:
        schema = json.loads(found[model.name].json())
        comments = {name: column.description for name, column in model.columns.items()}
        to = place.table(model.schema, model.alias)
        rows[model.name] = commit(place.building / model.schema / model.alias, to, described(schema, comments), model.description)
    forget(spark, models)
    return rows


def faults(model: ModelNode, schema: StructType) -> Iterator[str]:
    """What a table's columns lack of the model's contract: column, type found, type wanted."""
    if not model.config.contract.enforced:
        return
    found = {field.name: field.dataType.simpleString() for field in schema.fields}
    for name, column in model.columns.items():
        wanted = (column.data_type or "").lower().replace(" ", "")
        if found.get(name) != wanted:
            yield f"{name}: {found.get(name, 'missing')} where the contract says {wanted}"


def forget(spark: SparkSession, models: list[ModelNode]) -> None:
    """Take models' tables out of the catalog; their files stay."""
    for model in models:
        spark.sql(f"drop table if exists {model.schema}.`{model.alias}`")


def described(schema: dict[str, Any], comments: dict[str, str]) -> str:
    """A schema as Spark and Delta's log state it, with comments on its columns."""
    fields = [{**field, "nullable": True, "metadata": {"comment": comments.get(field["name"], "")}} for field in schema["fields"]]
    return json.dumps({**schema, "fields": fields})


def commit(folder: Path, table: str, schema: str, description: str) -> int:
    """Make the Parquet files of a folder the content of a Delta table.  Returns its rows."""
    stated = Schema.from_json(schema)
    if not DeltaTable.is_deltatable(table):
        # What stands there without a log is no table: the rest of a build that was killed.
        shutil.rmtree(table, ignore_errors=True)
        DeltaTable.create(table, stated, description=description)
    actions, rows = [], 0
    for file in sorted(folder.glob("*.parquet")):
        count = pq.read_metadata(file).num_rows
        to = Path(table, f"part-{uuid.uuid4()}.parquet")
        os.replace(file, to)
        status = to.stat()
        actions.append(AddAction(to.name, status.st_size, {}, int(status.st_mtime * 1000), True, json.dumps({"numRecords": count})))
        rows += count
    DeltaTable(table).create_write_transaction(actions, "overwrite", stated)
    shutil.rmtree(folder, ignore_errors=True)
    return rows
