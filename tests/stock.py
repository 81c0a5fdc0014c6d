"""A Spark Thrift Server as Spark's package has it, with Delta and nothing of ours: what other people's Spark is to dbt."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyhive import hive

from chronicle.spark import jars, java
from chronicle.spark.internals import spark_home
from tests.made_by_dbt import Checkout
from tests.ports import free_port, wait_for

MAIN = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
# What Delta's documentation has every user set.  All else is Spark's default: adaptive execution, 200 shuffle partitions, ANSI, and the metastore and
# the tables in the folder in which it was started.
DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
# A metastore inside the server keeps a connection for each thread that ever asked it, also for those that have ended, and its pool has ten: then all
# wait for ever. Servers of other people have a metastore of its own.
METASTORE = {"spark.hadoop.datanucleus.connectionPoolingType": "NONE"}
START_SECONDS = 180
# What a test may set besides, where it has no time: by default Delta reads the log of a table in 50 tasks, 2 to 14 s for each commit on two cores.
QUICK = {"spark.databricks.delta.snapshotPartitions": "1", "spark.driver.memory": "2g"}


# The schemas of dbt's target, as folders of the server.
PREFIX = "theirs"
FOLDER = f"{PREFIX}_{{}}.db"


@dataclass(frozen=True)
class Stock:
    """A running server, and its folder, in which it keeps its catalog and its tables."""

    folder: Path
    port: int

    @property
    def tables(self) -> Path:
        """The folder of the tables, with one folder for each schema."""
        return self.folder / "spark-warehouse"

    def checkout(self, folder: Path, **given: str) -> Checkout:
        """The project as a user of this server has it.  `given`: more of his environment."""
        return Checkout.at(folder, "thrift", CHRONICLE_PORT=str(self.port), CHRONICLE_DBT_SCHEMA=PREFIX, **given)

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query in a session of its own."""
        with hive.connect("127.0.0.1", port=self.port, username="test", auth="NONE") as connection, connection.cursor() as cursor:
            cursor.execute(query)
            return cursor.fetchall()


@contextmanager
def stock_server(folder: Path, **settings: str) -> Iterator[Stock]:
    """A server on this machine's cores.  `settings`: of Spark or Delta, beside their defaults."""
    port, log = free_port(), folder / "server.txt"
    given = [f"--conf={key}={value}" for key, value in (DELTA | METASTORE | settings).items()]
    # On the class path of the JVM: sessions of the server do not find the data source in what `--jars` adds.
    path = os.pathsep.join(jars.class_path())
    command = [str(spark_home.home() / "bin/spark-submit"), "--class", MAIN, "--driver-class-path", path, *given, "spark-internal"]
    # Where a server listens is no setting of Spark's.
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
        yield Stock(folder, port)
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(60)
        process.kill()
