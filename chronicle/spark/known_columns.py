"""The columns of tables and views, as JSON in Spark's form, without asking Spark.

Those of tables are on disk.  Those of a view follow from its text and the columns of the tables beneath; Spark finds them by analysis, in a build
or in the first session that needs them, and they are cached in a file that is named by the hash of all that.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path

import pyarrow.parquet as pq
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from ingestion import cache

# Where Spark writes the columns of a Parquet file.
IN_PARQUET = b"org.apache.spark.sql.parquet.row.metadata"
# Files kept in the cache, among them those of other warehouses and releases.
KEPT = 16


def of_table(place: str, *, is_delta: bool) -> str | None:
    """The columns of a table in a folder; None where only Spark can tell."""
    if is_delta:
        try:
            return str(DeltaTable(place).schema().to_json())
        except DeltaError:
            # Spark reports better what is wrong with it.
            return None
    for file in sorted(Path(place).glob("*.parquet")):
        found = (pq.read_schema(file).metadata or {}).get(IN_PARQUET)
        if found:
            return str(found.decode())
    return None


class ViewColumns:
    """The columns of a warehouse's views, by their full names, as far as they are known.  `views`: (schema, name, SQL) of each; `tables`: the
    columns of each table; `known`: those of views that the caller knows."""

    def __init__(
        self, views: Iterable[tuple[str, str, str]], tables: Mapping[str, str | None], known: Mapping[str, str] | None = None
    ) -> None:
        made_for = [sorted(views), sorted(tables.items()), metadata.version("pyspark")]
        self._file = cache.folder() / f"views-{hashlib.sha256(json.dumps(made_for).encode()).hexdigest()[:16]}.json"
        kept: dict[str, str] = json.loads(cache.read(self._file) or b"{}")
        self._found = {name: columns for name, columns in (known or {}).items() if name not in kept}
        self._known = kept | self._found

    def of(self, name: str) -> str | None:
        return self._known.get(name)

    def found(self, name: str, columns: str) -> None:
        """Note the columns that Spark has found."""
        self._found[name] = columns

    def save(self) -> None:
        """Keep what was found for later sessions."""
        if self._found:
            # Where the cache cannot be written, Spark is asked again.
            with contextlib.suppress(OSError):
                cache.keep(self._file, json.dumps(self._known | self._found), KEPT)
