"""Settings and jars with which Spark reads and writes a warehouse in a bucket."""

from __future__ import annotations

from pathlib import Path

import pytest

from chronicle.spark import jars, master, s3a
from chronicle.spark.internals import spark_home

SECRET = "do-not-print-me"


@pytest.fixture
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)


def test_the_jars_are_of_the_release_of_hadoop_in_spark() -> None:
    pinned = {jar.artifact: jar for jar in jars.of_s3().jars}
    assert (spark_home.jars() / f"hadoop-client-api-{pinned['hadoop-aws'].version}.jar").is_file()
    # All parts of Amazon's SDK have one version.
    assert len({jar.version for jar in pinned.values() if jar.group == "software.amazon.awssdk"}) == 1
    assert all(len(jar.sha256) == 64 for jar in pinned.values()) and "bundle" not in pinned


def test_jars_that_are_missing_are_named_with_the_command_that_fetches_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHRONICLE_JARS", str(tmp_path))
    assert s3a.class_path("s3://bucket/warehouse") == []
    with pytest.raises(jars.NoJars, match=r"no hadoop-aws-.*; run `python -m chronicle\.spark\.jars s3`"):
        s3a.must_be_there("s3://bucket/warehouse")
    s3a.must_be_there("/var/lib/warehouse")


def test_a_server_of_ones_own(nothing_said: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9000")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    found = s3a.settings("s3://bucket/warehouse")
    assert found["spark.hadoop.fs.s3a.endpoint"] == "http://127.0.0.1:9000"
    assert found["spark.hadoop.fs.s3a.path.style.access"] == "true"
    assert found["spark.hadoop.fs.s3a.connection.ssl.enabled"] == "false"
    assert found["spark.hadoop.fs.s3a.endpoint.region"] == "eu-central-1"
    assert SECRET not in str(found)
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "https://s3.example.org")
    found = s3a.settings("s3a://bucket/warehouse")
    assert found["spark.hadoop.fs.s3a.endpoint"] == "https://s3.example.org"
    assert found["spark.hadoop.fs.s3a.connection.ssl.enabled"] == "true"


def test_amazons_own_server_needs_no_address(nothing_said: None) -> None:
    assert set(s3a.settings("s3://bucket/warehouse")) == {"spark.hadoop.fs.s3a.aws.credentials.provider"}
    assert s3a.settings("/var/lib/warehouse") == s3a.settings("abfss://files@account/warehouse") == {}


def test_the_name_of_a_table_for_spark() -> None:
    assert s3a.uri("s3://bucket/warehouse/marts/fct_x") == "s3a://bucket/warehouse/marts/fct_x"
    for place in ("s3a://bucket/warehouse", "/var/lib/warehouse", "gs://bucket/warehouse"):
        assert s3a.uri(place) == place


def test_executors_get_the_jars_of_the_session() -> None:
    assert master.cluster_settings(["/jars/delta.jar", "/jars/hadoop-aws.jar"]) == {"spark.jars": "/jars/delta.jar,/jars/hadoop-aws.jar"}
