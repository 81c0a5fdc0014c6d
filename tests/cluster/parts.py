"""A Spark of several processes on this machine, from Spark's own package: a standalone master with workers, and a server of Spark Connect.

Workers can be set apart, each in a mount namespace of its own: what the driver and the other worker have on disk is not there for them, as on machines
that share no folder.  They see the repository and its packages, which every machine has at the same place.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from chronicle.project import PROJECT
from chronicle.spark import jars, java, session
from chronicle.spark.internals import gateway, spark_home
from chronicle.spark.processes import tree
from tests.ports import START_SECONDS, free_port, wait_for

MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
WORKERS = 2
# Settings of a driver: small executors, and as many partitions as two cores need for small tables.
SMALL_EXECUTORS = (
    "spark.executor.memory 1g\nspark.executor.cores 1\nspark.sql.shuffle.partitions 2\nspark.databricks.delta.snapshotPartitions 2\n"
)
UNSHARE = ("unshare", "--mount", "--propagation", "private")
# Puts an empty file system over each folder, and runs a command in a folder of its own: FOLDER PLACE… -- COMMAND…
APART = 'own=$1; shift; while [ "$1" != -- ]; do mount -t tmpfs tmpfs "$1" || exit 1; shift; done; shift; mkdir -p "$own" && cd "$own" && exec "$@"'


def cannot_set_apart() -> str:
    """Why workers cannot have mount namespaces here; empty: they can."""
    if not shutil.which("unshare"):
        return "needs unshare (util-linux)"
    tried = subprocess.run([*UNSHARE, "mount", "-t", "tmpfs", "tmpfs", tempfile.gettempdir()], capture_output=True, text=True, check=False)
    return f"may not make a mount namespace: {tried.stderr.strip()}" if tried.returncode else ""


def apart(own: Path, hidden: Path) -> list[str]:
    """The beginning of a command line for a process that has `own` and the folder for temporary files for itself, and finds `hidden` empty."""
    places = [Path(tempfile.gettempdir()).resolve(), hidden.resolve()]
    # A clone among temporary files stays in sight.
    seen = [place for place in places if not PROJECT.resolve().is_relative_to(place)]
    inner = [place for place in seen if not any(place != other and place.is_relative_to(other) for other in seen)]
    return [*UNSHARE, "sh", "-c", APART, "apart", str(own), *map(str, dict.fromkeys(inner)), "--"]


class Java:
    """A process that runs a class of Spark, with its output in a file.  `more`: jars besides Spark's own; `within`: a command that starts it."""

    def __init__(
        self,
        folder: Path,
        name: str,
        main: str,
        *arguments: str,
        settings: dict[str, str] | None = None,
        more: Sequence[str] = (),
        within: Sequence[str] = (),
        host: str = "127.0.0.1",
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / f"{name}.txt"
        options = [f"-D{key}={value}" for key, value in (settings or {}).items()]
        class_path = os.pathsep.join([*more, f"{spark_home.jars()}/*"])
        command = [*within, str(java.find() / "bin" / "java"), "-Xmx512m", *gateway.JVM_OPTIONS, *options, "-cp", class_path, main]
        said = os.environ | {
            "SPARK_HOME": str(spark_home.home()),
            "SPARK_LOCAL_IP": host,
            "SPARK_SCALA_VERSION": "2.13",
            "PYSPARK_PYTHON": sys.executable,
        }
        with self.log.open("w") as log:
            self.process = subprocess.Popen([*command, *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=said, cwd=folder)

    def wait_for(self, what: str) -> None:
        """Wait until it has printed a text.  Raises RuntimeError with its output."""
        end = time.monotonic() + START_SECONDS
        while what not in self.log.read_text(errors="replace"):
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{self.log.name} did not say '{what}': {self.log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.1)

    def kill(self) -> None:
        """Kill it at once, with all processes that it has started."""
        for process in reversed(tree(self.process.pid)):
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.wait()


class Cluster:
    """A master and its workers, each of one core.  `hidden`: a folder that the workers, which are set apart, do not see; None: they share all folders."""

    def __init__(self, folder: Path, workers: int = WORKERS, hidden: Path | None = None) -> None:
        self.folder, self.hidden, port = folder, hidden, free_port()
        self.master = f"spark://127.0.0.1:{port}"
        self.head = Java(folder, "master", MASTER, "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(free_port()))
        self.head.wait_for("I have been elected leader")
        self.workers: list[Java] = []
        for _ in range(workers):
            self.add_worker()

    def add_worker(self) -> None:
        name = f"worker-{len(self.workers)}"
        # Spark takes workers of one address for one machine, on which they read each other's files.
        host = f"127.0.0.{len(self.workers) + 2}" if self.hidden else "127.0.0.1"
        place = ["--host", host, "--webui-port", str(free_port()), "--work-dir", str(self.folder / name)]
        within = apart(self.folder / name, self.hidden) if self.hidden else ()
        worker = Java(self.folder, name, WORKER, *place, "--cores", "1", "--memory", "1500m", self.master, within=within, host=host)
        self.workers.append(worker)
        worker.wait_for("Successfully registered with master")

    def settings(self) -> Path:
        """A file of settings for a driver."""
        file = self.folder / "spark.conf"
        file.write_text(SMALL_EXECUTORS)
        return file

    def close(self) -> None:
        for process in (*self.workers, self.head):
            process.kill()


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """A server of Spark Connect with two cores and Delta; gives its address."""
    port = free_port()
    settings = {
        "spark.master": "local[2]",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.extensions": session.EXTENSIONS[0],
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
    }
    running = Java(folder, "connect", CONNECT, settings=settings, more=jars.class_path())
    try:
        wait_for(port, running.process, lambda: running.log.read_text(errors="replace"))
        yield f"sc://127.0.0.1:{port}"
    finally:
        running.kill()
