"""Which columns hold keys of which other tables, for clients that ask: the relationship tests of the models say so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import yaml

from chronicle.project import PROJECT, PUBLISHED_IN

REF = re.compile(r"ref\('(\w+)'\)")


@dataclass(frozen=True)
class Relation:
    """A column whose values are keys of another table, or null."""

    schema: str
    table: str
    column: str
    to_schema: str
    to_table: str
    to_column: str


def schema_of(table: str) -> str | None:
    """The schema of a published table; None for a step."""
    return PUBLISHED_IN.get(table.split("_")[0])


def relations(models: Path = PROJECT / "models") -> list[Relation]:
    """The relations between published tables, in order.  A test of some rows alone (`where`) makes none, nor one of a column that is not the first of
    its table, which is the key."""
    keys, found = {}, []
    for path in models.rglob("*.yml"):
        if schema_of(path.stem):
            for model in yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)["models"]:
                keys[model["name"]] = model["columns"][0]["name"]
                found += [relation for column in model["columns"] for relation in of_column(model["name"], column)]
    return sorted((one for one in found if keys.get(one.to_table) == one.to_column), key=astuple)


def of_column(table: str, column: dict[str, Any]) -> Iterator[Relation]:
    """The relations of a column that its tests state."""
    for test in column.get("data_tests", ()):
        stated = test.get("relationships") if isinstance(test, dict) else None
        if stated is None or "where" in stated.get("config", {}):
            continue
        named = REF.fullmatch(stated["arguments"]["to"])
        schema, to_schema = schema_of(table), schema_of(named[1]) if named else None
        if named and schema and to_schema:
            yield Relation(schema, table, column["name"], to_schema, named[1], stated["arguments"]["field"])


def as_text(found: list[Relation]) -> str:
    """The relations as the server takes them: one a line, their parts separated by tabs."""
    return "\n".join("\t".join(astuple(relation)) for relation in found)
