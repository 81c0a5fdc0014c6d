"""The difference of two tables: in which clusters, for which values, from which time on."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest

from chronicle.build import comparison
from chronicle.build.comparison import Compared, Difference, first_difference, slices
from chronicle.build.compiled import Model
from chronicle.build.publish import ordered

NOON = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)
MODEL = Model("fct", "marts", "fct", "table", "", (), (), "fct.sql")


def rows(*found: tuple[int | None, str], kind: pa.DataType | None = None) -> pa.Table:
    """(hour, name) each, in the order in which tables are compared."""
    times = [None if hour is None else NOON.replace(hour=hour) for hour, _ in found]
    at = pa.array(times, pa.timestamp("us", "UTC")).cast(kind or pa.timestamp("us", "UTC"))
    return ordered(pa.table({"name": [name for _, name in found], "at": at, "list": [[name] for _, name in found]}), first=["at"])


@pytest.mark.parametrize(
    ("old", "new", "hour"),
    [
        ([(1, "a"), (2, "b"), (3, "c")], [(1, "a"), (2, "x"), (3, "c")], 2),
        ([(1, "a"), (3, "c")], [(1, "a"), (2, "b"), (3, "c")], 2),
        ([(1, "a"), (2, "b"), (3, "c")], [(1, "a"), (3, "c")], 2),
        ([(1, "a")], [(1, "a"), (4, "b")], 4),
        ([(5, "a"), (6, "b")], [], 5),
        ([(1, "b"), (1, "c")], [(1, "a"), (1, "c")], 1),
        ([(1, "a"), (1, "a")], [(1, "a"), (2, "a")], 1),
    ],
)
def test_the_first_row_that_differs_is_that_of_either_table(old: list[tuple[int, str]], new: list[tuple[int, str]], hour: int) -> None:
    empty = rows((1, "")).slice(0, 0)
    before, after = rows(*old), rows(*new) if new else empty
    assert first_difference(before, after, "at") == NOON.replace(hour=hour)
    assert first_difference(after, before, "at") == NOON.replace(hour=hour)


def test_a_row_without_a_time_is_no_beginning_and_a_day_begins_at_midnight() -> None:
    # Rows without a time are sorted last, also behind others that differ.
    assert first_difference(rows((1, "a"), (None, "b")), rows((1, "x"), (None, "b")), "at") == NOON.replace(hour=1)
    assert first_difference(rows((1, "a")), rows((1, "a"), (2, "new"), (None, "new")), "at") is None
    assert first_difference(rows((1, "a"), (None, "b")), rows((1, "a"), (None, "c")), "at") is None
    day = pa.date32()
    assert first_difference(rows((1, "a"), kind=day), rows((1, "b"), kind=day), "at") == NOON.replace(hour=0)


@pytest.mark.parametrize("at_once", [1, 2, 1000])
def test_tables_are_compared_a_few_clusters_at_a_time(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(comparison, "MOST_AT_ONCE", at_once)

    def table(*rows: tuple[str | None, int, str]) -> ds.Dataset:
        clusters, hours, kinds = zip(*rows, strict=True)
        return ds.dataset(
            pa.table(
                {"cluster_id": pa.array(clusters, pa.string()), "at": [NOON + dt.timedelta(hours=hour) for hour in hours], "kind": kinds}
            )
        )

    before = [("a", 0, "x"), ("b", 1, "y"), ("b", 5, "y"), ("c", 2, "x"), ("d", 3, "z")]

    def difference(*now: tuple[str, int, str], by_cluster: bool = False, **said: str) -> Difference:
        compared = Compared(table(*before), table(*now), pc.field("at") < NOON + dt.timedelta(hours=9), by_cluster)
        shares = list(compared.shares())
        assert sum(sum(side.count_rows(filter=some) for some in shares) for side in (compared.old, compared.new)) == sum(compared.count)
        assert (len(shares) > 1) == (at_once < 1000)
        return compared.difference(replace(MODEL, **said))

    assert difference(*before, ("e", 9, "x"), at="at") == difference(*before[::-1], known="kind") == Difference()
    # The last row of b and the only one of d are others, and e is new.
    changed = [*before[:2], ("b", 6, "y"), before[3], ("d", 3, "x"), ("e", 8, "v")]
    assert difference(*changed, at="at") == Difference(True, begin=NOON + dt.timedelta(hours=3))
    assert difference(*changed, known="kind") == Difference(True, {kind: set() for kind in "xyzv"})
    assert difference(*changed) == difference(*before[:-1]) == Difference(True)
    # In which clusters.
    assert difference(*changed, by_cluster=True) == Difference(True, {"": {"b", "d", "e"}})
    assert difference(*changed, by_cluster=True, at="at") == Difference(True, {"": {"b", "d", "e"}}, NOON + dt.timedelta(hours=3))
    assert difference(*changed, by_cluster=True, known="kind") == Difference(True, {"x": {"d"}, "y": {"b"}, "z": {"d"}, "v": {"e"}})
    assert difference(*before[:-1], (None, 3, "z"), by_cluster=True) == Difference(True, {"": {None, "d"}})


@pytest.mark.parametrize("size", [1, 3, 7, 40, 1000])
def test_each_of_many_clusters_has_its_own_rows(size: int) -> None:
    """Arrow gives the groups of a table in no certain order."""
    rows = pa.table(
        {
            "cluster_id": [f"case-{number % size:03}" for number in range(3000)],
            "kind": [f"kind {number % 5}" for number in range(3000)],
            "id": list(range(3000)),
        }
    )
    found = slices(ordered(rows, ["kind", "cluster_id"]), ["kind", "cluster_id"])
    assert sum(some.num_rows for some in found.values()) == 3000
    for (kind, cluster), some in found.items():
        assert set(some["kind"].to_pylist()) == {kind} and set(some["cluster_id"].to_pylist()) == {cluster}


def test_rows_of_null_are_compared_as_those_of_a_text() -> None:
    def table(*kinds: str | None) -> ds.Dataset:
        return ds.dataset(
            pa.table({"cluster_id": ["a"] * len(kinds), "kind": pa.array(kinds, pa.string()), "list": [[kind] for kind in kinds]})
        )

    compared = Compared(table("x", None, "y"), table("y", "x", None, None), None, is_by_cluster=True)
    assert compared.difference(replace(MODEL, known="kind")) == Difference(True, {"null": {"a"}})
    assert compared.difference(replace(MODEL, known="kind")).begin is None
