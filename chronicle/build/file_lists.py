"""Delta tables as a build reads them: by a list of their files, as plain Parquet.

delta-rs lists the files of a table in milliseconds.  Spark's Delta queries the table's log for each scan of each plan, and its first query takes
seconds in a new session.  `chronicle/spark/jvm/FileList.scala` reads the lists.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

from chronicle.build.session_tables import SessionTables, in_sql
from chronicle.output.sql_text import spark_literal
from chronicle.spark import own_classes
from ingestion.warehouse import Warehouse, put

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Prefix of the settings that say where the list of a table is.
LIST = "chronicle.files."
DAY = "event_date"
TIME = "logged_at"
# Columns by which models filter for a time or for new batches.
BOUNDED = (DAY, TIME, "batch_id")
# Tables with a higher reader version may have deletion vectors or mapped column names.
PLAIN_READER = 1


class FileLists:
    """Registers tables with a session, until `forget`."""

    def __init__(self, spark: SparkSession, place: Warehouse, session: SessionTables | None = None) -> None:
        self.spark, self.place, self._session = spark, place, session or SessionTables(spark)
        self._reads_lists = own_classes.are_in(spark)
        # Definitions of the registered tables, by schema and name.
        self._shown: dict[tuple[str, str], str] = {}
        self._defining = Lock()
        self._folder = place.work / "files"

    def show(self, schema: str, name: str, known_as: str | None = None) -> str:
        """Register the newest version of a Delta table.  `known_as`: under another name in its schema.  Returns its name in SQL."""
        path, known = self.place.table(schema, name), known_as or name
        sql_name, table = f"{schema}.`{known}`", DeltaTable(path)
        if not (self._reads_lists and is_plain(table)):
            self._define(schema, known, f"using delta location {spark_literal(path)}")
            return sql_name
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._folder / f"{schema}.{name}.{table.metadata().id}.{table.version()}"
        put(file, "\n".join(lines(table, path)))
        self.spark.conf.set(f"{LIST}{schema}.{known}", str(file))
        # Its location is an empty folder: Spark lists a table's location, and that of a Delta table holds more than its current files.
        empty = self._folder / "nothing"
        empty.mkdir(exist_ok=True)
        if parts := table.metadata().partition_columns:
            columns = f"({columns_in_sql(table)}) using parquet partitioned by ({', '.join(parts)})"
            self._define(schema, known, f"{columns} location {spark_literal(str(empty))}")
        else:
            self._enter(schema, known, empty, columns_in_sql(table))
        return sql_name

    def show_folder(self, schema: str, known: str, folder: Path, columns: str) -> str:
        """Register a folder of Parquet files as a table.  `columns`: as in `create table`; empty: Spark infers them.  Returns its name in SQL."""
        self._enter(schema, known, folder, columns)
        return f"{schema}.`{known}`"

    def show_rows(self, schema: str, known: str, rows: pa.Table, columns: str) -> str:
        """Register rows as a table; `columns`: as for a folder.  Returns its name in SQL."""
        folder = self._folder / f"{schema}.{known}"
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(rows, folder / "rows.parquet")
        return self.show_folder(schema, known, folder, columns)

    def _define(self, schema: str, known: str, definition: str) -> None:
        with self._defining:
            if self._shown.get((schema, known)) != definition:
                self._session.define(schema, known, definition)
                self._shown[schema, known] = definition

    def _enter(self, schema: str, known: str, folder: Path, columns: str) -> None:
        with self._defining:
            if self._shown.get((schema, known)) != f"{folder} {columns}":
                self._session.table(schema, known, folder, columns)
                self._shown[schema, known] = f"{folder} {columns}"

    def forget(self) -> None:
        """Drop the tables from the session."""
        for schema, known in self._shown:
            self.spark.conf.unset(f"{LIST}{schema}.{known}")
            self._session.drop(schema, known)
        self._shown.clear()
        shutil.rmtree(self._folder, ignore_errors=True)


def is_plain(table: DeltaTable) -> bool:
    """Whether a table can be read as plain Parquet files."""
    return table.protocol().min_reader_version <= PLAIN_READER and table.metadata().partition_columns in ([], [DAY])


def columns_in_sql(table: DeltaTable) -> str:
    """The columns of a table and their types, as in `create table`."""
    from pyspark.sql.types import StructType

    return in_sql(StructType.fromJson(json.loads(table.schema().to_json())))


def lines(table: DeltaTable, path: str) -> Iterator[str]:
    """The list of a table's files, as `FileList.scala` describes it."""
    yield f"{table.version()}\t{path}"
    files: pa.Table = pa.table(table.get_add_actions(flatten=True))
    is_parted = f"partition.{DAY}" in files.schema.names
    days = files[f"partition.{DAY}"].to_pylist() if is_parted else ["-"] * files.num_rows
    plain = (files[name].to_pylist() for name in ("size_bytes", "modification_time", "path"))
    for size, modified, file, day, *bounds in zip(*plain, days, *(bounds_of(files, name) for name in BOUNDED), strict=True):
        yield "\t".join(map(str, (size, modified, day or "null", ",".join(filter(None, bounds)), file)))


def bounds_of(files: pa.Table, column: str) -> list[str | None]:
    """The smallest and the largest value of a column in each file, as far as they are known."""
    if f"min.{column}" not in files.schema.names:
        return [None] * files.num_rows
    # Statistics of times are truncated to milliseconds.
    below = 999 if column == TIME else 0
    ends = zip(numbers(files[f"min.{column}"]), numbers(files[f"max.{column}"]), strict=True)
    return [None if first is None or last is None else f"{column}={first}:{last + below}" for first, last in ends]


def numbers(column: pa.ChunkedArray) -> list[int | None]:
    """Dates as days since 1970, times as microseconds, numbers as they are."""
    days, times = pa.types.is_date32(column.type), pa.types.is_timestamp(column.type)
    found: list[int | None] = (
        column.cast(pa.int32() if days else pa.timestamp("us", "UTC") if times else pa.int64()).cast(pa.int64()).to_pylist()
    )
    return found
