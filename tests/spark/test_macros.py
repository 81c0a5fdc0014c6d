"""The macros as dbt runs them: a scratch project of a few models, built again and again as rows arrive."""

from __future__ import annotations

import datetime as dt
import importlib
import shutil
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from chronicle.build import build as building
from chronicle.build import writer
from chronicle.build.changes import is_current
from chronicle.build.dbt_runs import ONE_TASK, BuildFailed
from chronicle.build.memory import Turns
from chronicle.spark.catalog import named_in, register
from ingestion.lease import Busy
from ingestion.warehouse import Warehouse, only_writer
from tests.lab import delta_tables, listed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    "models/staging/_sources.yml": "version: 2\nsources: [{name: bronze, schema: bronze, tables: [{name: lines}]}]",
    "models/staging/stg_events.sql": """
        {{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by=['event_date']) }}
        select id, cluster_id, batch_id, isr, event_date from {{ source('bronze', 'lines') }}
        where id > 0
        and {{ in_touched_days(source('bronze', 'lines')) }}
    """,
    "models/staging/stg_lines.sql": """
        select id, event_date, ingested_at, {{ int_list('isr') }} as isr, {{ row_key(['id', 'isr']) }} as line_key
        from {{ source('bronze', 'lines') }}
    """,
    "models/marts/fct_lines.sql": """
        {{ config(cluster_by=['event_date']) }}
        with latest as ({{ latest_per(ref('stg_lines'), 'id', ['ingested_at desc', 'line_key']) }})
        select latest.event_date, latest.line_key, latest.id, latest.isr, kinds.means
        from latest left join {{ ref('kinds') }} as kinds on latest.id = kinds.id
    """,
    "models/marts/fct_lines.yml": r"""
        version: 2
        models:
          - name: fct_lines
            description: One row per line; it's the last.
            columns:
              - {name: line_key, data_type: string, description: "It's \\ the key", constraints: [{type: not_null}], data_tests: [unique]}
              - {name: id, data_type: bigint, description: Number.}
              - {name: isr, data_type: array<int>, description: In-sync set.}
              - {name: means, data_type: string, description: Meaning.}
              - {name: event_date, data_type: date, description: Day.}
        unit_tests:
          - name: the_later_line_wins
            model: fct_lines
            given:
              - input: ref('stg_lines')
                rows:
                  - {id: 1, line_key: x, ingested_at: "2026-01-01 00:00:00"}
                  - {id: 1, line_key: y, ingested_at: "2026-01-02 00:00:00"}
              - {input: ref('kinds'), rows: []}
            expect: {rows: [{id: 1, line_key: y}]}
    """,
    "dbt_project/seeds/kinds.csv": 'id,since,means\n1,2.10,"it\'s ""a"", \\n b"\n2,2.4,\n',
    "dbt_project/seeds/kinds.yml": "version: 2\nseeds: [{name: kinds, config: {column_types: {id: int, since: string, means: string}}}]",
}
LINES = pa.schema(
    {
        "id": pa.int64(),
        "cluster_id": pa.string(),
        "batch_id": pa.int64(),
        "ingested_at": pa.timestamp("us", "UTC"),
        "isr": pa.string(),
        "logged_at": pa.timestamp("us", "UTC"),
        "event_date": pa.date32(),
    }
)
FIRST, SECOND, THIRD = dt.date(2026, 5, 1), dt.date(2026, 5, 2), dt.date(2026, 5, 3)


class Project:
    """The scratch project, its bronze table and its results."""

    def __init__(self, spark: SparkSession, warehouse: str, folder: Path) -> None:
        self.spark, self.warehouse, self.folder = spark, warehouse, folder
        self.outcome = building.Outcome()
        self.batches = 0

    def arrive(self, hour: int, *rows: tuple[int, str | None, dt.date | dt.datetime], cluster: str = "lab") -> None:
        """Add rows of an id, a list and a time, or only a day for rows without a time."""
        at = dt.datetime(2026, 6, 1, hour)
        self.batches += 1
        times = [(number, isr, when if isinstance(when, dt.datetime) else None, when) for number, isr, when in rows]
        values = [(number, cluster, self.batches, at, isr, time, time.date() if time else day) for number, isr, time, day in times]
        write_deltalake(f"{self.warehouse}/bronze/lines", pa.table(list(zip(*values, strict=True)), schema=LINES), mode="append")

    def build(self, **options: Any) -> None:
        self.outcome = building.build(self.spark, self.warehouse, project=self.folder, **options)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        place = Warehouse.at(self.warehouse)
        with listed(self.spark, place, named_in(query, delta_tables(place))):
            return self.do(query)

    def do(self, statement: str) -> list[tuple[Any, ...]]:
        register(self.spark, Warehouse.at(self.warehouse))
        return [tuple(row) for row in self.spark.sql(statement).collect()]

    def commits(self, table: str) -> list[str]:
        register(self.spark, Warehouse.at(self.warehouse))
        return [row.operation for row in self.spark.sql(f"describe history {table}").collect()][::-1]


@pytest.fixture(scope="module")
def project(spark: SparkSession, warehouse: str, tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("project")
    for name in ("dbt_project.yml", "profiles.yml", "macros"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    # The scratch project has no subjects, and so no steps private to one.
    settings = folder / "dbt_project.yml"
    settings.write_text(settings.read_text(encoding="utf-8").replace("+access: private", "+access: protected"), encoding="utf-8")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(dedent(text).lstrip())
    project = Project(spark, warehouse, folder)
    project.arrive(1, (1, "1, 2", FIRST), (2, None, FIRST), (3, "", SECOND))
    project.build(tests=True)
    return project


def test_a_first_build_makes_everything_and_runs_the_tests(project: Project) -> None:
    assert set(project.outcome.models) == {"stg_events", "fct_lines", "kinds"}
    assert project.outcome.tests == 2
    assert project.rows("select id, since, means from staging.kinds order by id") == [(1, "2.10", 'it\'s "a", \\n b'), (2, "2.4", None)]


def test_lists_are_arrays_and_keys_tell_null_from_empty(project: Project) -> None:
    assert project.rows("select isr from staging.stg_lines order by id") == [([1, 2],), (None,), ([],)]
    # sha2('1' || chr(31) || '1, 2', 256), its first half.
    assert project.rows("select line_key from staging.stg_lines where id = 1") == [("72ea7d8b52c3ce6fc3719056f59bde5c",)]
    keys = project.rows("select count(distinct line_key) from staging.stg_lines")
    assert keys == [(3,)]


def test_comments_stand_in_the_table(project: Project) -> None:
    comments = {row[0]: row[2] for row in project.do("describe table marts.fct_lines")}
    assert comments["line_key"] == "It's \\ the key"
    assert project.commits("marts.fct_lines") == ["CREATE TABLE", "WRITE"]


def test_a_mart_that_is_not_as_its_contract_says_is_not_published(project: Project) -> None:
    model = project.folder / "models/marts/fct_lines.sql"
    text = model.read_text()
    model.write_text(text.replace("latest.id,", "string(latest.id) as id,"))
    with pytest.raises(BuildFailed, match=r"fct_lines\.id: string where the contract says bigint"):
        project.build(select="fct_lines")
    model.write_text(text)
    assert project.commits("marts.fct_lines") == ["CREATE TABLE", "WRITE"]


@pytest.mark.parametrize("kind", ["view", "table"])
def test_a_door_that_is_not_as_its_contract_says_is_named_and_not_read(project: Project, kind: str) -> None:
    door = project.folder / "models/intermediate/int_door.sql"
    door.parent.mkdir(exist_ok=True)
    text = "select id, isr from {{ ref('stg_lines') }}"
    if kind == "table":
        text = "{{ config(materialized='table', file_format='parquet') }} " + text
    door.write_text(text)
    door.with_suffix(".yml").write_text(
        "models: [{name: int_door, config: {contract: {enforced: true}},"
        " columns: [{name: id, data_type: bigint}, {name: isr, data_type: array<int>}]}]\n"
    )
    reader = project.folder / "models/marts/fct_read.sql"
    reader.write_text("select id from {{ ref('int_door') }}")
    reader.with_suffix(".yml").write_text("models: [{name: fct_read, columns: [{name: id, data_type: bigint}]}]\n")
    project.build(select="int_door fct_read")
    assert "fct_read" in project.outcome.rows
    door.write_text(text.replace("id, isr", "string(id) as id, isr, 1 as more" if kind == "view" else "string(id) as id, isr"))
    with pytest.raises(BuildFailed, match=r"^model int_door: .*int_door\.id: string where the contract says bigint") as caught:
        project.build(select="int_door fct_read")
    assert "fct_read" not in str(caught.value)
    assert ("int_door.more: int where the contract has no such column" in str(caught.value)) == (kind == "view")
    for path in (door, reader):
        path.unlink()
        path.with_suffix(".yml").unlink()


def test_settings_of_the_session_are_as_before(project: Project) -> None:
    assert project.spark.conf.get("spark.sql.ansi.enabled") == "true"
    assert project.spark.conf.get("spark.sql.sources.partitionOverwriteMode") == "STATIC"


def test_touched_days_are_replaced_whole_and_the_others_stay(project: Project) -> None:
    project.arrive(2, (9, "9", THIRD), (8, "8", FIRST))
    project.build()
    rows = [(FIRST, 1), (FIRST, 2), (FIRST, 8), (SECOND, 3), (THIRD, 9)]
    assert project.rows("select event_date, id from staging.stg_events order by 1, 2") == rows
    assert project.commits("staging.stg_events") == ["CREATE TABLE", "WRITE", "WRITE"]
    assert project.commits("marts.fct_lines") == ["CREATE TABLE", "WRITE", "WRITE"]


def test_nothing_new_writes_no_commit_of_events(project: Project) -> None:
    project.build()
    assert project.commits("staging.stg_events") == ["CREATE TABLE", "WRITE", "WRITE"]


def test_days_that_arrivals_name_no_more_are_made_anew_once_bronze_lost_rows(project: Project) -> None:
    project.do(f"delete from bronze.lines where event_date = date'{FIRST}'")
    project.arrive(3, (-1, "1", FIRST))
    project.build(select="stg_events")
    assert project.rows("select event_date, id from staging.stg_events order by 1, 2") == [(SECOND, 3), (THIRD, 9)]


def test_what_arrives_while_the_clock_is_set_back_is_built(project: Project) -> None:
    """The host's clock was set back two hours: by the clock, the arrival is older than all before it."""
    project.arrive(1, (7, "7", THIRD))
    project.build()
    assert project.rows("select id from staging.stg_events where event_date = date'2026-05-03' order by 1") == [(7,), (9,)]


def test_all_is_made_again_in_one_session_as_often_as_one_asks(project: Project) -> None:
    for _ in range(2):
        project.build(full_refresh=True)
    assert project.rows("select event_date, id from staging.stg_events order by 1, 2") == [(SECOND, 3), (THIRD, 7), (THIRD, 9)]
    for _ in range(2):
        project.build(select="stg_events", full_refresh=True)
    project.build()
    assert project.rows("select event_date, id from staging.stg_events order by 1, 2") == [(SECOND, 3), (THIRD, 7), (THIRD, 9)]


def test_a_change_of_the_project_makes_all_days_again(project: Project) -> None:
    """Otherwise days built before would lie beside new ones made by other rules, or with other columns."""
    model = project.folder / "models/staging/stg_events.sql"
    text = model.read_text()
    model.write_text(text.replace("select id,", "select id, id * 2 as twice,"))
    project.build()
    assert project.rows("select id, twice from staging.stg_events order by 1") == [(3, 6), (7, 14), (9, 18)]
    model.write_text(text)
    project.build(select="stg_events")
    assert "twice" not in {row[0] for row in project.do("describe table staging.stg_events")}


@pytest.mark.parametrize("loss", ["folder", "column"])
def test_a_build_of_one_cluster_makes_all_where_a_table_lacks_the_others(project: Project, loss: str) -> None:
    model = project.folder / "models/marts/fct_clusters.sql"
    model.write_text(
        "select cluster_id, count(*) as lines from {{ ref('stg_events') }} where {{ in_built_clusters() }} group by cluster_id\n"
    )
    model.with_suffix(".yml").write_text(
        "models: [{name: fct_clusters, columns: [{name: cluster_id, data_type: string}, {name: lines, data_type: bigint}]}]\n"
    )
    counted = "select cluster_id, lines from marts.fct_clusters order by 1"
    project.arrive(5, (20, "1", THIRD), cluster="other")
    project.build()
    before = dict(project.rows(counted))
    project.arrive(6, (21, "1", THIRD), cluster="other")
    project.build()
    assert project.outcome.clusters == ["other"]
    assert dict(project.rows(counted)) == before | {"other": before["other"] + 1}
    table = Path(project.warehouse, "marts/fct_clusters")
    if loss == "folder":
        shutil.rmtree(table)
        project.spark.sql("drop table marts.fct_clusters")
    else:
        project.spark.sql("alter table marts.fct_clusters add column (more int)")
    project.arrive(7, (22, "1", THIRD), cluster="other")
    project.build()
    assert project.outcome.clusters is None
    assert dict(project.rows(counted)) == before | {"other": before["other"] + 2}


def test_a_model_that_was_left_out_is_built_by_the_next_build(project: Project) -> None:
    project.build()
    assert is_current(project.warehouse, project.folder)
    project.arrive(8, (30, "1", THIRD))
    project.build(exclude="fct_lines")
    assert not is_current(project.warehouse, project.folder)
    assert project.rows("select count(*) from marts.fct_lines where id = 30") == [(0,)]
    project.build()
    assert project.rows("select count(*) from marts.fct_lines where id = 30") == [(1,)]


def test_what_another_spark_made_is_made_again_and_the_build_says_so(project: Project) -> None:
    place, ours = Warehouse.at(project.warehouse), metadata.version("pyspark")
    for file in (place.built, place.incremental):
        file.write_text(file.read_text().replace(f"Spark: {ours}", "Spark: 4.1.0"))
    project.arrive(9, (31, "1", THIRD), cluster="other")
    project.build()
    assert (project.outcome.clusters, project.outcome.days["stg_events"]) == (None, None)
    assert project.outcome.anew == [f"Spark 4.1.0 -> {ours}"]
    project.arrive(9, (32, "1", THIRD), cluster="other")
    project.build()
    assert (project.outcome.clusters, project.outcome.anew) == (["other"], [])


def test_a_chain_of_causes_is_followed_to_its_beginning_however_long_it_is(project: Project) -> None:
    """A node loses its session again and again: 150 events, each caused by the one before.  No rule allows a circle; with one this would not end."""
    table = "{{ config(materialized='table', file_format='parquet') }}\n"
    events = "select string(id) as event_key from range(150) union all select * from values ('alone'), ('one'), ('other')"
    causes = (
        "select string(id) as event_key, string(id - 1) as cause_event_key from range(1, 150)"
        " union all select * from values ('one', 'other'), ('other', 'one')"
    )
    steps = project.folder / "models/intermediate"
    steps.mkdir(exist_ok=True)
    (steps / "int_incidents__events.sql").write_text(table + events)
    (steps / "int_incidents__causes.sql").write_text(table + causes)
    shutil.copy(ROOT / "models/incidents/intermediate/int_incidents__roots.sql", steps)
    project.build(select="+int_incidents__roots")
    found = dict(project.rows("select event_key, root_event_key from intermediate.int_incidents__roots"))
    assert found == {str(n): "0" for n in range(150)} | {name: name for name in ("alone", "one", "other")}
    shutil.rmtree(steps)


def test_a_failing_model_is_named_with_the_databases_words(project: Project) -> None:
    model = project.folder / "models/intermediate/int_wrong.sql"
    model.parent.mkdir(exist_ok=True)
    model.write_text("{{ config(materialized='table', file_format='parquet') }} select idd from {{ ref('stg_lines') }}")
    with pytest.raises(BuildFailed, match=r"model int_wrong: .*UNRESOLVED_COLUMN.*`idd`.*\(models/intermediate/int_wrong.sql\)") as caught:
        project.build(select="int_wrong")
    model.unlink()
    assert "\n" not in str(caught.value)
    assert project.spark.conf.get("spark.sql.ansi.enabled") == "true"


def test_another_writer_is_refused_at_once(project: Project) -> None:
    with only_writer(Warehouse.at(project.warehouse)), pytest.raises(Busy, match="is writing to this warehouse"):
        project.build()


def test_what_nothing_new_feeds_is_left_as_it_is(project: Project) -> None:
    """Events are read by type: an arrival of one type rebuilds only the models that read that type, and those that change with them."""
    steps, marts = project.folder / "models/intermediate", project.folder / "models/marts"
    steps.mkdir(exist_ok=True)
    (steps / "int_lines.sql").write_text(
        "{{ config(materialized='table', meta={'known_values': 'isr'}) }}\n"
        "select id, cluster_id, isr from {{ source('bronze', 'lines') }} where {{ in_built_clusters() }}"
    )
    (steps / "int_few.sql").write_text("select cluster_id, id from {{ ref('int_lines') }} where isr in ('few', 'none')")
    (steps / "int_pairs.sql").write_text(
        "select a.cluster_id, a.id from {{ ref('int_lines') }} as a join {{ ref('int_lines') }} as b on a.id = b.id and b.isr = 'many'\n"
        "where a.isr = 'few'"
    )
    # Its rows have no cluster.
    (steps / "int_ids.sql").write_text("{{ config(materialized='table', file_format='parquet') }} select id from {{ ref('int_few') }}")
    for name, query in {
        "fct_few": "select cluster_id, count(*) as lines from {{ ref('int_few') }} group by cluster_id",
        "fct_many": "select cluster_id, max(id) > 0 as is_there from {{ ref('int_lines') }} where isr = 'many' group by cluster_id",
        "fct_of_many": "select cluster_id, count(*) as lines from {{ ref('fct_many') }} group by cluster_id",
        "fct_pairs": "select cluster_id, count(*) as lines from {{ ref('int_pairs') }} group by cluster_id",
    }.items():
        (marts / f"{name}.sql").write_text(query)
        other = "{name: is_there, data_type: boolean}" if name == "fct_many" else "{name: lines, data_type: bigint}"
        (marts / f"{name}.yml").write_text(f"models: [{{name: {name}, columns: [{{name: cluster_id, data_type: string}}, {other}]}}]\n")
    project.arrive(8, (30, "few", THIRD), (31, "many", THIRD), cluster="fed")
    project.arrive(8, (30, "few", THIRD), cluster="idle")
    project.build()
    made = {"stg_events", "kinds", "fct_lines", "int_lines", "int_ids", "fct_clusters"}
    project.arrive(9, (32, "many", THIRD), cluster="fed")
    project.build()
    # fct_many has the same rows as before: there are many.
    assert set(project.outcome.models) == made | {"fct_many", "fct_pairs"}
    assert project.rows("select cluster_id, lines from marts.fct_few order by 1") == [("fed", 1), ("idle", 1)]
    project.arrive(10, (31, "few", THIRD), cluster="fed")
    project.build()
    assert set(project.outcome.models) == made | {"fct_few", "fct_pairs"}
    because = {result.model.name: result.because for result in project.outcome.results}
    assert because["fct_few"] == ["int_lines"] and because["fct_of_many"] == [] and because["int_ids"] == ["int_lines"]
    assert project.rows("select cluster_id, lines from marts.fct_few order by 1") == [("fed", 2), ("idle", 1)]
    assert project.rows("select cluster_id, lines from marts.fct_pairs") == [("fed", 1)]
    left = project.rows("select cluster_id, id, isr from intermediate.int_lines where cluster_id in ('fed', 'idle') order by 1, 2, 3")
    assert left == [("fed", 30, "few"), ("fed", 31, "few"), ("fed", 31, "many"), ("fed", 32, "many"), ("idle", 30, "few")]
    # Rows without a cluster can be left as they are only after a build of the same clusters.
    for cluster, reasons in (("fed", []), ("idle", ["rows of no cluster"]), ("idle", []), ("fed", ["rows of no cluster"])):
        project.arrive(10, (33, "many", THIRD), cluster=cluster)
        project.build()
        (found,) = [result for result in project.outcome.results if result.model.name == "int_ids"]
        assert found.because == reasons and project.rows("select count(*) from intermediate.int_ids") == [(2 if cluster == "fed" else 1,)]


def test_what_differs_in_columns_that_a_model_does_not_read_leaves_it(project: Project) -> None:
    """Also through views; and a model that reads no column of a table is rebuilt when the number of its rows changes."""
    steps, marts = project.folder / "models/intermediate", project.folder / "models/marts"
    steps.mkdir(exist_ok=True)
    contract = "models: [{name: int_seen, config: {contract: {enforced: true}}, columns: [{name: cluster_id, data_type: string}, {name: isr, data_type: string},"
    (steps / "int_seen.yml").write_text(f"{contract} {{name: first_id, data_type: bigint}}, {{name: last_id, data_type: bigint}}]}}]\n")
    (steps / "int_seen.sql").write_text(
        "{{ config(materialized='table', file_format='parquet') }}\n"
        "select cluster_id, isr, min(id) as first_id, max(id) as last_id from {{ source('bronze', 'lines') }}\n"
        "where {{ in_built_clusters() }} and cluster_id = 'seen' group by cluster_id, isr"
    )
    (steps / "int_first.sql").write_text(
        "with seen as (select * from {{ ref('int_seen') }}) select cluster_id, first_id as id, last_id from seen"
    )
    for name, query in {
        "fct_first": "select cluster_id, max(id) > 0 as is_there from {{ ref('int_first') }} group by cluster_id",
        "fct_last": "select cluster_id, max(last_id) > 0 as is_there from {{ ref('int_first') }} group by cluster_id",
        "fct_seen": "select 'seen' as cluster_id, count(*) > 1 as is_there from {{ ref('int_seen') }}",
    }.items():
        (marts / f"{name}.sql").write_text(query)
        (marts / f"{name}.yml").write_text(
            f"models: [{{name: {name}, columns: [{{name: cluster_id, data_type: string}}, {{name: is_there, data_type: boolean}}]}}]\n"
        )
    project.arrive(8, (30, "few", THIRD), cluster="seen")
    project.build()
    every = {"fct_first", "fct_last", "fct_seen"}
    for line, made in (((31, "few"), {"fct_last"}), ((32, "many"), every), ((32, "many"), set())):
        project.arrive(9, (*line, THIRD), cluster="seen")
        project.build()
        assert every.intersection(project.outcome.models) == made
    assert project.rows("select is_there from marts.fct_seen") == [(True,)]


def test_a_table_is_made_from_the_first_day_that_differs(project: Project) -> None:
    """Days before it are carried over, a day is compared with the last one before it, and a late day makes those after it again."""
    (project.folder / "models/intermediate/int_days.sql").write_text(
        "{{ config(materialized='table', meta={'at': 'event_date'}) }}\n"
        "select cluster_id, event_date, sum(id) as total from {{ ref('stg_events') }}\n"
        "where {{ in_built_clusters() }} and {{ since('event_date') }} group by cluster_id, event_date"
    )
    (project.folder / "models/marts/fct_growth.sql").write_text(
        "{{ config(meta={'at': 'event_date'}) }}\n"
        "with all_days as (select * from {{ ref('int_days') }}),\n"
        "days as (select * from all_days where {{ since('event_date') }}\n"
        "{% call in_part() %} union all {{ last_before('all_days', at='event_date', key=['cluster_id']) }} {% endcall %}),\n"
        "grown as (select *, total - lag(total) over (partition by cluster_id order by event_date) as growth from days)\n"
        "select cluster_id, event_date, growth from grown where {{ since('event_date') }}"
    )
    (project.folder / "models/marts/fct_growth.yml").write_text(
        "models: [{name: fct_growth, columns: [{name: cluster_id, data_type: string}, {name: event_date, data_type: date},\n"
        "  {name: growth, data_type: bigint}]}]\n"
    )
    growth = "select event_date, growth from marts.fct_growth where cluster_id = 'daily' order by 1"
    days = [dt.date(2026, 4, number) for number in (1, 3, 5, 9)]
    project.arrive(11, (100, None, days[0]), (110, None, days[2]), cluster="daily")
    project.arrive(11, (7, None, days[3]), cluster="idle")
    project.build()
    assert project.rows(growth) == [(days[0], None), (days[2], 10)]

    def made_since() -> dict[str, dt.date | None]:
        names = ("int_days", "fct_growth")
        return {found.model.name: found.since and found.since.date() for found in project.outcome.results if found.model.name in names}

    project.arrive(12, (130, None, days[3]), cluster="daily")
    project.build()
    assert made_since() == {"int_days": days[3], "fct_growth": days[3]}
    assert project.rows(growth) == [(days[0], None), (days[2], 10), (days[3], 20)]
    project.arrive(13, (101, None, days[1]), cluster="daily")
    project.build()
    assert made_since() == {"int_days": days[1], "fct_growth": days[1]}
    assert project.rows(growth) == [(days[0], None), (days[1], 1), (days[2], 9), (days[3], 20)]
    assert project.rows(
        "select cluster_id, count(*) from intermediate.int_days where cluster_id in ('daily', 'idle') group by 1 order by 1"
    ) == [
        ("daily", 4),
        ("idle", 2),
    ]
    for cluster, day in (("idle", days[0]), ("daily", days[3])):
        project.arrive(14, (3, None, day), cluster=cluster)
        project.build(is_profiled=True)
        assert (project.outcome.clusters, made_since()) == ([cluster], {"int_days": day, "fct_growth": day})
        took = {found.model.name: found.took for found in project.outcome.results}
        assert all(took[name] and took[name].statement.analysis > 0 for name in ("int_days", "fct_growth"))
    assert project.rows(growth) == [(days[0], None), (days[1], 1), (days[2], 9), (days[3], 23)]
    project.build(full_refresh=True)
    assert made_since() == {"int_days": None, "fct_growth": None}
    assert project.rows(growth) == [(days[0], None), (days[1], 1), (days[2], 9), (days[3], 23)]


def test_a_table_whose_rows_may_have_no_time_is_made_whole(project: Project) -> None:
    model = project.folder / "models/intermediate/int_days.sql"
    model.write_text(
        model.read_text().replace("cluster_id, event_date, sum", "cluster_id, nullif(event_date, date'2026-04-01') as event_date, sum")
    )
    project.build()
    project.arrive(14, (140, None, dt.date(2026, 4, 11)), cluster="daily")
    project.build()
    (made,) = [found for found in project.outcome.results if found.model.name == "int_days"]
    assert made.is_made and made.since is None
    assert project.rows("select count(*) from intermediate.int_days where cluster_id = 'daily'") == [(5,)]


def test_a_day_is_made_from_the_first_time_that_arrived(project: Project) -> None:
    """Earlier rows of the day stay as they are, and new rows are added to the counts."""
    incremental = "materialized='incremental', incremental_strategy='insert_overwrite', partition_by=['event_date']"
    lines = "{{ source('bronze', 'lines') }}"
    touched = "{{ in_touched_days(source('bronze', 'lines')) }}"
    (project.folder / "models/staging/stg_times.sql").write_text(
        "{{ config(materialized='table', meta={'at': 'logged_at'}) }}\n"
        "select cluster_id, id, logged_at, max(batch_id) over () as made_with, event_date\n"
        f"from {lines} where logged_at is not null and {{{{ in_built_clusters() }}}}\n"
        "and {{ since('logged_at') }} and {{ since_day('event_date') }}"
    )
    (project.folder / "models/staging/stg_counts.sql").write_text(
        f"{{{{ config({incremental}) }}}}\nwith new as (select event_date, count(*) as lines, max(batch_id) as batch_id\n"
        f"from {lines} where {touched} and {{{{ in_new_batches() }}}} group by event_date\n"
        "{% call in_part() %} union all\n"
        f"select event_date, lines, batch_id from {{{{ as_before() }}}} as held where {touched} {{% endcall %}})\n"
        "select sum(lines) as lines, max(batch_id) as batch_id, event_date from new group by event_date"
    )
    day, next_day = dt.datetime(2026, 7, 1), dt.datetime(2026, 7, 2)
    times = "select id, made_with from staging.stg_times where cluster_id = 'timed' order by id"
    counts = "select lines from staging.stg_counts where event_date >= '2026-07-01' order by event_date"

    def arrive(*rows: tuple[int, dt.date]) -> int:
        project.arrive(15, *((number, None, at) for number, at in rows), cluster="timed")
        project.build()
        return project.batches

    first = arrive((1, day.replace(hour=1)), (2, day.replace(hour=2)), (3, day.replace(hour=3)))
    assert project.rows(times) == [(1, first), (2, first), (3, first)]
    # An existing row at the very time of a new one is made again with it.
    second = arrive((4, day.replace(hour=2)), (5, next_day))
    assert project.rows(times) == [(1, first), (2, second), (3, second), (4, second), (5, second)]
    assert project.rows(counts) == [(4,), (1,)]
    third = arrive((6, next_day.replace(hour=9)))
    assert project.rows(times)[-2:] == [(5, second), (6, third)]
    # A row without a time may belong before all others of its day.
    arrive((7, next_day.date()))
    assert project.rows(times) == [(1, first), (2, second), (3, second), (4, second), (5, third), (6, third)]
    assert project.rows(counts) == [(4,), (3,)]
    project.do("delete from bronze.lines where cluster_id = 'timed' and id = 3")
    project.build()
    assert [number for number, _ in project.rows(times)] == [1, 2, 4, 5, 6] and project.rows(counts) == [(3,), (3,)]
    project.arrive(15, (3, None, day.replace(hour=3)), cluster="timed")
    project.build(full_refresh=True)
    assert project.rows(times) == [(number, project.batches) for number in range(1, 7)] and project.rows(counts) == [(4,), (3,)]


class Killed(BaseException):
    """An exception that no error handler catches."""


def test_a_build_that_was_killed_is_taken_back(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next build updates the one cluster with arrivals, however far the killed one had come, and does not rebuild all of history."""
    tables = [
        "staging.stg_events",
        "intermediate.int_days",
        "intermediate.int_lines",
        "marts.fct_growth",
        "marts.fct_many",
        "marts.fct_of_many",
    ]

    def rows() -> dict[str, list[str]]:
        return {table: sorted(map(str, project.rows(f"select * from {table}"))) for table in tables}

    project.build()
    before, moments = rows(), ["writer.replace_days", "publish.commit", "local.carry_over"]
    for number, moment in enumerate(moments):
        project.arrive(15 + number, (1000 + number, "many", THIRD + dt.timedelta(days=1 + number)), cluster="daily")
        place, name = moment.split(".")
        module = importlib.import_module(f"chronicle.build.{place}")
        with monkeypatch.context() as patched, pytest.raises(Killed):
            patched.setattr(module, name, killed_after(getattr(module, name)))
            project.build()
        project.build()
        assert project.outcome.clusters == ["daily"]
        assert {"stg_events", "int_days", "fct_growth"} <= set(project.outcome.models)
    after = rows()
    assert all(len(after[table]) == len(before[table]) + len(moments) for table in tables[:4])
    project.build(full_refresh=True)
    assert rows() == after


def killed_after(done: Callable[..., Any]) -> Callable[..., Any]:
    def called(*given: Any, **named: Any) -> None:
        done(*given, **named)
        raise Killed

    return called


def test_what_lacks_memory_is_made_again_alone_and_step_by_step(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.build(full_refresh=True)
    before, tried = sorted(map(str, project.rows("select * from marts.fct_lines"))), list[Any]()
    write, turns = writer.Writer.write, list[Turns]()
    alone = Turns.__init__

    def noted(made: Turns) -> None:
        alone(made)
        turns.append(made)

    def write_in_vain_first(made: writer.Writer, model: Any, part: Any) -> None:
        write(made, model, part)
        if model.name == "fct_lines":
            tried.append((turns[-1]._running, made.spark.conf.get(ONE_TASK)))
            if len(tried) == 1:
                raise RuntimeError("SparkOutOfMemoryError: [UNABLE_TO_ACQUIRE_MEMORY] Unable to acquire 65536 bytes of memory, got 0.")

    monkeypatch.setattr(Turns, "__init__", noted)
    monkeypatch.setattr(writer.Writer, "write", write_in_vain_first)
    project.build(full_refresh=True)
    assert len(tried) == 2 and tried[0][0] > 0 and tried[0][1] != "0" and tried[1] == (0, "0")
    assert sorted(map(str, project.rows("select * from marts.fct_lines"))) == before


def test_rows_that_spark_wrote_and_nobody_finds_fail_the_build(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    save = writer.Writer._save

    def losing(made: writer.Writer, model: Any, query: str, folder: Path) -> Any:
        saved = save(made, model, query, folder)
        if model.name == "fct_lines":
            for file in folder.glob("*.parquet"):
                file.unlink()
        return saved

    with monkeypatch.context() as patched, pytest.raises(BuildFailed, match=r"model fct_lines: .* rows were written into"):
        patched.setattr(writer.Writer, "_save", losing)
        project.build(full_refresh=True)
    project.build()


def test_a_build_that_failed_is_followed_by_one_of_everything(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.arrive(16, (2000, "many", THIRD), cluster="daily")
    with monkeypatch.context() as patched, pytest.raises(BuildFailed):
        patched.setattr(writer, "replace_days", lambda *given: 1 / 0)
        project.build()
    project.build()
    assert project.outcome.clusters is None
