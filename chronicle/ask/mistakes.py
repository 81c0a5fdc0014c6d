"""What is wrong with a query: DataFusion's words as one line, with the position, with similar names, and with what to write instead of a function
that only Spark has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path

import yaml

from chronicle.ask.tables import READ, UNKNOWN_TABLE, Tables
from chronicle.spark.catalog import kept_views, tables
from ingestion.warehouse import SCHEMAS, STEPS, Warehouse

# Spark's functions -> how DataFusion writes what they do.
FUNCTIONS = Path(__file__).with_name("spark_functions.yml")
PAGE = "docs/dialect.md"
SPARK = "use --engine spark"
# Texts, names in quotes and comments, where nothing in a text is escaped.
QUOTED = re.compile(r"'(?:[^']|'')*+'|\"(?:[^\"]|\"\")*+\"|`(?:[^`]|``)*+`|--[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?")
# Words of a query that are mistyped most.
WORDS = ("select", "from", "where", "group", "order", "having", "limit", "join", "distinct", "between", "show", "describe", "explain")
# Longer messages are cut after so many characters.
MOST = 300


class WrongQuestion(ValueError):
    """The SQL is not understood, names what is not there, or would change something; one line, with position or suggestion."""


def explained(asked: Tables, text: str, error: str) -> str:
    """What DataFusion says about a query, for people."""
    if table := UNKNOWN_TABLE.search(error):
        return unread_table(asked.place, table[1], table[2]) + position(text, table[2])
    if column := re.search(
        r"No field named (?P<name>.+?)\.(?: Did you mean .*)?$(?:[\s\S]*?^Valid fields are (?P<fields>.*?)\.?$)?", error, re.M
    ):
        name = column["name"].replace('"', "")
        read = [f"{schema}.{table}" for (schema, table), is_there in asked.known.items() if is_there]
        fields = (column["fields"] or "").replace('"', "").split(", ")
        return unknown_column(name, fields, read) + position(text, name.rpartition(".")[2])
    if function := re.search(r"Invalid function '(.+?)'|table function '(.+?)' not found", error):
        name = function[1] or function[2]
        return unknown_function(asked, name) + position(text, name)
    if re.search("not implemented: Query (?:INSERT|UPDATE|DELETE|MERGE)", error):
        return "only queries are allowed, and this would change something"
    if syntax := re.search(r'(?:Parser|Tokenizer)Error\("(.*?)(?: at Line: (\d+), Column: (\d+))?"\)', error, re.DOTALL):
        return misparsed(text, syntax[1].replace('\\"', '"'), int(syntax[2] or 0), int(syntax[3] or 0))
    said = re.sub(
        r"\b(?:Error during planning|External error|Arrow error|Parser error|Execution error): ", "", error.split("caused by\n")[-1]
    )
    said = shortened(re.sub(r"^This feature is not implemented: (.*)", rf"DataFusion has no \1: {SPARK}", said, flags=re.DOTALL))
    if re.fullmatch(r"Error parsing timestamp from '\d{4}-\d\d-\d\d[ T]\d\d:\d\d'.*", said):
        return f"{said}; write the seconds, too: 2026-06-10 15:48:00"
    return said


def shortened(said: str) -> str:
    said = " ".join(said.split())
    return said if len(said) <= MOST else f"{said[:MOST]} …"


def unread_table(place: Warehouse, schema: str, name: str) -> str:
    """Why DataFusion cannot read a table: it is not there, or only Spark can."""
    there = known_tables(place)
    if (schema, name) in there and schema in STEPS:
        return f"{schema}.{name} is a step of the build, which only Spark reads: {SPARK}"
    if (schema, name) in there and schema in SCHEMAS:
        return f"{schema}.{name} is a view in Spark's SQL: {SPARK}"
    given = name if schema == "marts" else f"{schema}.{name}"
    return unknown_table(given, [f"{one}.{other}" for one, other in there if one in READ])


def known_tables(place: Warehouse) -> list[tuple[str, str]]:
    """(schema, name) of all tables and views; of a warehouse in a bucket, those that its last build published."""
    if not place.is_local:
        return Tables(place).record.tables(place)
    return [*tables(place), *((schema, name) for schema, name, _ in kept_views(place))]


def unknown_table(name: str, there: Sequence[str]) -> str:
    """An error for a table that does not exist, with the tables whose names are most like it."""
    wanted = name if "." in name and name.split(".")[0] in SCHEMAS else f"marts.{name}"
    near = get_close_matches(wanted, there, n=3, cutoff=0.6) or sorted(known for known in there if known.startswith("marts."))
    offered = f"did you mean {', '.join(near[:3])}?" if near else "the warehouse has no marts yet; run `chronicle run PATH` first"
    return f"there is no table {name}; {offered}"


def unknown_column(name: str, fields: Sequence[str], read: Sequence[str]) -> str:
    """What a query lacks, and what is like it.  `fields`: all that it may name; `read`: the tables that it reads."""
    of, _, column = name.rpartition(".")
    offered = sorted({field.rpartition(".")[2] for field in fields if not of or field.startswith(f"{of}.")})
    near = get_close_matches(column.lower(), offered, n=3, cutoff=0.6)
    where = " or ".join(read[:3]) + (" …" if len(read) > 3 else "") or "the query"
    suggestion = (
        f"did you mean {', '.join(near)}?" if near else f"`describe {read[0]}` lists its columns" if read else f"it has {', '.join(fields)}"
    )
    return f"there is no column {column} in {where}; {suggestion}"


def unknown_function(asked: Tables, name: str) -> str:
    """What to write instead of a function that DataFusion does not have."""
    if instead := of_spark().get(name.lower()):
        return f"{name} is Spark's; DataFusion writes {instead} ({PAGE}), or {SPARK}"
    there = sorted({row["function_name"] for row in asked.rows("show functions")})
    near = get_close_matches(name.lower(), there, n=3, cutoff=0.75)
    return f"there is no function {name}" + (
        f"; did you mean {', '.join(near)}?" if near else f" in DataFusion ({PAGE}); for Spark's, {SPARK}"
    )


@cache
def of_spark() -> dict[str, str]:
    """Spark's functions that have another form in DataFusion."""
    found: dict[str, str] = yaml.load(FUNCTIONS.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return found


def misparsed(text: str, said: str, line: int, column: int) -> str:
    """Where the parser stopped, and a word there or just before that is much like another."""
    said = said[:1].lower() + shortened(said)[1:]
    if not line:
        return f"Syntax error: {said}"
    offset = sum(map(len, text.splitlines(keepends=True)[: line - 1])) + column - 1
    before = [(found[0], found.start()) for found in re.finditer(r"\w+", blanked(text)) if found.start() <= offset][-2:]
    meant = [(word, near) for word, _ in before for near in get_close_matches(word.lower(), WORDS, n=1, cutoff=0.7) if near != word.lower()]
    suggestion = f"; did you mean {meant[0][1]} for '{meant[0][0]}'?" if meant else ""
    return f"Syntax error: {said}{suggestion} {at(text, offset)}"


def blanked(text: str) -> str:
    """A query with blanks for its texts and comments."""
    return QUOTED.sub(lambda found: found[0] if found[0][0] in '"`' else " " * len(found[0]), text)


def position(text: str, name: str) -> str:
    """Where a query names something first."""
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", blanked(text), re.IGNORECASE)
    return f" {at(text, found.start())}" if found else ""


def at(text: str, offset: int) -> str:
    """A place in a query, as people and editors count."""
    before = text[:offset]
    return f"(line {before.count(chr(10)) + 1}, column {offset - before.rfind(chr(10))})"
