"""Gives records of `bronze.log_records` the node of their process once something names it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from deltalake import DeltaTable

from ingestion.sources.owners import Owner
from ingestion.sql_text import literal


@dataclass(frozen=True)
class Named:
    """A process without a number (`writer` of its records) of a cluster, and the node that it is."""

    cluster_id: str
    writer: str
    owner: Owner


def name_writers(path: str, named: Iterable[Named]) -> None:
    """Write the nodes of processes into the table at a path; the next build is a full one, because files of bronze are replaced."""
    table = DeltaTable(path)
    for one in named:
        table.update(
            predicate=f"cluster_id = {literal(one.cluster_id)} and writer = {literal(one.writer)}",
            updates={"node_id": f"cast({one.owner.node} as int)", "node_known_by": literal(one.owner.known_by or ""), "writer": "null"},
        )
