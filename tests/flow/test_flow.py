"""From files to facts: everything is loaded exactly once, whatever the input."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
import yaml

from chronicle.ask.evidence import evidence
from chronicle.project import PROJECT
from chronicle.spark.catalog import kept_views, register_views
from chronicle.spark.internals.catalog_entries import CatalogEntries
from ingestion.warehouse import Warehouse
from tests.duck import connect
from tests.keys import keys
from tests.lab import SECRET, Lab


def dbt_tests_of_the_project() -> int:
    """Data and unit tests of the project, except for the keys of steps, which the lab leaves out, and alerts, which only `check` runs."""
    count = sum(1 for _ in (PROJECT / "tests/data").rglob("*.sql")) - sum(1 for _ in keys())
    for path in [*(PROJECT / "models").rglob("*.yml"), *(PROJECT / "dbt_project").rglob("*.yml")]:
        content = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
        tables = [table for source in content.get("sources", []) for table in source["tables"]]
        for tested in (*content.get("models", []), *content.get("seeds", []), *tables):
            count += len(tested.get("data_tests", [])) + sum(len(column.get("data_tests", [])) for column in tested.get("columns", []))
        count += len(content.get("unit_tests", []))
    return count


def test_dbts_own_tests_ran_and_passed(lab: Lab) -> None:
    assert lab.built.tests == dbt_tests_of_the_project()
    assert lab.built.warnings == []


def content(path: str) -> bytes:
    data = Path(path).read_bytes()
    return gzip.decompress(data) if path.endswith(".gz") else data


def test_records_are_as_many_as_an_independent_count_finds(lab: Lab) -> None:
    import re

    head = re.compile(rb"^(?:\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] |\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} \[myid)", re.M)
    read = {
        row.cluster_id: row
        for row in lab.rows(
            "select cluster_id, count(*) as records, count_if(outcome = 'orphan') as orphans, count_if(outcome = 'recognised') as known,"
            " collect_set(source_path) as paths from bronze.log_records group by cluster_id"
        )
    }
    rows, samples = (
        {row.cluster_id: row.n for row in lab.rows(f"select cluster_id, count(*) as n from bronze.{table} group by cluster_id")}
        for table in ("capture_rows", "metric_samples")
    )
    for cluster, outcome in lab.outcomes.items():
        if cluster == "bad" or cluster.startswith("incident"):
            continue
        logs = read[cluster]
        heads = sum(len(head.findall(content(path))) for path in logs.paths)
        assert logs.records == heads + logs.orphans, cluster
        assert outcome.records == logs.records + rows.get(cluster, 0) + samples.get(cluster, 0), cluster
        assert logs.known / logs.records > 0.97, cluster


def test_every_byte_of_a_source_is_in_one_record(lab: Lab) -> None:
    rows = lab.rows(
        "select source_id, max(byte_offset + byte_length) as bytes, sum(byte_length) as summed, count(*) as records,"
        " count(distinct byte_offset) as offsets from bronze.log_records where outcome <> 'source_cut' group by source_id"
    )
    assert len(rows) > 50
    assert [row for row in rows if row.bytes != row.summed or row.records != row.offsets] == []


def test_running_again_adds_nothing(lab: Lab) -> None:
    before = lab.rows("select count(*) as n from bronze.log_records")[0].n
    for cluster in ("zk-a-2.8.2", "bad"):
        outcome = lab.load(cluster, lab.folder / cluster if cluster == "bad" else lab.folder / cluster / "input")
        assert (outcome.records, outcome.rows_written) == (0, 0)
    assert lab.rows("select count(*) as n from bronze.log_records")[0].n == before


def test_bad_input_is_told_and_listed_and_the_rest_is_loaded(lab: Lab) -> None:
    told = {Path(line.split(": ")[0]).name: line.split(": ", 1)[1] for line in lab.outcomes["bad"].faults if line.startswith("/")}
    rows = {
        Path(row.source_path).name: row
        for row in lab.rows("select source_path, outcome, reason, records, recognised from marts.fct_sources where cluster_id = 'bad'")
    }
    assert told["empty.log"] == "empty: the file is empty"
    assert told["binary.log"] == "binary: the file is binary"
    assert told["missing"] == "missing: no such file or folder"
    assert told["cut.log"].startswith("cut: ends in the middle of a line")
    assert "EOFError" in told["cut.log.gz"]
    assert {name: row.outcome for name, row in rows.items()} == {
        "server.log": "read",
        "torn.log": "read",
        "empty.log": "empty",
        "binary.log": "binary",
        "missing": "missing",
        "notes.txt": "unknown",
        "cut.log": "cut",
        "cut.log.gz": "cut",
    }
    assert all(row.reason for row in rows.values() if row.outcome != "read")
    assert (rows["server.log"].records, rows["server.log"].recognised) == (2001, 2001)
    # 311 whole lines of 87 bytes, the last with the four bytes after it: the file is old, so its last line does not wait.
    assert rows["cut.log"].records == 311
    assert 500 < rows["cut.log.gz"].records < 2000


def test_no_secret_reaches_a_table(lab: Lab) -> None:
    session = connect()
    events = f"read_parquet('{lab.warehouse}/staging/base_logs__distinct_events/*.parquet')"
    for table in (f"delta_scan('{lab.warehouse}/bronze/log_records')", events):
        query = f"select count(*), count(*) filter (where cast(t as varchar) like ?) from {table} as t"
        rows, secrets = session.execute(query, [f"%{SECRET}%"]).fetchone()
        assert rows > 10_000 and secrets == 0, table
        # The query does find texts that are there.
        assert session.execute(query, ["%ssl.key.password%"]).fetchone()[1] > 0, table


def test_columns_that_a_build_has_noted_of_views_are_those_that_spark_finds(lab: Lab) -> None:
    place, noted, entries = Warehouse.at(lab.warehouse), lab.built.view_columns, CatalogEntries(lab.spark)
    views = kept_views(place)
    register_views(lab.spark, place)
    assert len(noted) > len(views) * 3 / 4
    known = [view for view in views if ".".join(view[:2]) in noted]
    assert not any("bronze." in query for _, _, query in known)
    # Every tenth, each after those it reads. A view that is read by its text may have nulls where its plan has none.
    for schema, name, query in known[::10]:
        entries.view(schema, name, query, None)
        both = (entries.columns(schema, name), noted[f"{schema}.{name}"])
        found, told = (json.loads(columns.replace("false", "true")) for columns in both)
        assert found == told, name


def test_evidence_gives_the_lines_behind_a_fact(lab: Lab) -> None:
    row = lab.rows("select * from marts.fct_controller_tenures where cluster_id = 'zk-a-2.8.2' and controller_epoch = 2")[0]
    fact, lines = evidence(Warehouse.at(lab.warehouse), row.controller_tenure_key)
    assert fact == "marts.fct_controller_tenures"
    assert any("2 successfully elected as the controller. Epoch incremented to 2" in line.raw_text for line in lines)
    assert len(lines) == len(row.evidence)


@pytest.mark.parametrize("table", ["fct_leader_elections", "fct_controller_tenures", "fct_session_expiries", "dim_node_runs"])
def test_descriptions_reach_the_tables(lab: Lab, table: str) -> None:
    columns = {
        row.col_name: row.comment for row in lab.rows(f"describe table marts.{table}") if row.col_name and not row.col_name.startswith("#")
    }
    assert all(columns.values()), columns
