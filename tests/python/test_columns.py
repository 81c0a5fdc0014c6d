"""The columns that a query's rows depend on are found in its text (`chronicle/build/columns.py`)."""

from __future__ import annotations

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from chronicle.build.columns import Columns, Reads
from chronicle.build.compiled import compiled
from chronicle.build.needs import conjuncts, dotted, values_of

TABLES = {"s.events": "events", "s.runs": "runs", "v_born": "born", "v_last": "last", "v_raw": "raw_rows", "bronze.raw": "bronze.raw"}
HELD = {"events": ["id", "kind", "at", "node"], "runs": ["id", "begun", "ended"]}
VIEWS = {
    "born": "with rows as (select * from s.events) select id, at, node as born_by from rows where kind = 'born'",
    "last": "select born_by, max(at) as at, max(id) as id from v_born group by all",
    "raw_rows": "select id, text from bronze.raw",
}
READS = Reads(TABLES, HELD, VIEWS)


def columns(text: str) -> frozenset[str]:
    return frozenset(text.split())


QUERIES: dict[str, Columns] = {
    "select id from s.events": {"events": columns("id")},
    "select * from s.events": {"events": columns("id kind at node")},
    "select e.* except (at) from s.events as e": {"events": columns("id kind node")},
    "with e as (select * from s.events), f as (select id, max(at) as at from e group by id) select id from f": {"events": columns("id")},
    # Columns that filter, sort and count are read.
    "select id from s.events where kind = 'born'": {"events": columns("id kind")},
    "select id from (select id, row_number() over (partition by node order by at) as n from s.events) where n = 1": {
        "events": columns("id node at")
    },
    "select id from (select id, row_number() over (partition by node order by at) as n from s.events)": {"events": columns("id")},
    "select count(*) as n from s.events": {"events": columns("")},
    "select n from (select kind, node, count(*) as n from s.events group by all)": {"events": columns("kind node")},
    "select n from (select kind, node, count(*) as n from s.events group by kind, node)": {"events": columns("kind node")},
    "select id from (select distinct id, kind from s.events)": {"events": columns("id kind")},
    "select id from (select id, kind from s.events union select id, node from s.events)": {"events": columns("id kind node")},
    "select id from (select id, kind from s.events union all select id, node from s.events)": {"events": columns("id")},
    "select id from (select id, at from s.events order by at limit 3)": {"events": columns("id at")},
    # Joins.
    "select e.id from s.events as e inner join s.runs as r using (id)": {"events": columns("id"), "runs": columns("id")},
    "select e.id from s.events as e left join s.runs as r on e.id = r.id and e.at >= r.begun": {
        "events": columns("id at"),
        "runs": columns("id begun"),
    },
    "with r as (select * from s.runs) select e.id from s.events as e left anti join r on e.id = r.id and r.ended < e.at": {
        "events": columns("id at"),
        "runs": columns("id ended"),
    },
    "select id from s.events where exists (select 1 from s.runs where runs.id = events.id and ended > at)": {
        "events": columns("id at"),
        "runs": columns("id ended"),
    },
    "select id, (select max(begun) from s.runs) as begun from s.events": {"events": columns("id"), "runs": columns("begun")},
    # Through views.
    "select id from v_born": {"events": columns("id kind")},
    "select id, born_by from v_born": {"events": columns("id kind node")},
    "select count(*) as n from v_last": {"events": columns("kind node")},
    "select l.at from v_last as l inner join s.events as e on l.id = e.id": {"events": columns("id kind at node")},
    # If the columns of a table are unknown, all may be read.
    "select a.id from (select * from bronze.raw) as a inner join s.runs as r on a.id = r.id": {"bronze.raw": None, "runs": None},
    "select a.id from bronze.raw as a inner join s.runs as r on a.id = r.id": {"bronze.raw": columns("id"), "runs": columns("id")},
    "select r.ended from v_raw as a inner join s.runs as r on a.id = r.id": {"bronze.raw": None, "runs": columns("id ended")},
}


@pytest.mark.parametrize(("query", "read"), QUERIES.items())
def test_which_columns_a_query_reads(query: str, read: Columns) -> None:
    assert READS.beneath(query) == read


def answer(query: str, scrambled: Columns) -> list[tuple[object, ...]]:
    """The answer of a query over some rows.  If `scrambled` has an entry for a table, only the columns in it have values; the rest are null."""
    session = duckdb.connect()
    session.execute("create schema s; create schema bronze; create table bronze.raw as select unnest([1, 2, 3, 4]) as id, 'x' as text")
    values = {
        "id": "n % 5",
        "kind": "['born', 'died', 'moved'][1 + n % 3]",
        "at": "n * 7 % 10",
        "node": "n % 4",
        "begun": "n * 3 % 8",
        "ended": "n * 2",
    }
    for table, names in HELD.items():
        read = scrambled.get(table)
        made = [f"{values[name] if read is None or name in read else 'null'} as {name}" for name in names]
        session.execute(f"create table s.{table} as select {', '.join(made)} from range(24) as r (n)")
    for name, sql in VIEWS.items():
        called = next(text for text, model in TABLES.items() if model == name)
        session.execute(f"create view {called} as {sqlglot.transpile(sql, read='spark', write='duckdb')[0]}")
    return sorted(session.execute(sqlglot.transpile(query, read="spark", write="duckdb")[0]).fetchall())


# The order of rows with equal sort keys is undefined.
@pytest.mark.parametrize("query", [query for query in QUERIES if "limit" not in query])
def test_columns_that_are_not_read_change_no_answer(query: str) -> None:
    assert answer(query, READS.beneath(query)) == answer(query, {}) != []


def test_models_say_what_they_read() -> None:
    project = compiled()
    models = project.models
    assert "evidence" not in (models["fct_session_expiries"].columns_read["int_nodes__runs"] or ())
    assert models["dim_node_runs"].columns_read["int_nodes__runs"] is not None
    asked = project.columns_asked()["int_nodes__runs"]
    assert all("cluster_id" in columns for columns in asked) and len(asked) > 5
    # Every table beneath has an entry.
    for model in models.values():
        if not model.is_view and model.kind != "seed":
            through = [models[name] for name in project.with_views([model.name])]
            stored = {name for view in through for name in view.parents if not models[name].is_view}
            assert stored | {f"bronze.{name}" for view in through for name in view.sources} <= model.columns_read.keys() | {model.name}
    # And for nearly all tables the columns are known.
    unknown = {name for model in models.values() for name, columns in model.columns_read.items() if columns is None}
    assert {name for name in unknown if not name.startswith("bronze.")} < set(models)
    reads = [columns for model in models.values() for columns in model.columns_read.values()]
    assert sum(columns is None for columns in reads) < len(reads) / 10


def test_a_query_of_events_says_of_which_types() -> None:
    """Spark reads the rows of some event types alone if a condition for them stands by itself; within `(… and …) or (… and …)` it is not
    looked at before all rows are read."""
    models = compiled().models
    events = models["base_logs__distinct_events"]
    readers = {model.name: sqlglot.parse_one(model.sql, dialect="spark") for model in models.values() if events.name in model.parents}
    assert len(readers) > 30
    for_all = {name for name, query in readers.items() if not all(chooses_types(query, events.full_name))}
    # A node is heard of in every line.
    assert for_all == {"int_nodes__minutes"}


def chooses_types(query: exp.Expr, table: str) -> list[bool]:
    """Whether each part of a query that filters a table of events, or a CTE of all its rows, has a condition for their types."""
    names = {table}
    for cte in query.find_all(exp.CTE):
        if (
            isinstance(cte.this, exp.Select)
            and not cte.this.args.get("where")
            and any(dotted(read) in names for read in tables_of(cte.this))
        ):
            names.add(cte.alias)
    found = []
    for part in query.find_all(exp.Select):
        read = [each for each in tables_of(part) if dotted(each) in names]
        if read and (where := part.args.get("where")):
            known_as = {"", *(each.alias_or_name for each in read)}
            found.append(any(values_of(condition, "event_type", known_as) for condition in conjuncts(where.this)))
    return found


def tables_of(part: exp.Select) -> list[exp.Table]:
    """The tables that a select reads from and joins."""
    read = [*([part.args["from_"].this] if part.args.get("from_") else []), *(join.this for join in part.args.get("joins") or ())]
    return [each for each in read if isinstance(each, exp.Table)]
