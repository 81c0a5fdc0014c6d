"""Queries the tables of a warehouse without a session: delta-rs answers in milliseconds."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from string import Template
from typing import Any

import pyarrow as pa
from deltalake import QueryBuilder
from deltalake.exceptions import DeltaError

from chronicle.build.versions import Record
from chronicle.output.sql_text import moment
from ingestion.sql_text import literal
from ingestion.warehouse import Warehouse, is_written_to

Row = dict[str, Any]
# String literals, which stay as they are, and the names of tables outside of them.
NAMES = re.compile(r"'(?:[^']|'')*'|\b(marts|reports)\.(\w+)")


class NotBuilt(LookupError):
    """A table or column is not in this warehouse: it is older than the question, or was built in part."""


class Tables:
    """The tables of a warehouse, all of one build, each opened when it is first asked for."""

    def __init__(self, place: Warehouse) -> None:
        self.place = place
        self.record = Record.of(place)
        self.builder = QueryBuilder()
        self.known: dict[str, bool] = {}

    def must_be_built(self) -> None:
        """Raises NotBuilt before the first build is done, and says whether one is running."""
        if not self._is_there("marts", "dim_clusters"):
            running = is_written_to(self.place)
            cure = "another chronicle is writing to it now; try again when it is done" if running else "run `chronicle build`"
            raise NotBuilt(f"{self.place.root}: no build has been completed yet, so there are no tables to query; {cure}")

    def rows(self, query: str) -> list[Row]:
        """Rows of a query over `schema.table` names.  Raises NotBuilt if a table or one of its columns is missing."""
        rows: list[Row] = self.table(query).to_pylist()
        return rows

    def table(self, query: str) -> pa.Table:
        """What `rows` gives, as an Arrow table."""
        for schema, name in sorted({(found[1], found[2]) for found in NAMES.finditer(query) if found[1]}):
            if not self._is_there(schema, name):
                raise NotBuilt(f"{schema}.{name}")
        flat = NAMES.sub(lambda found: f"{found[1]}__{found[2]}" if found[1] else found[0], query)
        try:
            found = pa.RecordBatchReader.from_stream(self.builder.execute(flat)).read_all()
        except DeltaError as error:
            lacking = re.search(r"No field named (\S+?)\.?(?:\s|$)", str(error))
            if lacking is None:
                raise
            raise NotBuilt(f"the column {lacking[1]}") from error
        return found.cast(pa.schema([pa.field(column.name, common(column.type)) for column in found.schema]))

    def _is_there(self, schema: str, name: str) -> bool:
        key = f"{schema}__{name}"
        if key not in self.known:
            table = self.record.table(self.place, schema, name)
            self.known[key] = table is not None
            if table is not None:
                self.builder.register(key, table)
        return self.known[key]


def common(kind: pa.DataType) -> pa.DataType:
    """A type that every reader knows, in place of DataFusion's own.

    Times finer than a microsecond would become objects of pandas, whose import takes longer than the query; string views are not
    written to Parquet.
    """
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", tz="UTC")
    if pa.types.is_string_view(kind):
        return pa.string()
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
