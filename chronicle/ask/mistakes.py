"""Finds mistakes in a query without Spark, so that nobody waits for a JVM to be told of a typing error: a statement that begins with no known word, a
bracket or quote that is not closed, a table or a column that does not exist.  Only certain mistakes are reported; everything else goes to Spark.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable, QueryBuilder
from deltalake.exceptions import DeltaError
from sqlglot import Token, TokenType, exp, parse, tokenize
from sqlglot.errors import ParseError, SqlglotError

from chronicle.ask.sql import WrongQuestion, unknown_table
from chronicle.spark.catalog import kept_views, tables
from ingestion.warehouse import SCHEMAS

if TYPE_CHECKING:
    from pathlib import Path

    from ingestion.warehouse import Warehouse


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The words that a statement of Spark or Delta begins with (`statement` in Spark's SqlBaseParser.g4, Delta's DeltaSqlBase.g4).
BEGINNINGS = words(
    """add alter analyze begin cache call clear clone comment commit convert create declare delete desc describe dfs drop execute explain export from
    generate grant import insert list load lock map merge msck optimize reduce refresh reorg repair replace reset restore revoke rollback select set
    show start table truncate uncache unlock update use vacuum values with"""
)
# Texts, names in quotes and comments, also one that does not end, where nothing in a text is escaped.
QUOTED = re.compile(r"'(?:[^']|'')*+'|\"(?:[^\"]|\"\")*+\"|`(?:[^`]|``)*+`|--[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?")
# Words within a query that are mistyped most.
WITHIN = ("select", "from", "where", "group", "order", "having", "limit", "join", "distinct", "between")
# What looks like a column and is none: units of time in functions, values without brackets, what Spark adds to tables and to what functions make.
NO_COLUMNS = words(
    """year years quarter quarters month months week weeks day days dayofyear hour hours minute minutes second seconds millisecond milliseconds
    microsecond microseconds nanosecond dayofweek dow doy isoyear yearofweek epoch both leading trailing
    current_date current_time current_timestamp localtime localtimestamp current_user session_user user current_catalog current_database
    current_schema current_timezone now default null true false all any some grouping__id _metadata
    window session_window start end pos key value"""
)
# Names that Spark gives to columns without one.
MADE = re.compile(r"(?:c|col|_c|_)\d*|.*\W.*|\d.*", re.DOTALL)
# Parts of a query that bring names of their own, or of which sqlglot may mistake a word for a column.
DOUBTFUL = (
    exp.Pivot, exp.Lateral, exp.Unnest, exp.Values, exp.Kwarg, exp.PropertyEQ, exp.Lambda, exp.Command, exp.JSONExtract, exp.MatchRecognize, exp.Hint,
)  # fmt: skip


def must_be_sound(place: Warehouse, question: str) -> None:
    """Raises WrongQuestion, in one line with position and suggestion, for what Spark would refuse for certain."""
    text = question.strip().rstrip(";")
    # Escapes in texts, parameters and pipes are read differently.
    if any(sign in text for sign in ("\\", "|>", "${", "$$")):
        return
    query = understood(text)
    if query is None or not place.is_local:
        return
    there = known_tables(place)
    if any(schema == "marts" for schema, _ in there):
        read = must_be_there(query, text, there)
        if read is not None:
            must_have_columns(place, query, text, read)


def understood(text: str) -> exp.Query | None:
    """The query, if it is one and understood.  Raises WrongQuestion."""
    if quote := re.search("['\"`]", QUOTED.sub(lambda found: " " * len(found[0]), text)):
        raise WrongQuestion(f"Syntax error: {quote[0]} is opened and not closed {at(text, quote.start())}")
    try:
        tokens = tokenize(text, read="spark")
    except SqlglotError:
        return None
    if tokens and tokens[0].token_type != TokenType.L_PAREN and tokens[0].text.lower() not in BEGINNINGS:
        near = get_close_matches(tokens[0].text.lower(), BEGINNINGS, n=1, cutoff=0.6)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise WrongQuestion(f"Syntax error at or near '{tokens[0].text}'{meant} {at(text, tokens[0].start)}")
    must_be_closed(tokens, text)
    if not tokens or tokens[0].text.lower() not in ("select", "with"):
        return None
    try:
        statements = parse(text, read="spark")
    except ParseError as error:
        if not is_parsed_by_datafusion(text):
            raise WrongQuestion(misparsed(error, tokens, text)) from error
        return None
    except SqlglotError:
        return None
    return statements[0] if len(statements) == 1 and isinstance(statements[0], exp.Query) else None


def must_be_closed(tokens: list[Token], text: str) -> None:
    """Raises WrongQuestion for a bracket that is not closed, or was not opened."""
    opened: list[Token] = []
    for token in tokens:
        if token.token_type == TokenType.L_PAREN:
            opened.append(token)
        elif token.token_type == TokenType.R_PAREN:
            if not opened:
                raise WrongQuestion(f"Syntax error: ) was not opened {at(text, token.start)}")
            opened.pop()
    if opened:
        raise WrongQuestion(f"Syntax error: ( is opened and not closed {at(text, opened[-1].start)}")


def is_parsed_by_datafusion(text: str) -> bool:
    """Whether DataFusion can parse the query.  That it knows neither the tables nor some functions does not count."""
    try:
        QueryBuilder().execute(text)
    except DeltaError as error:
        return "ParserError" not in str(error) and "SQL error" not in str(error)
    return True


def misparsed(error: ParseError, tokens: list[Token], text: str) -> str:
    """Where two parsers stopped, and a word just before that is much like another."""
    found = error.errors[0] if error.errors else {}
    place = next((token for token in tokens if (token.line, token.col) == (found.get("line"), found.get("col"))), tokens[-1])
    before = [token for token in tokens if token.start <= place.start and token.token_type == TokenType.VAR][-2:]
    meant = [(token, word) for token in before for word in get_close_matches(token.text.lower(), WITHIN, n=1, cutoff=0.7)]
    suggestion = f"; did you mean {meant[0][1]} for '{meant[0][0].text}'?" if meant else ""
    return f"Syntax error at or near '{place.text}'{suggestion} {at(text, place.start)}"


def at(text: str, offset: int) -> str:
    """A place in a query, as people and editors count."""
    before = text[:offset]
    return f"(line {before.count(chr(10)) + 1}, column {offset - before.rfind(chr(10))})"


def known_tables(place: Warehouse) -> set[tuple[str, str]]:
    """(schema, name) of all tables and views."""
    return {*tables(place), *((schema, name) for schema, name, _ in kept_views(place))}


def must_be_there(query: exp.Query, text: str, there: Collection[tuple[str, str]]) -> dict[str, tuple[str, str]] | None:
    """The tables that a query reads, by the names they have in it; None if any of them may be something else.  Raises WrongQuestion."""
    defined = {cte.alias.lower() for cte in query.find_all(exp.CTE)}
    lower = {(schema, name.lower()): (schema, name) for schema, name in there}
    read: dict[str, tuple[str, str]] = {}
    is_sure = True
    for table in query.find_all(exp.Table):
        schema, name = (table.db or "marts").lower(), table.name.lower()
        if not table.db and name in defined:
            continue
        if table.catalog or not isinstance(table.this, exp.Identifier) or schema not in SCHEMAS:
            is_sure = False
        elif (schema, name) not in lower:
            given = f"{table.db}.{table.name}" if table.db else table.name
            offset = (table.args["db"] if table.db else table.this).meta.get("start")
            raise WrongQuestion(
                unknown_table(given, [f"{one}.{other}" for one, other in there]) + (f" {at(text, offset)}" if offset is not None else "")
            )
        else:
            called = table.alias_or_name.lower()
            # Two of a name: which one is meant depends on where.
            is_sure = is_sure and read.get(called, lower[schema, name]) == lower[schema, name]
            read[called] = lower[schema, name]
    return read if is_sure else None


def must_have_columns(place: Warehouse, query: exp.Query, text: str, read: dict[str, tuple[str, str]]) -> None:
    """Raises WrongQuestion for a column that none of the tables has, and that is no name given in the query."""
    if query.find(*DOUBTFUL):
        return
    columns = {called: columns_of(place, *table) for called, table in read.items()}
    if not columns or None in columns.values():
        return
    fields = {called: {field.name.lower() for field in schema} for called, schema in columns.items() if schema is not None}
    nested = {name.lower() for schema in columns.values() if schema is not None for field in schema for name in names_within(field.type)}
    made = {alias.alias.lower() for alias in query.find_all(exp.Alias)}
    given = made | {alias.alias.lower() for alias in query.find_all(exp.TableAlias, exp.CTE, exp.Subquery) if alias.alias}
    given |= {column.name.lower() for alias in query.find_all(exp.TableAlias) for column in alias.args.get("columns") or ()}
    anywhere = given | nested | NO_COLUMNS | set(fields) | {name for names in fields.values() for name in names}
    aliases = {alias.alias.lower() for alias in query.find_all(exp.CTE, exp.Subquery) if alias.alias}
    for column in query.find_all(exp.Column):
        name, of = column.name.lower(), column.table.lower()
        if not isinstance(column.this, exp.Identifier) or MADE.fullmatch(name) or (of and of not in fields and of not in aliases):
            # A field of a record is found in the record, which may have been made in the query.
            continue
        is_of_table = of in fields and of not in aliases | made and not any(of in names for names in fields.values())
        if (is_of_table and name not in fields[of] and name not in NO_COLUMNS) or name not in anywhere:
            where = [read[of]] if is_of_table else sorted(set(read.values()))
            offered = fields[of] if is_of_table else {name for names in fields.values() for name in names} | given
            raise WrongQuestion(unknown_column(column, where, sorted(offered)) + position(column, text))


def unknown_column(column: exp.Column, where: list[tuple[str, str]], offered: list[str]) -> str:
    """What a query lacks, and what is like it."""
    near = get_close_matches(column.name.lower(), offered, n=3, cutoff=0.6)
    of = " or ".join(f"{schema}.{name}" for schema, name in where[:3]) + (" …" if len(where) > 3 else "")
    suggestion = f"did you mean {', '.join(near)}?" if near else f"`describe {where[0][0]}.{where[0][1]}` lists its columns"
    return f"there is no column {column.name} in {of}; {suggestion}"


def position(column: exp.Column, text: str) -> str:
    offset = column.this.meta.get("start")
    return f" {at(text, offset)}" if offset is not None else ""


def columns_of(place: Warehouse, schema: str, name: str) -> pa.Schema | None:
    """The columns of a table; None of a view, which only Spark knows."""
    folder = place.table(schema, name)
    try:
        if DeltaTable.is_deltatable(folder):
            return pa.schema(DeltaTable(folder).schema())
        files: Iterator[Path] = (place.folder / schema / name).glob("*.parquet")
        first = next(files, None)
        return pq.read_schema(first) if first else None
    except (DeltaError, pa.ArrowInvalid, OSError):
        # Spark reports better what is wrong with it.
        return None


def names_within(kind: pa.DataType) -> Iterator[str]:
    """The names of fields within a type, at any depth."""
    if pa.types.is_struct(kind):
        for field in kind:
            yield field.name
            yield from names_within(field.type)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        yield from names_within(kind.value_type)
    elif pa.types.is_map(kind):
        yield from ("key", "value")
        yield from names_within(kind.item_type)
