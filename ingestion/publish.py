"""Marts to Delta: what a build wrote aside as Parquet becomes the tables that people read, when all of it is there.

Spark writes plain Parquet files, delta-rs commits them.  A commit by Spark takes 1.5 s of CPU however small; here it takes
20 ms.  Nothing is published of a build that failed: readers see the marts of one build, never a mixture.  What is as it
was is not written again: a table is compared with what it held, month by month, and only months that differ are replaced.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from deltalake import DeltaTable, Schema, write_deltalake
from deltalake.transaction import AddAction

from ingestion.report_tables import literal
from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    from dbt.contracts.graph.nodes import ModelNode
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

# Each month is a commit; beyond these a table is replaced at once.
MOST_MONTHS = 3


class BrokenContract(ValueError):
    """A table is not as its contract says; the text names columns, what was found and what is wanted."""


@dataclass(frozen=True)
class Published:
    """What became of a mart: rows that were built, days among them whose rows are others than before (None: it has no days)."""

    rows: int
    days: int | None


def publish(spark: SparkSession, place: Warehouse, models: list[ModelNode], clusters: Sequence[str] | None = None) -> dict[str, Published]:
    """Commit the tables of models that lie in the building folder.  `clusters`: the build took only these; the rows of others stay.

    The catalog forgets the tables: `register` makes them known again as what they are now.
    Raises BrokenContract, and publishes nothing, where a table is not as its contract says.
    """
    found = {model.name: spark.table(f"{model.schema}.`{model.alias}`").schema for model in models}
    broken = [f"{model.name}.{fault}" for model in models for fault in faults(model, found[model.name])]
    if broken:
        raise BrokenContract("; ".join(broken))
    published = {}
    for model in models:
        comments = {name: column.description for name, column in model.columns.items()}
        schema = Schema.from_json(described(json.loads(found[model.name].json()), comments))
        folder, table = place.building / model.schema / model.alias, place.table(model.schema, model.alias)
        only = list(clusters) if clusters is not None and "cluster_id" in model.columns else None
        published[model.name] = commit(folder, table, schema, model.description, only)
        shutil.rmtree(folder, ignore_errors=True)
    forget(spark, models)
    return published


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


def commit(folder: Path, table: str, schema: Schema, description: str, clusters: list[str] | None = None) -> Published:
    """Make the Parquet files of a folder the content of a Delta table, or of its rows of some clusters."""
    built = ds.dataset(folder, format="parquet")
    rows, day = built.count_rows(), next((name for name in built.schema.names if name.endswith("_date")), None)
    held = DeltaTable(table) if DeltaTable.is_deltatable(table) else None
    if held is None or held.schema() != schema:
        days = len(pc.unique(built.to_table([day])[day])) if day else None
        replace_all(folder, table, schema, description)
        return Published(rows, days)
    scope = pc.field("cluster_id").isin(clusters) if clusters is not None else None
    texts = [f"cluster_id in ({', '.join(literal(name) for name in clusters)})"] if clusters is not None else []
    before = held.to_pyarrow_dataset()
    changed, months = 0, []
    for month in _months(before, built, day, scope):
        old, new = (ordered(part.to_table(filter=_both(scope, _within(day, month)))) for part in (before, built))
        if not same(old, new):
            months.append((month, new))
            changed += _days_changed(old, new, day) if day else 0
    if len(months) > MOST_MONTHS and clusters is None:
        replace_all(folder, table, schema, description)
    elif len(months) > MOST_MONTHS:
        write_deltalake(held, built.to_table(), mode="overwrite", predicate=texts[0])
    else:
        for month, new in months:
            where = " and ".join(texts + _text_within(day, month))
            write_deltalake(held, new, mode="overwrite", **({"predicate": where} if where else {}))
    return Published(rows, changed if day else None)


def replace_all(folder: Path, table: str, schema: Schema, description: str) -> None:
    """Make the Parquet files of a folder, as they are, all that a Delta table holds; it need not be there."""
    if not DeltaTable.is_deltatable(table):
        # What stands there without a log is no table: the rest of a build that was killed.
        shutil.rmtree(table, ignore_errors=True)
        DeltaTable.create(table, schema, description=description)
    actions = []
    for file in sorted(folder.glob("*.parquet")):
        count = pq.read_metadata(file).num_rows
        to = Path(table, f"part-{uuid.uuid4()}.parquet")
        os.replace(file, to)
        status = to.stat()
        actions.append(AddAction(to.name, status.st_size, {}, int(status.st_mtime * 1000), True, json.dumps({"numRecords": count})))
    DeltaTable(table).create_write_transaction(actions, "overwrite", schema)


def carry_over(spark: SparkSession, place: Warehouse, steps: list[ModelNode], clusters: Sequence[str]) -> None:
    """Add to the Parquet steps of a build of some clusters what the build before it held of all others."""
    for step in steps:
        kept, folder = place.kept_steps / step.schema / step.alias, Path(place.table(step.schema, step.alias))
        if kept.is_dir() and folder.is_dir():
            held = ds.dataset(kept, format="parquet")
            if "cluster_id" in held.schema.names:
                scanner = held.scanner(filter=~pc.field("cluster_id").isin(list(clusters)))
                with pq.ParquetWriter(folder / "others.zstd.parquet", held.schema, compression="zstd") as writer:
                    for batch in scanner.to_batches():
                        writer.write_batch(batch)
                spark.sql(f"refresh table {step.schema}.`{step.alias}`")
    shutil.rmtree(place.kept_steps, ignore_errors=True)


def ordered(rows: pa.Table) -> pa.Table:
    """Rows in an order that only their values decide."""
    plain = [field.name for field in rows.schema if not pa.types.is_nested(field.type)]
    return rows.sort_by([(name, "ascending") for name in plain])


def same(old: pa.Table, new: pa.Table) -> bool:
    """Whether two tables in order hold the same values."""
    return old.num_rows == new.num_rows and all(old[name].cast(new[name].type).equals(new[name]) for name in new.schema.names)


def _months(before: ds.Dataset, built: ds.Dataset, day: str | None, scope: pc.Expression | None) -> list[dt.date | None]:
    """First days of the months that two tables speak of, None for rows without a day; None alone where the tables have no days."""
    if day is None:
        return [None]
    found: set[dt.date | None] = set()
    for part in (before, built):
        values = pc.unique(part.to_table([day], filter=scope)[day]).to_pylist()
        found |= {value and value.replace(day=1) for value in values}
    return sorted(found, key=str)


def _within(day: str | None, month: dt.date | None) -> pc.Expression | None:
    if day is None:
        return None
    if month is None:
        return pc.field(day).is_null()
    return (pc.field(day) >= month) & (pc.field(day) < _next(month))


def _text_within(day: str | None, month: dt.date | None) -> list[str]:
    if day is None:
        return []
    return [f"{day} is null"] if month is None else [f"{day} >= date '{month}' and {day} < date '{_next(month)}'"]


def _next(month: dt.date) -> dt.date:
    return (month + dt.timedelta(days=31)).replace(day=1)


def _both(one: pc.Expression | None, other: pc.Expression | None) -> pc.Expression | None:
    if one is None or other is None:
        return one if other is None else other
    return one & other


def _days_changed(old: pa.Table, new: pa.Table, day: str) -> int:
    days = set(pc.unique(old[day]).to_pylist()) | set(pc.unique(new[day]).to_pylist())

    def of(rows: pa.Table, value: dt.date | None) -> pa.Table:
        return rows.filter(pc.is_null(rows[day]) if value is None else pc.equal(rows[day], pa.scalar(value)))

    return sum(not same(of(old, value), of(new, value)) for value in days)
