"""Compares the table of a new build with that of the previous one: whether their rows differ, in which clusters, for which values of the known
column, and from which time on."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from chronicle.build.compiled import Model
from chronicle.build.publish import LITTLE_AHEAD, both, of_clusters, ordered, same

# Larger tables are compared some clusters at a time: sorted and unsorted, a million rows with evidence take more than a gigabyte.
MOST_AT_ONCE = 250_000


@dataclass(frozen=True)
class Difference:
    """Whether two tables differ; for which values of the known column, and in which clusters for each (the value is empty where no column is
    known; no clusters, or no value: that was not looked at); and from which time on (None: not known)."""

    is_one: bool = False
    clusters: dict[str, set[str | None]] = field(default_factory=dict)
    begin: dt.datetime | None = None

    def and_of(self, other: Difference) -> Difference:
        """The difference of two shares together."""
        if not (self.is_one and other.is_one):
            return self if self.is_one else other
        begin = min(self.begin, other.begin) if self.begin and other.begin else None
        values = self.clusters.keys() | other.clusters.keys()
        return Difference(True, {value: self.clusters.get(value, set()) | other.clusters.get(value, set()) for value in values}, begin)


@dataclass(frozen=True)
class Compared:
    """Two tables with the same columns, that of the previous build and the new one, of which not all rows are in memory at a time.  `scope`: the
    condition for the rows that are compared; `is_by_cluster`: it is asked in which clusters they differ."""

    old: ds.Dataset
    new: ds.Dataset
    scope: pc.Expression | None
    is_by_cluster: bool = False

    @property
    def columns(self) -> list[str]:
        """Their columns, in one order."""
        names: list[str] = self.new.schema.names
        return names

    @cached_property
    def count(self) -> tuple[int, int]:
        """The rows of each."""
        return self.old.count_rows(filter=self.scope), self.new.count_rows(filter=self.scope)

    def shares(self) -> Iterator[pc.Expression | None]:
        """Conditions that share out the rows by cluster, a limited number each; those of one cluster stay together."""
        if max(self.count) <= MOST_AT_ONCE or "cluster_id" not in self.columns:
            yield self.scope
            return
        rows = rows_of_clusters(self.old, self.scope) + rows_of_clusters(self.new, self.scope)
        share, size = list[str | None](), 0
        for cluster in sorted(rows, key=str):
            if share and size + rows[cluster] > 2 * MOST_AT_ONCE:
                yield both(self.scope, of_clusters(share))
                share, size = [], 0
            share.append(cluster)
            size += rows[cluster]
        yield both(self.scope, of_clusters(share))

    def difference(self, model: Model) -> Difference:
        """How they differ."""
        found = Difference()
        for some in self.shares():
            found = found.and_of(self._difference(model, some))
            if found.is_one and not (model.known or found.begin or self.is_by_cluster):
                # No more can be found.
                break
        return found

    def _difference(self, model: Model, some: pc.Expression | None) -> Difference:
        """How they differ in the rows of a share."""
        old, new = (side.to_table(self.columns, filter=some, **LITTLE_AHEAD) for side in (self.old, self.new))
        if same(old, new):
            # Rows that are the same mostly come in the same order.
            return Difference()
        groups = [*([model.known] if model.known else []), *(["cluster_id"] if self.is_by_cluster else [])]
        at = None if model.known else model.at
        if not (groups or at) and old.num_rows != new.num_rows:
            return Difference(True)
        # One after the other: a table is held twice while it is sorted.
        first = [*groups, *([at] if at else [])]
        old = ordered(old, first)
        new = ordered(new, first)
        if same(old, new):
            return Difference()
        if not groups:
            return Difference(True, begin=first_difference(old, new, at) if at else None)
        found = Difference()
        for key, before, now in pairs(old, new, groups):
            if not same(before, now):
                value = text_of(key[0]) if model.known else ""
                clusters = {value: {key[-1]} if self.is_by_cluster else set[str | None]()}
                found = found.and_of(Difference(True, clusters, first_difference(before, now, at) if at else None))
        return found


def pairs(old: pa.Table, new: pa.Table, columns: Sequence[str]) -> Iterator[tuple[tuple[str | None, ...], pa.Table, pa.Table]]:
    """The rows of two tables, which are sorted by some columns first, for each of their values."""
    before, now = slices(old, columns), slices(new, columns)
    for key in before.keys() | now.keys():
        yield key, before.get(key, old.slice(0, 0)), now.get(key, new.slice(0, 0))


def slices(rows: pa.Table, columns: Sequence[str]) -> dict[tuple[str | None, ...], pa.Table]:
    """The rows of a table, which is sorted by some columns first, by their values."""
    # Arrow gives groups in no certain order.
    counts = rows.select(columns).group_by(list(columns)).aggregate([([], "count_all")]).sort_by([(name, "ascending") for name in columns])
    found, start = {}, 0
    for *key, count in zip(*(counts[name].to_pylist() for name in (*columns, "count_all")), strict=True):
        found[tuple(key)] = rows.slice(start, count)
        start += count
    return found


def text_of(value: str | None) -> str:
    """A value of a known column: a null counts as the text null."""
    return "null" if value is None else str(value)


def rows_of_clusters(rows: ds.Dataset, some: pc.Expression | None = None) -> Counter[str | None]:
    """How many rows there are of each cluster, of those for which a condition holds."""
    found = Counter[str | None]()
    for batch in rows.scanner(columns=["cluster_id"], filter=some, **LITTLE_AHEAD).to_batches():
        found.update({one["values"]: one["counts"] for one in pc.value_counts(batch["cluster_id"]).to_pylist()})
    return found


def are_alike(old: pa.Table, new: pa.Table) -> bool:
    """Whether two tables have the same rows."""
    return old.num_rows == new.num_rows and (not new.column_names or same(ordered(old), ordered(new)))


def first_difference(old: pa.Table, new: pa.Table, at: str) -> dt.datetime | None:
    """The time of the first row that differs between two tables; both are sorted by that time first, rows without a time last.  None if any row
    that differs has no time: it may matter at any."""
    undated = [rows.filter(rows[at].is_null()) for rows in (old, new)]
    if not same(*undated):
        return None
    alike, end = 0, min(old.num_rows, new.num_rows)
    while alike < end:
        middle = (alike + end + 1) // 2
        if same(old.slice(alike, middle - alike), new.slice(alike, middle - alike)):
            alike = middle
        else:
            end = middle - 1
    # One may have reached its rows without a time, which are the same in both.
    times = [time for rows in (old, new) if rows.num_rows > alike and (time := rows[at][alike].as_py()) is not None]
    return min(time if isinstance(time, dt.datetime) else dt.datetime.combine(time, dt.time(), dt.UTC) for time in times)
