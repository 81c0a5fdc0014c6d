"""Queries the tables of a warehouse without a session: delta-rs answers in milliseconds."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from string import Template
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder
from deltalake.exceptions import DeltaError

from chronicle.build.versions import PUBLISHED, Record
from chronicle.output.sql_text import moment
from ingestion.sql_text import literal
from ingestion.warehouse import Warehouse, writer

Row = dict[str, Any]
# Tables that ingestion commits to are read as they are now.
READ = ("bronze", *PUBLISHED)
# Nulls are ordered as Spark does, first if ascending.
DIALECT = (
    *(f"create schema {schema}" for schema in READ),
    "set datafusion.catalog.default_schema = 'marts'",
    "set datafusion.catalog.information_schema = true",
    "set datafusion.sql_parser.enable_ident_normalization = true",
    "set datafusion.sql_parser.default_null_ordering = 'nulls_min'",
)
# What DataFusion says of a table that it does not know.
UNKNOWN_TABLE = re.compile(r"table 'datafusion\.([^.']+)\.([^']+)' not found")


class NotBuilt(LookupError):
    """A table or column is not in this warehouse: it is older than the question, or was built in part."""


class Tables:
    """The tables of a warehouse, all of one build, each opened when it is first asked for.  A name without a schema is looked for in `marts`."""

    def __init__(self, place: Warehouse) -> None:
        self.place = place
        self.record = Record.of(place)
        self.builder = QueryBuilder()
        self.known: dict[tuple[str, str], bool] = {}
        for statement in DIALECT:
            self.builder.execute(statement)

    def must_be_built(self) -> None:
        """Raises NotBuilt before the first build is done, and says whether one is running."""
        if not self._is_there("marts", "dim_clusters"):
            running = writer(self.place)
            cure = f"{running} is writing to it now; try again when it is done" if running else "run `chronicle build`"
            raise NotBuilt(f"{self.place.root}: no build has been completed yet, so there are no tables to query; {cure}")

    def rows(self, query: str) -> list[Row]:
        """Rows of a query.  Raises NotBuilt if a table or one of its columns is missing."""
        rows: list[Row] = self.table(query).to_pylist()
        return rows

    def table(self, query: str) -> pa.Table:
        """What `rows` gives, as an Arrow table."""
        try:
            return self.answer(query)
        except DeltaError as error:
            if table := UNKNOWN_TABLE.search(str(error)):
                raise NotBuilt(f"{table[1]}.{table[2]}") from error
            if lacking := re.search(r"No field named (\S+?)\.?(?:\s|$)", str(error)):
                raise NotBuilt(f"the column {lacking[1]}") from error
            raise

    def answer(self, query: str) -> pa.Table:
        """The answer of one statement.  Raises DeltaError, or ArrowInvalid while it reads rows, with DataFusion's words."""
        found = pa.RecordBatchReader.from_stream(self._planned(query)).read_all()
        # Times of a nanosecond are cut; no number of rows needs the 64th bit.
        return found.cast(pa.schema([pa.field(column.name, common(column.type)) for column in found.schema]), safe=False)

    def _planned(self, query: str) -> Any:
        while True:
            try:
                return self.builder.execute(query)
            except DeltaError as error:
                # It names one table that it lacks at a time.
                lacking = UNKNOWN_TABLE.search(str(error))
                if lacking is None or (lacking[1], lacking[2]) in self.known or not self._is_there(lacking[1], lacking[2]):
                    raise

    def _is_there(self, schema: str, name: str) -> bool:
        if (schema, name) not in self.known:
            table = self.opened(schema, name)
            self.known[schema, name] = table is not None
            if table is not None:
                self.builder.register(f"{schema}.{name}", table)
        return self.known[schema, name]

    def opened(self, schema: str, name: str) -> DeltaTable | None:
        """A table as queries read it; None if it is not there."""
        return self.record.table(self.place, schema, name) if schema in READ else None


def common(kind: pa.DataType) -> pa.DataType:
    """A type that every reader knows, in place of DataFusion's own.

    Times finer than a microsecond would become objects of pandas, whose import takes longer than the query; string views are not
    written to Parquet.
    """
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", tz="UTC")
    if pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_unsigned_integer(kind):
        return pa.int64()
    if pa.types.is_map(kind):
        return pa.map_(common(kind.key_type), common(kind.item_type))
    if pa.types.is_list(kind):
        return pa.list_(common(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, common(field.type)) for field in kind])
    return kind


@dataclass(frozen=True)
class Period:
    """A cluster, from `since` to before `until`."""

    cluster: str
    since: dt.datetime
    until: dt.datetime

    def filled(self, query: str, **more: str) -> str:
        """A query with $cluster, $since, $until and others filled in."""
        return Template(query).substitute(cluster=literal(self.cluster), since=moment(self.since), until=moment(self.until), **more)
