"""Logs in a bucket, loaded into a warehouse in a bucket and built: the tables are those of a folder, and other engines read them there."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import duckdb_extension_httpfs
import polars
import pytest

from tests import duck
from tests.cluster.commands import ORDERS, chronicle, done
from tests.objects import Bucket, server
from tests.partial import verdicts

QUESTION = "select topic_name, count(*) as elections from fct_leader_elections group by topic_name order by topic_name"


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
    # All that builds publish, and bronze, as it is in the bucket.
    for schema in ("bronze", "marts", "reports"):
        for key in bucket.keys(f"warehouse/{schema}/"):
            file = tmp_path / key
            file.parent.mkdir(parents=True, exist_ok=True)
            bucket.client.download_file(bucket.name, key, str(file))
    assert [str(verdict) for verdict in verdicts(orders, tmp_path / "warehouse") if verdict.differences] == []

    # Nothing is new; then one line is.
    assert "nothing new: tables unchanged" in done(chronicle(None, None, "run", f"{bucket.uri}/orders", "-w", there))
    assert done(chronicle(None, None, "sql", QUESTION, "-w", there, "--format", "csv")) == done(
        chronicle(None, None, "sql", QUESTION, "-w", orders, "--format", "csv")
    )
    by_spark = done(chronicle(None, None, "sql", QUESTION, "-w", there, "--format", "csv", "--engine", "spark"))
    assert by_spark.splitlines()[-3:] == done(chronicle(None, None, "sql", QUESTION, "-w", orders, "--format", "csv")).splitlines()[-3:]

    # Another host goes on, after the first one's disk is lost.
    shutil.rmtree(tmp_path / ".chronicle")
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "server.log").write_text("[2026-11-21 23:00:00,000] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n")
    done(chronicle(None, None, "run", tmp_path / "later", "-w", there, "--cluster", "orders", "--timezone", "UTC", "--settled-after", 0))
    files = "select count(*) as files from fct_sources"
    assert done(chronicle(None, None, "sql", files, "-w", there, "--format", "csv")).split() == ["files", "14"]


def test_other_engines_read_the_bucket(bucket: Bucket) -> None:
    table = f"{bucket.uri}/warehouse/marts/fct_leader_elections"
    options = {"AWS_ALLOW_HTTP": "true"}
    count = polars.scan_delta(table, storage_options=options).select(polars.len()).collect().item()
    session = duck.connect()
    folder = Path(duckdb_extension_httpfs.__file__).parent
    session.execute(f"load '{folder}/extensions/v{duckdb.__version__}/httpfs.duckdb_extension'")
    host = bucket.endpoint.removeprefix("http://")
    session.execute(
        f"create secret (type s3, key_id 'test', secret 'test', region 'us-east-1', endpoint '{host}', use_ssl false, url_style 'path')"
    )
    assert session.execute(f"select count(*) from delta_scan('{table}')").fetchone() == (count,)
    assert count > 0
