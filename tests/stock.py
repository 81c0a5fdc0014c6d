"""A Spark Thrift Server as Spark's package has it, with Delta and nothing of ours: what other people's Spark is to dbt."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chronicle.spark import jars, java
from chronicle.spark.internals import spark_home
from tests.ports import free_port, wait_for

MAIN = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
# What Delta's documentation has every user set.  All else is Spark's default: adaptive execution, 200 shuffle partitions, ANSI, the heap, and the
# metastore and the tables in the folder in which it was started.
DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
START_SECONDS = 180


@contextmanager
def stock_server(folder: Path, **settings: str) -> Iterator[int]:
    """A server on this machine's cores that keeps its tables below a folder; gives its port."""
    port, log = free_port(), folder / "server.txt"
    given = [f"--conf={key}={value}" for key, value in (DELTA | settings).items()]
    command = [
        str(spark_home.home() / "bin/spark-submit"),
        "--class",
        MAIN,
        "--driver-class-path",
        os.pathsep.join(jars.class_path()),
        *given,
        "spark-internal",
    ]
    # Where a server listens is not a setting of Spark's.
    environment = os.environ | {
        "JAVA_HOME": str(java.find()),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "HIVE_SERVER2_THRIFT_BIND_HOST": "127.0.0.1",
        "HIVE_SERVER2_THRIFT_PORT": str(port),
    }
    with log.open("w") as output:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    try:
        wait_for(port, process, lambda: log.read_text(errors="replace"), START_SECONDS)
        yield port
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(60)
        process.kill()


def tables(folder: Path) -> Path:
    """The folder of the tables of a server, a folder `<schema>.db` for each schema."""
    return folder / "spark-warehouse"
