"""A warehouse in a bucket, with a Spark whose workers share no folder with the driver nor with each other."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from chronicle.project import PROJECT
from chronicle.spark import jars
from tests.cluster.commands import environment
from tests.cluster.parts import Cluster, cannot_set_apart, cluster
from tests.objects import Bucket, server

pytestmark = pytest.mark.skipif(bool(cannot_set_apart()), reason=cannot_set_apart())


@pytest.fixture(scope="module")
def bucket() -> Iterator[Bucket]:
    jars.ensure(wanted=jars.of_s3())
    with server() as client:
        yield Bucket(client)


@pytest.fixture(scope="module")
def spark_apart(bucket: Bucket, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The workers know the bucket's server and its keys from their environment, as machines with a role of their own do."""
    with cluster(tmp_path_factory.mktemp("cluster"), hidden=tmp_path_factory.getbasetemp()) as made:
        yield made


def test_workers_share_nothing_but_the_bucket(spark_apart: Cluster, bucket: Bucket, tmp_path: Path) -> None:
    (tmp_path / "of-the-driver").touch()
    command = [sys.executable, "-m", "tests.cluster.seen_from_workers", spark_apart.master, f"{bucket.uri}/plain", tmp_path, PROJECT]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, env=environment(None, None), check=False, timeout=180)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["driver"]["folders"] == {str(tmp_path): True, str(PROJECT): True}
    assert all(one["folders"] == {str(tmp_path): False, str(PROJECT): True} for one in found["workers"])
    assert len({one["namespace"] for one in [found["driver"], *found["workers"]]}) == 3
    assert found["rows"] == [1000, 499500, 10]
    assert len([key for key in bucket.keys("plain/") if key.endswith(".parquet")]) > 2
