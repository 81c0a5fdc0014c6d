"""What the tables know by name: clusters, nodes, topics, partitions, groups, releases and keys that a question was asked with."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from chronicle.ask.tables import NotBuilt, Tables
from ingestion.sql_text import literal

# Of more names only so many are listed.
LISTED = 10
# A key as it is given: all of its digits or the first of them, as in git; a table that had no room for all shows some with an ellipsis.
KEY = re.compile(r"[0-9a-f]{4,32}…?")
KEY_LENGTH = 32


@dataclass(frozen=True)
class Known:
    """Where the names for a parameter are: a table, and the name as an expression of its columns."""

    table: str
    name: str


NAMES = {
    "node": Known("marts.dim_nodes", "cast(node_id as varchar)"),
    "topic": Known("marts.dim_topics", "topic_name"),
    "partition": Known("marts.dim_partitions", "topic_name || '-' || cast(partition_id as varchar)"),
    "group": Known("marts.dim_groups", "group_id"),
    "release": Known("marts.dim_node_releases", "kafka_version"),
    "key": Known("marts.fct_incidents", "incident_key"),
}


def must_know(tables: Tables, cluster: str) -> None:
    """Raises ValueError if the cluster is unknown; the message suggests similar names, or lists all clusters."""
    tables.must_be_built()
    there = [row["cluster_id"] for row in tables.rows("select distinct cluster_id from marts.dim_clusters order by cluster_id")]
    if not there:
        raise ValueError(f"unknown cluster '{cluster}'; {tables.place.root} has no clusters yet; run `chronicle build` after ingesting")
    if cluster not in there:
        raise ValueError(f"unknown cluster '{cluster}'; {offered(cluster, there, tables.place.root)}")


def must_know_all(tables: Tables, given: Mapping[str, Any]) -> None:
    """Raises ValueError for the first value that nothing in the tables is called.  For an answer without rows: it would say that all is well."""
    for parameter in [name for name in NAMES if name in given]:
        try:
            there = names(tables, parameter, given.get("cluster"))
        except NotBuilt:
            continue
        if given[parameter] not in there:
            of = f" of cluster {given['cluster']}" if "cluster" in given else ""
            raise ValueError(f"unknown {parameter} '{given[parameter]}'{of}; {offered(given[parameter], there, tables.place.root)}")


def names(tables: Tables, parameter: str, cluster: str | None = None) -> list[str]:
    """All that a parameter can be called, of a cluster or of all.  Raises NotBuilt."""
    known = NAMES[parameter]
    those = f" where cluster_id = {literal(cluster)}" if cluster is not None else ""
    found = tables.rows(f"select distinct {known.name} as name from {known.table}{those} order by name")
    return [row["name"] for row in found if row["name"] is not None]


def offered(wanted: str, there: Sequence[str], root: str) -> str:
    """Names that are much like one that is not there, else the first that are.  A number is not like another."""
    near = [] if wanted.lstrip("-").isdigit() else get_close_matches(wanted, there, n=3, cutoff=0.6)
    if near:
        return f"did you mean {', '.join(near)}?"
    listed = sorted(there, key=lambda name: (len(name), name)) if wanted.lstrip("-").isdigit() else there
    more = f" and {len(there) - LISTED} more" if len(there) > LISTED else ""
    return f"{root} has {', '.join(listed[:LISTED])}{more}" if there else f"{root} has none"


def incident_keys(tables: Tables, start: str) -> list[str]:
    """The keys of incidents that begin so, in order."""
    known = NAMES["key"]
    found = tables.rows(f"select {known.name} as name from {known.table} where starts_with({known.name}, {literal(start)}) order by name")
    return [row["name"] for row in found]


def whole_key(given: str, beginning: Callable[[str], Sequence[str]], root: str) -> str:
    """A key from its first digits; `beginning` finds the keys that begin so.  Raises ValueError if there is none or more than one."""
    start = given.removesuffix("…")
    if len(start) == KEY_LENGTH:
        return start
    keys = beginning(start)
    if not keys:
        raise ValueError(f"unknown key '{start}'; no key in {root} begins so")
    if len(keys) > 1:
        more = f" and {len(keys) - LISTED} more" if len(keys) > LISTED else ""
        raise ValueError(f"ambiguous key '{start}'; it may be {', '.join(keys[:LISTED])}{more}")
    return keys[0]
