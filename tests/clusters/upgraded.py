"""Runs the cluster of tests/fixtures/lab/upgraded-391-411.tar.xz: three nodes, two releases, a topic with two lives, storage formatted anew.

`python -m tests.clusters.upgraded FOLDER` fetches Kafka with Maven, runs for about a quarter of an hour on 127.0.0.1, and leaves `ID/{input,truth,manifest.json}`
and `ID.tar.xz` in FOLDER.  It needs a JDK, Maven and 1.5 GB of memory.  tests/fixtures/lab/README.md describes the story.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ID = "upgraded-391-411"
OLD, NEW = "3.9.1", "4.1.1"
LOGGING = {
    OLD: (),
    NEW: (("org.apache.logging.log4j", "log4j-slf4j-impl", "2.24.3"), ("org.apache.logging.log4j", "log4j-1.2-api", "2.24.3")),
}
HERE = Path(__file__).parent
NODES = (1, 2, 3)
SERVERS = ",".join(f"127.0.0.1:2830{node}" for node in NODES)
LEAST = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:CICompilerCount=1", "-Xss512k")
PROPERTIES = """\
process.roles=broker,controller
node.id={node}
listeners=PLAINTEXT://127.0.0.1:2830{node},CONTROLLER://127.0.0.1:2840{node}
advertised.listeners=PLAINTEXT://127.0.0.1:2830{node}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
controller.quorum.voters=1@127.0.0.1:28401,2@127.0.0.1:28402,3@127.0.0.1:28403
controller.quorum.fetch.timeout.ms=4000
log.dirs={data}
num.network.threads=2
num.io.threads=3
num.replica.fetchers=1
offsets.topic.num.partitions=6
offsets.topic.replication.factor=3
group.initial.rebalance.delay.ms=500
min.insync.replicas=1
default.replication.factor=3
replica.lag.time.max.ms=5000
leader.imbalance.check.interval.seconds=60
auto.create.topics.enable=false
log.index.size.max.bytes=1048576
log.cleaner.dedupe.buffer.size=8388608
"""
# Kafka's own default configurations, without the console, which would say everything twice.
APPENDERS = {
    "kafkaAppender": "server.log",
    "stateChangeAppender": "state-change.log",
    "cleanerAppender": "log-cleaner.log",
    "controllerAppender": "controller.log",
}
LOGGERS = {
    OLD: {
        "org.apache.kafka.controller": "controllerAppender",
        "kafka.log.LogCleaner": "cleanerAppender",
        "state.change.logger": "stateChangeAppender",
    },
    NEW: {
        "org.apache.kafka.controller": "controllerAppender",
        "org.apache.kafka.storage.internals.log.LogCleaner": "cleanerAppender",
        "org.apache.kafka.storage.internals.log.LogCleaner$CleanerThread": "cleanerAppender",
        "org.apache.kafka.storage.internals.log.Cleaner": "cleanerAppender",
        "state.change.logger": "stateChangeAppender",
    },
}


def now() -> int:
    return time.time_ns() // 1_000_000


def log4j_1() -> str:
    lines = ["log4j.rootLogger=INFO, kafkaAppender", "log4j.logger.kafka=INFO", "log4j.logger.org.apache.kafka=INFO"]
    for name, file in APPENDERS.items():
        lines += [
            f"log4j.appender.{name}=org.apache.log4j.DailyRollingFileAppender",
            f"log4j.appender.{name}.DatePattern='.'yyyy-MM-dd-HH",
            f"log4j.appender.{name}.File=${{kafka.logs.dir}}/{file}",
            f"log4j.appender.{name}.layout=org.apache.log4j.PatternLayout",
            f"log4j.appender.{name}.layout.ConversionPattern=[%d] %p %m (%c)%n",
        ]
    for logger, name in LOGGERS[OLD].items():
        lines += [f"log4j.logger.{logger}=INFO, {name}", f"log4j.additivity.{logger}=false"]
    return "\n".join(lines) + "\n"


def log4j_2() -> str:
    rolling = [
        {
            "name": name,
            "fileName": f"${{sys:kafka.logs.dir}}/{file}",
            "filePattern": f"${{sys:kafka.logs.dir}}/{file}.%d{{yyyy-MM-dd-HH}}",
            "PatternLayout": {"pattern": "[%d] %p %m (%c)%n"},
            "TimeBasedTriggeringPolicy": {"modulate": True, "interval": 1},
        }
        for name, file in APPENDERS.items()
    ]
    own = [{"name": logger, "level": "INFO", "additivity": False, "AppenderRef": {"ref": name}} for logger, name in LOGGERS[NEW].items()]
    root = {"level": "INFO", "AppenderRef": {"ref": "kafkaAppender"}}
    return json.dumps({"Configuration": {"Appenders": {"RollingFile": rolling}, "Loggers": {"Root": root, "Logger": own}}}, indent=1)


CONSOLE = json.dumps(
    {
        "Configuration": {
            "Appenders": {"Console": {"name": "err", "target": "SYSTEM_ERR", "PatternLayout": {"pattern": "[%d] %p %m (%c)%n"}}},
            "Loggers": {"Root": {"level": "WARN", "AppenderRef": {"ref": "err"}}},
        }
    }
)


def fetched(folder: Path, release: str) -> str:
    """The class path of a release of Kafka."""
    libs = folder / f"libs-{release}"
    if not libs.exists():
        wanted = [("org.apache.kafka", name, release) for name in ("kafka_2.13", "kafka-tools")] + list(LOGGING[release])
        listed = "".join(
            f"<dependency><groupId>{g}</groupId><artifactId>{a}</artifactId><version>{v}</version></dependency>" for g, a, v in wanted
        )
        pom = folder / "pom.xml"
        pom.write_text(
            '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId>'
            f"<version>1</version><dependencies>{listed}</dependencies></project>"
        )
        copied = ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={libs}"]
        subprocess.run(copied, check=True)
    return f"{libs}/*"


@dataclass
class Cluster:
    """The nodes, their files and the list of what was done to them."""

    folder: Path
    release: dict[int, str] = field(default_factory=lambda: dict.fromkeys(NODES, OLD))
    cluster_id: str = ""
    processes: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)
    done: int = 0

    def __post_init__(self) -> None:
        self.place = self.folder / ID
        shutil.rmtree(self.place, ignore_errors=True)
        self.input, self.truth, self.work = self.place / "input", self.place / "truth", self.folder / "work"
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.rmtree(self.data(1).parent, ignore_errors=True)
        for path in (self.input / "evidence", self.input / "clients", self.truth, self.work):
            path.mkdir(parents=True)
        self.paths = {release: fetched(self.folder, release) for release in (OLD, NEW)}
        (self.work / "log4j.properties").write_text(log4j_1())
        (self.work / "log4j2.json").write_text(log4j_2())
        (self.work / "console.json").write_text(CONSOLE)
        subprocess.run(["javac", "-cp", self.paths[NEW], "-d", str(self.work), str(HERE / "Traffic.java")], check=True)
        for node in NODES:
            (self.input / f"node-{node}/logs").mkdir(parents=True)
            text = PROPERTIES.format(node=node, data=self.data(node))
            (self.input / f"node-{node}/server.properties").write_text(text)

    def data(self, node: int) -> Path:
        return Path("/srv/kafka") / ID / f"data-{node}"

    @contextmanager
    def action(self, name: str, **more: Any) -> Iterator[dict[str, Any]]:
        """An action in the list, from before it is begun until it has returned."""
        self.done += 1
        row = {"id": self.done, "action": name} | more | {"start_ms": now()}
        yield row
        row["end_ms"] = now()
        print(json.dumps(row), flush=True)
        with (self.truth / "actions.jsonl").open("a") as file:
            file.write(json.dumps(row) + "\n")

    def tool(self, main: str, *arguments: str, release: str = NEW, save: str | None = None) -> str:
        """What one of Kafka's tools prints; kept as evidence under a name."""
        logging = f"-Dlog4j2.configurationFile={self.work}/console.json"
        at = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        command = ["java", "-Xmx96m", *LEAST, logging, "-cp", self.paths[release], main, *arguments]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if ran.returncode:
            raise RuntimeError(f"{main} {arguments}: {ran.returncode} {ran.stdout[-800:]} {ran.stderr[-800:]}")
        if save:
            (self.input / f"evidence/{at}-{save}.txt").write_text(ran.stdout)
        return ran.stdout

    def topics(self, *arguments: str, save: str | None = None) -> str:
        return self.tool("org.apache.kafka.tools.TopicCommand", "--bootstrap-server", SERVERS, *arguments, save=save)

    def create(self, topic: str, partitions: int, factor: int, *configs: str) -> None:
        with self.action("create topic", topic=topic, partitions=partitions, rf=factor, config=list(configs)):
            more = [word for config in configs for word in ("--config", config)]
            self.topics("--create", "--topic", topic, "--partitions", str(partitions), "--replication-factor", str(factor), *more)

    def evidence(self, tag: str) -> None:
        with self.action("evidence", tag=tag):
            self.topics("--describe", save=f"{tag}-kafka-topics-describe")
            quorum = ("org.apache.kafka.tools.MetadataQuorumCommand", "--bootstrap-server", SERVERS, "describe")
            self.tool(*quorum, "--status", save=f"{tag}-kafka-metadata-quorum-status")
            self.tool("org.apache.kafka.tools.FeatureCommand", "--bootstrap-server", SERVERS, "describe", save=f"{tag}-kafka-features")

    def new_id(self) -> str:
        self.cluster_id = self.tool("kafka.tools.StorageTool", "random-uuid").strip()
        return self.cluster_id

    def format(self, *nodes: int, note: str) -> None:
        """Format the storage of nodes that are down; whatever they stored is gone."""
        with self.action("format", nodes=list(nodes), cluster_id=self.cluster_id, note=note):
            for node in nodes:
                shutil.rmtree(self.data(node), ignore_errors=True)
                given = ("-t", self.cluster_id, "-c", str(self.input / f"node-{node}/server.properties"))
                print(self.tool("kafka.tools.StorageTool", "format", *given, release=self.release[node]))

    def started(self, node: int) -> int:
        said = (path.read_text(errors="replace") for path in (self.input / f"node-{node}/logs").glob("server.log*"))
        return sum(text.count("Kafka Server started (kafka.server.KafkaRaftServer)") for text in said)

    def start(self, *nodes: int) -> None:
        """Start nodes, and wait until each says that it has started."""
        before = {node: self.started(node) for node in nodes}
        for node in nodes:
            logs, release = self.input / f"node-{node}/logs", self.release[node]
            set_by = "log4j.configuration=file:" if release == OLD else "log4j2.configurationFile="
            logging = f"-D{set_by}{self.work}/{'log4j.properties' if release == OLD else 'log4j2.json'}"
            gc = f"-Xlog:gc*:file={logs}/kafkaServer-gc.log:time,tags:filecount=10,filesize=100M"
            properties = self.input / f"node-{node}/server.properties"
            command = ["java", "-Xms64m", "-Xmx200m", *LEAST, gc, f"-Dkafka.logs.dir={logs}", logging, "-cp", self.paths[release]]
            with self.action("start", node=node, release=release) as row, (self.work / f"out-{node}").open("ab") as out:
                process = subprocess.Popen([*command, "kafka.Kafka", str(properties)], stdout=out, stderr=out, start_new_session=True)
                self.processes[node], row["pid"] = process, process.pid
        until = time.monotonic() + 120
        while any(self.started(node) == before[node] for node in nodes):
            dead = [node for node in nodes if self.processes[node].poll() is not None]
            if dead or time.monotonic() > until:
                raise RuntimeError(f"not started: {dead or nodes}")
            time.sleep(0.5)

    def stop(self, node: int) -> None:
        with self.action("SIGTERM (controlled shutdown)", node=node) as row:
            process = self.processes.pop(node)
            process.send_signal(signal.SIGTERM)
            try:
                # Without a majority of the quorum no shutdown is ever granted.
                row["rc"] = process.wait(30 if self.processes else 6) % 256
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                row["rc"], row["forced_kill"] = "killed after timeout", True

    def kill(self, node: int, note: str) -> None:
        with self.action("kill -9", node=node, note=note):
            process = self.processes.pop(node)
            process.kill()
            process.wait()

    @contextmanager
    def traffic(self, topics: str, group: str) -> Iterator[None]:
        logging = f"-Dlog4j2.configurationFile={self.work}/console.json"
        command = [
            "java",
            "-Xmx80m",
            *LEAST,
            logging,
            "-cp",
            f"{self.paths[NEW]}:{self.work}",
            "Traffic",
            SERVERS,
            topics,
            group,
            str(self.truth),
        ]
        with self.action("client", cmd=f"produce {topics}; group {group} of two consumers"):
            said, failed = (self.work / "client.out").open("ab"), (self.input / "clients/shop.log").open("ab")
            process = subprocess.Popen(command, stdout=said, stderr=failed, start_new_session=True)
        try:
            yield
        finally:
            with self.action("client", cmd="stop"):
                process.terminate()
                process.wait(40)

    def replicas(self, topic: str) -> dict[int, list[int]]:
        described = self.topics("--describe", "--topic", topic)
        return {
            int(found[1]): [int(node) for node in found[2].split(",")]
            for found in re.finditer(r"Partition: (\d+).*?Replicas: ([\d,]+)", described)
        }

    def reassign(self, **moved: int) -> None:
        """Move one replica of a partition of each topic to a node that has none, as the last of its list."""
        plan = []
        for topic, partition in moved.items():
            before = self.replicas(topic)[partition]
            other = next(node for node in NODES if node not in before)
            plan.append({"topic": topic, "partition": partition, "replicas": [*before[:-1], other]})
        path = self.work / "plan.json"
        path.write_text(json.dumps({"version": 1, "partitions": plan}))
        tool = (
            "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
            "--bootstrap-server",
            SERVERS,
            "--reassignment-json-file",
            str(path),
        )
        with self.action("reassign", plan=plan):
            print(self.tool(*tool, "--execute"))
        time.sleep(8)
        with self.action("reassign verify"):
            print(self.tool(*tool, "--verify"))

    def replace(self, node: int) -> None:
        """Give a node empty disks.  Its controller has another directory id then: the quorum has to forget the old one."""
        stored = (self.data(node) / "meta.properties").read_text()
        directory = stored.partition("directory.id=")[2].split()[0]
        quorum = ("org.apache.kafka.tools.MetadataQuorumCommand", "--bootstrap-server", SERVERS)
        self.stop(node)
        with self.action("remove controller", id_of=node, directory_id=directory):
            print(self.tool(*quorum, "remove-controller", "--controller-id", str(node), "--controller-directory-id", directory))
        self.format(node, note="node replaced: same node id, empty disks")
        self.start(node)
        time.sleep(10)
        with self.action("add controller", id_of=node):
            properties = str(self.input / f"node-{node}/server.properties")
            print(self.tool(*quorum, "--command-config", properties, "add-controller"))

    def store_metadata(self) -> None:
        """Add the records of this incarnation's metadata log to the truth, from the node that has the most; no node may be running."""
        dumps = []
        for node in NODES:
            segments = sorted(map(str, (self.data(node) / "__cluster_metadata-0").glob("*.log")))
            given = ("--cluster-metadata-decoder", "--files", ",".join(segments))
            dumps.append(list(records(self.tool("kafka.tools.DumpLogSegments", *given), self.cluster_id)))
        print([len(dump) for dump in dumps], flush=True)
        with (self.truth / "metadata.jsonl").open("a") as file:
            file.writelines(json.dumps(record) + "\n" for record in max(dumps, key=len))

    def story(self) -> None:
        self.new_id()
        self.format(*NODES, note="first incarnation")
        self.start(*NODES)
        time.sleep(5)
        self.create("orders", 8, 3, "min.insync.replicas=2")
        self.create("clicks", 6, 2, "min.insync.replicas=1")
        self.create("solo", 4, 1)
        self.create("drafts", 3, 2)
        with self.traffic("orders,clicks,solo", "billing"):
            time.sleep(20)
            self.evidence("healthy")
            for node in NODES:
                self.stop(node)
                self.release[node] = NEW
                time.sleep(3)
                self.start(node)
                time.sleep(25)
                if node == 2:
                    self.evidence("mixed")
            with self.action("features upgrade", release=NEW):
                given = ("--bootstrap-server", SERVERS, "upgrade", "--release-version", "4.1")
                print(self.tool("org.apache.kafka.tools.FeatureCommand", *given))
            time.sleep(5)
            with self.action("alter config", topic="clicks", config="min.insync.replicas=2"):
                given = ("--alter", "--entity-type", "topics", "--entity-name", "clicks", "--add-config", "min.insync.replicas=2")
                self.tool("kafka.admin.ConfigCommand", "--bootstrap-server", SERVERS, *given)
            with self.action("add partitions", topic="clicks", to=7):
                self.topics("--alter", "--topic", "clicks", "--partitions", "7")
            time.sleep(10)
            self.kill(3, "broker and controller")
            time.sleep(20)
            self.evidence("broker-3-dead")
            self.start(3)
            time.sleep(25)
            with self.action("delete topic", topic="drafts"):
                self.topics("--delete", "--topic", "drafts")
            time.sleep(8)
            self.create("drafts", 5, 3)
            time.sleep(5)
            self.reassign(clicks=0, solo=0)
            time.sleep(5)
            self.replace(2)
            time.sleep(20)
            with self.action("preferred election (manual)"):
                given = ("--bootstrap-server", SERVERS, "--election-type", "preferred", "--all-topic-partitions")
                self.tool("org.apache.kafka.tools.LeaderElectionCommand", *given)
            time.sleep(5)
            self.evidence("after")
        self.stop_all()
        self.new_id()
        self.format(*NODES, note="second incarnation: all disks empty, another cluster id")
        self.start(*NODES)
        time.sleep(5)
        self.create("orders", 6, 3, "min.insync.replicas=2")
        self.create("clicks", 8, 2)
        self.create("solo", 4, 1)
        self.create("drafts", 4, 3)
        with self.traffic("orders,clicks,solo", "billing"):
            time.sleep(25)
            self.kill(1, "broker and controller")
            time.sleep(20)
            self.start(1)
            time.sleep(25)
            self.stop(3)
            time.sleep(3)
            self.start(3)
            time.sleep(25)
            self.evidence("second")
        self.stop_all()

    def stop_all(self) -> None:
        for node in NODES:
            self.stop(node)
            time.sleep(5)
        self.store_metadata()

    def end(self) -> None:
        for process in self.processes.values():
            process.kill()


def records(text: str, cluster_id: str) -> Iterator[dict[str, Any]]:
    """The records of a metadata log from what kafka-dump-log prints, in the columns of the lab."""
    epoch = None
    for line in text.splitlines():
        if line.startswith("baseOffset") and (said := re.search(r"partitionLeaderEpoch: (-?\d+)", line)):
            epoch = int(said[1])
        if not (found := re.match(r"\| offset: (\d+) CreateTime: (\d+) .*?headerKeys: \[\] (.*)$", line)):
            continue
        record: dict[str, Any] = {"cluster_id": cluster_id, "offset": int(found[1]), "epoch": epoch, "ts": int(found[2])}
        if found[3].startswith("LeaderChange"):
            leader = re.search(r'"leaderId":(\d+)', found[3])
            assert leader is not None
            yield record | {"type": "CONTROL", "control": "LEADER_CHANGE", "leader": int(leader[1])}
        elif found[3].startswith("payload: "):
            payload = json.loads(found[3][len("payload: ") :])
            if payload["type"] != "NO_OP_RECORD":
                yield record | {"type": payload["type"], "version": payload["version"], "data": payload["data"]}


def packed(place: Path) -> Path:
    archive = place.parent / f"{ID}.tar.xz"
    with tarfile.open(archive, "w:xz", preset=9) as to:
        to.add(place, ID)
    return archive


def main(folder: Path) -> None:
    if any(socket.socket().connect_ex(("127.0.0.1", 28300 + node)) == 0 for node in NODES):
        raise SystemExit("the ports are in use")
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["TZ"] = "UTC"
    cluster = Cluster(folder)
    begun = now()
    try:
        cluster.story()
    finally:
        cluster.end()
    for node in NODES:
        kept = cluster.input / f"node-{node}/data-{node}"
        kept.mkdir()
        shutil.copy(cluster.data(node) / "meta.properties", kept)
    manifest = {
        "id": ID,
        "version": f"{OLD}, then {NEW}",
        "mode": "combined",
        "brokers": list(NODES),
        "controllers": list(NODES),
        "timezone": "UTC",
        "cluster_id": cluster.cluster_id,
        "start_ms": begun,
        "end_ms": now(),
        "story": "rolling upgrade; a broker killed; a topic deleted and created again; a reassignment; a node replaced; everything formatted anew",
        "notes": [
            "truth/* is independent of the logs: dumped metadata logs, a poller, injected actions",
            "-Xmx200m -XX:TieredStopAtLevel=1",
        ],
    }
    (cluster.place / "manifest.json").write_text(json.dumps(manifest, indent=1))
    print(packed(cluster.place))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
