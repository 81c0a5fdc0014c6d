"""The contents of a table as each engine that people use reads them: the same measures by Spark, DuckDB, delta-rs and Polars.

A table becomes one row of measures.  The values of every column are counted; numbers, dates, times and texts also have a minimum and a maximum,
numbers and times a checksum, texts the number of their characters, booleans how often they are true, arrays and maps the number of their entries;
the first entry of an array, and each field of a struct, is measured like a column.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pyarrow.types as types
from deltalake import DeltaTable, QueryBuilder

from tests.duck import connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Measures = dict[str, Any]
# Sums of 64-bit numbers overflow, so their remainders are summed.
PRIME = 1_000_003


@dataclass(frozen=True)
class Dialect:
    """The SQL that differs from engine to engine; `{x}` is a column or an expression."""

    quote: str
    entries: str
    map_entries: str
    first: str
    part: str
    micros: str


SPARK = Dialect("`", "size({x})", "size({x})", "get({x}, 0)", "{x}.`{name}`", "unix_micros({x})")
DUCKDB = Dialect('"', "len({x})", "cardinality({x})", "({x})[1]", "{x}.{name}", "epoch_us({x})")
DELTA_RS = Dialect('"', "array_length({x})", "cardinality({x})", "({x})[1]", "{x}['{name}']", "cast({x} as bigint)")


@dataclass(frozen=True)
class Value:
    """A column, the first entry of an array of one, or a field of a struct (`.name` in the path)."""

    path: tuple[str, ...]
    kind: pa.DataType

    @property
    def label(self) -> str:
        return "".join((self.path[0], *(part if part[:1] == "." else f"[0].{part}" if part else "[0]" for part in self.path[1:])))

    def sql(self, dialect: Dialect) -> str:
        text = f"{dialect.quote}{self.path[0]}{dialect.quote}"
        for part in self.path[1:]:
            text = text if part[:1] == "." else dialect.first.format(x=text)
            text = dialect.part.format(x=text, name=part.removeprefix(".")) if part else text
        return text

    def polars(self) -> pl.Expr:
        found = pl.col(self.path[0])
        for part in self.path[1:]:
            found = found if part[:1] == "." else found.list.first()
            found = found.struct.field(part.removeprefix(".")) if part else found
        return found


def values(schema: pa.Schema) -> Iterator[Value]:
    """The measured values of a table: its columns, and the first entries of those that are arrays."""
    for column in schema:
        yield Value((column.name,), column.type)
        if is_list(column.type):
            entry = column.type.value_type
            for part, kind in [(field.name, field.type) for field in entry] if types.is_struct(entry) else [("", entry)]:
                yield Value((column.name, part), kind)
        elif types.is_struct(column.type):
            for field in column.type:
                yield Value((column.name, f".{field.name}"), field.type)


def is_list(kind: pa.DataType) -> bool:
    return types.is_list(kind) or types.is_large_list(kind)


def is_text(kind: pa.DataType) -> bool:
    return types.is_string(kind) or types.is_large_string(kind)


def in_sql(schema: pa.Schema, dialect: Dialect) -> dict[str, str]:
    """Label of each measure → expression in an engine's SQL."""
    found = {"rows": "count(*)"}
    for value in values(schema):
        x, kind, label = value.sql(dialect), value.kind, value.label
        found[f"{label} values"] = f"count({x})"
        if types.is_boolean(kind):
            found[f"{label} true"] = f"sum(case when {x} then 1 else 0 end)"
        elif is_list(kind):
            found[f"{label} entries"] = f"sum({dialect.entries.format(x=x)})"
        elif types.is_map(kind):
            found[f"{label} entries"] = f"sum({dialect.map_entries.format(x=x)})"
        elif not types.is_struct(kind):
            found |= {f"{label} least": f"min({x})", f"{label} greatest": f"max({x})"}
            if is_text(kind):
                found[f"{label} characters"] = f"sum(length({x}))"
            elif types.is_integer(kind):
                found[f"{label} checksum"] = f"sum(abs(cast({x} as bigint)) % {PRIME})"
            elif types.is_timestamp(kind):
                found[f"{label} checksum"] = f"sum({dialect.micros.format(x=x)} % {PRIME})"
            elif types.is_floating(kind):
                found[f"{label} sum"] = f"sum({x})"
    return found


def query(schema: pa.Schema, dialect: Dialect, table: str) -> tuple[list[str], str]:
    """Labels of the measures, in order, and the query that gives them as one row."""
    measures = in_sql(schema, dialect)
    return list(measures), f"select {', '.join(f'{text} as m{number}' for number, text in enumerate(measures.values()))} from {table}"


def in_polars(schema: pa.Schema) -> dict[str, pl.Expr]:
    """Label of each measure → expression of Polars."""
    found: dict[str, pl.Expr] = {"rows": pl.len()}
    for value in values(schema):
        x, kind, label = value.polars(), value.kind, value.label
        found[f"{label} values"] = x.count()
        if types.is_boolean(kind):
            found[f"{label} true"] = x.sum()
        elif is_list(kind) or types.is_map(kind):
            found[f"{label} entries"] = (x.map.len() if types.is_map(kind) else x.list.len()).sum()
        elif not types.is_struct(kind):
            found |= {f"{label} least": x.min(), f"{label} greatest": x.max()}
            if is_text(kind):
                found[f"{label} characters"] = x.str.len_chars().sum()
            elif types.is_integer(kind):
                found[f"{label} checksum"] = (x.cast(pl.Int64).abs() % PRIME).sum()
            elif types.is_timestamp(kind):
                found[f"{label} checksum"] = (x.dt.epoch("us") % PRIME).sum()
            elif types.is_floating(kind):
                found[f"{label} sum"] = x.sum()
    return found


def plain(value: Any) -> Any:
    """A value in a form that all engines can give: times in UTC, sums of nothing as null, floats to twelve figures."""
    if isinstance(value, dt.datetime):
        return value.astimezone(dt.UTC)
    if isinstance(value, float):
        return float(f"{value:.12g}")
    return value


def told(labels: list[str], row: tuple[Any, ...]) -> Measures:
    """One row as measures.  A sum of nothing is null in SQL and 0 in Polars: 0 here."""
    sums = ("true", "entries", "characters", "checksum", "sum")
    found = {}
    for label, value in zip(labels, row, strict=True):
        value = plain(value)
        if label.endswith(sums):
            value = 0 if value is None else value if label.endswith(" sum") else int(value)
        found[label] = value
    return found


def schema_of(path: str) -> pa.Schema:
    return pa.schema(DeltaTable(path).schema().to_arrow())


def by_spark(spark: SparkSession) -> Callable[[str], Measures]:
    """Measures of a table that the session's catalog knows by its folder."""

    def measure(path: str) -> Measures:
        folder = Path(path)
        labels, text = query(schema_of(path), SPARK, f"{folder.parent.name}.`{folder.name}`")
        # Through Arrow, times keep their zone; in PySpark's rows they have that of the machine.
        return told(labels, tuple(spark.sql(text).toArrow().to_pylist()[0].values()))

    return measure


def by_duckdb() -> Callable[[str], Measures]:
    """Measures by DuckDB with its own reader of Delta."""
    session = connect()

    def measure(path: str) -> Measures:
        labels, text = query(schema_of(path), DUCKDB, f"delta_scan('{path}')")
        return told(labels, tuple(session.execute(text).to_arrow_table().to_pylist()[0].values()))

    return measure


def by_delta_rs() -> Callable[[str], Measures]:
    """Measures by delta-rs, that is by DataFusion."""

    def measure(path: str) -> Measures:
        labels, text = query(schema_of(path), DELTA_RS, "it")
        found = pa.table(QueryBuilder().register("it", DeltaTable(path)).execute(text).read_all())
        return told(labels, tuple(found.to_pylist()[0].values()))

    return measure


def by_polars() -> Callable[[str], Measures]:
    """Measures by Polars."""

    def measure(path: str) -> Measures:
        measures = in_polars(schema_of(path))
        wanted = [expression.alias(f"m{number}") for number, expression in enumerate(measures.values())]
        return told(list(measures), pl.scan_delta(path).select(wanted).collect().row(0))

    return measure
