"""`chronicle report`: what the marts know of a fleet, as the data of one page.

Reads the tables with delta-rs: a session takes seconds for its first query, and the page needs none.  Whatever comes from logs is
text, and is escaped by the template.  The page is bounded: where something is left out, it says how much.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import count
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from chronicle.ask import evidence
from chronicle.ask.evidence import Place
from chronicle.ask.known import must_know
from chronicle.ask.looked_at import NOTHING_FOUND, counted, looked_at
from chronicle.ask.remedies import Case, Known, Loss, Remedy, cases_of, known_of, losses_in, remedies
from chronicle.ask.render import project_vars
from chronicle.ask.tables import NotBuilt, Period, Row, Tables
from chronicle.output import console
from chronicle.output.units import count_text, duration_text, size_text, time_text
from chronicle.report.queries import EVIDENCE, INCIDENT_EVENTS, INCIDENTS, OVERVIEW, QUESTIONS, SEVERITIES, SPANS, Question, severity_rank
from chronicle.report.verdict import Broken, Harm, Told, Verdict, harm_of, leaderless, verdict
from ingestion.sql_text import literal
from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    import jinja2

MOST_CLUSTERS = 8
MOST_INCIDENTS = 50
MOST_EVENTS = 60
MOST_LINES = 5
LONGEST_LINE = 4000
# Characters of a name in a heading, and of a sentence or a cell, in which there may be several names.
LONGEST_NAME = 240
LONGEST_SENTENCE = 1200
# Characters of raw lines on one page.
MOST_TEXT = 4_000_000

# Columns whose values are words of the tables, not of logs; underscores become blanks if dbt_project.yml has no words for a value.
KINDS = {
    "session_kind",
    "gap_kind",
    "epoch_kind",
    "exposure",
    "impact",
    "resource",
    "rule",
    "measure",
    "evidence",
    "kind",
    "stopped",
    "root_cause_kind",
}
# Times that are summed over partitions: five minutes of logs may have hours of them.
PARTITION_TIME = {"leaderless_ms", "under_replicated_ms", "out_of_sync_ms", "stale_epoch_ms"}
# Names of groups that an incident prints; a cluster may have thousands.
GROUPS = 20
# Columns in which a missing value means that something has not ended.
OPEN_ENDS = {"ended_at", "reconnected_at", "held_until", "stopped_at"}
TEMPLATE = Path(__file__).with_name("report.html.j2")


@dataclass
class Table:
    """A table of the page: `cells` as they are shown, of `total` rows."""

    title: str
    columns: list[str]
    cells: list[list[str]]
    total: int
    worst: str = ""
    note: str = ""
    # Where the page tells more of each row, by the number of the row.
    anchors: list[str] = field(default_factory=list)

    @property
    def is_cut(self) -> bool:
        return self.total > len(self.cells)


@dataclass
class Part:
    """A part of a cluster's section: tables and figures, or in `nothing` why there are none."""

    name: str
    title: str
    intro: str = ""
    nothing: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    plots: list[Any] = field(default_factory=list)


@dataclass
class Line:
    """A raw record; `cut`: characters that are not shown."""

    node: str
    where: str
    text: str
    cut: int


@dataclass
class Event:
    """A sentence of a chain, with the records behind it: `lines` of `records`."""

    at: str
    after: str
    role: str
    sentence: str
    key: str
    lines: list[Line]
    records: int
    places: list[Place]
    day: dt.date


@dataclass
class Incident:
    """An incident as the page shows it; `left_out`: events that are not shown."""

    summary: str
    severity: str
    kind: str
    key: str
    facts: list[tuple[str, str]]
    warnings: list[str]
    events: list[Event]
    left_out: int
    anchor: str
    # For the list: when it began, how long it lasted, and the node or process where it began.
    at: str
    lasted: str
    began: str
    remedies: list[Remedy]


@dataclass
class Section:
    """All about one cluster."""

    name: str
    anchor: str
    about: list[str]
    start: dt.datetime
    end: dt.datetime
    tiles: list[tuple[str, str]]
    told: Told
    verdict: Verdict | None = None
    incidents: list[Incident] = field(default_factory=list)
    maintenance: Table | None = None
    incidents_total: int = 0
    incidents_said: str = ""
    unused: list[str] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)


@dataclass
class Page:
    """What the template fills in."""

    title: str
    warehouse: str
    written: str
    fleet: Table | None
    sections: list[Section]
    left_out: str
    verdict: Verdict | None
    # Incidents of all clusters, and how many clusters there are.
    incidents: int
    clusters: int

    @property
    def contents(self) -> str:
        """What is on the page, in a few words."""
        rest = self.clusters - len(self.sections)
        split = f" ({len(self.sections)} in detail, {rest} in the table: --cluster NAME)" if rest else ""
        return f"{counted(self.clusters, 'cluster')}{split}, {counted(self.incidents, 'incident')}"


def collect(
    place: Warehouse,
    cluster: str | None,
    since: dt.datetime | None,
    until: dt.datetime | None,
    now: dt.datetime,
    progress: Callable[[int, int], None] = lambda number, total: None,
) -> Page:
    """The page about a cluster, or about the whole fleet.  `progress(number, of all)` is called when a part begins.  Raises ValueError if there is no such cluster, NotBuilt before the first build."""
    tables = Tables(place)
    tables.must_be_built()
    lives: dict[str, list[Row]] = defaultdict(list)
    for row in tables.rows("select * from marts.dim_clusters order by cluster_id, cluster_incarnation"):
        lives[row["cluster_id"]].append(row)
    if cluster is not None:
        must_know(tables, cluster)
    periods = {name: period_of(tables, name, since, until) for name in lives if cluster in (None, name)}
    counts = {name: overview(tables, period) for name, period in periods.items()}
    losses = {name: losses_in(tables, name) for name in periods}
    harms = {name: harm_of(tables, period, losses[name], counts[name]["fct_leader_elections"]) for name, period in periods.items()}
    order = sorted(periods, key=lambda name: (harms[name].order(SEVERITIES), *(-(counts[name].get(fact) or 0) for fact in OVERVIEW), name))
    spare = [MOST_TEXT]
    numbers, steps = count(1), min(len(order), MOST_CLUSTERS) * (1 + len({question.part for question in QUESTIONS}))
    sections = [
        section(
            tables,
            periods[name],
            lives[name],
            counts[name],
            harms[name],
            losses[name],
            spare,
            f"c{n}",
            lambda: progress(next(numbers), steps),
        )
        for n, name in enumerate(order[:MOST_CLUSTERS], 1)
    ]
    return Page(
        title=f"{cluster or (order[0] if len(order) == 1 else 'Kafka fleet')}: report",
        warehouse=place.root,
        written=time_text(now.replace(microsecond=0)),
        fleet=fleet_table(order, lives, harms, [one.anchor for one in sections]) if len(order) > 1 else None,
        sections=sections,
        left_out=left_out(order[MOST_CLUSTERS:]),
        verdict=verdict([one.told for one in sections], harms) if len(order) > 1 else None,
        incidents=sum(harm.incidents for harm in harms.values()),
        clusters=len(order),
    )


def left_out(rest: Sequence[str]) -> str:
    """Which clusters have a row in the table alone; empty if none."""
    if not rest:
        return ""
    return f"{len(rest)} further clusters have a row in the table alone: {', '.join(map(brief, rest[:40]))}. --cluster NAME shows one."


def period_of(tables: Tables, name: str, since: dt.datetime | None, until: dt.datetime | None) -> Period:
    """The period that the page shows of a cluster: what was asked for, else all that its evidence spans."""
    known: list[dt.datetime] = []
    for query in SPANS:
        # Days of logs count only if no record has a time.
        if not (known and query is SPANS[-1]):
            with suppress(NotBuilt):
                known += [at for at in tables.rows(Template(query).substitute(cluster=literal(name)))[0].values() if at]
    first = since or min([*known, *([until] if until else [])], default=dt.datetime(1970, 1, 1, tzinfo=dt.UTC))
    last = until or max([*known, first])
    # The last moment belongs to the period.
    return Period(
        name, first.astimezone(dt.UTC), last.astimezone(dt.UTC) if until else last.astimezone(dt.UTC) + dt.timedelta(microseconds=1)
    )


def overview(tables: Tables, period: Period) -> dict[str, int | None]:
    """How many rows of each fact the period has; None if the fact is not built."""
    counts: dict[str, int | None] = {}
    for fact, (column, condition) in OVERVIEW.items():
        try:
            query = f"select count({column}) as n from marts.{fact} where cluster_id = $cluster and {condition}"
            counts[fact] = tables.rows(period.filled(query))[0]["n"]
        except NotBuilt:
            counts[fact] = None
    return counts


def fleet_table(order: Sequence[str], lives: dict[str, list[Row]], harms: dict[str, Harm], anchors: Sequence[str]) -> Table:
    """A row for each cluster, the one with the worst harm first."""
    cells = []
    for name in order[:200]:
        last, harm = lives[name][-1], harms[name]
        last_at = last["last_seen_at"] and last["last_seen_at"].replace(microsecond=0)
        release = " ".join(filter(None, (last["kafka_version"], last["cluster_mode"]))) or None
        counts = ", ".join(f"{count_text(n)} {severity}" for severity, n in harm.by_severity.items())
        done = [counts or ("none" if harm.is_built else "–"), harm.worst, harm.still_open, harm.lost or "none seen", leaderless(harm)]
        cells.append([name, *map(cell, [*done, len(last["nodes"] or []), release, last_at])])
    names = [
        "cluster",
        "incidents",
        "the worst",
        "not over",
        "records perhaps lost",
        "leaderless, partition-time",
        "nodes",
        "Kafka",
        "last record",
    ]
    return Table("Clusters", names, cells, len(order), "those with the worst harm", anchors=list(anchors))


def section(
    tables: Tables,
    period: Period,
    lives: Sequence[Row],
    counts: dict[str, int | None],
    harm: Harm,
    losses: list[Loss],
    spare: list[int],
    prefix: str,
    begins: Callable[[], None],
) -> Section:
    """Everything about one cluster; `spare`: how much raw text the page can still hold; `begins` is called when a part does."""
    from chronicle.report.plots import known_days, plots_of

    begins()
    days, looked = known_days(tables, period), looked_at(tables, f"cluster_id = {literal(period.cluster)}")
    known = known_of(tables, period.cluster, looked.names, losses)
    incidents, maintenance, total, said = incidents_of(tables, period, spare, known, prefix)
    if not total and not said:
        said = f"{NOTHING_FOUND} {looked.said}".rstrip()
        said += f" That says nothing about times without logs ({days.unknown}): they are unknown, not healthy." if days.unknown else ""
    told = Told(period, harm, [broken(period.cluster, one) for one in incidents])
    made = Section(
        period.cluster, prefix, [about_life(row) for row in lives], period.since, period.until, tiles(counts, days.coverage), told
    )
    made.verdict = verdict([told], {period.cluster: harm})
    made.unused = list(looked.unused)
    made.incidents, made.maintenance, made.incidents_total, made.incidents_said = incidents, maintenance, total, said
    made.parts = list(parts_of(tables, period, plots_of(tables, period, days), prefix, looked.names, begins))
    for part in made.parts:
        if part.title == EVIDENCE:
            part.intro = f"{days.coverage} days of the period have logs. {days.unknown or 'Every node has logs of every day'}. Unknown is not healthy."
    return made


def broken(cluster: str, one: Incident) -> Broken:
    """An incident as the verdict needs it."""
    return Broken(cluster, one.anchor, one.severity, one.at, one.summary, one.kind, one.began, tuple(one.remedies))


def about_life(row: Row) -> str:
    """One sentence about an incarnation."""
    nodes = ", ".join(map(str, row["nodes"] or [])) or "unknown"
    return (
        f"Incarnation {row['cluster_incarnation']}: Kafka {row['kafka_version'] or 'of unknown release'}, {row['cluster_mode'] or 'unknown mode'}, "
        f"nodes {nodes}; records from {cell(row['first_seen_at'])} to {cell(row['last_seen_at'])}."
    )


def tiles(counts: dict[str, int | None], days: str) -> list[tuple[str, str]]:
    """The numbers at the top; tables that are not built are marked as such."""
    names = {
        "fct_incidents": "incidents",
        "fct_leaderless_windows": "times without a leader",
        "fct_session_expiries": "sessions lost",
        "fct_controller_tenures": "controllers' tenures",
        "fct_leader_elections": "elections of leaders",
        "fct_issue_exposures": "known issues, by release or records",
    }
    return [(name, "not built" if (count := counts[fact]) is None else count_text(count)) for fact, name in names.items()] + [
        ("days with logs", days)
    ]


def parts_of(
    tables: Tables, period: Period, plots: dict[str, Any], prefix: str, names: dict[int, str], begins: Callable[[], None]
) -> Iterator[Part]:
    """The parts below the incidents, in the order of the questions; figures are in the part of their name.  `begins` is called for each."""
    from chronicle.report.figures import numbered

    parts: dict[str, list[Question]] = defaultdict(list)
    for question in QUESTIONS:
        parts[question.part].append(question)
    for number, (title, questions) in enumerate(parts.items(), 1):
        begins()
        part = Part(f"{prefix}-{number}", title, plots=numbered(plots.get(title, []), prefix))
        lacking, empty = [], []
        for question in questions:
            try:
                table = answer(tables, period, question, names)
            except NotBuilt as error:
                lacking.append(f"{question.title} ({error})")
                continue
            if table.cells:
                part.tables.append(table)
            else:
                empty.append(question.title)
        if empty:
            part.nothing.append(f"Nothing found in the evidence: {'; '.join(empty)}.")
        if lacking:
            part.nothing.append(f"Not built in this warehouse: {'; '.join(lacking)}. A complete `chronicle build` creates what is missing.")
        yield part


def answer(tables: Tables, period: Period, question: Question, names: dict[int, str]) -> Table:
    """A question's table, cut to its worst rows."""
    query = f"select *, count(*) over () as rows_in_all from ({question.query}) order by {question.order} limit {question.most}"
    rows = tables.rows(period.filled(query))
    name_processes(rows, names)
    columns = [name for name in rows[0] if name not in ("rows_in_all", "cluster_id") and not name.endswith("_key")] if rows else []
    cells = [[cell(row[name], name) for name in columns] for row in rows]
    return Table(
        question.title, [heading(name) for name in columns], cells, rows[0]["rows_in_all"] if rows else 0, question.worst, question.note
    )


def name_processes(rows: Sequence[Row], names: dict[int, str]) -> None:
    """Replace the numbers of processes without a node id by their names."""
    for row in rows if names else ():
        for column, value in row.items():
            if column.endswith(("node", "node_id")) and value in names:
                row[column] = names[value]
            elif column == "nodes" and isinstance(value, list):
                row[column] = [names.get(node, node) for node in value]


def heading(name: str) -> str:
    """A column's name as people read it; the unit is in the cells."""
    if name in PARTITION_TIME:
        return f"{name.removesuffix('_ms').replace('_', ' ')}, partition-time"
    return re.sub(r"^bytes_|_(ms|bytes|date|ratio|kind)$", "", name).replace("_", " ")


def cell(value: Any, name: str = "") -> str:
    """A value as people read it, by its type and the unit in its column's name."""
    if value is None:
        return "open" if name in OPEN_ENDS else "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dt.datetime):
        return time_text(value)
    if isinstance(value, list) and name == "repeat_causes":
        return ", ".join(cell(one, "root_cause_kind") for one in value) or "none"
    if isinstance(value, list):
        return ", ".join(f"{setting_name(one[0])}={one[1]}" if isinstance(one, tuple) else str(one) for one in value) or "none"
    if isinstance(value, int | float):
        return _quantity(value, name)
    if name in KINDS or name in project_vars()["words"]:
        return str(project_vars()["words"].get(name, {}).get(value, value.replace("_", " ")))
    return str(value)


def setting_name(name: str) -> str:
    """Kafka's own name of a setting as it is; what was measured (@) in words."""
    return name.removeprefix("@").replace("_", " ") if name.startswith("@") else name


def _quantity(value: float, name: str) -> str:
    if name.endswith("_ms"):
        return duration_text(value)
    if name.endswith("_bytes") or name.startswith("bytes_"):
        return size_text(value)
    if name.endswith("_ratio"):
        return f"{value:.4%}"
    if isinstance(value, float):
        return f"{value:,.2f}".rstrip("0").rstrip(".")
    return str(value) if name.endswith(("_id", "epoch", "node")) else count_text(value)


def incidents_of(
    tables: Tables, period: Period, spare: list[int], known: Known, prefix: str
) -> tuple[list[Incident], Table | None, int, str]:
    """(the worst incidents, the worst first, maintenance, how many incidents there are, what to say where there are none)."""
    try:
        rows = tables.rows(period.filled(INCIDENTS, rank=severity_rank(), most=str(MOST_INCIDENTS)))
    except NotBuilt as error:
        return [], None, 0, f"Not built in this warehouse ({error}). A complete `chronicle build` creates what is missing."
    cases = cases_of(tables, period.cluster, [dict(row) for row in rows], known)
    name_processes(rows, known.names)
    upkeep = [row for row in rows if row["is_maintenance"]]
    rows = [row for row in rows if not row["is_maintenance"]]
    chains: dict[str, list[Event]] = defaultdict(list)
    left: dict[str, int] = {}
    if rows:
        keys = ", ".join(literal(row["incident_key"]) for row in rows)
        starts = {row["incident_key"]: row["started_at"] for row in rows}
        try:
            for row in tables.rows(period.filled(INCIDENT_EVENTS, keys=keys, most=str(MOST_EVENTS))):
                chains[row["incident_key"]].append(event(row, starts[row["incident_key"]]))
                left[row["incident_key"]] = row["events"] - MOST_EVENTS
        except NotBuilt:
            pass
    unfold(tables.place, period.cluster, [event for row in rows for event in chains[row["incident_key"]]], spare)
    told = [
        incident(
            row, chains[row["incident_key"]], max(0, left.get(row["incident_key"], 0)), cases[row["incident_key"]], f"{prefix}-i{place}"
        )
        for place, row in enumerate(rows, 1)
    ]
    return told, maintenance_table(upkeep), rows[0]["alike"] if rows else 0, ""


def incident(row: Row, events: list[Event], left_out: int, case: Case, anchor: str) -> Incident:
    """An incident's row with its chain, and what to do about it."""
    lasted = "" if row["ended_at"] is None else duration_text((row["ended_at"] - row["started_at"]).total_seconds() * 1000)
    facts = [
        ("from", cell(row["started_at"])),
        ("to", "open at the end of the evidence" if row["ended_at"] is None else f"{cell(row['ended_at'])} ({lasted})"),
        ("root cause", cell(row["root_cause_kind"], "root_cause_kind")),
        ("nodes", cell(row["nodes"])),
        ("partitions affected", cell(row["partitions_affected"])),
        ("without a leader, partition-time", cell(row["leaderless_ms"], "leaderless_ms")),
        (
            "groups affected",
            ", ".join([cell(row["groups_affected"]), *map(brief, row["groups"][:GROUPS])]) + (" …" if len(row["groups"]) > GROUPS else ""),
        ),
    ]
    kind = cell(row["root_cause_kind"] or "cause unknown", "root_cause_kind")
    return Incident(
        row["summary"] or kind,
        row["severity"] or "",
        kind,
        row["incident_key"],
        facts,
        row["warnings"] or [],
        events,
        left_out,
        anchor,
        time_text(row["started_at"].replace(microsecond=0)),
        lasted or "no end in the logs",
        case.began,
        remedies(case),
    )


def event(row: Row, start: dt.datetime) -> Event:
    """An event's row as a sentence, with the places of its records."""
    away = (row["happened_at"] - start).total_seconds() * 1000
    # A record that is named more than once counts once.
    places = list(dict.fromkeys((one["source_path"], one["byte_offset"]) for one in row["evidence"] or []))
    return Event(
        at=time_text(row["happened_at"]),
        after="" if not away else f"{'+' if away > 0 else '−'}{duration_text(abs(away))}",
        role=row["role"] or "",
        sentence=row["sentence"] or "",
        key=row["incident_event_key"],
        lines=[],
        records=max(row["evidence_count"] or 0, len(places)),
        places=places[:MOST_LINES],
        day=row["happened_at"].date(),
    )


def maintenance_table(rows: Sequence[Row]) -> Table | None:
    """Planned restarts, a row each."""
    if not rows:
        return None
    rows = sorted(rows, key=lambda row: (row["started_at"], row["incident_key"]))
    cells = [
        [row["severity"] or "–", row["summary"] or "", cell(row["nodes"]), cell(row["started_at"]), cell(row["ended_at"], "ended_at")]
        for row in rows
    ]
    return Table("Maintenance", ["severity", "what was done", "nodes", "started at", "ended at"], cells, rows[0]["alike"])


def unfold(place: Warehouse, cluster: str, events: Sequence[Event], spare: list[int]) -> None:
    """Give the events their raw lines, as long as the page can hold them."""
    found = raw_lines(place, cluster, {one for event in events for one in event.places}, [event.day for event in events])
    for event in events:
        for one in event.places:
            line = found.get(one)
            if line is not None and spare[0] >= len(line.text):
                spare[0] -= len(line.text)
                event.lines.append(line)


def raw_lines(place: Warehouse, cluster: str, places: set[Place], days: Sequence[dt.date]) -> dict[Place, Line]:
    """The records at some places: first from the files of those days and their neighbours, then from all, for what was not there."""
    found: dict[Place, Line] = {}
    near = (min(days) - dt.timedelta(days=1), max(days) + dt.timedelta(days=1)) if days else None
    for when in (near, None):
        missing = places - found.keys()
        if missing:
            records = sorted(evidence.lines(place, cluster, missing, when), reverse=True)
            found.update({(record.source_path, record.byte_offset): line_of(record) for record in records})
    return found


def line_of(record: evidence.Line) -> Line:
    """A record as the page shows it, cut where it is very long."""
    node = "" if record.node_id is None else f"node {record.node_id}"
    text = record.raw_text
    return Line(node, f"{record.source_path}:{record.byte_offset}", text[:LONGEST_LINE], max(0, len(text) - LONGEST_LINE))


def render(page: Page) -> str:
    """The page as HTML; texts are escaped, and control characters shown as such."""
    return template().render(page=page)


@cache
def template() -> jinja2.Template:
    """The page with its filters, compiled once."""
    import jinja2

    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=visible,
        keep_trailing_newline=True,
    )
    environment.filters["name"] = brief
    environment.filters["sentence"] = partial(brief, most=LONGEST_SENTENCE)
    environment.filters["marked"] = marked
    environment.filters["count"] = count_text
    environment.filters["time"] = time_text
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8"))


def visible(value: Any) -> Any:
    """A text with its control characters made visible: terminal colours or NUL bytes in a log do not belong on a page, and no name reverses it."""
    return console.visible(re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", "\ufffd", value), keep="\t\n") if type(value) is str else value


def brief(text: str, most: int = LONGEST_NAME) -> str:
    """A text cut to the room of the page, with a note if it was cut."""
    return text if len(text) <= most else f"{text[:most]} … {count_text(len(text) - most)} characters more"


def marked(text: str) -> Any:
    """A sentence with what stands between backticks as code."""
    from markupsafe import Markup, escape

    parts = [escape(visible(part)) for part in brief(text, LONGEST_SENTENCE).split("`")]
    return Markup("").join(Markup(f"<code>{part}</code>") if place % 2 else part for place, part in enumerate(parts))
