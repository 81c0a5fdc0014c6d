"""`chronicle sql`: one statement in DataFusion's dialect, answered from the published tables and bronze within a second, without a JVM.

DataFusion comes with delta-rs.  Nothing can be changed: only statements that begin as a query does are let through, and a query changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

import pyarrow as pa
from deltalake.exceptions import DeltaError

from chronicle.ask.mistakes import WrongQuestion, explained, known_tables, unread_table
from chronicle.ask.tables import Tables, common
from ingestion.warehouse import Warehouse

QUERIES = ("select", "with", "values", "from")
STATEMENTS = (*QUERIES, "show", "describe", "desc", "explain")
# What may stand between `explain` and its query.
OF_EXPLAIN = ("analyze", "verbose")
# The next word, after blanks, brackets and comments; a comment within a comment is read differently by others, and is not passed over.
NEXT = re.compile(r"(?:[\s(]|--[^\n]*(?:\n|$)|/\*(?:(?!/\*|\*/)[\s\S])*\*/)*(\w+|)")
SHOW_FUNCTIONS = re.compile(r"(?i)show\s+functions\b")
SHOW = re.compile(r"(?i)show\s+tables(?:\s+(?:in|from)\s+(\w+))?")
DESCRIBE = re.compile(r"(?i)desc(?:ribe)?\s+(?:table\s+)?(?:(\w+)\.)?(\w+)")
# How DataFusion names columns that have no name: `avg(fct_gc_pauses.duration_ms)`, `Int64(1)`, `Utf8("a")`.
OF_TABLE = re.compile(r"\b[a-z_]\w*\.(?=[a-z_])")
LITERAL = re.compile(r"\b(?:Int64|UInt64|Float64|Boolean|Utf8)\((\"?)([^()\"]*)\1\)")


def answer(place: Warehouse, question: str) -> pa.Table:
    """The answer as an Arrow table.  A name without a schema is looked for in `marts`.  Raises WrongQuestion."""
    text = question.strip().rstrip(";")
    first = must_ask(text)
    asked = Tables(place)
    if first == "show" and not SHOW_FUNCTIONS.match(text):
        return shown(place, text)
    if first in ("describe", "desc"):
        return described(asked, text)
    try:
        found = asked.answer(text)
    except (DeltaError, pa.ArrowInvalid) as error:
        raise WrongQuestion(explained(asked, text, str(error))) from error
    return found.rename_columns(named(found.column_names))


def must_ask(text: str) -> str:
    """The word that a statement begins with.  Raises WrongQuestion for a statement that may change something."""
    words = following(text, 0)
    first = next(words)
    asks = next((word for word in words if word not in OF_EXPLAIN), "") if first == "explain" else first
    if asks not in (QUERIES if first == "explain" else STATEMENTS):
        near = get_close_matches(first, STATEMENTS, n=1, cutoff=0.6) if first not in STATEMENTS else []
        meant = f"; did you mean {near[0]}?" if near else ""
        begins = f"this begins with '{asks or text[:20]}'{meant}"
        raise WrongQuestion(f"only queries are allowed (select, with, values, show, describe, explain), and {begins}")
    return first


def following(text: str, offset: int) -> Iterator[str]:
    """The words of a text in lower case, as far as nothing but blanks, brackets and comments is between them; then empty ones."""
    while found := NEXT.match(text, offset):
        yield found[1].lower()
        offset = found.end()


def shown(place: Warehouse, text: str) -> pa.Table:
    """The tables and views of all schemas, or of one."""
    found = SHOW.fullmatch(text)
    if found is None:
        raise WrongQuestion("of `show`, there are `show tables`, `show tables in marts` and `show functions like 'date%'`")
    there = [(schema, name) for schema, name in sorted(set(known_tables(place))) if found[1] in (None, schema)]
    if not there:
        raise WrongQuestion(f"there are no tables in {found[1] or place.root}")
    return pa.table({"schema": [schema for schema, _ in there], "table": [name for _, name in there]})


def described(asked: Tables, text: str) -> pa.Table:
    """The columns of a table, with what they mean."""
    found = DESCRIBE.fullmatch(text)
    if found is None:
        raise WrongQuestion("`describe` takes the name of a table: describe fct_incidents")
    schema, name = (found[1] or "marts").lower(), found[2].lower()
    table = asked.opened(schema, name)
    if table is None:
        raise WrongQuestion(unread_table(asked.place, schema, name))
    columns = pa.schema(table.schema())
    comments = [(column.metadata or {}).get(b"comment", b"").decode() for column in columns]
    return pa.table({"column": columns.names, "type": [str(common(column.type)) for column in columns], "meaning": comments})


def named(names: list[str]) -> list[str]:
    """Names of columns without what DataFusion adds to them, where they differ then."""
    plain = [LITERAL.sub(r"\2", OF_TABLE.sub("", name)) for name in names]
    return plain if len(set(plain)) == len(plain) else names
