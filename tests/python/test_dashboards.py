"""The descriptions of dashboards against dbt's models, and the bundle that Superset imports, without Superset."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import pytest
import yaml

from chronicle.project import PROJECT
from dashboards import bundle, described
from dashboards.described import Described, Misdescribed, dbt_models, load
from dashboards.queries import queries, sql_of
from tests.fleet import FLEET_COLUMNS

BOARDS = {"fleet", "incident", "offsets_topic", "elections", "sessions", "groups", "exposures", "evidence", "reliability"}


@pytest.fixture(scope="module")
def found() -> Described:
    return load()


def test_dashboards_have_five_to_fifteen_charts_and_their_filters(found: Described) -> None:
    assert {board.name for board in found.dashboards} == BOARDS
    for board in found.dashboards:
        assert 5 <= len(board.charts) <= 15, board.name
        assert {"cluster", "time"} <= {one.name for one in board.filters}, board.name
        assert all(count == 1 for count in Counter(chart.title for chart in board.charts).values()), board.name
        assert all(chart.asks.endswith("?") for chart in board.charts), board.name


def test_every_column_of_every_dataset_is_dbts_or_says_what_it_is(found: Described) -> None:
    models = dbt_models()
    for dataset in found.datasets.values():
        assert all(column.description.strip() and "{{" not in column.description for column in dataset.columns.values()), dataset.name
        if dataset.sql is None:
            dbt = models[dataset.name][2]
            assert {name for name, column in dataset.columns.items() if column.expression is None} == set(dbt), dataset.name
        if dataset.time:
            assert dataset.columns[dataset.time].is_time, dataset.name


def test_every_table_that_a_query_reads_is_a_mart_or_a_report_of_dbt() -> None:
    models = dbt_models()
    for board, title, sql in queries():
        read = set(re.findall(r"(?:from|join) (\w+)\.(\w+)", sql))
        assert read, (board, title)
        assert all(name in models and models[name][0] == schema for schema, name in read), (board, title, read)


def test_every_dataset_is_used(found: Described) -> None:
    used = {chart.dataset.name for board in found.dashboards for chart in board.charts}
    used |= {one.dataset.name for board in found.dashboards for one in board.filters if one.dataset}
    assert set(found.datasets) == used


def test_every_filter_has_its_column_and_leaves_out_charts_without_it(found: Described) -> None:
    contents = bundle.files(found)
    for board in found.dashboards:
        filters = contents[f"dashboards/{board.name}.yaml"]["metadata"]["native_filter_configuration"]
        for one, written in zip(board.filters, filters, strict=True):
            if one.kind == "choice":
                assert one.dataset is not None and one.column in one.dataset.columns, (board.name, one.name)
            left_out = {board.charts[number - 1].title for number in written["scope"]["excluded"]}
            assert left_out == {chart.title for chart in board.charts if not one.reaches(chart)}, (board.name, one.name)
            assert len(left_out) < len(board.charts), (board.name, one.name)


def test_uuids_are_unique_and_what_refers_to_them_finds_them(found: Described) -> None:
    contents = bundle.files(found)
    uuids = [content["uuid"] for content in contents.values() if "uuid" in content]
    assert len(set(uuids)) == len(uuids) and all(UUID(one).version == 5 for one in uuids)
    for name, content in contents.items():
        for reference in re.findall(r"(?:_uuid|datasetUuid|\buuid): ([0-9a-f-]{36})", yaml.safe_dump(content)):
            assert reference in uuids, name


def test_rows_fill_twelve_columns(found: Described) -> None:
    for board in found.dashboards:
        for row in board.rows:
            assert sum(bundle.widths(row)) == bundle.COLUMNS, (board.name, row[0].title)


def test_a_bundle_is_the_same_each_time_and_holds_no_password(found: Described, tmp_path: Path) -> None:
    for name in ("one", "two"):
        bundle.write(tmp_path / name)
    one, two = (
        {path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).rglob("*.yaml")} for name in ("one", "two")
    )
    assert one == two
    assert yaml.safe_load((tmp_path / "one/databases/chronicle.yaml").read_text())["sqlalchemy_uri"] == bundle.URI


def test_queries_say_what_they_count() -> None:
    by_title = {(board, title): sql for board, title, sql in queries()}
    assert by_title["elections", "Elections over time"] == (
        "select\n    date_trunc('week', elected_at) as elected_at,\n    election_kind,\n    count(*) as rows\n"
        "from marts.fct_leader_elections\n"
        "group by date_trunc('week', elected_at), election_kind\norder by rows desc\nlimit 10000"
    )
    assert by_title["elections", "Unclean"] == (
        "select\n    sum(elections_unclean) as elections_unclean_sum\nfrom reports.rpt_cluster_daily"
    )


def test_a_limit_can_be_left_out(found: Described) -> None:
    chart = next(chart for board in found.dashboards for chart in board.charts if chart.kind == "table")
    assert "limit" in sql_of(chart) and "limit" not in sql_of(chart, is_limited=False)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"as": "cake"}, "`as` is cake"),
        ({"metric": "elections_sum"}, "`metric` names elections_sum"),
        ({"of": "fct_nothing"}, "there is no dataset fct_nothing in dashboards/datasets.yml; add it there"),
        ({"as": "heatmap", "x": "leader", "y": "leader_id", "metric": "rows"}, "`x` names leader, which is not a column of"),
        ({"colour": "red"}, "unknown key `colour`"),
        ({"where": "is_unclean"}, "is_unclean = true"),
        ({"asks": None}, "`asks` is missing"),
    ],
)
def test_a_wrong_description_is_told_in_one_line(found: Described, wrong: dict[str, str | None], said: str) -> None:
    chart = {"title": "Elections", "asks": "How many?", "of": "fct_leader_elections", "as": "number", "metric": "rows"} | wrong
    with pytest.raises(Misdescribed) as error:
        described._chart({key: value for key, value in chart.items() if value is not None}, found.datasets, "boards/x.yml")
    assert said in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"time": "elected"}, "`time` names elected, which is not a column of fct_leader_elections"),
        ({"columns": ["elected_at", "cluster"]}, "`columns` names cluster; fct_leader_elections has leader_election_key, cluster_key"),
    ],
)
def test_a_wrong_dataset_is_told_in_one_line(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(Misdescribed) as error:
        described._dataset("fct_leader_elections", wrong, dbt_models())
    assert said in str(error.value) and "\n" not in str(error.value)


def test_an_unknown_filter_is_told_in_one_line(tmp_path: Path) -> None:
    board = tmp_path / "9_more.yml"
    board.write_text("{title: More, description: More., filters: [tim], rows: []}")
    with pytest.raises(Misdescribed, match=r"there is no filter tim; dashboards/filters\.yml has time"):
        described._dashboard(board, {}, {"time": described.Filter("time", "time", "Time", "Time.")})


@pytest.mark.parametrize(
    ("name", "label", "form"),
    [
        ("leaderless_ms", "Leaderless", "DURATION"),
        ("bytes_growth", "Bytes growth", "MEMORY_DECIMAL"),
        ("availability_ratio", "Availability", ".3%"),
        ("cluster_id", "Cluster", ",d"),
        ("gc_pause_ms", "GC pause", "DURATION"),
    ],
)
def test_names_become_labels_and_units(name: str, label: str, form: str) -> None:
    assert (described.label_of(name), described.form_of(name)) == (label, form)


def test_availability_is_the_same_wherever_it_is_computed(found: Described) -> None:
    """The dashboards, their table of clusters, and the days of a made fleet divide the same sums as the reports; an unknown day adds nothing to either,
    whatever it says of partitions."""
    session = duckdb.connect()
    session.execute("create schema reports")
    session.execute(
        """create table reports.rpt_cluster_daily as select * from (values
            ('a', date '2026-01-01', 'known', 100, 30, 1, 100, 0),
            ('a', date '2026-01-02', 'unknown', null, null, 1, 100, null),
            ('a', date '2026-01-03', 'known', 20, 0, 1, 100, 0)
        ) as days(cluster_id, event_date, evidence_state, partition_observed_ms, leaderless_ms, partitions, observed_ms, incidents)"""
    )
    session.execute("alter table reports.rpt_cluster_daily add column kafka_version text")
    session.execute("alter table reports.rpt_cluster_daily add column nodes_with_records bigint")
    for name in ("environment", "team"):
        session.execute(f"alter table reports.rpt_cluster_daily add column {name} text")
    daily = found.datasets["rpt_cluster_daily"].metrics["availability_ratio"].sql
    today = found.datasets["clusters_today"].sql
    assert session.sql(f"select {daily} from reports.rpt_cluster_daily").fetchone() == (0.75,)
    assert session.sql(f"select availability_ratio from ({today})").fetchone() == (0.75,)
    assert session.sql(f"select {FLEET_COLUMNS['availability_ratio']} from reports.rpt_cluster_daily").fetchone() == (0.75,)
    report = {path.stem: path.read_text(encoding="utf-8") for path in (PROJECT / "models/reports/days").glob("*.sql")}
    assert {name for name, sql in report.items() if "availability(" in sql} == {
        "rpt_cluster_daily",
        "rpt_fleet_daily",
        "rpt_reliability_monthly",
        "rpt_fleet_reliability_monthly",
        "rpt_topic_reliability_monthly",
    }
    places = [*(PROJECT / "models").rglob("*.sql"), *(PROJECT / "analyses").rglob("*.sql")]
    assert [path.stem for path in places if re.search(r"1\s*-\s*(try_divide|sum)\(", path.read_text(encoding="utf-8"))] == []
