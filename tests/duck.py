"""DuckDB with its own reader of Delta, which comes as a package: nothing is downloaded."""

from __future__ import annotations

from pathlib import Path

import duckdb
import duckdb_extension_delta


def connect() -> duckdb.DuckDBPyConnection:
    """A session in UTC that knows `delta_scan`."""
    session = duckdb.connect()
    folder = Path(duckdb_extension_delta.__file__).parent
    session.execute(f"load '{folder}/extensions/v{duckdb.__version__}/delta.duckdb_extension'")
    session.execute("set timezone = 'UTC'")
    return session
