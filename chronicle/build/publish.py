"""Publishes marts: commits the Parquet files that a build wrote aside to the Delta tables that people read, once all are there.

Spark writes plain Parquet files, delta-rs commits them.  A commit by Spark takes 1.5 s of CPU however small; here it takes
20 ms.  A build that failed publishes nothing.  Tables are committed one after the other, and a record of the versions that belong
together comes last (`chronicle/build/versions.py`): readers that go by it never see a mixture of two builds.  Unchanged rows are not
written again: a table is compared with its current content, and only months that differ are replaced.
"""

from __future__ import annotations

import datetime as dt
import json
import shutil
import uuid
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable, Schema, WriterProperties, write_deltalake

from chronicle.build import versions
from chronicle.build.dbt_runs import ROW_GROUP, THREADS
from ingestion.delta_files import CONFIGURATION, Added, add
from ingestion.freed import give_back
from ingestion.sql_text import literal
from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from chronicle.build.compiled import Model

# Spark's name for a null in the names of partition folders.
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
# Each month is a commit of its own; if more months differ, they are replaced in one commit.
MOST_MONTHS = 3
# Tables of more rows are compared month by month, each of which reads the table.
MOST_AT_ONCE = 100_000
# How delta-rs writes files. By default a row group has a million rows: to read some of them took a gigabyte.
WRITTEN = WriterProperties(compression="ZSTD", compression_level=1, max_row_group_size=ROW_GROUP)
# Options for reading with Arrow, which by default reads dozens of batches ahead.
LITTLE_AHEAD: dict[str, Any] = {"batch_readahead": 1, "fragment_readahead": 1}


class BrokenContract(ValueError):
    """A table breaks its contract; the text names columns, what was found and what is wanted."""


class LostRows(RuntimeError):
    """Files that were written are not found again; the text says where, and how many rows they had."""


def must_be_all(found: int, written: int | None, folder: Path) -> None:
    """Raises LostRows where the files that are found in a folder have another number of rows than was written (None: not known)."""
    if written is not None and found != written:
        raise LostRows(f"{written:,} rows were written into {folder}, and the files that are found there have {found:,}")


@dataclass(frozen=True)
class Mart:
    """A table that a build has written aside, as Parquet files in a folder.  `clusters`: those that were built; only their rows are
    replaced (None: all); `since`: the first day that was rebuilt (None: all days were); `is_as_before`: its rows are known to be those of the
    current table; `rows`: how many were written (None: not known)."""

    schema: str
    name: str
    folder: Path
    table: str
    columns: Schema
    description: str
    clusters: list[str] | None = None
    since: dt.date | None = None
    is_as_before: bool = False
    rows: int | None = None

    def held(self) -> DeltaTable | None:
        """The current table, if rows of this build can be added to it."""
        held = DeltaTable(self.table) if DeltaTable.is_deltatable(self.table) else None
        return held if held and held.schema() == self.columns and not held.metadata().partition_columns else None


@dataclass(frozen=True)
class Change:
    """What has to be written of a mart.  `months`: the first days of the months that differ (None among them: rows without a day), or None:
    all of it; `rows`: how many were built; `days`: how many days differ (None: it has no days)."""

    months: list[dt.date | None] | None
    rows: int
    days: int | None


@dataclass(frozen=True)
class Published:
    """What was published of a mart: rows that were built, days whose rows have changed (None: it has no days)."""

    rows: int
    days: int | None


def commit_all(place: Warehouse, marts: Sequence[Mart]) -> list[Published]:
    """Publish what was written aside: compare all marts, then commit all, and write the record last.

    Raises BrokenContract, and commits nothing, where rows of other clusters would be lost.
    """
    homeless = [mart.name for mart in marts if mart.clusters is not None and mart.held() is None]
    if homeless:
        raise BrokenContract(f"{', '.join(homeless)}: missing, or with other columns, in a build of some clusters; build all of them")
    with ThreadPoolExecutor(THREADS) as threads:
        changes = list(threads.map(compared, marts))
    give_back()
    record, build = versions.before(place), uuid.uuid4().hex
    published = [commit(mart, change, build) for mart, change in zip(marts, changes, strict=True)]
    versions.after(place, record, build, [(mart.schema, mart.name) for mart in marts])
    give_back()
    for mart in marts:
        shutil.rmtree(mart.folder, ignore_errors=True)
    return published


def faults(model: Model, schema: StructType) -> Iterator[str]:
    """Where a table's or view's columns break the model's contract: column, type found, type wanted."""
    if not model.has_contract:
        return
    found = {field.name: field.dataType.simpleString() for field in schema.fields}
    for name, (wanted, _) in model.columns.items():
        if found.get(name) != wanted:
            yield f"{name}: {found.get(name, 'missing')} where the contract says {wanted}"
    for name in found.keys() - model.columns.keys():
        yield f"{name}: {found[name]} where the contract has no such column"


def fits(model: Model, table: str) -> bool:
    """Whether a table exists with the columns of the model's contract, as `described`."""
    from pyspark.sql.types import StructType

    if not DeltaTable.is_deltatable(table):
        return False
    held = json.loads(DeltaTable(table).schema().to_json())
    if plain(held)["fields"] != [{**field, "metadata": {}} for field in held["fields"]]:
        return False
    found = StructType.fromJson(held)
    return not model.has_contract or (found.names == list(model.columns) and not any(faults(model, found)))


def described(schema: dict[str, Any], comments: dict[str, str]) -> str:
    """A schema as Spark and Delta's log state it, with comments on its columns."""
    fields = [{**field, "metadata": {"comment": comments.get(field["name"], "")}} for field in plain(schema)["fields"]]
    return json.dumps({**schema, "fields": fields})


def plain(kind: Any) -> Any:
    """A type as Spark and Delta's log state it, without what differs from one query of the same columns to the next: nullability, and comments
    that come from the columns of other tables."""
    if not isinstance(kind, dict):
        return kind
    inner = {name: plain(kind[name]) for name in ("type", "elementType", "keyType", "valueType") if name in kind}
    fields = {"fields": [plain(field) for field in kind["fields"]]} if "fields" in kind else {}
    always: dict[str, Any] = {"nullable": True, "metadata": {}} if "name" in kind else {}
    always |= {"containsNull": True} if "elementType" in kind else {"valueContainsNull": True} if "valueType" in kind else {}
    return {**kind, **inner, **fields, **always}


def columns_of(model: Model, found: StructType) -> Schema:
    """The columns of a model's table, in the order and with the comments that the model gives them."""
    schema, order = json.loads(found.json()), list(model.columns)
    # The partition column of a Parquet table comes last.
    schema["fields"].sort(key=lambda field: order.index(field["name"]) if field["name"] in order else len(order))
    return Schema.from_json(described(schema, {name: description for name, (_, description) in model.columns.items()}))


def compared(mart: Mart) -> Change:
    """Compare a mart with its current content."""
    built, held = ds.dataset(mart.folder, format="parquet"), mart.held()
    rows, day = built.count_rows(), _day_of(built)
    must_be_all(rows, mart.rows, mart.folder)
    if held is None:
        return Change(None, rows, len(pc.unique(built.to_table([day])[day])) if day else None)
    if mart.is_as_before:
        return Change([], rows, 0 if day else None)
    scope, before = _scope(mart, day), held.to_pyarrow_dataset()
    if max(part.count_rows(filter=scope) for part in (before, built)) <= MOST_AT_ONCE:
        before, built = (ds.dataset(part.to_table(filter=scope, **LITTLE_AHEAD)) for part in (before, built))
    changed, months = 0, []
    for month in _months(before, built, day, scope):
        old, new = (part.to_table(filter=both(scope, _within(day, month)), **LITTLE_AHEAD) for part in (before, built))
        if same(old, new):
            # Rows that are the same mostly come in the same order.
            continue
        old, new = ordered(old), ordered(new)
        if not same(old, new):
            months.append(month)
            changed += _days_changed(old, new, day) if day else 0
    return Change(months, rows, changed if day else None)


def commit(mart: Mart, change: Change, build: str) -> Published:
    """Write what has changed, in commits that name the build."""
    if change.months is None or (len(change.months) > MOST_MONTHS and mart.clusters is None):
        replace_all(mart, change.rows, build)
        return Published(change.rows, change.days)
    if not change.months:
        return Published(change.rows, change.days)
    built, held = ds.dataset(mart.folder, format="parquet"), DeltaTable(mart.table)
    day, only = _day_of(built), [f"cluster_id in ({', '.join(map(literal, mart.clusters))})"] if mart.clusters is not None else []
    if len(change.months) > MOST_MONTHS:
        rows = built.scanner(filter=_scope(mart, None), **LITTLE_AHEAD).to_reader()
        replace_some(held, rows, only[0], build)
        return Published(change.rows, change.days)
    for month in change.months:
        new = ordered(built.to_table(filter=both(_scope(mart, day), _within(day, month)), **LITTLE_AHEAD))
        where = " and ".join(only + _text_within(day, month, mart.since))
        replace_some(held, new, where or None, build)
    return Published(change.rows, change.days)


def replace_some(held: DeltaTable, rows: pa.Table | pa.RecordBatchReader, where: str | None, build: str) -> None:
    """Replace the rows of a Delta table for which a condition holds."""
    properties = versions.of_build(build)
    write_deltalake(held, rows, mode="overwrite", predicate=where, writer_properties=WRITTEN, commit_properties=properties)


def replace_all(mart: Mart, rows: int, build: str) -> None:
    """Replace the content of a Delta table, which need not exist yet, by the Parquet files of a folder, as they are, which have so many rows."""
    properties = versions.of_build(build)
    held = DeltaTable(mart.table) if DeltaTable.is_deltatable(mart.table) else None
    if held is None:
        # A folder without a log is not a table: a killed build left it.
        shutil.rmtree(mart.table, ignore_errors=True)
    if held is None or held.metadata().partition_columns:
        DeltaTable.create(
            mart.table,
            mart.columns,
            mode="error" if held is None else "overwrite",
            description=mart.description,
            configuration=CONFIGURATION,
            commit_properties=properties,
        )
    files = [Added.moved(file, mart.table) for file in sorted(mart.folder.glob("*.parquet"))]
    must_be_all(sum(file.rows for file in files), rows, mart.folder)
    add(DeltaTable(mart.table), files, "overwrite", mart.columns, properties)


def replace_days(table: str, folder: Path, model: Model, columns: Schema, days: Sequence[str] | None, rows: int | None = None) -> None:
    """Replace some days of a Delta table (None: all of it) by the Parquet files of a folder that is partitioned by day, into which so many rows
    were written (None: not known)."""
    if days is None:
        is_there = DeltaTable.is_deltatable(table)
        if not is_there:
            shutil.rmtree(table, ignore_errors=True)
        parts = list(model.partition_by)
        DeltaTable.create(
            table,
            columns,
            mode="overwrite" if is_there else "error",
            partition_by=parts,
            description=model.description,
            configuration=CONFIGURATION,
        )
    held = DeltaTable(table)
    files = []
    for file in sorted(folder.glob("*/*.parquet")):
        name, value = file.parent.name.split("=", 1)
        files.append(Added.moved(file, table, file.parent.name, {name: None if value == NO_VALUE else value}))
    must_be_all(sum(file.rows for file in files), rows, folder)
    only = None if days is None else [(name, "in", list(days)) for name in held.metadata().partition_columns]
    add(held, files, "append" if days is None else "overwrite", held.schema(), only=only)
    shutil.rmtree(folder, ignore_errors=True)


def ordered(rows: pa.Table, first: Sequence[str] = ()) -> pa.Table:
    """Rows sorted by their values, so that equal rows come in the same order; `first`: the columns to sort by first."""
    plain = [field.name for field in rows.schema if not pa.types.is_nested(field.type)]
    names = [*first, *(name for name in plain if name not in first)]
    return rows.sort_by([(name, "ascending") for name in names]) if names else rows


def same(old: pa.Table, new: pa.Table) -> bool:
    """Whether two tables in order hold the same values."""
    return old.num_rows == new.num_rows and all(old[name].cast(new[name].type).equals(new[name]) for name in new.schema.names)


def _day_of(rows: ds.Dataset) -> str | None:
    return next((name for name in rows.schema.names if name.endswith("_date")), None)


def _scope(mart: Mart, day: str | None) -> pc.Expression | None:
    """The condition that a row is of a cluster that was built, and of a day that was rebuilt or of none."""
    of_built = of_clusters(mart.clusters) if mart.clusters is not None else None
    return both(of_built, pc.field(day).is_null() | (pc.field(day) >= mart.since) if day and mart.since else None)


def _months(before: ds.Dataset, built: ds.Dataset, day: str | None, scope: pc.Expression | None) -> list[dt.date | None]:
    """First days of the months that occur in two tables, None for rows without a day; None alone where the tables have no days."""
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


def _text_within(day: str | None, month: dt.date | None, since: dt.date | None) -> list[str]:
    if day is None:
        return []
    if month is None:
        return [f"{day} is null"]
    return [f"{day} >= date '{max(month, since or month)}' and {day} < date '{_next(month)}'"]


def _next(month: dt.date) -> dt.date:
    return (month + dt.timedelta(days=31)).replace(day=1)


def of_clusters(clusters: Collection[str | None]) -> pc.Expression:
    """The condition that a row is of one of some clusters."""
    return pc.field("cluster_id").isin(pa.array(clusters, pa.string()))


def both(one: pc.Expression | None, other: pc.Expression | None) -> pc.Expression | None:
    """Two conditions joined by and; either may be missing."""
    if one is None or other is None:
        return one if other is None else other
    return one & other


def _days_changed(old: pa.Table, new: pa.Table, day: str) -> int:
    days = set(pc.unique(old[day]).to_pylist()) | set(pc.unique(new[day]).to_pylist())

    def of(rows: pa.Table, value: dt.date | None) -> pa.Table:
        return rows.filter(pc.is_null(rows[day]) if value is None else pc.equal(rows[day], pa.scalar(value)))

    return sum(not same(of(old, value), of(new, value)) for value in days)
