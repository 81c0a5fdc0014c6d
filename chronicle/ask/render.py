"""Renders dbt's SQL (`ref`, `var`, `config`) as plain SQL without dbt, in milliseconds.

Knows what saved questions and alerts use: `ref` of marts and reports, `var` with given values or those in dbt_project.yml, `config`, and
the macros of macros/question_filter.sql.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, StrictUndefined, Template

from chronicle.project import PROJECT, PUBLISHED_IN

MACROS = PROJECT / "macros" / "question_filter.sql"


@dataclass
class Rendered:
    """Plain SQL, the tables it reads, and what `config` was called with."""

    sql: str = ""
    tables: set[str] = field(default_factory=set)
    config: dict[str, Any] = field(default_factory=dict)


def render(path: Path, given: Mapping[str, Any]) -> Rendered:
    """The SQL of a file with those values.  Raises KeyError for a var that is neither given nor in the project and has no default."""
    done = Rendered()
    values = {**project_vars(), **given}

    def ref(name: str) -> str:
        table = f"{PUBLISHED_IN[name.split('_')[0]]}.{name}"
        done.tables.add(table)
        return table

    def var(name: str, *default: Any) -> Any:
        if name not in values and not default:
            raise KeyError(f"{path}: no var '{name}'; add it to `vars` in dbt_project.yml")
        return values.get(name, default[0] if default else None)

    def config(**settings: Any) -> str:
        done.config.update(settings)
        return ""

    called = {"ref": ref, "var": var, "config": config}
    macros = compiled(MACROS).make_module(called)
    called |= {name: macro for name, macro in vars(macros).items() if callable(macro) and not name.startswith("_")}
    done.sql = compiled(path).render(called).strip()
    return done


@cache
def compiled(path: Path) -> Template:
    """A file as a template."""
    return Environment(undefined=StrictUndefined).from_string(path.read_text(encoding="utf-8"))


@cache
def project_vars() -> dict[str, Any]:
    """What is under `vars` in dbt_project.yml."""
    return dict(yaml.load((PROJECT / "dbt_project.yml").read_text(encoding="utf-8"), yaml.CSafeLoader)["vars"])
