"""A daily measure is one row, from which the columns of the reports are generated."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests import measures


@pytest.mark.parametrize("report", measures.PLACES)
def test_reports_have_the_columns_of_the_measures(report: str) -> None:
    text = (measures.REPORTS / f"{report}.yml").read_text(encoding="utf-8")
    assert text == measures.with_columns(report, text), "run: make measures"


@pytest.mark.parametrize("report", measures.PLACES)
def test_a_new_measure_is_one_row(report: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = measures.daily_measures()
    new = {"name": "stalls", "fact": "fct_process_stalls", "day": "started_date", "means": "Times that a process stalled"}
    text = (measures.REPORTS / f"{report}.yml").read_text(encoding="utf-8")
    monkeypatch.setattr(measures, "daily_measures", lambda: [rows[0], new, *rows[1:-1]])
    columns, before = (
        [column["name"] for column in yaml.safe_load(which)["models"][0]["columns"]]
        for which in (measures.with_columns(report, text), text)
    )
    assert set(columns) == set(before) - {rows[-1]["name"]} | {"stalls"}
    monkeypatch.setattr(measures, "daily_measures", lambda: rows)
    assert measures.with_columns(report, measures.with_columns(report, text)) == text


def test_measures_are_named_once() -> None:
    names = [row["name"] for row in measures.daily_measures() + measures.measures_of_each_node()]
    assert [name for name in names if names.count(name) > 1] == []


def test_a_measure_of_nodes_says_what_it_is_of_a_node() -> None:
    for row in measures.daily_measures():
        assert ("of_node" in row) == (row.get("node") != "null"), row["name"]
        assert "node" in row.get("of_node", {"means": "node"})["means"], row["name"]
        # A name says whose it is, where another node could be meant: who lost, who won, who reported.
        if "node" in row and row["node"] != "null" and not row["name"].startswith("under_replicated"):
            assert row["of_node"].get("name", row["name"]) != row["name"], row["name"]


@pytest.mark.parametrize("kind", ["leader_lost", "controlled_shutdown", "preferred", "reassignment"])
def test_an_election_counts_for_the_node_that_lost_the_leadership(kind: str) -> None:
    (row,) = (row for row in measures.daily_measures() if row["name"] == f"elections_{kind}")
    assert row["node"] == "previous_leader_id"
    assert row["of_node"]["name"].startswith("leaderships_lost_to_")


def test_in_sync_sets_count_for_the_replicas_that_left_or_joined() -> None:
    assert {row["name"]: row["each"] for row in measures.measures_of_each_node()} == {"isr_left": "removed", "isr_joined": "added"}
    assert {row["name"] for row in measures.daily_measures() if row["name"].startswith("isr_") and row["node"] == "null"} == {
        "isr_shrunk",
        "isr_expanded",
    }


@pytest.mark.parametrize("row", measures.daily_measures() + measures.measures_of_each_node(), ids=lambda row: row["name"])
def test_a_measure_reads_columns_of_its_fact(row: dict[str, Any]) -> None:
    assert measures.unknown_names(row) == set(), f"no columns of {row['fact']}"


def test_a_name_that_is_no_column_is_found() -> None:
    row = {"name": "failures", "fact": "fct_log_dir_failures", "day": "failed_day", "where": "not is_full and disk_operation <> 'a read'"}
    assert measures.unknown_names(row) == {"failed_day", "is_full"}


def test_a_measure_says_where_it_comes_from() -> None:
    for row in measures.daily_measures():
        assert set(row) <= {"name", "fact", "day", "started_at", "ended_at", "node", "value", "where", "means", "of_node"}, row
        assert ("day" in row) != ("started_at" in row and "ended_at" in row), row
        assert row["fact"].startswith("fct_") and row["means"] and not row["means"].endswith("."), row
