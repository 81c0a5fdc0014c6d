"""The Spark session of every command: one local JVM, started as fast as it can be, quiet, reachable from this machine only."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ingestion import jars, java
from ingestion.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOG4J = Path(__file__).with_name("log4j2.properties")
START_SECONDS = 120

# What Spark's launcher passes on Java 17 and 21 (org.apache.spark.launcher.JavaModuleOptions), without the vector module:
# nothing here uses it, and the JVM warns about it on standard error.
OPENED = [
    "java.lang",
    "java.lang.invoke",
    "java.lang.reflect",
    "java.io",
    "java.net",
    "java.nio",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "jdk.internal.ref",
    "sun.nio.ch",
    "sun.nio.cs",
    "sun.security.action",
    "sun.util.calendar",
]
JVM_OPTIONS = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    # A short life: the second compiler and a collector with threads of its own cost more than they give.
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    # The first compiler alone gets 48 MB, and then sweeps for ever.
    "-XX:ReservedCodeCacheSize=256m",
    "-Djava.net.preferIPv4Stack=true",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED),
    "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
)

_jvm: subprocess.Popen[bytes] | None = None


class NoSession(RuntimeError):
    """Spark did not start; the text says why."""


def settings(warehouse: str) -> dict[str, str]:
    """Spark's configuration for a warehouse folder or URI."""
    return {
        "spark.app.name": "chronicle",
        "spark.master": "local[*]",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        # In memory: no lock file, nothing that can disagree with the tables on disk; `register` fills it.
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": warehouse,
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "4",
        "spark.sql.codegen.cache.maxEntries": "5000",
        # Otherwise the catalog holds an empty schema, and BI tools see tables without columns.
        "spark.databricks.delta.catalog.update.enabled": "true",
        "spark.databricks.delta.snapshotPartitions": "1",
    }


def start(warehouse: str, *, memory: str = "2g") -> SparkSession:
    """Start Spark for a warehouse, or give the session that runs for it.  `memory`: heap of the JVM, as Java writes it.

    A session of another warehouse ends: one catalog holds the tables of one warehouse.
    Raises java.NoJava, jars.NoJars or NoSession, each with one line that says what to do.
    """
    from pyspark.logger import PySparkLogger
    from pyspark.sql import SparkSession

    root = Warehouse.at(warehouse).root
    active = SparkSession.getActiveSession()
    if active is not None:
        if active.conf.get("spark.sql.warehouse.dir").removeprefix("file:") == root:
            return active
        active.stop()
    if _jvm is None or _jvm.poll() is not None:
        # Without it the workers run whichever python3 comes first on PATH.
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        _connect(memory)
    builder = SparkSession.builder
    for key, value in settings(root).items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    # pyspark prints every error of a query as one line of JSON before it raises it.
    PySparkLogger.getLogger("SQLQueryContextLogger").disabled = True
    return session


def command(memory: str) -> list[str]:
    """The command line of the JVM: Spark's Python gateway itself, not spark-submit, which starts another JVM first."""
    from pyspark.find_spark_home import _find_spark_home

    class_path = [*jars.class_path(), f"{_find_spark_home()}/jars/*"]
    return [
        str(java.find() / "bin" / "java"),
        f"-Xmx{memory}",
        *JVM_OPTIONS,
        f"-Dlog4j2.configurationFile={LOG4J.as_uri()}",
        "-cp",
        os.pathsep.join(class_path),
        "org.apache.spark.api.python.PythonGatewayServer",
    ]


def _connect(memory: str) -> None:
    """Start the JVM and hand its gateway to pyspark, in the way pyspark does it for a JVM that is there already."""
    global _jvm
    from pyspark.core.context import SparkContext
    from pyspark.find_spark_home import _find_spark_home
    from pyspark.java_gateway import launch_gateway

    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder, "gateway")
        environment = {
            **os.environ,
            "_PYSPARK_DRIVER_CONN_INFO_PATH": str(told),
            "SPARK_HOME": _find_spark_home(),
            "SPARK_CONNECT_MODE": "0",
        }
        # The JVM ends when its standard input does, that is with this process; in a group of its own, Ctrl-C is ours to handle.
        _jvm = subprocess.Popen(command(memory), stdin=subprocess.PIPE, env=environment, process_group=0)
        end = time.monotonic() + START_SECONDS
        while not told.exists():
            if _jvm.poll() is not None:
                raise NoSession(
                    f"Java ended with code {_jvm.returncode} before Spark was up; its reason stands above (heap asked for: {memory})"
                )
            if time.monotonic() > end:
                _jvm.kill()
                raise NoSession(f"Spark did not come up within {START_SECONDS} s; the machine is busy or short of memory")
            time.sleep(0.02)
        answer = told.read_bytes()
    (port, length), secret = struct.unpack("!ii", answer[:8]), answer[8:]
    os.environ["PYSPARK_GATEWAY_PORT"] = str(port)
    os.environ["PYSPARK_GATEWAY_SECRET"] = secret[:length].decode()
    try:
        SparkContext._ensure_initialized(gateway=launch_gateway())
    finally:
        del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]


def peak_memory_bytes() -> int | None:
    """Most memory (resident, bytes) that this process, the JVM and the Python workers have held, each at its own peak, summed.

    Counts the processes that live now; None where the system has no /proc.
    """
    if not Path("/proc/self/status").exists():
        return None
    children: dict[int, list[int]] = {}
    peaks: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            status = (entry / "status").read_text()
        except OSError:
            continue
        parent = re.search(r"^PPid:\s+(\d+)", status, re.MULTILINE)
        peak = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
        if parent and peak:
            children.setdefault(int(parent[1]), []).append(int(entry.name))
            peaks[int(entry.name)] = int(peak[1]) * 1024
    total, due = 0, [os.getpid()]
    while due:
        process = due.pop()
        total += peaks.get(process, 0)
        due += children.get(process, [])
    return total
