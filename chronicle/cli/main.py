"""The command line: parses arguments and calls.  Imports what a command needs inside it, so that help comes at once."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from chronicle.cli import interrupts
from chronicle.cli.following import follow
from chronicle.cli.options import (
    DEFAULT_MEMORY,
    DEFAULT_WAREHOUSE,
    ClusterOption,
    EngineOption,
    LayoutOption,
    MasterOption,
    MemoryOption,
    NodeOption,
    PathsArgument,
    PatternOption,
    SettledOption,
    TimezoneOption,
    WarehouseOption,
)
from chronicle.cli.questions import FormatOption, PagerOption, WideOption, must_be_form, questions_app, show
from chronicle.cli.standard_input import with_input
from chronicle.cli.work import Wanted, build_new, build_wanted, has_nothing_new, read_in
from chronicle.output.console import Progress, in_one_line, show_bytes, tell, visible

if TYPE_CHECKING:
    import pyarrow as pa
    from click import UsageError
    from pyspark.sql import SparkSession

    from ingestion.outcome import Outcome
    from ingestion.warehouse import Warehouse


# As people come to need them; what is not named here follows.
ORDER = ("run", "report", "ask", "sql", "evidence", "check", "serve", "follow", "ingest", "build", "dbt", "register", "health", "password")


class InOrder(typer.core.TyperGroup):
    """Lists commands in the order of their use."""

    def list_commands(self, ctx: Any) -> list[str]:
        names = super().list_commands(ctx)
        return [*(name for name in ORDER if name in names), *(name for name in names if name not in ORDER)]


app = typer.Typer(
    name="chronicle",
    cls=InOrder,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)


def show_version(is_asked: bool) -> None:
    """Print the version and end."""
    if is_asked:
        from chronicle.project import version

        print(f"chronicle {version()}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    is_version_asked: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=show_version, is_eager=True)
    ] = False,
) -> None:
    """The history of a Kafka fleet, in SQL."""
    help_alone(context)


def help_alone(context: typer.Context) -> None:
    """Print the help of a group of commands of which none is given."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
def run(
    paths: PathsArgument,
    cluster: ClusterOption = None,
    node: NodeOption = None,
    layout: LayoutOption = None,
    timezone: TimezoneOption = None,
    pattern: PatternOption = None,
    settled_after: SettledOption = 60,
    warehouse: WarehouseOption = DEFAULT_WAREHOUSE,
    memory: MemoryOption = DEFAULT_MEMORY,
    master: MasterOption = None,
    engine: EngineOption = None,
) -> None:
    """Ingest, build, and print a summary of the findings: the main command."""
    from chronicle.ask.run_summary import report
    from chronicle.build.changes import is_built, is_current
    from chronicle.build.compiled import compiled_ahead
    from chronicle.build.working_copy import at_hand, copy_of
    from chronicle.spark.session import Work, start_ahead, start_to_build
    from ingestion.ingest import must_exist
    from ingestion.sources.discover import Options
    from ingestion.warehouse import Warehouse

    began = time.monotonic()
    paths = with_input(paths)
    must_exist(paths)
    options, place = Options(paths, cluster, node, layout, timezone, settled_after, pattern), Warehouse.at(warehouse)
    here = copy_of(place)
    work = Work(paths, is_built(here.root))
    session: Callable[[], SparkSession] = partial(start_to_build, here.root, memory=memory, work=work)
    ahead = None
    if not is_current(here.root):
        # There will be something to do: start the JVM and dbt while files are looked at.
        session, ahead = start_ahead(here.root, memory=memory, work=work).result, compiled_ahead()
    interrupts.keeps("committed data is kept; the next run continues from there")
    outcome = read_in(options, warehouse, session, tell, show_bytes)
    must_have_something(outcome, here.root)
    interrupts.keeps("ingested data is kept; tables remain those of the last complete build")
    with at_hand(place, tell) as here:
        build_new(session, here.root, tell, Progress("building", "models"), ahead)
    print("", *map(visible, report(place, outcome.clusters)), "", sep="\n")
    print(f'Ask more: chronicle sql "select …" --warehouse {warehouse}')
    tell_cost(began)
    must_be_whole(outcome.failed)


def must_have_something(outcome: Outcome, warehouse: str) -> None:
    """Exit with 1 if there was no file, neither now nor before: tables of nothing would say that nothing happened."""
    from chronicle.build.changes import is_built

    if not outcome.files and not is_built(warehouse):
        raise typer.Exit(1)


def tell_cost(began: float) -> None:
    """Seconds since `began`, and memory."""
    from chronicle.spark.session import peak_memory_bytes

    peak = peak_memory_bytes()
    tell(
        f"done in {time.monotonic() - began:.1f} s"
        + (f", at most {peak / 2**30:.1f} GiB of memory in all processes together" if peak else "")
    )


@app.command()
def ingest(
    paths: PathsArgument,
    cluster: ClusterOption = None,
    node: NodeOption = None,
    layout: LayoutOption = None,
    timezone: TimezoneOption = None,
    pattern: PatternOption = None,
    settled_after: SettledOption = 60,
    profile: Annotated[bool, typer.Option("--profile", help="Print what the parts took: listing, inspecting, reading …")] = False,
    warehouse: WarehouseOption = DEFAULT_WAREHOUSE,
    memory: MemoryOption = DEFAULT_MEMORY,
    master: MasterOption = None,
) -> None:
    """Read raw logs, captures and metrics into bronze, exactly once."""
    from chronicle.build.changes import is_built
    from chronicle.build.working_copy import copy_of
    from chronicle.spark.session import Work, must_be_able, start_or_connect
    from ingestion.sources.discover import Options
    from ingestion.warehouse import Warehouse

    options = Options(with_input(paths), cluster, node, layout, timezone, settled_after, pattern)
    place = Warehouse.at(warehouse)
    must_be_able()
    interrupts.keeps("committed data is kept; the next run continues from there")

    def session() -> SparkSession:
        here = copy_of(place).root
        return start_or_connect(here, memory=memory, work=Work(is_built=is_built(here)))

    outcome = read_in(options, warehouse, session, tell, show_bytes)
    if profile:
        show_parts(outcome.seconds)
    must_be_whole(outcome.failed)


def show_parts(seconds: dict[str, float]) -> None:
    """What the parts of an ingestion took, as a table."""
    import pyarrow as pa

    from chronicle.output.table import write

    write(pa.table({"part": list(seconds), "seconds": [round(took, 2) for took in seconds.values()]}), sys.stdout, pager=False)


def must_be_whole(failed: list[str]) -> None:
    """Exit with 1 if our own code failed on files; everything else is loaded by then."""
    if failed:
        tell(
            f"chronicle: {len(failed)} files hit a bug in chronicle itself, for example {failed[0]} (see above);"
            " all other files are loaded, and the reasons are in marts.fct_sources"
        )
        raise typer.Exit(1)


@app.command()
def evidence(
    key: Annotated[str, typer.Argument(help="Key of a row of any fact, or its first digits.")],
    warehouse: WarehouseOption = DEFAULT_WAREHOUSE,
) -> None:
    """Print the raw log lines behind a row of any fact."""
    from chronicle.ask import evidence as finding
    from chronicle.ask.known import KEY, whole_key
    from ingestion.warehouse import Warehouse

    if not KEY.fullmatch(key):
        raise typer.BadParameter(
            f"invalid key '{key}'; use the first column of a row of a fact (32 hex digits, or the first of them)", param_hint="KEY"
        )
    place = Warehouse.at(warehouse)
    place.must_exist()
    key = whole_key(key, partial(finding.fact_keys, place), place.root)
    told = finding.evidence(place, key)
    if told is None:
        raise ValueError(f"no fact in {warehouse} has the key {key}; use the first column of a row of a fact")
    fact, lines = told
    tell(f"{fact}: {len(lines)} record{'' if len(lines) == 1 else 's'}")
    for line in lines:
        print(
            f"{line.at or 'no time'}  node {'?' if line.node_id is None else line.node_id}  {visible(line.source_path)}:{line.byte_offset}"
        )
        print(visible(line.raw_text, keep="\n\t"))


catalogue_app = typer.Typer(help="Work on the message catalogue.", callback=help_alone, invoke_without_command=True, rich_markup_mode=None)
app.add_typer(catalogue_app, name="catalogue")


@catalogue_app.command()
def check() -> None:
    """Check every form against its own line and all others; each fault names file, line, what was found and what to write instead."""
    from chronicle.catalogue.check import problems
    from ingestion.recognition.recognise import Catalogue

    catalogue = Catalogue()
    faults = problems(catalogue)
    for fault in faults:
        print(fault)
    if faults:
        raise ValueError(f"{len(faults)} faults in the catalogue")
    events = len({form.event for form in catalogue.forms})
    tell(f"{events} events, {len(catalogue.forms)} forms, {len(catalogue.contexts)} prefixes: sound")


@catalogue_app.command()
def match(file: Annotated[str, typer.Argument(help="A log of Kafka or ZooKeeper, or a capture.", metavar="FILE")]) -> None:
    """Show the event and fields of each record of a log, or the nearest form and where it stopped matching; of a capture, its rows."""
    from chronicle.catalogue.authoring import match_lines
    from ingestion.recognition.recognise import catalogue

    for line in match_lines(file, catalogue()):
        print(visible(line, keep="\n\t"))


@catalogue_app.command()
def suggest(
    paths: Annotated[list[str], typer.Argument(help="Folders or files to search.", metavar="PATH…")],
    most: Annotated[int, typer.Option(help="Number of shapes to show.")] = 20,
) -> None:
    """Draft entries for the commonest shapes that no form matches; for a log whose layout is taken wrongly, the pattern that says it."""
    from chronicle.catalogue.authoring import patterns_for, suggestions, unrecognised

    patterns = list(patterns_for(paths))
    # Lines that are split in the wrong places give no usable messages.
    entries = [*patterns, *(suggestions(unrecognised(paths), most) if not patterns else ())]
    for entry in entries:
        print(visible(entry, keep="\n\t"))
    if not entries:
        tell("nothing to suggest: every record is recognised")


@catalogue_app.command()
def statements(
    clone: Annotated[Path, typer.Argument(help="A clone of Kafka's repository.", metavar="CLONE")],
    releases: Annotated[list[str], typer.Argument(help="Release tags, oldest first.", metavar="RELEASE…")],
) -> None:
    """Print every log statement of Kafka's sources, with its releases and loggers, as the list that coverage reads."""
    from chronicle.catalogue.statements import rows

    for line in rows(clone, releases):
        print(line)


@catalogue_app.command()
def coverage(
    statements: Annotated[
        Path,
        typer.Option(
            help="List of the log statements in Kafka's sources, tab-separated: source_unit, receiver, level, releases, statement_argument.",
            metavar="FILE",
        ),
    ],
    every_level: Annotated[bool, typer.Option("--every-level", help="Count INFO, DEBUG and TRACE as well.")] = False,
) -> None:
    """Print, by release and area, how many statements at WARN and above have a form, then those that have none or too narrow a one."""
    from chronicle.catalogue.coverage import read_statements, report
    from ingestion.recognition.recognise import catalogue

    for line in report(catalogue(), read_statements(statements), every_level):
        print(line)


@catalogue_app.command("build")
def build_catalogue() -> None:
    """Write what is made from the catalogue: the seed of event types, the macro of their roles and the pages of messages."""
    from chronicle.catalogue import authoring
    from ingestion.cache import IS_CHECKOUT
    from ingestion.recognition.recognise import Catalogue

    if not IS_CHECKOUT:
        raise ValueError("catalogue build writes files of the repository: run it in a checkout")
    made = authoring.made_files(Catalogue())
    for path in set(authoring.PAGES.glob("*.md")) - set(made):
        path.unlink()
        tell(f"deleted {path}")
    for path, text in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        tell(f"wrote {path}")


@app.command()
def build(
    select: Annotated[
        str | None, typer.Option(help="Build only these models, in dbt's selection syntax; separate several by spaces.")
    ] = None,
    full_refresh: Annotated[bool, typer.Option("--full-refresh", help="Rebuild every table completely.")] = False,
    tests: Annotated[bool, typer.Option("--tests", help="Also run data and unit tests.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print what the build will do, then which models were made, and what changed that they read.")
    ] = False,
    profile: Annotated[bool, typer.Option("--profile", help="Print what each model took and read, the slowest first.")] = False,
    warehouse: WarehouseOption = DEFAULT_WAREHOUSE,
    memory: MemoryOption = DEFAULT_MEMORY,
    master: MasterOption = None,
    engine: EngineOption = None,
) -> None:
    """Build the marts from bronze with dbt's models."""
    from chronicle.build.changes import is_built
    from chronicle.build.compiled import compiled_ahead
    from chronicle.build.working_copy import at_hand
    from chronicle.spark.session import Work, start_to_build
    from ingestion.warehouse import Warehouse

    wanted, place = Wanted(select, full_refresh, tests, explain, profile), Warehouse.at(warehouse)
    place.must_have_bronze()
    interrupts.keeps("tables remain those of the last complete build")
    with at_hand(place, tell) as here:
        if has_nothing_new(here.root, wanted, tell):
            return
        ahead = compiled_ahead()
        work = Work(is_built=is_built(here.root) and not full_refresh)
        build_wanted(
            start_to_build(here.root, memory=memory, work=work), here.root, wanted, tell, sys.stdout, Progress("building", "models"), ahead
        )


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []})
def dbt(
    context: typer.Context,
    warehouse: WarehouseOption = DEFAULT_WAREHOUSE,
    memory: MemoryOption = DEFAULT_MEMORY,
    master: MasterOption = None,
) -> None:
    """Run dbt itself on this warehouse: build --select …, test, docs generate, docs serve, source freshness …"""
    from chronicle.build import dbt_command
    from chronicle.build.working_copy import at_hand
    from ingestion.warehouse import Warehouse

    try:
        with at_hand(Warehouse.at(warehouse), tell) as here:
            code = dbt_command.invoke(here.root, context.args, memory)
    except dbt_command.WrongUsage as error:
        tell(f"chronicle: {error}")
        code = 2
    if code:
        raise typer.Exit(code)


@app.command()
def sql(
    question: Annotated[str, typer.Argument(help="SQL query; '-' reads it from standard input.", metavar="SELECT")],
    engine: Annotated[
        str,
        typer.Option(
            help="datafusion (at once, marts, reports and bronze) or spark (its own dialect, all schemas; starts a JVM).", metavar="ENGINE"
        ),
    ] = "datafusion",
    form: FormatOption = "table",
    no_pager: PagerOption = False,
    wide: WideOption = False,
    warehouse: WarehouseOption = DEFAULT_WAREHOUSE,
    memory: MemoryOption = DEFAULT_MEMORY,
    master: MasterOption = None,
) -> None:
    """Run an SQL query. Only the result goes to standard output; names without a schema are looked up in marts."""
    from chronicle.ask import sql as asking
    from ingestion.warehouse import Warehouse

    must_be_form(form)
    if engine not in ("datafusion", "spark"):
        raise typer.BadParameter(f"unknown engine '{engine}'; use datafusion or spark", param_hint="--engine")
    text = sys.stdin.read() if question == "-" else question
    if not text.strip():
        raise typer.BadParameter("the query is empty", param_hint="SELECT")
    place = Warehouse.at(warehouse)
    place.must_exist()
    began = time.monotonic()
    answer = asking.answer(place, text) if engine == "datafusion" else by_spark(place, text, memory)
    show(answer, form, began, not no_pager, wide)


def by_spark(place: Warehouse, question: str, memory: str) -> pa.Table:
    """Spark's answer to a query."""
    from chronicle.ask import spark_sql
    from chronicle.build.working_copy import brought
    from chronicle.spark.session import start

    here = brought(place, tell).root
    return spark_sql.ask(start(here, memory=memory), here, question)


@app.command()
def report(
    cluster: Annotated[str | None, typer.Option(help="Only this cluster; default: the whole fleet, worst first.", metavar="NAME")] = None,
    since: Annotated[
        str | None,
        typer.Option(help="Only what lasted beyond this time: 2026-06-10, '2026-06-10 15:48' (UTC unless it has a zone).", metavar="T"),
    ] = None,
    until: Annotated[str | None, typer.Option(help="Only what began before this time; a day includes all of it.", metavar="T")] = None,
    out: Annotated[str, typer.Option("--out", "-o", help="Output file; '-' for standard output.", metavar="FILE.html")] = "report.html",
    warehouse: WarehouseOption = DEFAULT_WAREHOUSE,
) -> None:
    """Write one self-contained HTML page: incidents with their raw lines, timelines, plots."""
    import datetime as dt

    from chronicle.output.times import parse_time
    from chronicle.report import report as reporting
    from ingestion.warehouse import Warehouse

    began = time.monotonic()
    try:
        start, end = parse_time(since) if since else None, parse_time(until, is_end=True) if until else None
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--since/--until") from None
    if start and end and start >= end:
        raise typer.BadParameter(f"{since} is not before {until}", param_hint="--since/--until")
    place = Warehouse.at(warehouse)
    place.must_exist()
    page = reporting.collect(place, cluster, start, end, dt.datetime.now(dt.UTC), Progress("reporting", "parts"))
    text = reporting.render(page)
    if out == "-":
        sys.stdout.write(text)
    else:
        Path(out).write_text(text, encoding="utf-8")
    tell(f"{out}: {page.contents}, {len(text.encode()) // 1024:,} KB, in {time.monotonic() - began:.1f} s")


@app.command()
def register(
    schema: Annotated[
        str | None,
        typer.Option(
            "--in",
            help="Make the published tables known in this schema of a catalog that stays: the one of the Spark session (CHRONICLE_SPARK_SETTINGS).",
            metavar="[CATALOG.]SCHEMA",
        ),
    ] = None,
    location: Annotated[
        str | None, typer.Option(help="With --in: where the catalog's users find the warehouse; default: --warehouse.", metavar="DIR|URI")
    ] = None,
    warehouse: WarehouseOption = DEFAULT_WAREHOUSE,
    memory: MemoryOption = DEFAULT_MEMORY,
    master: MasterOption = None,
) -> None:
    """List the tables, after the SQL catalog of a session was made from them as all commands do; or make them known in another catalog."""
    from chronicle.build.working_copy import brought
    from chronicle.spark.catalog import register as register_tables
    from chronicle.spark.catalog import register_views
    from chronicle.spark.session import start
    from ingestion.warehouse import Warehouse

    place = Warehouse.at(warehouse)
    place.must_exist()
    if schema is not None:
        register_in(place, schema, location or place.root, memory)
        return
    place = brought(place, tell)
    spark = start(place.root, memory=memory)
    names = register_tables(spark, place) + register_views(spark, place)
    print("\n".join(sorted(names)))
    tell(f"{len(names)} tables and views in {place.root}")


def register_in(place: Warehouse, schema: str, location: str, memory: str) -> None:
    """Make the published tables of a warehouse known in a schema of another catalog."""
    from chronicle.build.versions import Record
    from chronicle.build.working_copy import copy_of
    from chronicle.spark import outer_catalog
    from chronicle.spark.session import start_or_connect

    tables = Record.of(place).tables(place)
    if not tables:
        raise ValueError(f"{place.root}: no build has published tables yet; run `chronicle build`")
    spark = start_or_connect(copy_of(place).root, memory=memory)
    names, gone = outer_catalog.register(spark, tables, location.rstrip("/"), schema)
    print("\n".join(names))
    tell(f"{len(names)} tables of {location} are known in {schema}" + (f"; dropped {', '.join(gone)}, which are gone" if gone else ""))


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on; any but a loopback address requires users and TLS.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 10000,
    query_timeout: Annotated[int, typer.Option(help="Seconds after which a statement is cancelled; 0 for never.", min=0)] = 300,
    max_rows: Annotated[
        int, typer.Option(help="Maximum number of rows in a result; larger results are refused; 0 for no limit.", min=0)
    ] = 100_000,
    max_bytes: Annotated[
        int, typer.Option(help="Maximum size of a result in bytes; larger results are refused; 0 for no limit.", min=0)
    ] = 64 << 20,
    max_queries: Annotated[int, typer.Option(help="Number of statements that run at the same time; others wait.", min=1)] = 4,
    max_connections: Annotated[int, typer.Option(help="Number of clients at the same time; further ones are refused.", min=1)] = 200,
    read_write: Annotated[
        bool,
        typer.Option(
            "--read-write", help="Let clients change tables, for dbt over Thrift; for users with a password, on loopback addresses only."
        ),
    ] = False,
    password_file: Annotated[
        Path | None,
        typer.Option("--password-file", help="File of users, one line each as printed by `chronicle password`.", metavar="FILE"),
    ] = None,
    ldap_url: Annotated[
        str | None, typer.Option("--ldap-url", help="LDAP directory for authentication: ldaps://host:636.", metavar="URL")
    ] = None,
    ldap_base: Annotated[str | None, typer.Option("--ldap-base", help="Base DN of the users: ou=people,dc=example.", metavar="DN")] = None,
    keystore: Annotated[
        Path | None,
        typer.Option("--keystore", help="Key and certificate for TLS (PKCS12); password in CHRONICLE_KEYSTORE_PASSWORD.", metavar="FILE"),
    ] = None,
    warehouse: WarehouseOption = DEFAULT_WAREHOUSE,
    memory: MemoryOption = DEFAULT_MEMORY,
    master: MasterOption = None,
) -> None:
    """Serve BI tools over JDBC, ODBC and PyHive, read-only, until Ctrl-C; ingest and build may run at the same time."""
    from chronicle.build.working_copy import brought
    from chronicle.serve import serve as serving
    from ingestion.warehouse import Warehouse

    options = serving.Options(
        host=host,
        port=port,
        query_timeout=query_timeout,
        max_rows=max_rows,
        max_bytes=max_bytes,
        max_queries=max_queries,
        max_connections=max_connections,
        read_write=read_write,
        password_file=password_file,
        ldap_url=ldap_url,
        ldap_base=ldap_base,
        keystore=keystore,
        keystore_password=os.environ.pop("CHRONICLE_KEYSTORE_PASSWORD", ""),
    )
    try:
        serving.check(options)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    serving.serve(brought(Warehouse.at(warehouse), tell).root, options, memory=memory, tell=tell)


@app.command()
def health(
    host: Annotated[str, typer.Option(help="Address of the server.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port of the server.", min=1, max=65535)] = 10000,
    user: Annotated[str, typer.Option(help="User name, if the server requires one; password in CHRONICLE_PASSWORD.")] = "chronicle",
    ca: Annotated[Path | None, typer.Option("--ca", help="CA certificate (PEM) of the server; enables TLS.", metavar="FILE")] = None,
) -> None:
    """Check whether a server answers: prints one line; exit code 0 or 1."""
    from chronicle.serve import client

    print(client.health(host, port, user=user, password=os.environ.get("CHRONICLE_PASSWORD") or "-", ca=ca))


@app.command()
def password(user: Annotated[str, typer.Argument(help="Name of a user of `chronicle serve`.", metavar="USER")]) -> None:
    """Print a user's line for --password-file; prompts for the password, or reads it from standard input."""
    import getpass

    from chronicle.serve import passwords

    typed = getpass.getpass("password: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    if sys.stdin.isatty() and typed != getpass.getpass("again: "):
        raise ValueError("the two passwords differ")
    print(passwords.line(user, typed))


app.add_typer(questions_app)
app.command()(follow)


def main(arguments: list[str] | None = None) -> None:
    """Entry point: every fault becomes one line on standard error; 0 done, 1 failed, 2 wrong usage, 3 `check` found
    something."""
    interrupts.watch()
    code = execute(arguments)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    interrupts.settle()
    raise SystemExit(code)


def execute(arguments: list[str] | None) -> int:
    """Run one command and give its exit code."""
    usage_error = cast("type[UsageError]", typer.BadParameter.__mro__[1])
    try:
        code = app(arguments, prog_name="chronicle", standalone_mode=False)
    except usage_error as error:
        context = getattr(error, "ctx", None)
        tell(f"chronicle: {error.format_message()} (see {context.command_path if context else 'chronicle'} --help)")
        return 2
    except (KeyboardInterrupt, typer.Abort):
        return interrupts.exit_code() or 130
    except BrokenPipeError:
        # The reader has read enough.
        return 0
    except Exception as error:
        if os.environ.get("CHRONICLE_DEBUG"):
            raise
        tell(f"chronicle: {in_one_line(error)}")
        return interrupts.exit_code() or 1
    # dbt reports an interrupt as a failed build.
    return interrupts.exit_code() or (code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
