"""`chronicle sql` without a JVM: DataFusion, which comes with delta-rs, answers a query instead of Spark where both give the same answer.

That holds for queries that consist only of what `ARGUMENTS` lists, with values of one kind where they are compared or combined.  What engines do
differently is left to Spark: arithmetic (overflow, division of integers), averages and other sums of floating point (the order of addition shows;
NaN and -0.0 compare differently), upper and lower case, `concat` and null, unions (how types widen), `in (select …)` and null, intervals, times or
numbers turned into text, arrays and structs, unless they are passed through as they are.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder
from deltalake.exceptions import DeltaError
from sqlglot import exp, parse
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify

from chronicle.ask.tables import common
from chronicle.build.versions import PUBLISHED, Record

if TYPE_CHECKING:
    from ingestion.warehouse import Warehouse

# Parts of a query that both engines understand alike, with the arguments that they may have.
ARGUMENTS: dict[type[exp.Expr], str] = {
    exp.Select: "with_ expressions distinct from_ joins where group having order limit offset",
    exp.With: "expressions",
    exp.CTE: "this alias",
    exp.Subquery: "this alias",
    exp.From: "this",
    exp.Join: "this on side kind",
    exp.Table: "this db alias",
    exp.TableAlias: "this",
    exp.Identifier: "this quoted",
    exp.Column: "this table",
    exp.Alias: "this alias",
    exp.Star: "",
    exp.Distinct: "expressions",
    exp.Where: "this",
    exp.Group: "expressions",
    exp.Having: "this",
    exp.Order: "expressions",
    exp.Ordered: "this desc nulls_first",
    exp.Limit: "expression",
    exp.Offset: "expression",
    exp.Literal: "this is_string",
    exp.Null: "",
    exp.Boolean: "this",
    exp.Paren: "this",
    exp.Neg: "this",
    exp.And: "this expression",
    exp.Or: "this expression",
    exp.Not: "this",
    exp.EQ: "this expression",
    exp.NEQ: "this expression",
    exp.GT: "this expression",
    exp.GTE: "this expression",
    exp.LT: "this expression",
    exp.LTE: "this expression",
    exp.Is: "this expression",
    exp.In: "this expressions",
    exp.Between: "this low high",
    exp.Like: "this expression",
    exp.Case: "ifs default",
    exp.If: "this true false",
    exp.Coalesce: "this expressions",
    exp.Nullif: "this expression",
    exp.Count: "this big_int",
    exp.Sum: "this",
    exp.Min: "this",
    exp.Max: "this",
    exp.Filter: "this expression",
    exp.Window: "this partition_by order over",
    exp.RowNumber: "",
    exp.Rank: "",
    exp.DenseRank: "",
    exp.Lag: "this offset",
    exp.Lead: "this offset",
    exp.Length: "this",
    exp.TimestampTrunc: "this unit",
    exp.Cast: "this to",
    exp.TryCast: "this to",
    exp.DataType: "this nested",
    exp.Var: "this",
}
# Values that are compared or combined have to be of one kind; a moment may also be compared with its text.
COMPARING = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.In, exp.Between)
MEETING = (*COMPARING, exp.Case, exp.If, exp.Coalesce, exp.Nullif)
JOINS = ("", "LEFT", "RIGHT", "FULL", "INNER", "OUTER", "CROSS")
UNITS = ("MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "YEAR")
# How a day and a moment have to be written for both engines to read them alike.
DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
MOMENT = re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d(:\d\d(\.\d{1,6})?)?)?", re.ASCII)


# sqlglot warns of what it does not understand; Spark answers that.
logging.getLogger("sqlglot").setLevel(logging.ERROR)


class NotAlike(ValueError):
    """The query is left to Spark; the text says which part is the reason."""


def answer(place: Warehouse, question: str) -> pa.Table:
    """DataFusion's answer, from the tables of one build.  Raises NotAlike where Spark has to be asked."""
    query, tables = understood(place, question)
    builder = QueryBuilder()
    for name, table in tables.items():
        builder.register(name, table)
    try:
        found = pa.RecordBatchReader.from_stream(builder.execute(query.sql("postgres"))).read_all()
        return found.cast(pa.schema([pa.field(column.name, of_spark(column.type)) for column in found.schema]))
    except (DeltaError, pa.ArrowInvalid) as error:
        raise NotAlike(f"DataFusion fails ({' '.join(str(error).split())[:100]})") from error


def of_spark(kind: pa.DataType) -> pa.DataType:
    """Spark's type for a column of DataFusion's.  Decimals are sums of integers, unsigned integers are ranks."""
    if pa.types.is_decimal(kind):
        return pa.int64()
    return pa.int32() if pa.types.is_uint64(kind) else common(kind)


def understood(place: Warehouse, question: str) -> tuple[exp.Expr, dict[str, DeltaTable]]:
    """The query for DataFusion, and its tables by the names they have in it.  Raises NotAlike."""
    if not re.match(r"(?i)\s*(select|with)\b", question):
        raise NotAlike("it is not one select")
    if "\\" in question:
        raise NotAlike("`\\` in a text")
    try:
        statements = parse(question, dialect="spark")
        if len(statements) != 1 or not isinstance(query := statements[0], exp.Select):
            raise NotAlike("it is not one select")
        must_be_listed(query)
        name_as_spark(query)
        tables = opened(place, query)
        schema: dict[str, object] = {
            name: {column.name: typed(column.type) for column in pa.schema(table.schema())} for name, table in tables.items()
        }
        must_name_once(query, {column.name for table in tables.values() for column in table.schema().fields})
        asked = annotate_types(qualify(query, schema=schema, dialect="spark"), schema=schema, dialect="spark")
    except SqlglotError as error:
        raise NotAlike(f"it is not understood ({str(error).splitlines()[0][:100]})") from error
    for part in asked.walk():
        must_be_alike(part)
    return in_words_of_datafusion(asked), tables


def must_be_listed(query: exp.Query) -> None:
    """Raises NotAlike for what `ARGUMENTS` does not list, and for names, joins and subqueries that are left to Spark."""
    for part in query.walk():
        allowed = ARGUMENTS.get(type(part))
        if allowed is None or any(value not in (None, False, []) and name not in allowed.split() for name, value in part.args.items()):
            raise NotAlike(f"`{part.sql('spark')[:60]}`")
        if isinstance(part, exp.Identifier) and part.this != part.this.lower():
            raise NotAlike(f"capital letters in the name `{part.this}`")
        if isinstance(part, exp.Join) and not {part.side or "", part.kind or ""} <= set(JOINS):
            raise NotAlike(f"a {part.side} {part.kind} join")
        if isinstance(part, exp.Subquery) and not isinstance(part.parent, exp.From | exp.Join):
            raise NotAlike("a query within an expression")


def name_as_spark(query: exp.Query) -> None:
    """Give unnamed columns the name that Spark gives them, if they are an aggregate of one column.  Raises NotAlike for others."""
    for select in query.find_all(exp.Select):
        for column in select.expressions:
            if isinstance(column, exp.Count | exp.Sum | exp.Min | exp.Max) and isinstance(of := column.this, exp.Column | exp.Star):
                name = f"{column.key}({'1' if isinstance(of, exp.Star) else of.name})"
                column.replace(exp.alias_(column.copy(), name, quoted=True))
            elif not isinstance(column, exp.Column | exp.Star | exp.Alias):
                raise NotAlike(f"`{column.sql('spark')[:60]}` without a name of its own")


def opened(place: Warehouse, query: exp.Query) -> dict[str, DeltaTable]:
    """The tables that a query reads, by new names that have no schema."""
    record, tables = Record.of(place), {}
    defined = {cte.alias for cte in query.find_all(exp.CTE)}
    for node in query.find_all(exp.Table):
        if not node.db and node.name in defined:
            continue
        schema = node.db or "marts"
        if schema not in PUBLISHED or (table := record.table(place, schema, node.name)) is None:
            raise NotAlike(f"{schema}.{node.name} is not a table that builds publish")
        if node.name in defined:
            raise NotAlike(f"`{node.name}` is the name of two things")
        tables[f"{schema}__{node.name}"] = table
        named = node.alias_or_name
        node.set("this", exp.to_identifier(f"{schema}__{node.name}"))
        node.set("db", None)
        node.set("alias", exp.TableAlias(this=exp.to_identifier(named)))
    if not tables:
        raise NotAlike("it reads no table")
    return tables


def typed(kind: pa.DataType) -> str:
    """A column's type in SQL, as far as engines agree about its values."""
    if pa.types.is_signed_integer(kind):
        return "bigint"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return "string"
    if pa.types.is_timestamp(kind):
        return "timestamp"
    return "date" if pa.types.is_date(kind) else "boolean" if pa.types.is_boolean(kind) else "double"


def must_name_once(query: exp.Query, columns: set[str]) -> None:
    """Raises NotAlike where a clause uses a name that is both a column and an alias: engines differ on which of the two they take."""
    for select in query.find_all(exp.Select):
        clauses = (select.args[name] for name in ("group", "having", "order") if select.args.get(name))
        named = {column.name for clause in clauses for column in clause.find_all(exp.Column)}
        for alias in select.expressions:
            is_same = isinstance(alias.this, exp.Column) and alias.this.name == alias.alias
            if isinstance(alias, exp.Alias) and alias.alias in columns & named and not is_same:
                raise NotAlike(f"`{alias.alias}` is the name of two things")


def must_be_alike(part: exp.Expr) -> None:
    """Raises NotAlike where the result of a part of a query depends on the engine."""
    if isinstance(part, MEETING):
        kinds = {kind_of(value) for value in met(part)} - {"null"}
        # A text that is compared with times or days, and is written as both engines read them.
        is_written = isinstance(part, COMPARING) and any(
            kinds == {kind, "text"} and all(kind_of(value) == kind or is_moment(value, form) for value in met(part))
            for kind, form in (("time", MOMENT), ("day", DAY))
        )
        if (len(kinds) > 1 or "other" in kinds) and not is_written:
            raise NotAlike(f"values of several kinds in `{part.sql('spark')[:60]}`")
        if isinstance(part, exp.In) and not all(isinstance(value, exp.Literal | exp.Neg) for value in part.expressions):
            # DataFusion 55 takes `not in (1, null)` for `<> 1`.
            raise NotAlike(f"`{part.sql('spark')[:60]}`: a list of more than numbers and texts")
    elif isinstance(part, exp.Cast):
        to = kind_of(part)
        is_literal = isinstance(part.this, exp.Literal) and is_moment(part.this, DAY if to == "day" else MOMENT)
        if to not in ("day", "time") or not (is_literal or (to == "day" and kind_of(part.this) in ("day", "time"))):
            raise NotAlike(f"`{part.sql('spark')[:60]}`")
    elif isinstance(part, exp.Sum | exp.Neg):
        if kind_of(part.this) != "integer" or (isinstance(part, exp.Neg) and not isinstance(part.this, exp.Literal)):
            raise NotAlike(f"`{part.sql('spark')[:60]}` of anything but integers")
    elif isinstance(part, exp.Distinct) and len(part.expressions) > 1:
        raise NotAlike(f"`{part.sql('spark')[:60]}` of several columns")
    elif isinstance(part, exp.Like | exp.Length) and {kind_of(value) for value in part.iter_expressions()} != {"text"}:
        raise NotAlike(f"`{part.sql('spark')[:60]}` of anything but texts")
    elif isinstance(part, exp.TimestampTrunc) and not (kind_of(part.this) == "time" and part.text("unit") in UNITS):
        raise NotAlike(f"`{part.sql('spark')[:60]}`")
    elif isinstance(part, exp.And | exp.Or | exp.Not | exp.Where | exp.Having):
        if not {kind_of(value) for value in part.iter_expressions()} <= {"truth", "null"}:
            raise NotAlike(f"`{part.sql('spark')[:60]}` of anything but truths")
    elif isinstance(part, exp.Column | exp.Literal) and kind_of(part) == "other":
        # Selected as it is, the value is the same; compared, grouped, ordered or computed with, the result may differ.
        shown = part.parent if isinstance(part.parent, exp.Alias) else part
        select = shown.parent
        order = select.args.get("order") if select else None
        keys = {key.this.name for key in order.expressions if isinstance(key.this, exp.Column)} if order else set()
        is_shown = isinstance(part, exp.Column) and isinstance(select, exp.Select) and not select.args.get("distinct")
        if not is_shown or shown.alias_or_name in keys:
            raise NotAlike(f"`{part.name}` is a floating-point number, a list or a record")


def met(part: exp.Expr) -> Iterator[exp.Expr]:
    """The values of a part that have to be of one kind: those that are compared, or of which one is taken."""
    if isinstance(part, exp.If):
        # Branches of a `case` are values of the `case`.
        yield from [] if isinstance(part.parent, exp.Case) else [value for value in (part.args["true"], part.args.get("false")) if value]
    elif isinstance(part, exp.Case):
        yield from (branch.args["true"] for branch in part.args["ifs"])
        yield from [part.args["default"]] if part.args.get("default") else []
    else:
        yield from part.iter_expressions()


def kind_of(value: exp.Expr) -> str:
    """integer, text, time, day, truth, null, or other."""
    if isinstance(value, exp.Paren | exp.Alias):
        return kind_of(value.this)
    if isinstance(value, exp.Literal):
        return "text" if value.is_string else "integer" if re.fullmatch(r"\d{1,18}", value.name) else "other"
    if isinstance(value, exp.Sum):
        return "integer"
    if isinstance(value, exp.TimestampTrunc):
        return "time"
    if isinstance(value, exp.Column) and not value.table and (select := value.parent_select):
        # A name of the select list, in `order by`.
        named = (column.this for column in select.expressions if isinstance(column, exp.Alias) and column.alias == value.name)
        return next(map(kind_of, named), "other")
    if value.type is None:
        return "other"
    for kind, types in (
        ("integer", exp.DataType.INTEGER_TYPES),
        ("text", exp.DataType.TEXT_TYPES),
        ("time", {exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPLTZ}),
        ("day", {exp.DType.DATE}),
        ("truth", {exp.DType.BOOLEAN}),
        ("null", {exp.DType.NULL}),
    ):
        if value.type.this in types:
            return kind
    return "other"


def is_moment(value: exp.Expr, form: re.Pattern[str] = MOMENT) -> bool:
    return isinstance(value, exp.Literal) and value.is_string and bool(form.fullmatch(value.name))


def in_words_of_datafusion(query: exp.Expr) -> exp.Expr:
    """A query with moments written in full, and with sums that cannot overflow silently."""

    def written(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Sum):
            return exp.Sum(this=exp.cast(part.this, "decimal(38, 0)"))
        if isinstance(part, exp.Cast) and kind_of(part) == "time" and isinstance(part.this, exp.Literal):
            return exp.cast(exp.Literal.string(in_full(part.this.name)), exp.DType.TIMESTAMPTZ)
        if (
            is_moment(part)
            and isinstance(part.parent, COMPARING)
            and "time" in {kind_of(value) for value in part.parent.iter_expressions()}
        ):
            return exp.cast(exp.Literal.string(in_full(part.name)), exp.DType.TIMESTAMPTZ)
        return part

    return query.transform(written)


def in_full(moment: str) -> str:
    """A moment with its seconds, in UTC."""
    day, _, clock = moment.partition(" ")
    return f"{day}T{(clock or '00:00') + ('' if clock.count(':') == 2 else ':00')}Z"
