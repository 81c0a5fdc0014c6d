"""`chronicle` with a Spark of several processes: the same tables as on this machine's cores, also if processes are killed in the middle."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from deltalake import DeltaTable

import chronicle.__main__ as main
from bench.fleet import Fleet, write_fleet
from chronicle.spark import java
from chronicle.spark.internals import spark_home
from tests.cluster.commands import ORDERS, begun, chronicle, done, environment
from tests.cluster.parts import Cluster, connect_server
from tests.made_by_dbt import BUILD
from tests.partial import verdicts

# Seconds for a build of all models by the plain engine.
WHOLE = 1800


def rows(warehouse: Path, table: str = "log_records") -> list[tuple[object, ...]]:
    columns = ["source_path", "byte_offset", "byte_length", "event_type", "node_id", "node_known_by", "logged_at", "raw_text"]
    found = DeltaTable(str(warehouse / "bronze" / table)).to_pyarrow_table(columns=columns)
    return sorted(map(repr, found.to_pylist()))  # type: ignore[arg-type]


def ingesting(fleet: Path, warehouse: Path) -> tuple[object, ...]:
    return ("ingest", fleet, "-w", warehouse, "--cluster", "c", "--timezone", "UTC", "--settled-after", 0)


@pytest.fixture(scope="module")
def spark_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with closing(Cluster(tmp_path_factory.mktemp("cluster"))) as made:
        yield made


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs that keep two cores busy for some seconds."""
    folder = tmp_path_factory.mktemp("fleet")
    write_fleet(folder, Fleet(days=60, seed=3))
    return folder


@pytest.fixture(scope="module")
def loaded(fleet: Path, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[object, ...]]:
    """The rows of those logs, read on this machine's cores."""
    warehouse = tmp_path_factory.mktemp("here") / "warehouse"
    done(chronicle(None, None, *ingesting(fleet, warehouse)))
    return rows(warehouse)


def test_a_cluster_makes_the_same_tables(spark_cluster: Cluster, orders: Path, tmp_path: Path) -> None:
    said = done(chronicle(spark_cluster.master, spark_cluster.settings(), "run", ORDERS, "-w", tmp_path / "warehouse"), WHOLE)
    assert "13 new" in said
    assert [str(verdict) for verdict in verdicts(orders, tmp_path / "warehouse") if verdict.differences] == []


def test_spark_connect_makes_the_same_tables(orders: Path, tmp_path: Path) -> None:
    warehouse, other = tmp_path / "warehouse", tmp_path / "other"
    with connect_server(tmp_path) as address:
        done(chronicle(address, None, "run", ORDERS, "-w", warehouse), WHOLE)
        assert rows(warehouse) == rows(orders)
        assert [str(verdict) for verdict in verdicts(orders, warehouse) if verdict.differences] == []
        # Its catalog is not empty any more, and dbt finds the server, too.
        done(chronicle(address, None, "build", "--select", "+fct_coordinator_loads", "--tests", "-w", warehouse))
        done(chronicle(address, None, "dbt", "-w", warehouse, *BUILD, "--select", "+fct_coordinator_loads"))
        assert [str(verdict) for verdict in verdicts(orders, warehouse) if verdict.differences] == []
        shutil.copytree(orders / "bronze", other / "bronze")
        for arguments, said in (
            (("build", "-w", other), "it has to have a catalog of its own"),
            (("build", "--full-refresh", "--profile", "-w", warehouse), "does not say what its statements took"),
            (("sql", "--engine", "spark", "select 1", "-w", warehouse), "all else needs a driver of its own"),
        ):
            refused = chronicle(address, None, *arguments)
            assert said in refused.communicate(timeout=60)[0] and refused.returncode == 1


def test_spark_submit_starts_an_ingestion(spark_cluster: Cluster, orders: Path, tmp_path: Path) -> None:
    given = [f"--conf={key}=127.0.0.1" for key in ("spark.driver.host", "spark.driver.bindAddress")]
    command = [
        spark_home.home() / "bin" / "spark-submit",
        "--master",
        spark_cluster.master,
        *given,
        "--conf=spark.executor.cores=1",
        main.__file__,
    ]
    how = environment(None, None) | {"JAVA_HOME": str(java.find()), "PYSPARK_PYTHON": sys.executable}

    def submitted(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*map(str, (*command, *arguments))], env=how, capture_output=True, text=True, timeout=300)

    done = submitted("ingest", ORDERS, "-w", tmp_path / "warehouse")
    assert done.returncode == 0, done.stderr[-2000:]
    assert rows(tmp_path / "warehouse") == rows(orders)
    refused = submitted("build", "-w", tmp_path / "warehouse")
    assert "spark-submit can `chronicle ingest`" in refused.stdout + refused.stderr


def test_a_worker_that_is_killed_loses_nothing(
    spark_cluster: Cluster, fleet: Path, loaded: list[tuple[object, ...]], tmp_path: Path
) -> None:
    warehouse = tmp_path / "warehouse"
    process = begun(chronicle(spark_cluster.master, spark_cluster.settings(), *ingesting(fleet, warehouse)), warehouse)
    spark_cluster.workers[0].kill()
    done(process)
    assert rows(warehouse) == loaded
    spark_cluster.add_worker()


def test_a_driver_that_is_killed_loses_nothing(
    spark_cluster: Cluster, fleet: Path, loaded: list[tuple[object, ...]], tmp_path: Path
) -> None:
    warehouse = tmp_path / "warehouse"
    process = begun(chronicle(spark_cluster.master, spark_cluster.settings(), *ingesting(fleet, warehouse)), warehouse)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert rows(warehouse) == []
    done(chronicle(spark_cluster.master, spark_cluster.settings(), *ingesting(fleet, warehouse)))
    assert rows(warehouse) == loaded


def test_masters_that_cannot_be(tmp_path: Path) -> None:
    for master, settings, said in (
        ("mesos://here", None, "no master of Spark"),
        ("spark://127.0.0.1:1", "spark.driver.host 0.0.0.0", "without a secret"),
    ):
        file = tmp_path / "spark.conf"
        file.write_text(settings or "")
        process = chronicle(master, file, "ingest", ORDERS, "-w", tmp_path / "warehouse")
        assert said in process.communicate(timeout=60)[0] and process.returncode == 1
