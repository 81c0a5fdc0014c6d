"""What builds use of dbt beyond its documented interface (`dbtRunner`, its results and its events).

Relies on: attributes of the manifest's nodes, as `Model` lists them; `SparkCredentials.__post_init__`, which turns ANSI mode off; dbt's
command line as a click group; the class name of its errors of usage; and the names of the CTEs into which it compiles ephemeral models.
Read in: dbt-core 1.11.16, dbt-spark 1.11.0.  What is overridden of its macros lies in `macros/internals`.
Breaks: each function says it.  Canaries: `tests/python/test_internals.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest as Manifest

# How dbt names the CTE of an ephemeral model, and so the macro `from_session_views` the view that takes its place.
EPHEMERAL = "__dbt__cte__"


class Contract(Protocol):
    enforced: bool


class Config(Protocol):
    contract: Contract

    @property
    def materialized(self) -> str: ...


class Column(Protocol):
    description: str
    data_type: str | None


class Model(Protocol):
    """What we read of a model in dbt's manifest."""

    name: str
    schema: str
    alias: str
    description: str

    @property
    def config(self) -> Config: ...
    @property
    def columns(self) -> Mapping[str, Column]: ...


def models_of(manifest: Manifest) -> list[Model]:
    """The models of a project."""
    found: list[Any] = [node for node in manifest.nodes.values() if str(node.resource_type) == "model"]
    return found


def places_of(manifest: Manifest, names: set[str] | None = None) -> set[tuple[str, str]]:
    """(schema, name in the database) of all that dbt makes.  `names`: of these nodes."""
    return {(node.schema, node.alias) for node in manifest.nodes.values() if names is None or node.name in names}


def in_order(manifest: Manifest) -> list[tuple[str, str]]:
    """(schema, name in the database) of models and seeds, each after what it reads."""
    nodes: dict[str, Any] = {key: node for key, node in manifest.nodes.items() if str(node.resource_type) in ("model", "seed")}
    ordered: list[str] = []

    def visit(key: str) -> None:
        if key in nodes and key not in ordered:
            for before in getattr(nodes[key].depends_on, "nodes", []):
                visit(before)
            ordered.append(key)

    for key in sorted(nodes):
        visit(key)
    return [(nodes[key].schema, nodes[key].alias) for key in ordered]


def keep_ansi() -> None:
    """Leave ANSI mode on in the sessions of dbt-spark, which turns it off for sessions and not for servers.

    Breaks: an overflow becomes a wrong number without a word, where a server raises an error.
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
