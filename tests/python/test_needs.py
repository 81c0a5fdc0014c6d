"""The rows that a query needs in order to return any are found in its text (`chronicle/build/needs.py`)."""

from __future__ import annotations

import duckdb
import pytest
import sqlglot

from chronicle.build import needs
from chronicle.build.compiled import compiled
from chronicle.build.needs import Needs, is_met

FOUND = Needs({"s.events": "events", "s.runs": "runs", "bronze.raw": "bronze.raw"}, {"events": "kind"})
QUERIES: dict[str, needs.Need] = {
    "select * from s.events": "events",
    "select id from s.events where kind = 'born'": ["events", ["born"]],
    "select id from s.events e where e.kind in ('died', 'born') and id > 1": ["events", ["born", "died"]],
    "select id from s.events where kind = 'born' or kind = 'died' and id > 1": ["events", ["born", "died"]],
    "select id from s.events where kind = 'born' and kind = 'died'": False,
    # These conditions may hold for any kind.
    "select id from s.events where kind = 'born' or id > 1": "events",
    "select id from s.events where kind != 'born'": "events",
    "select id from s.events where lower(kind) = 'born'": "events",
    "select id from s.events where false": False,
    # An aggregate over nothing has one row; with `group by` it has none.
    "select count(*) as n from s.events": True,
    "select max(id) as id from s.events": True,
    "select kind, count(*) as n from s.events group by kind": "events",
    "select kind, count(*) as n from s.events group by all": "events",
    "select max(id) as n, count(*) as m from s.events group by all": True,
    "select kind, count(*) as n from s.events group by rollup (kind)": True,
    "select id, row_number() over (order by id) as n from s.events": "events",
    # Joins.
    "select e.id from s.events e join s.runs r on e.id = r.id": ["and", "events", "runs"],
    "select e.id from s.events e join s.runs r on e.id = r.id and e.kind = 'born'": ["and", "events", "runs"],
    "select e.id from s.runs r join s.events e on e.id = r.id and e.kind = 'born'": ["and", "runs", ["events", ["born"]]],
    "select e.id from s.events e, s.runs r where e.id = r.id and e.kind = 'born'": ["and", ["events", ["born"]], "runs"],
    "select e.id from s.events e left join s.runs r on e.id = r.id": "events",
    "select e.id from s.events e right join s.runs r on e.id = r.id": "runs",
    "select e.id from s.events e full join s.runs r on e.id = r.id": ["or", "events", "runs"],
    "select e.id from s.events e left semi join s.runs r on e.id = r.id": ["and", "events", "runs"],
    "select e.id from s.events e left anti join s.runs r on e.id = r.id": "events",
    "select e.id from s.events e cross join s.runs r": ["and", "events", "runs"],
    # Sets of rows.
    "select id from s.events where kind = 'born' union all select id from s.runs": ["or", ["events", ["born"]], "runs"],
    "select id from s.events intersect select id from s.runs": ["and", "events", "runs"],
    "select id from s.events except select id from s.runs": "events",
    # Subqueries.
    "select id from s.events where exists (select 1 from s.runs where runs.id = events.id)": ["and", "events", "runs"],
    "select id from s.events where not exists (select 1 from s.runs)": "events",
    "select id from s.events where id in (select id from s.runs)": ["and", "events", "runs"],
    # A column keeps its values if it is passed on unchanged.
    "with a as (select * from s.events), b as (select id, kind from a) select id from b where kind = 'born'": ["events", ["born"]],
    "select id from (select *, kind as sort from s.events) where kind = 'born'": ["events", ["born"]],
    "select id from (select id, upper(kind) as kind from s.events) where kind = 'BORN'": "events",
    "select id from (select id, sort as kind from s.events) where kind = 'born'": "events",
    "select id from (select * except (kind), sort as kind from s.events) where kind = 'born'": "events",
    "with events as (select * from s.runs) select id from events": "runs",
    "with recursive a as (select id from s.runs union all select a.id + 1 from a join s.events e on a.id = e.id) select id from a": "runs",
    "select id from bronze.raw": "bronze.raw",
    # These need no known table.
    "select id from s.others": True,
    "select 1 as id": True,
    "select col as id from values (1) as given (col)": True,
    "select id from s.events lateral view explode(parts) p as part": "events",
}


# Query → the kinds of events that it reads; None: all.
READS: dict[str, list[str] | None] = {
    "select * from s.events": None,
    "select id from s.events where kind in ('died', 'born')": ["born", "died"],
    "select id from s.events where kind = 'born' or id > 1": None,
    "with a as (select * from s.events), b as (select id, kind from a) select id from b where kind = 'born'": ["born"],
    "with a as (select * from s.events) select id from a where kind = 'born' union all select id from a where kind = 'died'": [
        "born",
        "died",
    ],
    "with a as (select * from s.events) select id from a where kind = 'born' union all select id from a": None,
    # Operations after the filter change nothing; those before it read all kinds.
    "select count(*) from s.events where kind = 'born'": ["born"],
    "select max(n) from (select kind, count(*) as n from s.events group by kind) where kind = 'born'": None,
    "select id from (select *, row_number() over (order by id) as n from s.events) where kind = 'born'": None,
    "select id from (select * from s.events limit 10) where kind = 'born'": None,
    "select id from (select *, (select max(id) from s.events) as last from s.events) where kind = 'born'": None,
    # Joins.
    "select r.id from s.runs r left join s.events e on e.id = r.id and e.kind = 'born'": ["born"],
    "select r.id from s.runs r left anti join s.events e on e.id = r.id and e.kind = 'born'": ["born"],
    "select r.id from s.runs r full join s.events e on e.id = r.id and e.kind = 'born'": None,
    "select r.id from s.events e left join s.runs r on e.id = r.id and e.kind = 'born'": None,
    "select r.id from s.events e join s.runs r on e.id = r.id where e.kind = 'born'": ["born"],
    "select a.id from s.events a join s.events b on a.id = b.id and b.kind = 'born' where a.kind = 'died'": ["born", "died"],
    # Subqueries.
    "select id from s.runs where exists (select 1 from s.events where kind = 'born')": ["born"],
    "select id from s.runs where id in (select id from s.events where kind = 'born')": ["born"],
    "select id from s.runs where id > 1 or id in (select id from s.events where kind = 'born')": None,
    "select id from s.runs where not exists (select 1 from s.events where kind = 'born')": None,
    "select (select max(id) from s.events where kind = 'born') as id": None,
    "select id from (s.events join s.runs using (id)) where kind = 'born'": None,
    "with recursive a as (select id from s.events where kind = 'born' union all select id + 1 from a where id < 9) select id from a": [
        "born"
    ],
}


@pytest.mark.parametrize(("query", "kinds"), READS.items())
def test_what_a_query_reads_is_found_in_its_text(query: str, kinds: list[str] | None) -> None:
    assert FOUND.reads(query) == {"events": kinds}


@pytest.mark.parametrize("query", [query for query, kinds in READS.items() if kinds])
def test_rows_that_are_not_read_change_no_answer(query: str) -> None:
    [asked] = sqlglot.transpile(query, read="spark", write="duckdb")
    session = duckdb.connect()
    session.execute("create schema s; create table s.runs as select unnest([1, 2, 3, 4, 5, 6]) as id")
    session.execute(
        "create table s.events as select n // 3 % 6 as id, ['born', 'died', 'moved', null][1 + n % 4] as kind from range(28) as r (n)"
    )
    answer = sorted(session.execute(asked).fetchall())
    session.execute("delete from s.events where kind is null or not list_contains(?, kind)", [READS[query]])
    assert sorted(session.execute(asked).fetchall()) == answer != []


def test_most_models_read_events_of_some_types_alone() -> None:
    """Roles of events say which types."""
    models = compiled().models.values()
    read = {model.name: model.reads["base_logs__distinct_events"] for model in models if "base_logs__distinct_events" in model.parents}
    assert [name for name, types in read.items() if types is None] == ["int_nodes__minutes"]
    assert {"isr_shrunk", "isr_expanded"} <= set(read["stg_logs__isr_changes"])


@pytest.mark.parametrize(("query", "need"), QUERIES.items())
def test_what_a_query_needs(query: str, need: needs.Need) -> None:
    assert FOUND.of(query) == need


def test_a_need_is_met_by_rows_of_the_values_it_names() -> None:
    held: dict[str, list[str]] = {"events": ["born"], "runs": []}

    def has_rows(name: str, values: list[str] | None) -> bool:
        return bool(held[name]) if values is None else bool(set(held[name]).intersection(values))

    assert is_met(["events", ["born", "died"]], has_rows)
    assert not is_met(["events", ["died"]], has_rows)
    assert not is_met(["and", "events", "runs"], has_rows)
    assert is_met(["or", "events", "runs"], has_rows)
    assert is_met(True, has_rows)
    assert not is_met(False, has_rows)


def test_models_need_what_feeds_them() -> None:
    """Without rows in bronze no model of events has any; models with the same rows everywhere still may."""
    models = compiled().models

    def has_rows(name: str, values: list[str] | None) -> bool:
        if name.startswith("bronze."):
            return False
        return is_met(models[name].needs, has_rows)

    assert not is_met(models["fct_leader_elections"].needs, has_rows)
    assert not is_met(models["fct_session_expiries"].needs, has_rows)
    assert is_met(models["dim_kafka_releases"].needs, has_rows)
