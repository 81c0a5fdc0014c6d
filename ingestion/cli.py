"""The command line: parses arguments and calls.  Imports what a command needs inside it, so that help comes at once."""

from __future__ import annotations

import os
import sys
import time
from typing import Annotated

import typer

app = typer.Typer(
    name="chronicle",
    help="The history of a Kafka fleet, in SQL.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

WarehouseOption = Annotated[
    str, typer.Option("--warehouse", "-w", envvar="CHRONICLE_WAREHOUSE", help="Folder or URI of the warehouse.", metavar="DIR|URI")
]
MemoryOption = Annotated[
    str, typer.Option("--memory", envvar="CHRONICLE_MEMORY", help="Heap of the JVM, as Java writes it.", metavar="SIZE")
]
DEFAULT_WAREHOUSE, DEFAULT_MEMORY = "./warehouse", "2g"


def tell(text: str) -> None:
    """One line for people, on standard error: standard output belongs to results."""
    if sys.stderr.isatty():
        # Takes the place of a progress line.
        text = f"\r\x1b[K{text}"
    print(text, file=sys.stderr, flush=True)


def show_step(number: int, total: int, what: str) -> None:
    """How far long work has come: one line that renews itself on a terminal, plain lines elsewhere."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{number}/{total} {what}", end="", file=sys.stderr, flush=True)
    else:
        print(f"{number}/{total} {what}", file=sys.stderr, flush=True)


@app.command()
def build(
    select: Annotated[str | None, typer.Option(help="Only these models, in dbt's selection syntax; several separated by blanks.")] = None,
    full_refresh: Annotated[
        bool, typer.Option("--full-refresh", help="Make every table anew, also where only some days have changed.")
    ] = False,
    tests: Annotated[bool, typer.Option("--tests", help="Run the data and unit tests too.")] = False,
    warehouse: WarehouseOption = DEFAULT_WAREHOUSE,
    memory: MemoryOption = DEFAULT_MEMORY,
) -> None:
    """Make the marts of what is in bronze, with dbt."""
    from ingestion import build as building
    from ingestion.session import start

    parsed = building.parse_ahead(warehouse)
    spark = start(warehouse, memory=memory)
    outcome = building.build(spark, warehouse, select=select, full_refresh=full_refresh, tests=tests, parsed=parsed, progress=show_step)
    for warning in outcome.warnings:
        tell(f"warning: {warning}")
    tested = f", {outcome.tests} tests passed" if tests else ""
    tell(f"built {len(outcome.models)} models{tested} in {outcome.seconds:.1f} s")


@app.command()
def sql(
    question: Annotated[str, typer.Argument(help="A query; '-' reads it from standard input.", metavar="SELECT")],
    form: Annotated[str, typer.Option("--format", "-f", help="table, csv, json or parquet.", metavar="FORMAT")] = "table",
    warehouse: WarehouseOption = DEFAULT_WAREHOUSE,
    memory: MemoryOption = DEFAULT_MEMORY,
) -> None:
    """Answer a question. Standard output holds the answer alone; a name without a schema is looked for in marts."""
    from ingestion import ask
    from ingestion.session import start
    from ingestion.warehouse import Warehouse

    if form not in ask.FORMATS:
        raise typer.BadParameter(f"'{form}' is none of {', '.join(ask.FORMATS)}", param_hint="--format")
    text = sys.stdin.read() if question == "-" else question
    if not text.strip():
        raise typer.BadParameter("the question is empty", param_hint="SELECT")
    Warehouse.at(warehouse).must_exist()
    began = time.monotonic()
    answer = ask.ask(start(warehouse, memory=memory), warehouse, text)
    ask.write(answer, form)
    if form == "table":
        tell(f"{answer.num_rows} row{'' if answer.num_rows == 1 else 's'} in {time.monotonic() - began:.1f} s")


@app.command()
def register(warehouse: WarehouseOption = DEFAULT_WAREHOUSE, memory: MemoryOption = DEFAULT_MEMORY) -> None:
    """Rebuild the SQL catalog from the Delta tables on disk, and say what is there. Every command does this for itself."""
    from ingestion.session import start
    from ingestion.warehouse import Warehouse, register_views
    from ingestion.warehouse import register as register_tables

    place = Warehouse.at(warehouse)
    place.must_exist()
    spark = start(warehouse, memory=memory)
    names = register_tables(spark, place) + register_views(spark, place)
    print("\n".join(sorted(names)))
    tell(f"{len(names)} tables and views in {place.root}")


def main(arguments: list[str] | None = None) -> None:
    """Entry point: every fault becomes one line on standard error; 0 done, 1 failed, 2 wrong usage."""
    code = run(arguments)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(code)


def run(arguments: list[str] | None) -> int:
    """Run one command and give its exit code."""
    usage_error = typer.BadParameter.__mro__[1]
    try:
        code = app(arguments, prog_name="chronicle", standalone_mode=False)
    except usage_error as error:
        context = getattr(error, "ctx", None)
        tell(f"chronicle: {error.format_message()} (see {context.command_path if context else 'chronicle'} --help)")
        return 2
    except (KeyboardInterrupt, typer.Abort):
        tell("chronicle: interrupted")
        return 130
    except BrokenPipeError:
        # Whoever read has read enough.
        return 0
    except Exception as error:
        if os.environ.get("CHRONICLE_DEBUG"):
            raise
        tell(f"chronicle: {in_one_line(error)}")
        return 1
    return code if isinstance(code, int) else 0


def in_one_line(error: BaseException) -> str:
    """An error as one line.  Our own speak for themselves; of others the kind is named, too."""
    import re

    text = re.split(r"\n\s*\n|\nJVM stacktrace|\n\s+at |\n== SQL", str(error).strip())[0]
    text = " ".join(text.split())
    ours = type(error).__module__.startswith("ingestion.") or isinstance(error, ValueError | FileNotFoundError)
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return text if ours and text else f"{type(error).__name__}: {text}" + (" (CHRONICLE_DEBUG=1 shows where)" if not ours else "")


if __name__ == "__main__":
    main()
