"""A Spark of several processes on this machine, from Spark's own package: a standalone master with workers, and a server of Spark Connect."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from chronicle.spark import jars, java, session
from chronicle.spark.internals import gateway, spark_home
from chronicle.spark.processes import tree
from tests.ports import START_SECONDS, free_port, wait_for

MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
WORKERS = 2


class Java:
    """A process that runs a class of Spark, with its output in a file.  `more`: jars besides Spark's own."""

    def __init__(
        self, folder: Path, name: str, main: str, *arguments: str, settings: dict[str, str] | None = None, more: Sequence[str] = ()
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / f"{name}.txt"
        options = [f"-D{key}={value}" for key, value in (settings or {}).items()]
        class_path = os.pathsep.join([*more, f"{spark_home.jars()}/*"])
        command = [str(java.find() / "bin" / "java"), "-Xmx512m", *gateway.JVM_OPTIONS, *options, "-cp", class_path, main]
        said = os.environ | {
            "SPARK_HOME": str(spark_home.home()),
            "SPARK_LOCAL_IP": "127.0.0.1",
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
    """A master and its workers, each of one core."""

    def __init__(self, folder: Path, workers: int = WORKERS) -> None:
        self.folder, port = folder, free_port()
        self.master = f"spark://127.0.0.1:{port}"
        self.head = Java(folder, "master", MASTER, "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(free_port()))
        self.head.wait_for("I have been elected leader")
        self.workers: list[Java] = []
        for _ in range(workers):
            self.add_worker()

    def add_worker(self) -> None:
        name = f"worker-{len(self.workers)}"
        place = ["--host", "127.0.0.1", "--webui-port", str(free_port()), "--work-dir", str(self.folder / name)]
        worker = Java(self.folder, name, WORKER, *place, "--cores", "1", "--memory", "1500m", self.master)
        self.workers.append(worker)
        worker.wait_for("Successfully registered with master")

    def settings(self) -> Path:
        """A file of settings for a driver."""
        file = self.folder / "spark.conf"
        file.write_text("spark.executor.memory 1g\nspark.executor.cores 1\n")
        return file

    def close(self) -> None:
        for process in (*self.workers, self.head):
            process.kill()


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    made = Cluster(folder)
    try:
        yield made
    finally:
        made.close()


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
