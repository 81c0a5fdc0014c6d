"""A year of a fleet, made from a built warehouse: its clusters repeated under other names and on other days.

Bronze, marts and reports are copied row by row, which saves hours of building.  A repetition renames its cluster (`cluster_id`), moves
all times by whole days, and renames keys, ids of sources and batches in the same way in every table, so that rows still find each other.
"""

from __future__ import annotations

import datetime as dt
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.types as types
from deltalake import DeltaTable, write_deltalake

from tests.duck import connect

# Tables without a cluster stay as they are, except for this one, whose days are sums over the clusters' days.
OF_THE_FLEET = "rpt_fleet_daily"
# The model's expressions; every other column is a sum.
FLEET_COLUMNS = {
    "event_date": "event_date",
    "clusters": "count(*)",
    "clusters_known": "count(*) filter (where evidence_state = 'known')",
    "clusters_unknown": "count(*) filter (where evidence_state = 'unknown')",
    "clusters_with_incidents": "count(*) filter (where incidents > 0)",
    "availability_ratio": "1 - sum(leaderless_ms) / nullif(sum(partition_observed_ms), 0)",
    "kafka_versions": "list_sort(list_distinct(flatten(list(kafka_versions) filter (where kafka_versions is not null))))",
}
UNTIL = dt.date(2026, 11, 20)
DAYS = 365


@dataclass(frozen=True)
class Repetition:
    """A repetition of one cluster's history: `name` is its new name, `days` how far its times are moved."""

    number: int
    original: str
    name: str
    days: int


def repetitions(last_days: dict[str, dt.date], records: dict[str, int], clusters: int, wanted: int) -> list[Repetition]:
    """Enough repetitions for `wanted` records on `clusters` clusters, spread over the year; the same for the same warehouse."""
    dice = random.Random(7)
    originals = sorted(last_days)
    found: list[Repetition] = []
    made = 0
    taken: set[tuple[int, int]] = set()
    while made < wanted or len(found) < clusters:
        place = len(found) % clusters
        original = originals[place % len(originals)]
        # Each time on another day; histories of several days may overlap.
        day = next(day for day in iter(lambda: dice.randrange(DAYS), None) if (place, day) not in taken)
        taken.add((place, day))
        moved = (UNTIL - dt.timedelta(days=day) - last_days[original]).days
        found.append(Repetition(len(found), original, f"{original}-{place // len(originals) + 1:02d}", moved))
        made += records[original]
    return found


def moved(column: pa.Field) -> str:
    """A column of a repetition `r`, in DuckDB's SQL."""
    name, kind = column.name, column.type
    if name == "cluster_id":
        return "r.name as cluster_id"
    if name == "batch_id":
        return "batch_id + r.number * 1000000 as batch_id"
    if types.is_string(kind) and name.endswith(("_key", "source_id")):
        return f"md5({name} || r.number) as {name}"
    if types.is_timestamp(kind):
        return f"{name} + to_days(r.days) as {name}"
    if types.is_date(kind):
        return f"cast({name} + to_days(r.days) as date) as {name}"
    return name


def multiplied(session: duckdb.DuckDBPyConnection, table: str, schema: pa.Schema, parts: int) -> Iterator[pa.RecordBatchReader]:
    """A table's rows in all repetitions, ordered by cluster and day, in this many parts."""
    days = [column.name for column in schema if types.is_date(column.type)]
    order = ", ".join(["cluster_id", *days[:1]])
    columns = ", ".join(moved(column) for column in schema)
    for part in range(parts):
        yield session.sql(
            f"select {columns} from delta_scan('{table}') t join repetitions r on t.cluster_id = r.original"
            f" where r.number % {parts} = {part} order by {order}"
        ).to_arrow_reader(100_000)


def fleet_days(table: str, schema: pa.Schema) -> str:
    """DuckDB SQL that sums the days of the fleet from `rpt_cluster_daily` in the same folder."""
    columns = ", ".join(f"{FLEET_COLUMNS.get(column.name, f'sum({column.name})')} as {column.name}" for column in schema)
    return f"select {columns} from delta_scan('{Path(table).parent}/rpt_cluster_daily') group by event_date order by event_date"


def make(warehouse: str, to: str, *, clusters: int = 200, records: int = 10_000_000) -> list[Repetition]:
    """Write the fleet's warehouse.  Returns what was repeated."""
    session = connect()
    log = f"{warehouse}/bronze/log_records"
    told = session.sql(f"select cluster_id, max(event_date), count(*) from delta_scan('{log}') group by 1 having count(*) > 100").fetchall()
    found = repetitions({row[0]: row[1] for row in told}, {row[0]: row[2] for row in told}, clusters, records)
    rows = pa.Table.from_pylist([vars(one) for one in found])
    session.register("repetitions", rows)
    shutil.rmtree(to, ignore_errors=True)
    for log_folder in sorted(Path(warehouse).glob("*/*/_delta_log")):
        table = log_folder.parent
        schema_name = table.parent.name
        if schema_name in ("bronze", "marts", "reports"):
            repeat(session, str(table), f"{to}/{schema_name}/{table.name}")
    return found


def repeat(session: duckdb.DuckDBPyConnection, table: str, to: str) -> None:
    """Write one table of the fleet, with the columns, comments and partitions of the one it is made of."""
    held = DeltaTable(table)
    schema = pa.schema(held.schema().to_arrow())
    stated = held.schema()
    about = held.metadata()
    DeltaTable.create(
        to, stated, partition_by=about.partition_columns, description=about.description or None, configuration=about.configuration
    )
    if Path(table).name == OF_THE_FLEET:
        readers = iter([session.sql(fleet_days(to, schema)).to_arrow_reader(100_000)])
    elif "cluster_id" not in schema.names:
        readers = iter([session.sql(f"select * from delta_scan('{table}')").to_arrow_reader(100_000)])
    else:
        # The raw texts do not fit into memory at once.
        readers = multiplied(session, table, schema, parts=24 if Path(table).name == "log_records" else 1)
    for reader in readers:
        write_deltalake(to, reader.cast(schema), mode="append", partition_by=about.partition_columns or None)


def rows(warehouse: str) -> dict[str, int]:
    """Rows of each table of a warehouse, by schema and name."""
    logs = sorted(Path(warehouse).glob("*/*/_delta_log"))
    return {f"{log.parent.parent.name}.{log.parent.name}": DeltaTable(str(log.parent)).count() for log in logs}
