"""Tables rebuilt only in part: the placeholders in their query, and what they need of the rows before."""

from __future__ import annotations

import datetime as dt
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from deltalake import DeltaTable, Schema

from chronicle.build.compiled import Model, Part, Project, compiled, query
from chronicle.build.previous import last_times
from chronicle.build.publish import Mart, commit_all, described
from chronicle.build.steps import in_pieces
from ingestion.warehouse import Warehouse

NOON = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)


def model(sql: str, at: str | None = "logged_at") -> Model:
    return Model("fct", "marts", "fct", "table", sql, (), (), "fct.sql", at=at)


def test_the_time_is_filled_in_and_what_is_only_in_part_stays() -> None:
    sql = (
        "with rows as (select * from t where (t.logged_at >= '/* since 2 hours */')\n"
        "/* in part */ union all select * from __as_before__ where not (logged_at >= '/* since 0 seconds */') /* whole */)"
    )
    one = model(sql)
    assert one.is_made_in_part and not model(sql, at=None).is_made_in_part and not model("select 1").is_made_in_part
    assert query(one, ["a"]) == "with rows as (select * from t where (true)\n)"
    assert query(model("select * from t where day >= '/* from day */'"), ["a"]) == "select * from t where true"
    assert query(model("select * from t where day >= '/* from day */'"), ["a"], part=Part(NOON, "")) == (
        "select * from t where day >= date'2026-05-01'"
    )
    since = "timestamp'2026-05-01 12:00:00.000000 UTC'"
    # A part of some clusters is what a query has of them.
    assert (
        query(one, ["a", "b"], part=Part(None, "", clusters=["a"])) == f"select * from ({query(one, ['a', 'b'])}) where cluster_id in ('a')"
    )
    assert query(one, ["a"], part=Part(NOON, "select * from held")) == (
        f"with rows as (select * from t where (t.logged_at >= {since} - interval 2 hours)\n"
        f" union all select * from (select * from held) where not (logged_at >= {since} - interval 0 seconds) )"
    )


def test_events_for_which_a_table_is_made_whole_are_named() -> None:
    assert model("/* whole for kafka_config_logged,node_started */ select 1").whole_for == {"kafka_config_logged", "node_started"}
    assert model("select 1").whole_for == set()


def test_of_each_key_the_time_of_the_last_row_is_found_whatever_the_batches(tmp_path: Path) -> None:
    keys, hours = ["a", "b", "a", "b", "c", "a"], [1, 2, 3, 4, 2, 9]
    table = pa.table({"node": keys, "of": ["x"] * 6, "at": [NOON + dt.timedelta(hours=hour) for hour in hours], "list": [[1]] * 6})
    for size in (1, 2, 6):
        pq.write_table(table, tmp_path / f"{size}.parquet", row_group_size=size)
        held = ds.dataset(tmp_path / f"{size}.parquet")
        found = last_times(held, ["node", "of"], "at", pc.field("at") < NOON + dt.timedelta(hours=9))
        assert sorted(found.to_pylist()) == [NOON + dt.timedelta(hours=hour) for hour in (2, 3, 4)]
    assert not len(last_times(held, ["node", "of"], "at", pc.field("at") < NOON))


@lru_cache
def project() -> Project:
    return compiled()


def test_the_projects_tables_that_are_made_in_part_say_so() -> None:
    made = {found.name: found for found in project().models.values() if found.is_made_in_part}
    assert {"base_logs__distinct_events", "int_offsets__hours", "fct_leader_elections"} <= made.keys()
    assert not [found.name for found in project().models.values() if found.is_view and "/* since" in found.sql]
    assert not [found.name for found in project().models.values() if "/* since" in found.sql and not found.at]
    assert made["int_offsets__hours"].whole_for == {"kafka_config_logged"}


def test_the_day_of_a_mart_that_is_made_in_part_is_that_of_its_time() -> None:
    """`publish` leaves out days before the first rebuilt one."""
    for found in project().models.values():
        if found.is_published and found.is_made_in_part:
            day = next(name for name in found.columns if name.endswith("_date"))
            assert found.at == day or f"cast({found.at} as date) as {day}" in " ".join(found.sql.split())


def test_days_before_a_part_are_not_looked_at(tmp_path: object) -> None:
    place = Warehouse.at(str(tmp_path))
    fields = [{"name": "at_date", "type": "date"}, {"name": "cluster_id", "type": "string"}]
    columns = Schema.from_json(described({"type": "struct", "fields": fields}, {}))

    def publish(days: list[dt.date], since: dt.date | None) -> list[dt.date]:
        aside = place.building / "marts" / "fct"
        aside.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"at_date": days, "cluster_id": ["a"] * len(days)}), aside / "part-0.parquet")
        table = place.table("marts", "fct")
        commit_all(place, [Mart("marts", "fct", aside, table, columns, "", ["a"] if since else None, since)])
        return sorted(DeltaTable(table).to_pyarrow_table()["at_date"].to_pylist())

    march, april, may = (dt.date(2026, month, 7) for month in (3, 4, 5))
    assert publish([march, april], None) == [march, april]
    # A build of a part also has the rows before it, which are not compared.
    assert publish([april, may], dt.date(2026, 4, 2)) == [march, april, may]
    assert publish([march, april], dt.date(2026, 5, 2)) == [march, april]
    # Those of the same month stay as well.
    assert publish([may, may.replace(day=9)], may) == [march, april, may, may.replace(day=9)]
    assert publish([may.replace(day=8)], may.replace(day=8)) == [march, april, may, may.replace(day=8)]


def test_rows_are_carried_over_in_pieces_of_some_size() -> None:
    batches = [pa.record_batch({"n": list(range(first, first + 3))}) for first in (0, 3, 6)]
    pieces = [piece["n"].to_pylist() for piece in in_pieces(batches, 4)]
    assert pieces == [[0, 1, 2, 3, 4, 5], [6, 7, 8]]
    assert list(in_pieces([], 4)) == []
