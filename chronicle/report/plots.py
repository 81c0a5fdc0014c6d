"""What the report's figures show: rows of the marts as plain values, few enough to be drawn."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from chronicle.ask.looked_at import names_of_unnumbered
from chronicle.ask.tables import NotBuilt, Period, Row, Tables
from chronicle.output.sql_text import moment
from chronicle.report import figures
from chronicle.report.queries import EVIDENCE, NODES, OFFSETS, here
from ingestion.sql_text import literal

MOST_NODES = 24
MOST_STRETCHES = 2000
MOST_PARTITIONS = 6
# Steps of time in a figure; more would be thinner than a line.
STEPS = 300
MOST_DAYS = 60
DAY = dt.timedelta(days=1)
NODE = "select node_id, sum(records) as records, event_date from marts.fct_parse_coverage_daily"

Plots = dict[str, list[figures.Plot]]


@dataclass(frozen=True)
class Known:
    """Records by node and day of a period; `is_built`: whether the table is built."""

    period: Period
    days: Sequence[dt.date]
    records: dict[int, dict[dt.date, int]]
    nobody: dict[dt.date, int]
    is_built: bool = True

    @property
    def dark(self) -> list[dt.date]:
        """Days without a line of any node; none if that is not known."""
        if not self.is_built:
            return []
        return [day for day in self.days if not self.nobody.get(day) and not any(row.get(day) for row in self.records.values())]

    @property
    def stretches(self) -> list[figures.Stretch]:
        """The dark days as stretches of time."""
        made: list[figures.Stretch] = []
        for day in self.dark:
            start = dt.datetime(day.year, day.month, day.day, tzinfo=dt.UTC)
            made = [*made[:-1], (made[-1][0], start + DAY)] if made and made[-1][1] == start else [*made, (start, start + DAY)]
        return [(max(a, self.period.since), min(b, self.period.until)) for a, b in made]

    @property
    def coverage(self) -> str:
        """How many of the days have logs."""
        return f"{len(self.days) - len(self.dark):,} of {len(self.days):,}" if self.is_built else "not built"

    @property
    def unknown(self) -> str:
        """What is unknown because logs are missing, in words; empty if none are."""
        if not self.is_built:
            return "times that no log covers: the coverage of the evidence is not built"
        lacking = sum(not row.get(day) for row in self.records.values() for day in self.days)
        dark = f"{len(self.dark):,} of {len(self.days):,} days have no logs at all" if self.dark else ""
        nodes = f"{lacking:,} of {len(self.records) * len(self.days):,} days of nodes have none" if lacking else ""
        return "; ".join(filter(None, (dark, nodes)))


def known_days(tables: Tables, period: Period) -> Known:
    """Which days of the period have logs, by node."""
    last = (period.until - dt.timedelta(microseconds=1)).date()
    days = [period.since.date() + n * DAY for n in range((last - period.since.date()).days + 1)]
    try:
        rows = tables.rows(
            period.filled(
                f"{NODE} where cluster_id = $cluster and event_date >= cast($since as date) and event_date < $until group by node_id, event_date"
            )
        )
        nodes = tables.rows(period.filled("select node_id from marts.dim_nodes where cluster_id = $cluster order by node_id"))
    except NotBuilt:
        return Known(period, days, {}, {}, is_built=False)
    records: dict[int, dict[dt.date, int]] = {row["node_id"]: {} for row in nodes if row["node_id"] is not None}
    nobody: dict[dt.date, int] = {}
    for row in rows:
        (nobody if row["node_id"] is None else records.setdefault(row["node_id"], {}))[row["event_date"]] = row["records"]
    return Known(period, days, records, nobody)


def plots_of(tables: Tables, period: Period, known: Known) -> Plots:
    """The figures of a cluster by the part of the page in which they are."""
    frame = figures.Frame(period.since, period.until, known.stretches)
    made: Plots = {NODES: [], OFFSETS: [], EVIDENCE: []}
    for part, draw in ((NODES, node_lines), (NODES, leader_lines), (OFFSETS, growth_lines)):
        try:
            plot = draw(tables, period, frame)
        except NotBuilt:
            continue
        if plot:
            made[part].append(plot)
    if known.records:
        made[EVIDENCE].append(coverage(known))
    return made


def node_lines(tables: Tables, period: Period, frame: figures.Frame) -> figures.Plot | None:
    """Processes, controllers and sessions by node; nodes to which most happened, if there are too many."""
    end = moment(period.until)
    runs = _stretches(
        tables, period, "dim_node_runs", "coalesce(started_at, first_seen_at)", "coalesce(stopped_at, last_seen_at)", "end_kind", "node_id"
    )
    tenures = _stretches(tables, period, "fct_controller_tenures", "elected_at", f"coalesce(ended_at, {end})", "end_kind", "controller_id")
    lost = _stretches(
        tables,
        period,
        "fct_session_expiries",
        "coalesce(last_contact_at, expired_at)",
        "coalesce(reconnected_at, expired_at)",
        "session_kind",
        "node_id",
    )
    unnumbered = names_of_unnumbered(tables, f"cluster_id = {literal(period.cluster)}")
    lines: dict[int | None, figures.NodeLine] = {}
    for rows, field in ((runs, "runs"), (tenures, "tenures"), (lost, "expiries")):
        for row in rows:
            name = "others" if row["node"] is None else unnumbered.get(row["node"], f"node {row['node']}")
            line = lines.setdefault(row["node"], figures.NodeLine(name))
            getattr(line, field).append((row["a"], row["b"], row["kind"]) if field == "runs" else (row["a"], row["b"]))
    busy = sorted(
        lines, key=lambda node: (-len(lines[node].expiries) - len(lines[node].tenures) - len(lines[node].runs), node is None, node or 0)
    )
    shown = sorted(busy[:MOST_NODES], key=lambda node: (node is None, node or 0))
    left = [f"{MOST_NODES} of {len(lines)} nodes: those to which most happened"] if len(lines) > MOST_NODES else []
    left += [f"the latest {MOST_STRETCHES:,} of each kind" for rows in (runs, tenures, lost) if len(rows) == MOST_STRETCHES][:1]
    return figures.nodes_timeline([lines[node] for node in shown], frame, "; ".join(left)) if lines else None


def _stretches(tables: Tables, period: Period, mart: str, start: str, end: str, kind: str, node: str) -> list[Row]:
    """The latest stretches of a mart within the period."""
    query = (
        f"select {node} as node, {start} as a, {end} as b, {kind} as kind from marts.{mart} where {here(start, end)} and {start} is not null"
        f" order by a desc, node limit {MOST_STRETCHES}"
    )
    try:
        return tables.rows(period.filled(query))
    except NotBuilt:
        return []


LEADERS = """
with terms as (
    select elections.leader_id as node, elections.elected_at as a, coalesce(elections.held_until, clusters.valid_to, $until) as b
    from marts.fct_leader_elections as elections
    left join marts.dim_clusters as clusters
        on elections.cluster_id = clusters.cluster_id and elections.cluster_incarnation = clusters.cluster_incarnation
    where elections.cluster_id = $cluster and elections.leader_id >= 0 and elections.elected_at < $until
),
marks as (
    select node, case when a < $since then $since else a end as at, 1 as delta from terms where b > $since and b > a
    union all
    select node, b as at, -1 as delta from terms where b > $since and b > a and b < $until
)
select node, cast(floor((date_part('epoch', at) - date_part('epoch', $since)) / $step) as bigint) as step, sum(delta) as delta
from marks group by 1, 2 order by 1, 2"""
LEADERLESS = f"""
with windows as (
    select
        cast(floor((date_part('epoch', case when started_at < $since then $since else started_at end) - date_part('epoch', $since)) / $step) as bigint) as a,
        cast(floor((date_part('epoch', coalesce(ended_at, $until)) - date_part('epoch', $since)) / $step) as bigint) as b
    from marts.fct_leaderless_windows where {here("started_at", "ended_at")}
)
select step, sum(delta) as delta from (select a as step, 1 as delta from windows union all select b + 1 as step, -1 as delta from windows) as marks
group by 1 order by 1"""


def leader_lines(tables: Tables, period: Period, frame: figures.Frame) -> figures.Plot | None:
    """Partitions led by each node over time, and those without a leader, however short the time was."""
    step = max(1.0, (period.until - period.since).total_seconds() / STEPS)
    led: dict[int, dict[int, int]] = defaultdict(dict)
    for row in tables.rows(period.filled(LEADERS, step=f"{step:.3f}")):
        led[row["node"]][row["step"]] = row["delta"]
    changes = {node: len(steps) for node, steps in led.items()}
    shown = sorted(sorted(led, key=lambda node: (-changes[node], node))[:MOST_NODES])
    lines = [(f"node {node}", *steps_of(led[node], period, step)) for node in shown]
    try:
        without = {row["step"]: row["delta"] for row in tables.rows(period.filled(LEADERLESS, step=f"{step:.3f}"))}
        lines.append((figures.NOBODY, *steps_of(without, period, step)))
    except NotBuilt:
        pass
    left = f"{MOST_NODES} of {len(led)} nodes: those whose number changed most" if len(led) > MOST_NODES else ""
    return figures.leaders(lines, frame, left) if led else None


def steps_of(deltas: dict[int, int], period: Period, step: float) -> tuple[list[dt.datetime], list[int]]:
    """Times and counts of a line of steps, from the changes at the numbers of the steps; it reaches to the end of the period."""
    times, counts, count = [period.since], [0], 0
    for number in sorted(deltas):
        count += deltas[number]
        at = period.since + dt.timedelta(seconds=number * step)
        if at >= period.until:
            break
        if number <= 0:
            counts[0] = count
        elif deltas[number]:
            times.append(at)
            counts.append(count)
    return [*times, period.until], [*counts, counts[-1]]


GROWTH = f"""
with hours as (
    select node_id, partition_id, hour_at, coalesce(bytes_growth, 0) as grown, is_abnormal
    from marts.fct_offsets_topic_growth_hourly where {here("hour_at")}
),
replicas as (
    select
        node_id, partition_id, sum(grown) as total, max(case when is_abnormal then 1 else 0 end) as odd,
        row_number() over (partition by partition_id order by sum(grown) desc, node_id) as place
    from hours group by node_id, partition_id
),
largest as (
    select node_id, partition_id, row_number() over (order by odd desc, total desc, partition_id) as rank, count(*) over () as partitions
    from replicas where place = 1 and total <> 0
)
select rank, partitions, hours.node_id, hours.partition_id, hour_at, grown, is_abnormal
from hours inner join largest on hours.node_id = largest.node_id and hours.partition_id = largest.partition_id
where rank <= {MOST_PARTITIONS} order by rank, hour_at"""


def growth_lines(tables: Tables, period: Period, frame: figures.Frame) -> figures.Plot | None:
    """Growth of the offsets partitions that grew most, each on the node where it grew most; None if none grew."""
    lines: dict[int, tuple[str, list[dt.datetime], list[int], list[bool]]] = {}
    partitions = 0
    for row in tables.rows(period.filled(GROWTH)):
        name = f"{row['partition_id']} on node {row['node_id']}"
        _, times, sizes, odd = lines.setdefault(row["rank"], (name, [period.since], [0], [False]))
        times.append(min(row["hour_at"] + dt.timedelta(hours=1), period.until))
        sizes.append(sizes[-1] + row["grown"])
        odd.append(bool(row["is_abnormal"]))
        partitions = row["partitions"]
    left = (
        f"{MOST_PARTITIONS} of {partitions} partitions that grew or shrank: abnormal ones first, then those that grew most"
        if partitions > MOST_PARTITIONS
        else ""
    )
    return figures.growth([thinned(*line) for line in lines.values()], frame, left) if lines else None


def thinned(name: str, times: list[dt.datetime], sizes: list[int], odd: list[bool]) -> tuple[str, list[dt.datetime], list[int], list[bool]]:
    """A line of at most STEPS points: the last of each group, abnormal if one of the group is."""
    group = -(-len(times) // STEPS)
    ends = [*range(0, len(times), group), len(times)]
    picked = [(times[b - 1], sizes[b - 1], any(odd[a:b])) for a, b in pairwise(ends)]
    return name, [p[0] for p in picked], [p[1] for p in picked], [p[2] for p in picked]


def coverage(known: Known) -> figures.Plot:
    """Records by node and day, or by stretches of days where there are too many."""
    step = -(-len(known.days) // MOST_DAYS)
    starts = known.days[::step]
    nodes = sorted(known.records, key=lambda node: (sum(map(bool, known.records[node].values())), node))[:MOST_NODES]
    grid = [
        [sum(known.records[node].get(day, 0) for day in known.days[n * step : (n + 1) * step]) for n in range(len(starts))]
        for node in sorted(nodes)
    ]
    left = [f"{MOST_NODES} of {len(known.records)} nodes: those with the fewest days of logs"] if len(known.records) > MOST_NODES else []
    left += [f"a box is {step} days, and is filled where one of them has logs"] if step > 1 else []
    return figures.coverage([f"node {node}" for node in sorted(nodes)], starts, grid, step, "; ".join(left))
