"""DuckDB with its own reader of Delta, which comes as a package: nothing is downloaded."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import duckdb_extension_delta

from dashboards.described import dbt_models
from ingestion.warehouse import Warehouse

# Functions that have another name in Spark than in DuckDB.
MACROS = [
    "create macro unix_millis(moment) as epoch_ms(moment)",
    "create macro date_format(moment, form) as strftime(moment, '%Y-%m-%d %H:%M:%S')",
    "create macro get(items, number) as items[number + 1]",
    "create macro explode(items) as unnest(items)",
]


def connect() -> duckdb.DuckDBPyConnection:
    """A session in UTC that knows `delta_scan`."""
    session = duckdb.connect()
    folder = Path(duckdb_extension_delta.__file__).parent
    session.execute(f"load '{folder}/extensions/v{duckdb.__version__}/delta.duckdb_extension'")
    session.execute("set timezone = 'UTC'")
    return session


def show_marts(session: duckdb.DuckDBPyConnection, place: Warehouse) -> None:
    """Create views of the published tables of a warehouse, and functions under the names that they have in Spark."""
    session.execute("create schema marts; create schema reports")
    for macro in MACROS:
        session.execute(macro)
    for name, (schema, _, _) in dbt_models().items():
        session.execute(f"create view {schema}.{name} as from delta_scan('{place.table(schema, name)}')")


def comparable(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Sorted rows, with values in a form in which both engines' clients can be compared: times and days in ISO 8601 UTC, lists in JSON, floating
    numbers to nine digits."""
    return sorted((tuple(map(_plain, row)) for row in rows), key=repr)


def _plain(value: Any) -> Any:
    if isinstance(value, dt.datetime):
        text = value.astimezone(dt.UTC).replace(tzinfo=None).isoformat() if value.tzinfo else value.isoformat()
        return text.removesuffix("T00:00:00")
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, list):
        return json.dumps(value, separators=(",", ":"))
    return f"{value:.9g}" if isinstance(value, float) else value
