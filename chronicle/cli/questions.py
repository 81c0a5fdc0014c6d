"""The commands `ask` and `check`, and how answers are shown.  They parse arguments and call, as those of `cli` do."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from chronicle.cli.options import DEFAULT_WAREHOUSE, WarehouseOption
from chronicle.output.console import as_json, tell, visible

if TYPE_CHECKING:
    import pyarrow as pa

    from ingestion.warehouse import Warehouse

questions_app = typer.Typer(rich_markup_mode=None)

FormatOption = Annotated[str, typer.Option("--format", "-f", help="table, csv, json or parquet.", metavar="FORMAT")]
PagerOption = Annotated[
    bool, typer.Option("--no-pager", help="Do not page a table; by default $PAGER or less is used if it is longer than the screen.")
]
WideOption = Annotated[
    bool, typer.Option("--wide", help="Do not shorten values to the width of the terminal, nor lists of records to their number.")
]


def must_be_form(form: str) -> None:
    """Raises BadParameter for a format that is not known."""
    from chronicle.output.formats import FORMATS

    if form not in FORMATS:
        raise typer.BadParameter(f"unknown format '{form}'; use {', '.join(FORMATS)}", param_hint="--format")


def show(answer: pa.Table, form: str, began: float, pager: bool, wide: bool) -> None:
    """Write an answer; for a table also say how many rows it has, and that values were cut."""
    from chronicle.output.formats import write

    seconds = time.monotonic() - began
    cut = write(answer, form, pager=pager, wide=wide)
    if form == "table":
        more = f"; {cut} values shortened, use --wide to see them whole" if cut else ""
        tell(f"{answer.num_rows} row{'' if answer.num_rows == 1 else 's'} in {seconds:.1f} s; times are UTC{more}")


def question_names(incomplete: str) -> list[tuple[str, str]]:
    """The questions whose names begin so, each with what it asks, for the completion of a shell."""
    from chronicle.ask.questions import questions

    return [(one.title, one.asks) for one in questions().values() if one.title.startswith(incomplete)]


@questions_app.command()
def ask(
    question: Annotated[
        str | None,
        typer.Argument(help="Name of a question; without it, list all.", metavar="QUESTION", autocompletion=question_names),
    ] = None,
    values: Annotated[
        list[str] | None, typer.Argument(help="Required values, in the order of the question's usage.", metavar="VALUE…")
    ] = None,
    cluster: Annotated[str | None, typer.Option(help="Only of this cluster.", metavar="NAME")] = None,
    node: Annotated[str | None, typer.Option(help="Only of this node.", metavar="ID")] = None,
    topic: Annotated[str | None, typer.Option(help="Only of this topic.", metavar="TOPIC")] = None,
    partition: Annotated[str | None, typer.Option(help="Only of this partition: orders-3.", metavar="TOPIC-NUMBER")] = None,
    group: Annotated[str | None, typer.Option(help="Only of this group.", metavar="GROUP")] = None,
    release: Annotated[str | None, typer.Option(help="Only of this release of Kafka: 2.8.2.", metavar="VERSION")] = None,
    key: Annotated[str | None, typer.Option(help="Only of the row with this key, or the one that begins so.", metavar="KEY")] = None,
    at: Annotated[str | None, typer.Option(help="State at this time, in UTC unless it has a zone.", metavar="T")] = None,
    since: Annotated[
        str | None, typer.Option(help="What lasted or happened after this time: 2026-06-10, or 12h or 1d (ago).", metavar="T")
    ] = None,
    until: Annotated[str | None, typer.Option(help="What began before this time; a day includes all of it.", metavar="T")] = None,
    show_sql: Annotated[bool, typer.Option("--show", help="Print the question's SQL instead of answering it.")] = False,
    form: FormatOption = "table",
    no_pager: PagerOption = False,
    wide: WideOption = False,
    warehouse: WarehouseOption = DEFAULT_WAREHOUSE,
) -> None:
    """Answer a saved question, without Spark; the questions are in analyses/."""
    import datetime as dt

    from chronicle.ask import questions as asking
    from ingestion.warehouse import Warehouse

    must_be_form(form)
    if question is None:
        print(*asking.listed(), sep="\n")
        return
    options = {"cluster": cluster, "node": node, "topic": topic, "partition": partition, "group": group}
    options |= {"release": release, "key": key, "at": at, "since": since, "until": until}
    try:
        one = asking.question(question)
        given = one.values(values or [], options, dt.datetime.now(dt.UTC), must=not show_sql)
    except asking.WrongParameter as error:
        raise typer.BadParameter(str(error), param_hint="QUESTION") from None
    if show_sql:
        shown = asking.shown(one, given)
        print(visible(shown, keep="\n\t") if sys.stdout.isatty() else shown)
        return
    place = Warehouse.at(warehouse)
    place.must_exist()
    began = time.monotonic()
    answer = asking.answer(place, one, given)
    show(answer, form, began, not no_pager, wide)
    if form == "table":
        tell_unnumbered(place, answer)
    if one.name == "incidents" and not answer.num_rows:
        tell_what_was_looked_at(place, cluster)


def tell_unnumbered(place: Warehouse, answer: pa.Table) -> None:
    """Say whose the numbers below -1 are: those of processes whose node id nothing names."""
    from chronicle.ask.looked_at import names_of_unnumbered
    from chronicle.ask.tables import Tables

    text = str(answer.to_pydict())
    for number, name in names_of_unnumbered(Tables(place), "true").items():
        if str(number) in text:
            tell(
                f"Node {number} is {name}: nothing names its node id, so it has a number of its own (--node says which node wrote a file)."
            )


def tell_what_was_looked_at(place: Warehouse, cluster: str | None) -> None:
    """Say what an answer without incidents is true of."""
    from chronicle.ask.looked_at import NOTHING_FOUND, looked_at
    from chronicle.ask.tables import Tables
    from ingestion.sql_text import literal

    looked = looked_at(Tables(place), f"cluster_id = {literal(cluster)}" if cluster else "true")
    tell(f"{NOTHING_FOUND} {looked.said}")
    for line in looked.unused:
        tell(f"  {line}")


@questions_app.command("check")
def check_alerts(
    since: Annotated[
        str, typer.Option(help="Start of the period: 1d, 12h or 30m (ago), or a time (UTC unless it has a zone).", metavar="T")
    ] = "1d",
    now: Annotated[str | None, typer.Option(help="End of the period; default: now.", metavar="T")] = None,
    cluster: Annotated[str | None, typer.Option(help="Only of this cluster.", metavar="NAME")] = None,
    severity: Annotated[str, typer.Option(help="Lowest severity to print: warn or error.", metavar="SEVERITY")] = "warn",
    strict: Annotated[bool, typer.Option("--strict", help="Also exit with 3 for warnings.")] = False,
    listing: Annotated[bool, typer.Option("--list", help="List the alerts instead of checking them.")] = False,
    warehouse: WarehouseOption = DEFAULT_WAREHOUSE,
) -> None:
    """Print alerts raised in a period, one JSON object per line. Exit code 0: none of severity error, 3: at least one, 1: the check failed, 2: wrong usage."""
    import datetime as dt

    from chronicle.ask import alerts
    from chronicle.output.times import parse_moment
    from ingestion.warehouse import Warehouse

    if severity not in alerts.SEVERITIES:
        raise typer.BadParameter(f"unknown severity '{severity}'; use {', '.join(alerts.SEVERITIES)}", param_hint="--severity")
    if listing:
        print(*(f"{alert.name:28}{alert.severity:7}{alert.description}" for alert in alerts.alerts()), sep="\n")
        return
    try:
        until = parse_moment(now, dt.datetime.now(dt.UTC)) if now else dt.datetime.now(dt.UTC)
        start = parse_moment(since, until)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--since/--now") from None
    if start >= until:
        raise typer.BadParameter(f"{since} is not before {now or 'now'}", param_hint="--since/--now")
    place = Warehouse.at(warehouse)
    place.must_exist()
    found = alerts.check(place, start, until, cluster, severity)
    for one in found:
        print(as_json(one))
    errors = sum(one["severity"] == "error" for one in found)
    tell(f"{errors} errors, {len(found) - errors} warnings since {start:%Y-%m-%d %H:%M} UTC")
    if errors or (strict and found):
        raise typer.Exit(alerts.FOUND)
