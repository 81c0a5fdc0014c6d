"""A real Kafka broker on this machine, from its released jars: one process that is controller and broker."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chronicle.spark import java
from chronicle.spark.internals import resolver, spark_home
from ingestion import cache
from tests.ports import free_port

RELEASE = "4.1.1"
COORDINATES = f"org.apache.kafka:kafka_2.13:{RELEASE}"
CLUSTER_ID = "a2Fma2EtY2hyb25pY2xlMQ"


def class_path() -> str:
    """The broker's jars, fetched once, and Scala's, which the resolver leaves to Spark.  Raises RuntimeError with the resolver's output."""
    folder = cache.folder() / f"kafka-{RELEASE}"
    if not folder.is_dir():
        aside = folder.with_suffix(".part")
        said = resolver.resolve([COORDINATES], (), aside, java.find())
        if not resolver.brought(aside, "org.apache.kafka", f"kafka_2.13-{RELEASE}.jar").is_file():
            raise RuntimeError(said[-2000:])
        aside.rename(folder)
    return os.pathsep.join([f"{folder}/jars/*", *map(str, spark_home.jars().glob("scala-library-2*.jar"))])


@contextmanager
def broker(folder: Path) -> Iterator[str]:
    """Starts a broker with its files in a folder; gives HOST:PORT."""
    port, controller = free_port(), free_port()
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": str(folder / "data"),
        "num.partitions": "3",
        "offsets.topic.replication.factor": "1",
        "auto.create.topics.enable": "true",
        "log.message.timestamp.type": "CreateTime",
    }
    file = folder / "server.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    command = [str(java.find() / "bin" / "java"), "-Xmx512m", "-cp", class_path()]
    subprocess.run(
        [*command, "kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(file)], check=True, capture_output=True, cwd=folder
    )
    with (folder / "stdout").open("w") as out:
        running = subprocess.Popen([*command, "kafka.Kafka", str(file)], stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=folder)
    try:
        yield f"127.0.0.1:{port}"
    finally:
        running.kill()
        running.wait()
