"""The macros, as dbt runs them: a project of a few models of its own, built again and again as rows arrive."""

from __future__ import annotations

import datetime as dt
import shutil
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest

from ingestion import build as building
from ingestion.warehouse import Busy, Warehouse, only_writer, register

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    "models/staging/_sources.yml": "version: 2\nsources: [{name: bronze, schema: bronze, tables: [{name: lines}]}]",
    "models/staging/stg_events.sql": """
        {{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by=['event_date']) }}
        select id, ingested_at, isr, event_date from {{ source('bronze', 'lines') }}
        {% if is_incremental() %} where event_date in ({{ touched_days(source('bronze', 'lines')) }}) {% endif %}
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
FIRST, SECOND, THIRD = dt.date(2026, 5, 1), dt.date(2026, 5, 2), dt.date(2026, 5, 3)


class Project:
    """The scratch project, its bronze table and what comes out."""

    def __init__(self, spark: SparkSession, warehouse: str, folder: Path) -> None:
        self.spark, self.warehouse, self.folder = spark, warehouse, folder
        self.outcome = building.Outcome()

    def arrive(self, hour: int, *rows: tuple[int, str | None, dt.date]) -> None:
        at = dt.datetime(2026, 6, 1, hour)
        values = [(number, at, isr, day) for number, isr, day in rows]
        frame = self.spark.createDataFrame(values, "id bigint, ingested_at timestamp, isr string, event_date date")
        frame.coalesce(1).write.format("delta").mode("append").save(f"{self.warehouse}/bronze/lines")

    def build(self, **options: Any) -> None:
        self.outcome = building.build(self.spark, self.warehouse, project=self.folder, **options)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        register(self.spark, Warehouse.at(self.warehouse))
        return [tuple(row) for row in self.spark.sql(query).collect()]

    def commits(self, table: str) -> list[str]:
        register(self.spark, Warehouse.at(self.warehouse))
        return [row.operation for row in self.spark.sql(f"describe history {table}").collect()][::-1]


@pytest.fixture(scope="module")
def project(spark: SparkSession, warehouse: str, tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("project")
    for name in ("dbt_project.yml", "dbt_project/profiles.yml", "macros"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(dedent(text).lstrip())
    project = Project(spark, warehouse, folder)
    project.arrive(1, (1, "1, 2", FIRST), (2, None, FIRST), (3, "", SECOND))
    project.build(tests=True)
    return project


def test_a_first_build_makes_everything_and_runs_the_tests(project: Project) -> None:
    assert set(project.outcome.models) == {"stg_events", "stg_lines", "fct_lines", "kinds"}
    assert project.outcome.tests == 2
    assert project.rows("select id, since, means from staging.kinds order by id") == [(1, "2.10", 'it\'s "a", \\n b'), (2, "2.4", None)]


def test_lists_are_arrays_and_keys_tell_null_from_empty(project: Project) -> None:
    assert project.rows("select isr from staging.stg_lines order by id") == [([1, 2],), (None,), ([],)]
    # sha2('1' || chr(31) || '1, 2', 256), its first half.
    assert project.rows("select line_key from staging.stg_lines where id = 1") == [("72ea7d8b52c3ce6fc3719056f59bde5c",)]
    keys = project.rows("select count(distinct line_key) from staging.stg_lines")
    assert keys == [(3,)]


def test_comments_stand_in_the_table(project: Project) -> None:
    comments = {row[0]: row[2] for row in project.rows("describe table marts.fct_lines")}
    assert comments["line_key"] == "It's \\ the key"
    assert project.commits("marts.fct_lines") == ["CREATE TABLE", "WRITE"]


def test_a_mart_that_is_not_as_its_contract_says_is_not_published(project: Project) -> None:
    model = project.folder / "models/marts/fct_lines.sql"
    text = model.read_text()
    model.write_text(text.replace("latest.id,", "string(latest.id) as id,"))
    with pytest.raises(building.BuildFailed, match=r"fct_lines\.id: string where the contract says bigint"):
        project.build(select="fct_lines")
    model.write_text(text)
    assert project.commits("marts.fct_lines") == ["CREATE TABLE", "WRITE"]


def test_settings_of_the_session_are_as_before(project: Project) -> None:
    assert project.spark.conf.get("spark.sql.ansi.enabled") == "true"
    assert project.spark.conf.get("spark.sql.sources.partitionOverwriteMode") == "STATIC"


def test_touched_days_are_replaced_whole_and_the_others_stay(project: Project) -> None:
    # The first day loses all its rows but gets an arrival without one that the model keeps; the third is new.
    project.spark.sql(f"delete from bronze.lines where event_date = date'{FIRST}'")
    project.arrive(2, (9, "9", THIRD), (8, "8", FIRST))
    project.spark.sql("delete from bronze.lines where id = 8")
    project.arrive(2, (1, "1", FIRST))
    project.build()
    assert project.rows("select event_date, id from staging.stg_events order by 1, 2") == [(FIRST, 1), (SECOND, 3), (THIRD, 9)]
    assert project.commits("staging.stg_events") == ["CREATE OR REPLACE TABLE AS SELECT", "WRITE"]
    assert project.commits("marts.fct_lines") == ["CREATE TABLE", "WRITE", "WRITE"]


def test_nothing_new_writes_no_commit_of_events(project: Project) -> None:
    project.build()
    assert project.commits("staging.stg_events") == ["CREATE OR REPLACE TABLE AS SELECT", "WRITE"]


def test_a_day_that_became_empty_becomes_empty(project: Project) -> None:
    model = project.folder / "models/staging/stg_events.sql"
    text = model.read_text()
    model.write_text(text.replace("where event_date", "where id <> 1 and event_date"))
    project.arrive(3, (1, "1", FIRST))
    project.build(select="stg_events")
    model.write_text(text)
    assert project.rows("select event_date, id from staging.stg_events order by 1, 2") == [(SECOND, 3), (THIRD, 9)]


def test_a_failing_model_is_named_with_the_databases_words(project: Project) -> None:
    model = project.folder / "models/intermediate/int_wrong.sql"
    model.parent.mkdir(exist_ok=True)
    model.write_text("{{ config(materialized='table', file_format='parquet') }} select idd from {{ ref('stg_lines') }}")
    with pytest.raises(
        building.BuildFailed, match=r"model int_wrong: .*UNRESOLVED_COLUMN.*`idd`.*\(models/intermediate/int_wrong.sql\)"
    ) as caught:
        project.build(select="int_wrong")
    model.unlink()
    assert "\n" not in str(caught.value)
    assert project.spark.conf.get("spark.sql.ansi.enabled") == "true"


def test_another_writer_is_refused_at_once(project: Project) -> None:
    with only_writer(Warehouse.at(project.warehouse)), pytest.raises(Busy, match="another chronicle is writing"):
        project.build()
