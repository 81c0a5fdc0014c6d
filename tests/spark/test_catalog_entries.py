"""Tables and views put into the catalog with known columns are the same as those made by SQL."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from pyspark.errors import AnalysisException

from chronicle.spark import catalog, known_columns
from chronicle.spark.catalog import register_views, save_views
from chronicle.spark.internals.catalog_entries import CatalogEntries
from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VIEWS = [
    ("staging", "stg_entries", "select *, map_keys(words) as keys, cast(1 as decimal(18,3)) as one from marts.fct_entries"),
    ("staging", "stg_entries_of_days", "select id, `at` from staging.stg_entries"),
]
NAMES = [("marts", "fct_entries"), ("intermediate", "int_entries"), *((schema, name) for schema, name, _ in VIEWS)]
SAID = "the catalog's entries are not as SQL makes them (internals/catalog_entries.py, jvm/CatalogEntries.scala)"


@pytest.fixture(scope="module")
def place(spark: SparkSession, warehouse: str) -> Warehouse:
    """A warehouse with a Delta table and a step of Parquet files."""
    place = Warehouse.at(warehouse)
    for schema in ("marts", "intermediate", "staging"):
        spark.sql(f"create schema if not exists {schema} location '{warehouse}/{schema}'")
    spark.sql(
        "create table marts.fct_entries (id bigint not null, `at` timestamp comment 'when', words map<string, string>, isr array<int>,"
        f" line struct<node_id: string, place: bigint>, day date) using delta location '{place.table('marts', 'fct_entries')}'"
    )
    spark.sql("insert into marts.fct_entries select 1, timestamp'2026-05-01', map('a', 'b'), array(1), struct('1', 2), date'2026-05-01'")
    spark.table("marts.fct_entries").write.parquet(place.table("intermediate", "int_entries"))
    return place


def forget(spark: SparkSession) -> None:
    for schema, name in NAMES:
        kind = "view" if schema == "staging" else "table"
        if spark.catalog.tableExists(f"{schema}.{name}"):
            spark.sql(f"drop {kind} {schema}.{name}")


def described(spark: SparkSession, schema: str, name: str) -> list[tuple[str | None, ...]]:
    """All that Spark describes of a table or view, except for the time of its registration."""
    told = spark.sql(f"describe extended {schema}.{name}").collect() + spark.sql(f"show tblproperties {schema}.{name}").collect()
    return [tuple(row) for row in told if row[0] not in ("Created Time", "Last Access")]


def test_entries_are_as_sql_makes_them(spark: SparkSession, place: Warehouse) -> None:
    entries = CatalogEntries(spark)
    assert entries.can_be_told, "our classes are not compiled: `make setup`"
    forget(spark)
    for schema, name in NAMES[:2]:
        provider = "delta" if schema == "marts" else "parquet"
        entries.table(schema, name, provider, place.table(schema, name), None)
    for schema, name, query in VIEWS:
        entries.view(schema, name, query, None)
    by_sql = {name: described(spark, *name) for name in NAMES}
    columns = {name: entries.columns(*name) for name in NAMES}
    rows = {name: spark.table(".".join(name)).collect() for name in NAMES}
    forget(spark)
    for schema, name in NAMES[:2]:
        known = known_columns.of_table(place.table(schema, name), is_delta=schema == "marts")
        assert known, f"{name} says no columns"
        entries.table(schema, name, "delta" if schema == "marts" else "parquet", place.table(schema, name), known)
    for schema, name, query in VIEWS:
        entries.view(schema, name, query, columns[schema, name])
    assert {name: described(spark, *name) for name in NAMES} == by_sql, SAID
    assert {name: json.loads(entries.columns(*name) or "") for name in NAMES} == {
        name: json.loads(one or "") for name, one in columns.items()
    }, SAID
    assert {name: spark.table(".".join(name)).collect() for name in NAMES} == rows, SAID


def test_views_are_analysed_once_for_all_sessions(
    spark: SparkSession, place: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHRONICLE_CACHE", str(tmp_path))
    # The session's classes stay where they are, whatever the cache folder.
    monkeypatch.setattr("chronicle.spark.own_classes.are_in", lambda spark: True)
    made: list[tuple[str, bool]] = []
    view = CatalogEntries.view

    def noted(entries: CatalogEntries, schema: str, name: str, query: str, columns: str | None) -> bool:
        made.append((name, columns is not None))
        return view(entries, schema, name, query, columns)

    monkeypatch.setattr(CatalogEntries, "view", noted)
    save_views(place, VIEWS)
    names = [name for _, name, _ in VIEWS]
    for is_known in (False, True):
        made.clear()
        register_views(spark, place)
        assert made == [(name, is_known) for name in names]
    # Known columns become invalid if a table has other columns or a view another text.
    spark.sql("alter table marts.fct_entries add columns (late boolean)")
    made.clear()
    register_views(spark, place)
    assert made == [(name, False) for name in names]
    assert "late" in spark.table("staging.stg_entries").columns
    assert len(list(tmp_path.glob("views-*.json"))) == 2


def test_tables_that_do_not_say_their_columns_are_left_to_spark(spark: SparkSession, place: Warehouse, tmp_path: Path) -> None:
    """Files that PyArrow wrote, and a folder without a Delta log."""
    [file, *_] = sorted(Path(place.table("intermediate", "int_entries")).glob("*.parquet"))
    pq.write_table(pq.read_table(file).replace_schema_metadata(None), tmp_path / "plain.parquet")
    assert known_columns.of_table(str(tmp_path), is_delta=False) is None
    assert known_columns.of_table(str(tmp_path), is_delta=True) is None
    forget(spark)
    CatalogEntries(spark).table("intermediate", "int_entries", "parquet", str(tmp_path), None)
    assert spark.table("intermediate.int_entries").count() == 1
    forget(spark)
    catalog.register(spark, place)


def test_views_of_tables_that_were_never_built_are_left_out(spark: SparkSession, place: Warehouse) -> None:
    """Only some models were built: the views of others are known, and their tables are not there."""
    missing = ("staging", "stg_missing", "select * from marts.fct_never_built")
    above = ("staging", "stg_above", "select * from staging.stg_missing")
    save_views(place, [missing, *VIEWS, above])
    assert register_views(spark, place) == [f"{schema}.{name}" for schema, name, _ in VIEWS]
    save_views(place, [("staging", "stg_wrong", "select no_column from marts.fct_entries")])
    with pytest.raises(AnalysisException, match="UNRESOLVED_COLUMN"):
        register_views(spark, place)
