"""A warehouse in a bucket, read in and built in place by a Spark whose workers share no folder with the driver nor with each other: the tables are those
that the local engine makes, also if a worker or the driver is killed in the middle."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from chronicle.project import PROJECT
from chronicle.spark import jars
from tests.cluster.commands import chronicle, done, environment
from tests.cluster.lab_logs import HOW, put_logs
from tests.cluster.parts import Cluster, cannot_set_apart
from tests.objects import Bucket, server
from tests.partial import verdicts

LAB = ("elr-411-emptied", "kraft-401-random")

pytestmark = pytest.mark.skipif(bool(cannot_set_apart()), reason=cannot_set_apart())


@pytest.fixture(scope="module")
def bucket() -> Iterator[Bucket]:
    jars.ensure(wanted=jars.of_s3())
    with server() as client:
        yield Bucket(client)


@pytest.fixture(scope="module")
def spark_apart(bucket: Bucket, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The workers know the bucket's server and its keys from their environment, as machines with a role of their own do."""
    with closing(Cluster(tmp_path_factory.mktemp("cluster"), hidden=tmp_path_factory.getbasetemp())) as made:
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


@pytest.fixture(scope="module")
def logs(bucket: Bucket, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The logs of two clusters, in a folder, and in the bucket below `lab`."""
    return put_logs(bucket, tmp_path_factory.mktemp("logs"), LAB)


@pytest.fixture(scope="module")
def here(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The warehouse of those logs that the local engine makes on this machine's cores."""
    warehouse = tmp_path_factory.mktemp("here") / "warehouse"
    done(chronicle(None, None, "run", logs, "-w", warehouse, *HOW))
    return warehouse


@pytest.fixture(scope="module")
def ingested(spark_apart: Cluster, bucket: Bucket, logs: Path) -> str:
    """The prefix in the bucket of a warehouse with bronze alone, which the executors have written."""
    done(chronicle(spark_apart.master, spark_apart.settings(), "ingest", f"{bucket.uri}/lab", "-w", f"{bucket.uri}/ingested", *HOW))
    return "ingested"


@pytest.fixture
def there(bucket: Bucket, ingested: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A copy of that warehouse to build in; the driver's current folder is an empty one."""
    monkeypatch.chdir(tmp_path)
    bucket.copy(f"{ingested}/bronze/", f"{tmp_path.name}/bronze/")
    return tmp_path.name


def differences(bucket: Bucket, there: str, here: Path, to: Path) -> list[str]:
    """The tables of a warehouse in the bucket that differ from those of a folder."""
    bucket.bring(there, to / there)
    return [str(verdict) for verdict in verdicts(here, to / there) if verdict.differences]


def building(spark_apart: Cluster, bucket: Bucket, there: str) -> subprocess.Popen[str]:
    """Start a build in place."""
    return chronicle(spark_apart.master, spark_apart.settings(), "build", "--engine", "plain", "-w", f"{bucket.uri}/{there}")


def in_the_middle(process: subprocess.Popen[str], bucket: Bucket, there: str) -> None:
    """Wait until a build has committed some tables of each kind but not the last ones."""
    end = time.monotonic() + 900
    while len([key for key in bucket.keys(f"{there}/intermediate/") if key.endswith("00000000000000000000.json")]) < 15:
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < end, "nothing is built"
        time.sleep(0.5)


def files_of_data(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.suffix in (".parquet", ".arrow") or "_delta_log" in path.parts]


def test_executors_read_logs_in_the_bucket(here: Path, ingested: str, bucket: Bucket, tmp_path: Path) -> None:
    bucket.bring(ingested, tmp_path / "there")
    found = {verdict.table: verdict for verdict in verdicts(here, tmp_path / "there")}
    bronze = {table: verdict for table, verdict in found.items() if not table.startswith(("marts.", "reports."))}
    assert len(bronze) > 2 and [str(verdict) for verdict in bronze.values() if verdict.differences] == []


def test_a_build_in_place_survives_a_worker(spark_apart: Cluster, bucket: Bucket, there: str, here: Path, tmp_path: Path) -> None:
    process = building(spark_apart, bucket, there)
    in_the_middle(process, bucket, there)
    # With its executor, and the rows of shuffles that it holds.
    spark_apart.workers[0].kill()
    spark_apart.add_worker()
    said = done(process, seconds=1800)
    assert "built" in said
    # Neither a copy nor any part of a table.
    assert files_of_data(tmp_path) == []
    assert differences(bucket, there, here, tmp_path / "brought") == []
    # Nothing is new; nothing is built.
    assert "nothing new: tables unchanged" in done(building(spark_apart, bucket, there))


def test_a_build_in_place_survives_its_driver(spark_apart: Cluster, bucket: Bucket, there: str, here: Path, tmp_path: Path) -> None:
    process = building(spark_apart, bucket, there)
    in_the_middle(process, bucket, there)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert (
        f"{there}/published.json" not in bucket.keys(f"{there}/published")
        or not json.loads(bucket.get(f"{there}/published.json"))["versions"]
    )
    done(building(spark_apart, bucket, there), seconds=1800)
    assert differences(bucket, there, here, tmp_path / "brought") == []
