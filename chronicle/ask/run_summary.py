"""What `chronicle run` says at its end: what was found, and three questions with their answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from chronicle.ask.looked_at import NOTHING_FOUND, looked_at
from chronicle.ask.remedies import Case, Remedy, cases_of, first_of, known_of, losses_in, remedies
from chronicle.ask.tables import Row, Tables
from chronicle.output.console import visible
from chronicle.output.table import BETWEEN, SCROLLED, placed
from chronicle.output.values import shown
from ingestion.sql_text import literal
from ingestion.warehouse import Warehouse

OPEN = "count(*) filter (where is_open)"
# Table, what one row of it is, and of which rows how many are said, too.
FACTS = (
    ("fct_incidents", "incidents and maintenances", "count(*) filter (where severity = 'critical')", "critical"),
    ("fct_process_failures", "failures of processes", "count(*) filter (where has_ended_process)", "with their end"),
    ("fct_controllerless_windows", "times without a controller", OPEN, "still open"),
    ("fct_controller_tenures", "controller tenures", "count(*) filter (where is_split_brain)", "with two controllers at once"),
    ("fct_leader_elections", "leader elections", "count(*) filter (where is_unclean)", "unclean"),
    ("fct_leaderless_windows", "windows without a leader", OPEN, "still open"),
    ("fct_isr_changes", "changes of in-sync sets", "count(*) filter (where change_kind = 'shrunk')", "shrunk"),
    ("fct_under_replicated_windows", "times of replicas out of sync", OPEN, "still open"),
    ("fct_write_refusals_hourly", "hours with refused writes", "0", ""),
    ("fct_epoch_gaps", "gaps in epochs", "count(*) filter (where gap_kind = 'stale_node')", "a node with an old epoch"),
    ("fct_session_expiries", "expired sessions", "count(*) filter (where was_controller)", "of the controller"),
    ("fct_process_stalls", "stalls of processes", "0", ""),
    ("fct_thread_deadlocks", "deadlocks of threads", "0", ""),
    ("fct_log_dir_failures", "failures of log directories", "count(*) filter (where is_disk_full)", "of a full disk"),
    ("fct_log_cleaner_outages", "outages of log cleaners", OPEN, "still open"),
    ("fct_remote_copy_stalls", "stalls of copies to remote storage", OPEN, "still open"),
    ("fct_hanging_transactions", "hanging transactions", "0", ""),
    ("fct_group_rebalances", "rebalances of groups", "count(*) filter (where is_failed)", "failed"),
    ("fct_offsets_topic_growth_hourly", "hours of offsets partitions", "count(*) filter (where is_abnormal)", "abnormal"),
)

WORST = """select * from marts.fct_incidents
where {clusters} and not is_maintenance
order by array_position(make_array('critical', 'major', 'minor', 'info'), severity), leaderless_ms desc nulls last, started_at, incident_key
limit 5"""
# Of so many of them it is said what to do.
MOST_TREATED = 3

QUESTIONS = (
    (
        "Who was controller, until when, and how did it end?",
        """select cluster_id, cluster_incarnation as incarnation, controller_epoch as epoch, controller_id as node,
       elected_at, ended_at, end_kind, overlap_ms, late_writes
from marts.fct_controller_tenures
where {clusters}
order by cluster_id, known_since_at
limit 8""",
    ),
    (
        "Which partitions were without a leader, and for how long?",
        """select topic_name, count(*) as windows, count(*) filter (where is_open) as still_open,
       max(duration_so_far_ms) as longest_ms, min(started_at) as first_at
from marts.fct_leaderless_windows
where {clusters}
group by topic_name
order by windows desc, topic_name
limit 5""",
    ),
    (
        "Whose session expired, and how long was it away?",
        """select owner, session_kind, expired_at, reconnected_at, unavailable_ms, was_controller, cause_kind
from marts.fct_session_expiries
where {clusters}
order by expired_at
limit 8""",
    ),
)


def report(place: Warehouse, clusters: set[str]) -> Iterator[str]:
    """Lines about the clusters of a run: what they are, how much of each fact was found, and three questions with their answers."""
    if not clusters:
        yield "There are no files below the given paths, so nothing is new; `chronicle ask incidents` says what the warehouse holds."
        return
    tables = Tables(place)
    those = f"cluster_id in ({', '.join(map(literal, sorted(clusters)))})"
    for life in tables.rows(
        "select cluster_id, cluster_incarnation, coalesce(cluster_mode, 'mode unknown') as mode, coalesce(kafka_version, 'of unknown release') as version,"
        f" nodes, first_seen_at, last_seen_at from marts.dim_clusters where {those} order by cluster_id, cluster_incarnation"
    ):
        first, last, nodes = life["first_seen_at"], life["last_seen_at"], ", ".join(map(str, life["nodes"])) or "unknown"
        span = f"{first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} UTC" if first else "no events"
        yield f"{life['cluster_id']}, incarnation {life['cluster_incarnation']}: Kafka {life['version']}, {life['mode']}, nodes {nodes}; {span}"
    yield from counts(tables, those)
    looked = looked_at(tables, those)
    worst = tables.rows(WORST.format(clusters=those))
    if worst:
        yield from ("", "The worst of them:", *(f"  {shown(row['started_at'])}  {row['severity']}: {row['summary']}" for row in worst))
        advice = first_of(treated(tables, worst[:MOST_TREATED], looked.names))
        if advice:
            yield from ("", "What to do:", *(f"  {one.title}: {one.text}" for one in advice))
    else:
        yield from ("", f"{NOTHING_FOUND} {looked.said}")
    if looked.unused:
        yield from ("", "Not used, or in doubt:", *(f"  {line}" for line in looked.unused))
    for question, text in QUESTIONS:
        query = text.format(clusters=those)
        rows = tables.rows(query)
        if rows:
            yield from ("", question, "", *(f"    {line}" for line in query.splitlines()), "")
            yield from table_text(list(rows[0]), [[shown(value, null="") for value in row.values()] for row in rows])


def treated(tables: Tables, incidents: Sequence[Row], names: dict[int, str]) -> Iterator[Remedy]:
    """What to do about some incidents, in their order."""
    cases: dict[str, Case] = {}
    for cluster in dict.fromkeys(row["cluster_id"] for row in incidents):
        known = known_of(tables, cluster, names, losses_in(tables, cluster))
        cases |= cases_of(tables, cluster, [row for row in incidents if row["cluster_id"] == cluster], known)
    for row in incidents:
        yield from remedies(cases[row["incident_key"]])


def counts(tables: Tables, those: str) -> Iterator[str]:
    """A line for each fact of which there are rows, and one that names all others.  `those`: a condition on `cluster_id`."""
    none = []
    for table, name, special, kind in FACTS:
        count = tables.rows(f"select count(*) as all_rows, {special} as special from marts.{table} where {those}")[0]
        of_kind = f", {count['special']:,} {kind}" if count["special"] else ""
        if count["all_rows"]:
            yield f"  {count['all_rows']:>7,} {name}{of_kind}  (marts.{table})"
        else:
            none.append(name)
    if none:
        yield f"        0 {', '.join(none)}"


def table_text(columns: list[str], rows: list[list[str]]) -> Iterator[str]:
    """Aligned lines with a head; a very long name is cut."""
    cells = [[visible(text) for text in row] for row in [columns, *rows]]
    widths = [min(max(map(cell_len, column)), SCROLLED) for column in zip(*cells, strict=True)]
    for row in [cells[0], ["-" * width for width in widths], *cells[1:]]:
        yield BETWEEN.join(placed(text, width, False) for text, width in zip(row, widths, strict=True)).rstrip()
