"""What earlier runs found, as `bronze.sources` keeps it: how far each file was read, and which node each file belongs to now that more is known.

No Spark here.  A capture that was read before the file that tells its node gets the node later: by a row of `bronze.sources`
without records.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingestion import captures
from ingestion.reading import objects
from ingestion.records.kinds import is_of_node, kinds_of_others
from ingestion.sources import owners
from ingestion.sources.resolve import files_of
from ingestion.sources.said import CUT, READ
from ingestion.sources.stages import (
    FAILED,
    GROWING,
    MISSING,
    TO_READ,
    UNKNOWN,
    UNREADABLE,
    Found,
    Identified,
    Inspected,
    Known,
    Placed,
    grown,
)

# Rows that are converted to dictionaries at a time.
AT_ONCE = 5_000
# Outcomes that may differ the next time: what could not be read, and what a later release of ours may recognise.
LOOKED_AT_AGAIN = (MISSING, UNREADABLE, FAILED, UNKNOWN)
# Columns of a row that describe a source, besides its cluster.
KNOWN = (
    "source_id",
    "source_path",
    "fingerprint",
    "fingerprint_length",
    "end_offset",
    "tail_hash",
    "size_bytes",
    "outcome",
    "last_node_id",
)
Row = dict[str, Any]
# What tells a file from all others.
PLACE = ("cluster_id", "source_path")
# Columns of a row that say what a file showed.
SHOWN = (*PLACE, "kind", "layout", "node_id", "node_known_by", "clues")
# The last row of a file: outcome, size on disk, source, up to where it was read, and node.
LastSaid = tuple[str, int | None, str | None, int | None, int | None]


def mark_of(cluster: str, path: str, node: int | None, size: int | None, modified: float) -> bytes:
    """A hash of an object and its state, 16 bytes.  `node`: by its path; tables keep microseconds of its time."""
    said = f"{cluster}\x1f{path}\x1f{node}\x1f{size}\x1f{round(modified * 1e6)}"
    return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class Past:
    """The rows of `bronze.sources` that are needed (`kept.py`): by cluster, those of a cluster in the order in which they were written.

    For a large fleet these are hundreds of thousands: they stay a table, and few are dictionaries at a time.
    """

    def __init__(self, table: pa.Table) -> None:
        self.table = table
        # Sorting makes a copy, which one cluster does not need.
        if pc.count_distinct(table["cluster_id"]).as_py() > 1:
            numbered = table.select(["cluster_id"]).append_column("row", pa.array(np.arange(len(table))))
            self.table = table.take(pc.sort_indices(numbered, [("cluster_id", "ascending"), ("row", "ascending")]))
        # Number of objects that this run skipped, by cluster.
        self.passed: Counter[str] = Counter()

    def of(self, cluster: str) -> OfCluster:
        """What is known of the files of a cluster."""
        first, end = self._spans.get(cluster, (0, 0))
        return OfCluster(self.table.slice(first, end - first))

    @cached_property
    def _spans(self) -> dict[str, tuple[int, int]]:
        """Where the rows of each cluster are: the first, and the one after the last."""
        runs = pc.run_end_encode(self.table["cluster_id"].combine_chunks())
        ends = runs.run_ends.to_pylist()
        return dict(zip(runs.values.to_pylist(), zip([0, *ends], ends, strict=False), strict=True))

    @cached_property
    def last_objects(self) -> set[bytes]:
        """The `mark_of` each object as it was last seen, without those to look at again.  There may be millions."""
        those = self.table.filter(pc.match_substring_regex(self.table["source_path"], f"^{objects.URI.pattern}"))
        columns = ("cluster_id", "source_path", "size_bytes", "modified_at", "outcome", "clues")
        return {
            mark_of(
                row["cluster_id"],
                row["source_path"],
                (row["clues"] or {}).get("path_node"),
                row["size_bytes"],
                row["modified_at"].timestamp(),
            )
            for row in rows_of_table(last_of(those, "cluster_id", "source_path"), *columns)
            if row["modified_at"] and row["outcome"] not in LOOKED_AT_AGAIN
        }

    def passes_by(self, found: Found, status: objects.Status) -> bool:
        """Whether an object is unchanged since it was read; it is then counted as skipped."""
        is_as_it_was = mark_of(found.cluster_id, found.shown, found.path_node, status.size, status.modified) in self.last_objects
        if is_as_it_was:
            self.passed[found.cluster_id] += 1
        return is_as_it_was

    @property
    def names(self) -> list[str]:
        """The names of all files that were looked at."""
        return list(self.table["source_path"].to_pylist())


class OfCluster:
    """Those rows of a cluster."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    @cached_property
    def read(self) -> pa.Table:
        """Those of files that were read."""
        return self.table.filter(pc.is_in(self.table["outcome"], pa.array(READ)))

    @cached_property
    def written(self) -> dict[str, tuple[str, int | None]]:
        """Path → (outcome, size on disk), as last seen."""
        last = rows_of_table(last_of(self.table, "source_path"), "source_path", "outcome", "size_bytes")
        return {row["source_path"]: (sys.intern(row["outcome"]), row["size_bytes"]) for row in last}

    @cached_property
    def captures(self) -> dict[str, Row]:
        """The last row of each capture that was read, by path."""
        last = last_of(self.read, "source_path")
        return {row["source_path"]: row for row in rows_of_table(last.filter(pc.is_null(last["layout"])))}

    @cached_property
    def nodeless_logs(self) -> dict[str, Row]:
        """The last row of each log of a node that nothing has named yet, by path."""
        last = last_of(self.read, "source_path")
        logs = last.filter(pc.and_(pc.is_valid(last["layout"]), pc.is_null(last["last_node_id"])))
        return {row["source_path"]: row for row in rows_of_table(logs) if row["kind"] not in kinds_of_others()}

    def last_said(self) -> dict[str, LastSaid]:
        """The last row of each file, by path."""
        last = last_of(self.table, "source_path")
        columns = ("outcome", "size_bytes", "source_id", "end_offset", "node_id")
        return dict(zip(last["source_path"].to_pylist(), zip(*(last[name].to_pylist() for name in columns), strict=True), strict=True))

    def known(self, owned: dict[str, owners.Owner]) -> list[Known]:
        """The sources that were read, and how far.  `owned`: the owners of captures that have another node now."""
        known = []
        for row in rows_of_table(last_of(self.read, "source_id"), *KNOWN):
            owner = owned.get(row["source_path"])
            known.append(
                Known(
                    source_id=row["source_id"],
                    path=row["source_path"],
                    fingerprint=row["fingerprint"],
                    fingerprint_length=row["fingerprint_length"],
                    end=row["end_offset"],
                    tail_hash=row["tail_hash"],
                    size=row["size_bytes"],
                    outcome=row["outcome"],
                    node_id=row["last_node_id"] if owner is None else owner.node,
                )
            )
        return known

    @cached_property
    def files(self) -> dict[str, owners.File]:
        """Each file that was read, by path, with everything that it ever showed."""
        out: dict[str, owners.File] = {}
        for row in rows_of_table(self.read, *SHOWN):
            out[row["source_path"]] = together(out.get(row["source_path"]), file_of_row(row))
        return out

    def kept(self, sources: Sequence[Placed]) -> list[Placed]:
        """The sources; a capture keeps the node that it got by time from the neighbouring logs, if these logs are not looked at now."""
        return [
            grown(Placed, source, node_id=row["node_id"], node_known_by=row["node_known_by"], doubts=owner_of(row)[2])
            if (row := self.captures.get(source.shown)) and source.node_id is None and is_by_time(row)
            else source
            for source in sources
        ]

    def has_more_of(self, source: Identified) -> bool:
        """Whether a file may hold bytes that have not been read; for a compressed file this is only known if it is unchanged."""
        if source.outcome != TO_READ:
            return False
        if source.size is None:
            return self.written.get(source.shown) not in ((TO_READ, source.disk_size), (CUT, source.disk_size))
        return source.start < source.size

    def has_other_owner(self, source: Placed) -> bool:
        """Whether a capture has another node now than when it was last seen."""
        row = self.captures.get(source.shown)
        return bool(source.capture) and row is not None and owner_of(row) != (source.node_id, source.node_known_by, source.doubts)


def last_of(table: pa.Table, *key: str) -> pa.Table:
    """The last row of each key; the keys in order of first appearance."""
    numbered = table.select(key).append_column("number", pa.array(np.arange(len(table))))
    return table.take(numbered.group_by(list(key), use_threads=False).aggregate([("number", "max")])["number_max"])


def rows_of_table(table: pa.Table, *columns: str) -> Iterator[Row]:
    """The rows with some columns (none: all)."""
    for batch in (table.select(columns) if columns else table).to_batches(AT_ONCE):
        yield from batch.to_pylist()


def is_by_time(row: Row) -> bool:
    """Whether a file got its node by the time at which it begins, from logs of several nodes: only they can tell it again."""
    return row["kind"] in GROWING and row["node_known_by"] == "folder"


def owner_of(row: Row) -> tuple[int | None, str | None, tuple[str, ...]]:
    """The node of a row of `bronze.sources`, what it is known by, and what contradicts it."""
    return row["node_id"], row["node_known_by"], tuple((row.get("clues") or {}).get("doubts") or ())


def file_of_row(row: Row) -> owners.File:
    """The file of a row, from the clues that `clues_of` kept; a row without clues gives what it has."""
    clues = row.get("clues") or {}
    folder, name = os.path.split(row["source_path"])
    is_capture = row["layout"] is None
    by_content = [row["node_id"]] if row["node_known_by"] == "content" and row["node_id"] is not None else []
    return owners.File(
        # One object in memory, however many files have the same text.
        cluster=sys.intern(row["cluster_id"]),
        root=sys.intern(clues.get("root") or folder),
        folder=sys.intern(folder),
        name=name,
        takes_node=captures.is_of_node(row["kind"]) if is_capture else is_of_node(row["kind"]),
        is_foreign=captures.is_of_others(row["kind"]) if is_capture else row["kind"] in kinds_of_others(),
        nodes=tuple(clues.get("nodes") or by_content),
        members=tuple(clues.get("members") or ()),
        hosts=tuple((entry["host"], entry["node_id"]) for entry in clues.get("hosts") or ()),
        host=clues.get("host"),
        path_node=clues.get("path_node") if clues else row["node_id"] if row["node_known_by"] == "path" else None,
        is_said_of_file=bool(clues.get("is_said_of_file")),
    )


def together(before: owners.File | None, now: owners.File) -> owners.File:
    """What a file showed, earlier and now; the higher of the two roots counts."""
    if before is None:
        return now
    return replace(
        now,
        root=min(before.root, now.root, key=len),
        nodes=tuple(dict.fromkeys((*before.nodes, *now.nodes))),
        members=tuple(sorted({*before.members, *now.members})),
        hosts=tuple(sorted({*before.hosts, *now.hosts})),
    )


def from_above(source: Inspected, files: Mapping[str, owners.File]) -> Inspected:
    """A file with the highest folder under which it was ever given as its root.  `files`: of earlier runs, by path."""
    before = files.get(source.shown)
    if before is None or len(before.root) >= len(source.root):
        return source
    return grown(Inspected, source, root=before.root)


def clues_of(source: Placed) -> Row:
    """What a source and its path tell of nodes, as `bronze.sources` keeps it."""
    [file] = files_of([source])
    return {
        "root": file.root,
        "path_node": file.path_node,
        "is_said_of_file": file.is_said_of_file,
        "host": file.host,
        "nodes": list(file.nodes),
        "members": list(file.members),
        "hosts": [{"host": host, "node_id": node} for host, node in file.hosts],
        "doubts": list(source.doubts),
    }


def second_look(found: Sequence[Inspected], past: OfCluster) -> dict[str, owners.Owner]:
    """The captures of earlier runs of a cluster that are not among its files found but have another node now, by path."""
    here = {source.shown for source in found}
    waiting = [path for path in past.captures if path not in here]
    if not waiting:
        return {}
    cluster = owners.Cluster([*files_of(found), *past.files.values()])
    return dict(other_owners({path: past.files[path] for path in waiting}, cluster, past))


def named_now(found: Sequence[Placed], past: OfCluster) -> dict[str, owners.Owner]:
    """The logs of earlier runs without a node that have one now, by path: it is given, or the file or another one of its folder names it."""
    waiting = past.nodeless_logs
    if not waiting:
        return {}
    here = {source.shown: owners.Owner(source.node_id, source.node_known_by) for source in found if source.node_id is not None}
    named: dict[str, set[int]] = {}
    for source in found:
        if source.envelope and source.takes_nodes:
            named.setdefault(source.folder, set()).update(source.nodes)
    for path, file in past.files.items():
        if file.takes_node:
            named.setdefault(os.path.dirname(path), set()).update(file.nodes)
    out = {}
    for path in waiting:
        of_folder = named.get(os.path.dirname(path), set())
        if path in here:
            out[path] = here[path]
        elif len(of_folder) == 1:
            out[path] = owners.Owner(next(iter(of_folder)), "folder")
    return out


def other_owners(files: dict[str, owners.File], cluster: owners.Cluster, past: OfCluster) -> Iterator[tuple[str, owners.Owner]]:
    """Those of the given captures whose owner is not the one in their row."""
    for path, file in files.items():
        row = past.captures[path]
        owner = cluster.owner(file)
        if not (owner.node is None and is_by_time(row)) and owner_of(row) != (owner.node, owner.known_by, owner.warnings):
            yield path, owner


def rows_of(owned: dict[str, owners.Owner], rows: Mapping[str, Row], batch_id: int, now: dt.datetime) -> list[Row]:
    """The rows of `bronze.sources` with the new owners; they add no records.  `rows`: the last ones, by path."""
    out = []
    for path, owner in owned.items():
        row = rows[path]
        clues = row.get("clues") or {}
        doubts = clues.get("doubts") or ()
        out.append(
            row
            | {
                "batch_id": batch_id,
                "ingested_at": now,
                "node_id": owner.node,
                "last_node_id": owner.node,
                "node_known_by": owner.known_by,
                "start_offset": row["end_offset"],
                "records": 0,
                "recognised": 0,
                "warnings": [*owner.warnings, *(text for text in row["warnings"] or () if text not in doubts)],
                "clues": clues | {"doubts": list(owner.warnings)} if clues else None,
            }
        )
    return out
