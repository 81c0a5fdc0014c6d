"""DuckDB, delta-rs and Polars read every table straight from its folder, with the same contents as Spark."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from chronicle.build.dbt_runs import settings_kept
from chronicle.project import PROJECT
from ingestion.warehouse import Warehouse
from tests.flow.second_engines import Measures, by_delta_rs, by_duckdb, by_polars, by_spark, schema_of, values
from tests.lab import WITHOUT_CODE, Lab

READ = ("bronze", "marts", "reports")
# From this many rows on, generated code is worth its compilation.
MANY = 100_000
NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)
ENGINES: dict[str, Callable[[], Callable[[str], Measures]]] = {"duckdb": by_duckdb, "delta-rs": by_delta_rs, "polars": by_polars}


@pytest.fixture(scope="module")
def folders(lab: Lab) -> list[str]:
    """The folder of every Delta table that people read."""
    place = Warehouse.at(lab.warehouse)
    return [place.table(schema, name) for schema in READ for name in place.tables(schema)]


@pytest.fixture(scope="module")
def in_spark(lab: Lab, folders: list[str]) -> dict[str, Measures]:
    """Spark's measures of each table."""
    spark = lab.spark
    measure = by_spark(spark)
    rows = {folder: DeltaTable(folder).count() for folder in folders}
    large = [folder for folder in folders if rows[folder] >= MANY]
    with settings_kept(spark):
        for key in WITHOUT_CODE:
            spark.conf.unset(key)
        found = {folder: measure(folder) for folder in large}
    return found | {folder: measure(folder) for folder in folders if folder not in found}


def test_every_mart_and_report_is_a_delta_table(folders: list[str]) -> None:
    models = {path.stem for name in ("dim_*", "fct_*", "rpt_*") for path in (PROJECT / "models").rglob(f"{name}.sql")}
    assert models - {Path(folder).name for folder in folders} == set()


def test_tables_ask_nothing_of_a_reader_that_old_ones_cannot_do(folders: list[str]) -> None:
    asking = []
    for folder in folders:
        table = DeltaTable(folder)
        protocol, configuration = table.protocol(), table.metadata().configuration
        modern = [key for key in configuration if key in ("delta.enableDeletionVectors", "delta.columnMapping.mode")]
        if protocol.min_reader_version != 1 or protocol.reader_features or modern:
            asking.append((folder, protocol, modern))
    assert asking == []


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_find_what_spark_finds(folders: list[str], in_spark: dict[str, Measures], engine: str) -> None:
    measure = ENGINES[engine]()
    different = []
    for folder in folders:
        expected, found = in_spark[folder], measure(folder)
        assert expected.keys() == found.keys()
        different += [(folder, label, said, found[label]) for label, said in expected.items() if found[label] != said]
    assert different == []


def test_what_is_compared_is_not_nothing(folders: list[str], in_spark: dict[str, Measures]) -> None:
    """Every column is counted; nearly all tables have rows, and each of these has a value somewhere."""
    uncounted = [(folder, v.label) for folder in folders for v in values(schema_of(folder)) if f"{v.label} values" not in in_spark[folder]]
    assert uncounted == []
    filled = [folder for folder in folders if in_spark[folder]["rows"]]
    assert len(filled) > 0.9 * len(folders)
    assert all(any(value for label, value in in_spark[folder].items() if label.endswith(" greatest")) for folder in filled)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_value_that_is_read_as_null_is_seen(tmp_path: Path, engine: str) -> None:
    """A column reads as null in engines that look for it under another name."""
    rows = {"name": ["a", None], "at": [NOON, NOON], "nodes": [[1, 2], [3]], "n": [7, 8]}
    measure, whole = ENGINES[engine](), pa.table(rows)
    write_deltalake(str(tmp_path / "whole"), whole)
    for column in rows:
        emptied = whole.set_column(whole.column_names.index(column), column, pa.nulls(2, whole.schema.field(column).type))
        write_deltalake(str(tmp_path / column), emptied)
        assert measure(str(tmp_path / column)) != measure(str(tmp_path / "whole"))
