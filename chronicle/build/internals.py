"""What builds use of dbt beyond its documented interface (`dbtRunner`, its results and its events).

Relies on: attributes of compiled nodes, as `fields_of` lists them; `SparkCredentials.__post_init__`, which turns ANSI mode off; dbt's
command line as a click group; the class name of its errors of usage; and the names of the CTEs into which it compiles ephemeral models.
Read in: dbt-core 1.11.16, dbt-spark 1.11.0.  Overrides of its macros are in `macros/internals`.
Breaks: each function says what.  Canaries: `tests/python/test_internals.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest as Manifest

# Prefix of the CTE into which dbt compiles an ephemeral model, in the SQL of its readers.
EPHEMERAL = "__dbt__cte__"


def fields_of(node: Any) -> dict[str, Any]:
    """The fields of `compiled.Model` for a compiled model or seed.  Breaks: nothing can be built."""
    config, is_seed = node.config, str(node.resource_type) == "seed"
    parents = [key.split(".")[-1] for key in getattr(node.depends_on, "nodes", []) if key.startswith(("model.", "seed."))]
    return {
        "name": node.name,
        "schema": node.schema,
        "alias": node.alias,
        "kind": "seed" if is_seed else config.materialized,
        "sql": "" if is_seed else node.compiled_code,
        "parents": tuple(dict.fromkeys(parents)),
        "sources": tuple(key.split(".")[-1] for key in getattr(node.depends_on, "nodes", []) if key.startswith("source.")),
        "path": node.original_file_path,
        "description": node.description,
        "columns": {name: ((column.data_type or "").lower().replace(" ", ""), column.description) for name, column in node.columns.items()},
        "has_contract": not is_seed and config.contract.enforced,
        "before": () if is_seed else tuple(hook.sql for hook in config.pre_hook),
        "after": () if is_seed else tuple(hook.sql for hook in config.post_hook),
        "partition_by": tuple(config.get("partition_by") or ()),
        "known": config.meta.get("known_values"),
        "at": config.meta.get("at"),
        "ahead": dict(config.meta.get("ahead") or {}),
        "unit": config.meta.get("unit"),
        "carried": tuple(config.meta.get("carried") or ()),
        "back": dict(config.meta.get("back") or {}),
        "types": dict(config.get("column_types") or {}),
    }


def keep_ansi() -> None:
    """Leave ANSI mode on in the sessions of dbt-spark, which turns it off for sessions and not for servers.

    Breaks: an overflow silently becomes a wrong number, where a server raises an error.
    """
    from dbt.adapters.spark.connections import SparkCredentials

    if getattr(SparkCredentials.__post_init__, "keeps_ansi", False):
        return
    original = SparkCredentials.__post_init__

    def with_ansi(credentials: SparkCredentials) -> None:
        original(credentials)
        credentials.server_side_parameters["spark.sql.ansi.enabled"] = "true"

    with_ansi.keeps_ansi = True  # type: ignore[attr-defined]
    SparkCredentials.__post_init__ = with_ansi  # type: ignore[assignment]


@dataclass(frozen=True)
class CommandLine:
    """A command line of dbt.  `words`: the command; `given`: options on it, by dbt's names; `known`: options that the command takes."""

    words: list[str]
    given: dict[str, Any]
    known: frozenset[str]


class Misused(ValueError):
    """dbt does not understand its arguments; the text is what it says."""


def command_line(arguments: list[str], *, strict: bool) -> CommandLine:
    """A command line as dbt's own parser reads it.  `strict`: raises Misused for what dbt does not understand.

    Breaks: `chronicle dbt` adds options twice or not at all, or starts a session for a command that needs none.
    """
    import click
    from dbt.cli.main import cli

    try:
        context: Any = cli.make_context(cli.name, list(arguments), resilient_parsing=not strict)
        words: list[str] = []
        given: dict[str, Any] = {}
        while True:
            options = {one.name for one in context.command.get_params(context) if one.name}
            for name in options:
                if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
                    given[name.removeprefix("_click_default_")] = context.params.get(name)
            rest = [*getattr(context, "_protected_args", []), *context.args]
            if not isinstance(context.command, click.Group) or not rest:
                return CommandLine(words, given, frozenset(options))
            word, command, rest = context.command.resolve_command(context, rest)
            if word is None or command is None:
                return CommandLine(words, given, frozenset(options))
            words.append(word)
            context = command.make_context(word, rest, parent=context, resilient_parsing=not strict)
    except click.UsageError as error:
        raise Misused(error.format_message()) from None


def is_misuse(error: BaseException | None) -> bool:
    """Whether dbt refused its arguments.  Breaks: wrong arguments exit with another code than 2."""
    return type(error).__name__ == "DbtUsageException"


def starts(event: Any) -> Iterator[tuple[int, int, str]]:
    """(number, of all, what) where an event of dbt is the start of a model or test.  Breaks: no progress is shown."""
    if event.info.name == "LogStartLine":
        yield event.data.index, event.data.total, event.data.description
