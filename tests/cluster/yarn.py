"""A YARN of one machine, as Hadoop has it for tests: a resource manager and a node manager, from Hadoop's own archive."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from urllib.request import urlopen

from chronicle.project import PROJECT
from chronicle.spark import jars
from chronicle.spark.internals import spark_home
from tests.cluster.parts import SMALL_EXECUTORS, Java
from tests.ports import START_SECONDS, free_port, wait_for

RESOURCE_MANAGER = "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager"
NODE_MANAGER = "org.apache.hadoop.yarn.server.nodemanager.NodeManager"


def bouncy_castle(artifact: str, sha256: str) -> jars.Jar:
    return jars.Jar("org.bouncycastle", f"{artifact}-jdk18on", "1.78.1", sha256)


# The servers of the release of Hadoop that Spark's package has the client of.
SERVERS = jars.Wanted(
    (
        jars.Jar(
            "org.apache.hadoop", "hadoop-client-minicluster", "3.5.0", "06772d24529e59939915979b3edba204d367750ef7dc5120411f35221dd4818c"
        ),
        # The resource manager makes certificates for applications.
        bouncy_castle("bcprov", "add5915e6acfc6ab5836e1fd8a5e21c6488536a8c1f21f386eeb3bf280b702d7"),
        bouncy_castle("bcpkix", "4b48ea084e5232b9d79ebca1887b9de037b124931807cd60710748c2aee08cc9"),
        bouncy_castle("bcutil", "d9fa56f97b0f761ce3bc8d9d74c5d7137a987bf5bd3abfe1003f9bafa45a1d2f"),
    ),
    "the servers of Hadoop into {} (66 MB, once)",
    (
        "com.*:*",
        "commons-*:*",
        "org.apache.hadoop:hadoop-client-api",
        "org.apache.hadoop:hadoop-client-runtime",
        "org.slf4j:*",
        "org.xerial.*:*",
    ),
    "`pytest tests/cluster/test_yarn.py`",
)
# One queue for all applications.
QUEUES = {
    "yarn.scheduler.capacity.root.queues": "default",
    "yarn.scheduler.capacity.root.default.capacity": "100",
    # Of the containers' memory, for the masters of applications.
    "yarn.scheduler.capacity.maximum-am-resource-percent": "0.5",
}


class Yarn:
    """`environment`: what a driver needs to find it; `applications`: the folders of the node manager for each that has run."""

    def __init__(self, folder: Path) -> None:
        jars.ensure(wanted=SERVERS)
        self.folder, self.configuration = folder, folder / "conf"
        self.configuration.mkdir(parents=True)
        ports = {name: free_port() for name in ("client", "scheduler", "tracker", "admin", "web", "node", "localizer", "node-web")}
        write(self.configuration / "core-site.xml", {"hadoop.tmp.dir": str(folder / "tmp")})
        write(self.configuration / "yarn-site.xml", properties(folder, ports))
        write(self.configuration / "capacity-scheduler.xml", QUEUES)
        more = [str(self.configuration), *jars.class_path(wanted=SERVERS)]
        self.servers = [Java(folder, "resource-manager", RESOURCE_MANAGER, more=more)]
        self.wait_for(ports["tracker"])
        self.servers.append(Java(folder, "node-manager", NODE_MANAGER, more=more))
        self.wait_for(ports["node-web"])
        self.wait_for_node(f"http://127.0.0.1:{ports['web']}/ws/v1/cluster/metrics")

    def wait_for(self, port: int) -> None:
        last = self.servers[-1]
        wait_for(port, last.process, lambda: last.log.read_text(errors="replace"))

    def wait_for_node(self, metrics: str) -> None:
        """Wait until the resource manager knows its node.  Raises RuntimeError."""
        end = time.monotonic() + START_SECONDS
        while json.load(urlopen(metrics))["clusterMetrics"]["activeNodes"] < 1:
            if time.monotonic() > end:
                raise RuntimeError(f"no node has registered: {self.servers[-1].log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.2)

    @property
    def environment(self) -> dict[str, str]:
        return {"HADOOP_CONF_DIR": str(self.configuration), "YARN_CONF_DIR": str(self.configuration)}

    def settings(self) -> Path:
        """A file of settings for a driver: two small executors, which find Spark's jars and the repository where this machine has them."""
        file = self.folder / "spark.conf"
        file.write_text(
            f"{SMALL_EXECUTORS}spark.executor.instances 2\nspark.yarn.am.memory 512m\n"
            f"spark.yarn.jars local:{spark_home.jars()}/*\n"
            f"spark.pyspark.python {sys.executable}\nspark.executorEnv.PYTHONPATH {PROJECT}\n"
        )
        return file

    @property
    def applications(self) -> list[Path]:
        return sorted((self.folder / "logs").glob("application_*"))

    def close(self) -> None:
        for server in reversed(self.servers):
            server.kill()


def properties(folder: Path, ports: dict[str, int]) -> dict[str, str]:
    """What `yarn-site.xml` says: all on this machine, without health checks of its disk."""
    places = {
        "resourcemanager.address": "client",
        "resourcemanager.scheduler.address": "scheduler",
        "resourcemanager.resource-tracker.address": "tracker",
        "resourcemanager.admin.address": "admin",
        "resourcemanager.webapp.address": "web",
        "nodemanager.address": "node",
        "nodemanager.localizer.address": "localizer",
        "nodemanager.webapp.address": "node-web",
    }
    return {f"yarn.{name}": f"127.0.0.1:{ports[port]}" for name, port in places.items()} | {
        "yarn.nodemanager.hostname": "127.0.0.1",
        "yarn.nodemanager.local-dirs": str(folder / "local"),
        "yarn.nodemanager.log-dirs": str(folder / "logs"),
        "yarn.nodemanager.resource.memory-mb": "6144",
        "yarn.nodemanager.resource.cpu-vcores": "4",
        "yarn.nodemanager.vmem-check-enabled": "false",
        "yarn.nodemanager.pmem-check-enabled": "false",
        "yarn.nodemanager.disk-health-checker.enable": "false",
        # Its folders stay for a while, so that a test can see what was run.
        "yarn.nodemanager.delete.debug-delay-sec": "3600",
        "yarn.scheduler.minimum-allocation-mb": "256",
    }


def write(file: Path, properties: dict[str, str]) -> None:
    """Write a configuration in Hadoop's form."""
    found = "".join(f"<property><name>{name}</name><value>{value}</value></property>" for name, value in properties.items())
    file.write_text(f"<configuration>{found}</configuration>\n")
