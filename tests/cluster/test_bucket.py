"""Logs in a bucket, loaded into a warehouse in a bucket and built: the tables are those of a folder, and other engines read them there."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import duckdb_extension_httpfs
import polars
import pytest

from dashboards.described import load
from dashboards.queries import sql_of
from ingestion.warehouse import Warehouse
from tests import duck
from tests.cluster.commands import ORDERS, QUESTION, chronicle, done
from tests.cluster.lab_logs import HOW, put_logs
from tests.objects import Bucket, server
from tests.partial import verdicts
from tests.served import serving


@pytest.fixture(scope="module")
def bucket() -> Iterator[Bucket]:
    with server() as client:
        yield Bucket(client)


def test_from_bucket_to_bucket(bucket: Bucket, orders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bucket.take(ORDERS, "orders")
    there = f"{bucket.uri}/warehouse"
    said = done(chronicle(None, None, "run", f"{bucket.uri}/orders", "-w", there))
    assert "13 new" in said and f"into {there}" in said
    bucket.bring("warehouse", tmp_path / "warehouse")
    assert [str(verdict) for verdict in verdicts(orders, tmp_path / "warehouse") if verdict.differences] == []

    # Nothing is new; then one line is.
    assert "nothing new: tables unchanged" in done(chronicle(None, None, "run", f"{bucket.uri}/orders", "-w", there))
    assert done(chronicle(None, None, "sql", QUESTION, "-w", there, "--format", "csv")) == done(
        chronicle(None, None, "sql", QUESTION, "-w", orders, "--format", "csv")
    )
    by_spark = done(chronicle(None, None, "sql", QUESTION, "-w", there, "--format", "csv", "--engine", "spark"))
    assert by_spark.splitlines()[-3:] == done(chronicle(None, None, "sql", QUESTION, "-w", orders, "--format", "csv")).splitlines()[-3:]

    # Another host continues after the first one's disk is lost.
    shutil.rmtree(tmp_path / ".chronicle")
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "server.log").write_text("[2026-11-21 23:00:00,000] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n")
    done(chronicle(None, None, "run", tmp_path / "later", "-w", there, "--cluster", "orders", "--timezone", "UTC", "--settled-after", 0))
    files = "select count(*) as files from fct_sources"
    assert done(chronicle(None, None, "sql", files, "-w", there, "--format", "csv")).split() == ["files", "14"]


def test_the_whole_lab(bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    logs = put_logs(bucket, tmp_path)
    done(chronicle(None, None, "run", logs, "-w", tmp_path / "here", *HOW))
    done(chronicle(None, None, "run", f"{bucket.uri}/lab", "-w", f"{bucket.uri}/of-lab", *HOW))
    bucket.bring("of-lab", tmp_path / "there")
    assert [str(verdict) for verdict in verdicts(tmp_path / "here", tmp_path / "there") if verdict.differences] == []


@pytest.fixture
def by_duckdb(bucket: Bucket) -> Iterator[duckdb.DuckDBPyConnection]:
    """DuckDB with the bucket's tables."""
    session = duck.connect()
    folder = Path(duckdb_extension_httpfs.__file__).parent
    session.execute(f"load '{folder}/extensions/v{duckdb.__version__}/httpfs.duckdb_extension'")
    host = bucket.endpoint.removeprefix("http://")
    session.execute(
        f"create secret (type s3, key_id 'test', secret 'test', region 'us-east-1', endpoint '{host}', use_ssl false, url_style 'path')"
    )
    duck.show_marts(session, Warehouse.at(f"{bucket.uri}/warehouse"))
    yield session
    session.close()


def test_other_engines_read_the_bucket(bucket: Bucket, by_duckdb: duckdb.DuckDBPyConnection) -> None:
    table = f"{bucket.uri}/warehouse/marts/fct_leader_elections"
    count = polars.scan_delta(table, storage_options={"AWS_ALLOW_HTTP": "true"}).select(polars.len()).collect().item()
    assert by_duckdb.execute("select count(*) from marts.fct_leader_elections").fetchone() == (count,)
    assert count > 0


def test_what_superset_asks_of_a_bucket(bucket: Bucket, by_duckdb: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    """The queries of all charts, through the server to which Superset connects."""
    charts = [chart for board in load().dashboards for chart in board.charts]
    with serving(f"{bucket.uri}/warehouse", folder=tmp_path) as served:
        for chart in charts:
            query = sql_of(chart, is_limited=False)
            assert duck.comparable(served.ask(query)) == duck.comparable(by_duckdb.execute(query).fetchall()), chart.title
    assert len(charts) > 50
