"""The descriptions of dashboards against dbt's models, and the bundle that Superset imports, without Superset."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import pytest
import yaml

from chronicle.output.units import duration_text
from chronicle.project import PROJECT
from dashboards import bundle, described, grains
from dashboards.described import DURATION, GRAINS, Chart, Described, Misdescribed, dbt_models, load
from dashboards.queries import UNITS, queries, sql_of
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
            made = {
                name for name, column in dataset.columns.items() if column.expression is not None and described.form_of(name) != DURATION
            }
            assert set(dataset.columns) - made == set(dbt), dataset.name
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
        bundle.write(tmp_path / name, found)
    one, two = (
        {path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).rglob("*.yaml")} for name in ("one", "two")
    )
    assert one == two
    assert yaml.safe_load((tmp_path / "one/databases/chronicle.yaml").read_text())["sqlalchemy_uri"] == bundle.URI


def test_queries_say_what_they_count() -> None:
    by_title = {(board, title): sql for board, title, sql in queries()}
    assert by_title["elections", "Elections over time"] == (
        "select\n    date_trunc('day', elected_at) as elected_at,\n    election_kind,\n    count(*) as rows\n"
        "from marts.fct_leader_elections\n"
        "group by date_trunc('day', elected_at), election_kind\norder by rows desc\nlimit 10000"
    )
    assert by_title["elections", "Unclean"] == (
        "select\n    count(*) as rows\nfrom marts.fct_leader_elections\nwhere (election_kind = 'unclean')"
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
        ({"as": "bars", "metrics": ["rows"], "metric": None, "grain": "PT5M"}, "`grain` is PT5M; write one of PT1S, PT1M"),
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
        ({"within": "incident"}, "`within` names incident, which is not a column of fct_leader_elections"),
        ({"finest": "day"}, "`finest` is day; write one of PT1S, PT1M"),
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
        ("bytes_growth", "Bytes growth", "MEMORY_BINARY"),
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


@pytest.mark.parametrize(
    ("seconds", "finest", "grain"),
    [
        (0, "PT1S", "PT1S"),
        (3 * 60, "PT1S", "PT1S"),
        (5 * 60, "PT1S", "PT1M"),
        (5 * 60, "P1D", "P1D"),
        (12 * 3600, "PT1S", "PT1H"),
        (12 * 3600, "PT1H", "PT1H"),
        (40 * 86_400, "PT1S", "P1D"),
        (40 * 86_400, "P1M", "P1M"),
        (3 * 365 * 86_400, "P1D", "P1W"),
        (10 * 365 * 86_400, "P1D", "P1M"),
        (900 * 365 * 86_400, "P1D", "P1Y"),
    ],
)
def test_a_grain_fits_the_range(seconds: float, finest: str, grain: str) -> None:
    assert grains.fitting(seconds, finest) == grain


def test_grains_are_those_that_spark_truncates_to() -> None:
    assert set(GRAINS) == set(UNITS)


def test_each_time_axis_has_the_grain_of_its_own_data(found: Described) -> None:
    """Elections of five minutes, expired sessions of two months; nothing is known of groups."""
    session = duckdb.connect()
    session.execute("create schema marts; create schema reports")
    session.execute(
        "create table marts.fct_leader_elections as select timestamp '2026-11-21 09:46:00' as elected_at, 'initial' as election_kind"
    )
    session.execute("insert into marts.fct_leader_elections values (timestamp '2026-11-21 09:51:00', 'leader_lost')")
    session.execute("create table marts.fct_session_expiries as select timestamp '2026-09-21 09:46:00' as expired_at")
    session.execute("insert into marts.fct_session_expiries values (timestamp '2026-11-21 09:51:00')")
    session.execute("create table marts.fct_group_rebalances (started_at timestamp)")
    boards = [replace(one, rows=[timed(one.charts)]) for one in found.dashboards if one.name in ("elections", "sessions", "groups")]
    fitted = grains.fitted(replace(found, dashboards=boards), lambda query: session.execute(query).fetchall())
    assert {chart.title: chart.grain for board in fitted.dashboards for chart in board.charts} == {
        "Elections over time": "PT1M",
        "Expired sessions by cause": "P1D",
        "Rebalances over time": "P1D",
    }
    form = bundle.files(fitted)["charts/elections_elections_over_time.yaml"]["params"]
    assert (form["time_grain_sqla"], form["x_axis_time_format"]) == ("PT1M", "%m-%d %H:%M")


def timed(charts: list[Chart]) -> list[Chart]:
    return [chart for chart in charts if chart.grain and chart.dataset.name != "pauses"]


def test_the_grain_of_what_is_looked_at_by_parts_fits_a_part() -> None:
    chart = next(chart for board in load().dashboards for chart in board.charts if chart.title == "Events over time")
    assert grains.range_of(chart).endswith("\ngroup by incident")
    parts = [("2026-01-01 10:00:00", "2026-01-01 10:02:00"), ("2026-06-01 10:00:00", "2026-06-01 10:03:00"), (None, None)]
    assert grains.seconds(parts) == 120
    assert grains.seconds([(None, None)]) is None


@pytest.mark.parametrize(("last", "x"), [("2026-01-05", "day"), ("2028-06-01", "week"), ("2046-01-01", "month"), (None, "month")])
def test_a_heatmap_has_days_weeks_or_months(found: Described, last: str | None, x: str) -> None:
    fleet = replace(found.dashboards[0], filters=[], rows=[[chart for chart in found.dashboards[0].charts if chart.kind == "heatmap"]])
    (board,) = grains.fitted(replace(found, dashboards=[fleet]), lambda query: [(last and "2026-01-01", last)]).dashboards
    assert board.charts[0].x == x
    assert bundle.files(replace(found, dashboards=[board]))["charts/fleet_incidents_by_cluster_over_time.yaml"]["params"]["x_axis"] == x


def test_a_described_grain_is_kept_and_nobody_is_asked(found: Described) -> None:
    chart = next(chart for board in found.dashboards for chart in board.charts if chart.grain)
    board = replace(found.dashboards[0], rows=[[replace(chart, says=chart.says | {"grain": "P1Y"})]])

    def refuse(query: str) -> list[tuple[Any, ...]]:
        raise AssertionError(query)

    assert grains.fitted(replace(found, dashboards=[board]), refuse).dashboards[0].charts[0].grain == "P1Y"


@pytest.mark.parametrize(
    "exact",
    [
        0,
        1,
        999,
        1000,
        1249,
        12_345,
        59_949,
        59_951,
        61_499,
        252_300,
        3_599_499,
        3_599_501,
        11_123_456,
        172_769_999,
        172_770_001,
        1_055_000_123,
        -252_300,
    ],
)
def test_durations_are_rounded_as_in_the_report(exact: int) -> None:
    """Superset shows all of a value, in units that are not nought: it has to be the value that the reports say."""
    ((shown,),) = duckdb.connect().sql(f"select {described.rounded(str(exact))}").fetchall()
    units = {"ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
    said = sum(float(number) * units[unit] for number, unit in re.findall(r"([0-9.]+) ([a-z]+)", duration_text(exact)))
    assert abs(shown) == said
    assert (shown < 0) == (exact < 0)


def test_every_duration_is_rounded(found: Described) -> None:
    for path, content in bundle.files(found).items():
        if path.startswith("datasets/"):
            shown = [one["expression"] for one in content["metrics"] if one["d3format"] == DURATION]
            shown += [one["expression"] for one in content["columns"] if one["column_name"].endswith("_ms") and one["type"] != "STRING"]
            assert all(sql and sql.startswith("round(") for sql in shown), path


def test_sizes_have_the_units_of_the_report_and_no_axis_is_of_parts_of_a_byte(found: Described) -> None:
    """Superset writes 0.3 bytes as "300undefined", on the axis of bars that are all nought."""
    for board in found.dashboards:
        for chart in board.charts:
            sizes = [metric.form for metric in chart.metrics if metric.form.startswith("MEMORY")]
            assert set(sizes) <= {"MEMORY_BINARY"}
            if sizes and chart.kind in ("bars", "ranking"):
                assert re.search(r"(<>|>) 0", chart.says.get("where", "")), chart.title


def test_of_two_controllers_at_once_only_the_time_of_both_is_said_to_be(found: Described) -> None:
    session = duckdb.connect()
    session.execute("create schema marts")
    session.execute(
        """create table marts.fct_controller_tenures as
        select *, elected_at as known_since_at, ended_at as observed_until from (values
            ('a', 2, 1, 'killed', 20, timestamp '2026-01-01 10:00:00', timestamp '2026-01-01 10:01:00', timestamp '2026-01-01 10:01:20'),
            ('a', 1, 2, 'open', 0, timestamp '2026-01-01 10:01:00', null, timestamp '2026-01-01 10:05:00'),
            ('a', 3, 3, 'open', null, timestamp '2026-01-01 10:07:00', null, timestamp '2026-01-01 10:09:00')
        ) as terms(cluster_id, controller_id, controller_epoch, end_kind, overlap_ms, elected_at, superseded_at, ended_at)"""
    )
    terms = found.datasets["controller_tenures"].sql
    shown = session.sql(
        f"select node_id, strftime(from_at, '%M:%S'), strftime(to_at, '%M:%S'), part from ({terms}) order by node_id, from_at"
    )
    assert shown.fetchall() == [
        (1, "01:00", "05:00", "open"),
        (2, "00:00", "01:00", "killed"),
        (2, "01:00", "01:20", "two at once"),
        (3, "07:00", "09:00", "open"),
    ]


def test_a_size_that_was_never_measured_is_unknown(found: Described) -> None:
    """Of partition 1 an estimate finds no closed segment, of partition 2 one; partition 3 was measured, and went on for an hour."""
    session = duckdb.connect()
    session.execute("create schema marts")
    session.execute(
        """create table marts.fct_offsets_topic_growth_hourly as select 'a' as cluster_id, 1 as node_id, * from (values
            (1, timestamp '2026-01-01 10:00:00', 'estimated', 0),
            (2, timestamp '2026-01-01 10:00:00', 'estimated', 500),
            (3, timestamp '2026-01-01 10:00:00', 'measured', 0),
            (3, timestamp '2026-01-01 11:00:00', 'estimated', 70)
        ) as hours(partition_id, hour_at, measure_kind, bytes_at_end)"""
    )
    dataset = found.datasets["offsets_today"]
    sizes = session.sql(f"select partition_id, size_bytes, known_by from ({dataset.sql}) order by partition_id").fetchall()
    assert sizes == [(1, None, "estimated, without open segment"), (2, 500, "estimated, without open segment"), (3, 0, "measured")]
    measured = dataset.metrics["measured_bytes"].sql
    assert session.sql(f"select {measured} from ({dataset.sql})").fetchone() == (0,)
    assert session.sql(f"select {measured} from ({dataset.sql}) where partition_id < 3").fetchone() == (None,)


def test_of_unknown_releases_no_number_of_issues_is_shown(found: Described) -> None:
    session = duckdb.connect()
    for dataset, metric, column in (("fct_issue_exposures", "known_issues", "issue_id"), ("node_runs", "releases", "kafka_version")):
        session.execute(f"create or replace table runs ({column} text)")
        sql = found.datasets[dataset].metrics[metric].sql
        assert session.sql(f"select {sql} from runs").fetchone() == (None,)
        session.execute("insert into runs values ('a'), ('a'), ('b')")
        assert session.sql(f"select {sql} from runs").fetchone() == (2,)


def test_charts_say_in_their_place_when_they_are_empty_and_what_does_not_filter_them(found: Described) -> None:
    contents = bundle.files(found)
    for board in found.dashboards:
        written = contents[f"dashboards/{board.name}.yaml"]
        # An empty chart shows its description, which the page has as a label.
        assert "::after" in written["css"] and "content: attr(aria-label)" in written["css"]
        about = written["position"]["MARKDOWN-about"]["meta"]["code"]
        for chart in board.charts:
            said = contents[f"charts/{board.name}_{bundle._slug(chart.title)}.yaml"]
            shown = said["description"]
            if chart.kind == "number":
                assert said["params"]["subtitle"] == chart.empty_if
            if chart.kind != "number" or not chart.metrics[0].sql.startswith(("count(", "sum(")):
                assert f"Empty if {chart.nothing}." in shown, (board.name, chart.title)
            for one in board.filters:
                if one.kind != "grain":
                    spared = shown.partition("Not filtered by ")[2].rstrip(".").split(" or ")
                    assert (one.title in spared) == (not one.reaches(chart)), (board.name, chart.title, one.title)
                    named = re.findall(rf"Not filtered by {one.title}: (.*?)\.", about)
                    assert (chart.title in ", ".join(named).split(", ")) == (not one.reaches(chart)), (board.name, chart.title, one.title)


def test_filters_reach_all_that_has_what_they_choose(found: Described) -> None:
    """What a filter spares is about whole clusters, about today, or meant to be compared with what was chosen."""
    spared = {
        (one.name, chart.title)
        for board in found.dashboards
        for one in board.filters
        for chart in board.charts
        if not one.reaches(chart) and one.kind != "grain"
    }
    assert spared == {
        ("time", "Clusters today"),
        ("incident", "Incidents of the cluster"),
        ("time", "Size on disk"),
        ("time", "Largest"),
        ("time", "Largest partitions"),
        ("node", "Without leader"),
        ("time", "Groups"),
        ("time", "Groups and their coordinators"),
        ("time", "What upgrades fix and bring"),
        ("node", "What upgrades fix and bring"),
        ("node", "Unknown days"),
        ("node", "Known and unknown days"),
    }
