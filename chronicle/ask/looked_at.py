"""What the tables of some clusters are made from, and what of it could not be used: for answers that would else be silence.

"No incident was found" is true only of what was looked at.  Each thing that could not be used comes with the option that helps.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chronicle.ask.tables import NotBuilt, Row, Tables
from ingestion import captures
from ingestion.records.kinds import is_of_node
from ingestion.sources.said import READ

NOTHING_FOUND = "No incident was found."
SOURCES = """
select source_path, source_kind, layout_name, node_id, outcome, reason, zone_known_by, records, recognised, warnings
from marts.fct_sources
where {those} and outcome <> 'copy'
order by source_path"""
SPAN = "select min(first_seen_at) as first_at, max(last_seen_at) as last_at from marts.dim_clusters where {those}"
UNNUMBERED = "select node_id, node_name from marts.dim_nodes where {those} and node_id < -1 order by node_name"
# Of a longer list only so many are named.
NAMED = 3


@dataclass(frozen=True)
class LookedAt:
    """`said`: what was read; `unused`: what could not be used, each with what helps; `names`: of processes without a node id, by the number they have
    instead."""

    said: str
    unused: tuple[str, ...]
    names: dict[int, str]


def looked_at(tables: Tables, those: str) -> LookedAt:
    """What was read of some clusters, and what of it could not be used.  `those`: a condition on `cluster_id`."""
    names = names_of_unnumbered(tables, those)
    try:
        files = tables.rows(SOURCES.format(those=those))
        span = tables.rows(SPAN.format(those=those))[0]
    except NotBuilt:
        return LookedAt("", (), names)
    return LookedAt(said(files, span), tuple(unused(files, list(names.values()))), names)


def names_of_unnumbered(tables: Tables, those: str) -> dict[int, str]:
    """The names of processes whose node id is unknown, by the number they have instead; empty if the table of nodes is not built."""
    try:
        return {row["node_id"]: row["node_name"] for row in tables.rows(UNNUMBERED.format(those=those))}
    except NotBuilt:
        return {}


def said(files: Sequence[Row], span: Row) -> str:
    """A sentence on what was read."""
    read = [row for row in files if row["outcome"] in READ]
    records, recognised = (sum(row[name] or 0 for row in read if row["layout_name"]) for name in ("records", "recognised"))
    kinds = sorted({row["source_kind"].replace("_", " ") for row in read if row["source_kind"]})
    times = f", from {span['first_at']:%Y-%m-%d %H:%M:%S} to {span['last_at']:%Y-%m-%d %H:%M:%S} UTC" if span["first_at"] else ""
    what = f": {', '.join(kinds)}" if kinds else ""
    lines = f"; {recognised:,} of {records:,} log records recognised{times}" if records else ""
    return f"Looked at {counted(len(read), 'file')}{what}{lines}."


def unused(files: Sequence[Row], unnumbered: Sequence[str]) -> Iterator[str]:
    """A sentence for each thing that could not be used, or only with a doubt."""
    read = [row for row in files if row["outcome"] in READ]
    logs = [row for row in read if row["layout_name"]]
    unknown = [row for row in files if row["outcome"] == "unknown"]
    if unknown:
        yield f"{counted(len(unknown), 'file')} of no known layout: {named(unknown)}. If it is a log, say how its lines are laid out: --pattern."
    for outcome in sorted({row["outcome"] for row in files} - {*READ, "unknown"}):
        those = [row for row in files if row["outcome"] == outcome]
        reason = f" ({those[0]['reason']})" if those[0]["reason"] else ""
        yield f"{counted(len(those), 'file')} not read, {outcome}: {named(those)}{reason}."
    low = [row for row in logs if (row["records"] or 0) > 2 * (row["recognised"] or 0)]
    if low:
        records, recognised = sum(row["records"] for row in low), sum(row["recognised"] for row in low)
        yield (
            f"Only {recognised:,} of {records:,} records recognised in {named(low)}: if these are Kafka's, their layout may have been misread (--pattern); "
            "`chronicle ask unrecognised-shapes` shows them, `chronicle catalogue suggest` proposes forms."
        )
    if unnumbered:
        names = ", ".join(unnumbered[:NAMED]) + (" …" if len(unnumbered) > NAMED else "")
        yield f"{counted(len(unnumbered), 'process', 'processes')} whose node id nothing names: {names}. --node ID says which node wrote the file."
    nodeless = [row for row in read if row["node_id"] is None and needs_node(row)]
    if nodeless and not unnumbered:
        yield (
            f"{counted(len(nodeless), 'file')} of an unknown node: {named(nodeless)}. Facts of a single node are missing from it: --node ID, or --layout "
            "with {node} in the path."
        )
    undated = [row for row in read if captures.DATED_BY_FILE in (row["warnings"] or ())]
    if undated:
        yield (
            f"{counted(len(undated), 'file')} without a time in text or name: {named(undated)}. The last change of the file is taken for it; a line "
            "`Timestamp: 2026-01-31 10:00:00` at the top, or a name like 20260131T100000Z-describe.txt, says it."
        )
    if any(row["zone_known_by"] == "default" for row in logs):
        yield "The time zone of the logs is unknown: times are taken as UTC (--timezone)."


def needs_node(row: Row) -> bool:
    """Whether a file is of a single node, which its row does not name."""
    kind = row["source_kind"] or ""
    return is_of_node(kind) if row["layout_name"] else captures.is_of_node(kind)


def counted(count: int, noun: str, plural: str = "") -> str:
    """'1 file', '1,234 files'."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def named(files: Sequence[Row]) -> str:
    """The names of the first files."""
    names = [os.path.basename(row["source_path"]) for row in files[:NAMED]]
    return ", ".join(names) + (" …" if len(files) > NAMED else "")
