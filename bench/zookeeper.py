"""A ZooKeeper-mode cluster that lives through its days: who leads what, which sessions end, and what every node writes about it."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from bench.journal import DAY_MS, HOUR_MS, ZOOKEEPER, Journal, moment
from bench.plan import Plan
from bench.voices import Voices

SESSION_MS = 18_000
MINUTE_MS = 60_000
# The share of misplaced leaders from which the balancer acts (leader.imbalance.per.broker.percentage).
IMBALANCE = 0.1
LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR")
# How many times an hour has the load of the mean hour, from midnight on.
HOURS = (0.4, 0.3, 0.3, 0.3, 0.4, 0.6, 0.9, 1.2, 1.5, 1.6, 1.6, 1.5, 1.4, 1.5, 1.6, 1.5, 1.4, 1.3, 1.2, 1.1, 1.0, 0.9, 0.7, 0.5)


@dataclass(eq=False)
class Partition:
    """A partition as ZooKeeper holds it, and how fast it grows."""

    topic: str
    number: int
    replicas: tuple[int, ...]
    per_second: float
    leader: int = -1
    epoch: int = -1
    isr: tuple[int, ...] = ()
    version: int = -1
    cleaned_to: int = 0
    start_offset: int = 0
    name: str = field(init=False)

    def __post_init__(self) -> None:
        self.name = f"{self.topic}-{self.number}"

    @property
    def path(self) -> str:
        return f"/brokers/topics/{self.topic}/partitions/{self.number}/state"


@dataclass
class Broker:
    """A broker: up or not, its session, and the leader epochs that it was last sent."""

    number: int
    is_up: bool = False
    session: int = 0
    epoch: int = 0
    known: dict[Partition, tuple[int, int]] = field(default_factory=dict)
    loaded: set[Partition] = field(default_factory=set)


@dataclass
class Group:
    """A consumer group: its coordinator's partition, its generation and members."""

    name: str
    partition: Partition
    members: int
    generation: int = 0


class Cluster:
    """The state of one cluster and the queue of what happens to it; all by one seed."""

    def __init__(self, name: str, release: str, seed: int, start: int, journal: Journal, plan: Plan, voices: Voices) -> None:
        self.name = name
        self.release = release
        self.random = random.Random(f"{seed} {name}")
        self.start = start
        self.journal = journal
        self.plan = plan
        # Where a node's voice goes: nowhere for nodes whose files are not kept, and for what the release or the level leaves out.
        said = [
            voice for voice in voices.voices.values() if voice.file != "controller" or LEVELS.index(voice.level) >= LEVELS.index(plan.level)
        ]
        self.sinks = {
            (node, voice.name): (journal.sink(node, voice.file), voice.template, voice.derived) for node in journal.kept for voice in said
        }
        # Whether requests are written partition by partition, as up to 2.3; and metadata for each broker, as up to 0.11.
        self.is_wordy = "leader_and_isr_sent" in voices.voices
        self.is_per_broker = self.is_wordy and "%(broker)s" in voices.voices["update_metadata_sent"].template
        self.brokers = {number: Broker(number) for number in range(1, plan.brokers + 1)}
        self.controller = 0
        self.controller_epoch = 0
        self.partitions: list[Partition] = []
        self.groups: list[Group] = []
        self.queue: list[tuple[int, int, Callable[..., None], tuple[Any, ...]]] = []
        self.count = 0
        self.correlation = 0
        self.zxid = 0
        self.sessions = 0x100000000000000 + (self.random.getrandbits(24) << 16)
        self.deleting: set[str] = set()
        self.busy_until = 0
        # By broker, what `misplaced` found; emptied by whatever changes leaders.
        self.placed: dict[int, tuple[int, list[Partition]]] = {}

    # What is said and what is true.

    def say(self, node: int, at: int, name: str, **values: Any) -> None:
        """One line of a node, if its files are kept and its release prints such a line."""
        if (node, name) in self.sinks:
            values["node"] = node
            add, template, derived = self.sinks[node, name]
            for made, source, write in derived:
                values[made] = write(values[source])
            add((at, template % values))

    def store(self, at: int, kind: str, session: int = 0, **row: Any) -> None:
        """One transaction of ZooKeeper, as `truth.jsonl` has it."""
        self.zxid += 1
        self.journal.truth.append({"ts": at, "zxid": self.zxid, "session": hex(session), "type": kind, **row})

    def later(self, at: int, call: Callable[..., None], *arguments: Any) -> None:
        self.count += 1
        heapq.heappush(self.queue, (at, self.count, call, arguments))

    def run(self, until: int) -> None:
        """Let everything happen that is due before a time."""
        while self.queue and self.queue[0][0] < until:
            at, _, call, arguments = heapq.heappop(self.queue)
            call(at, *arguments)

    # Small facts.

    @property
    def up(self) -> list[int]:
        return [number for number, broker in self.brokers.items() if broker.is_up]

    def address(self, node: int) -> str:
        return f"{self.name}-kafka{node}:9092"

    def log_dir(self, node: int) -> str:
        return "/var/lib/kafka/data/topics"

    def end_offset(self, partition: Partition, at: int) -> int:
        return int((at - self.start) * partition.per_second / 1000)

    def epochs(self) -> str:
        return ", ".join(f"{number} -> {self.brokers[number].epoch}" for number in self.up)

    # The life of a broker.

    def start_broker(self, at: int, node: int, is_clean: bool = True) -> None:
        """The process starts; eight seconds later it registers."""
        say, log_dir = self.say, self.log_dir(node)
        hosted = [partition for partition in self.partitions if node in partition.replicas]
        say(node, at, "node_starting")
        say(node, at + 3, "zookeeper_connecting", connect_string=f"{self.name}-zk1:2181,{self.name}-zk2:2181,{self.name}-zk3:2181/kafka")
        self.open_session(at + 20, node)
        say(node, at + 320, "kafka_cluster_id_logged", kafka_cluster_id=self.cluster_id())
        say(node, at + 700, "log_loading_started", log_dirs=log_dir)
        name = "log_recovery_skipped" if is_clean else "log_recovery_started"
        if hosted:
            say(node, at + 705, name, log_dir=log_dir, logs=len(hosted))
        moment_ms = at + 706
        for number, partition in enumerate(hosted, 1):
            end = self.end_offset(partition, at)
            if not is_clean:
                say(
                    node, moment_ms, "segment_recovered", partition_name=partition.name, log_dir=log_dir, base_offset=partition.start_offset
                )
            say(node, moment_ms, "producer_state_loaded", partition_name=partition.name, log_dir=log_dir, to_offset=end)
            say(
                node, moment_ms + 1, "log_loaded", partition_name=partition.name, topic=partition.topic, partition=partition.number,
                log_dir=log_dir, high_watermark=end, log_start_offset=partition.start_offset, log_end_offset=end, segments=7,
                duration_ms=1 + number % 9, number=number, logs=len(hosted),
            )  # fmt: skip
            moment_ms += 2 if is_clean else 31
        say(node, moment_ms, "log_loading_completed", logs=len(hosted), duration_ms=moment_ms - at - 700)
        say(node, moment_ms + 15, "cleaner_started")
        say(node, moment_ms + 16, "cleaner_thread_started", cleaner_thread=0)
        for number, thread in enumerate(("Produce", "Fetch", "DeleteRecords", "ElectLeader", "Heartbeat", "Rebalance")):
            say(node, moment_ms + 400 + number, "thread_started", thread=f"ExpirationReaper-{node}-{thread}")
        say(node, moment_ms + 900, "coordinator_started")
        self.later(moment_ms + 1200, self.register, node)

    def cluster_id(self) -> str:
        return "".join(random.Random(self.name).choice("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") for _ in range(22))

    def open_session(self, at: int, node: int) -> None:
        broker = self.brokers[node]
        self.sessions += 1
        broker.session = self.sessions
        self.say(
            node,
            at,
            "zookeeper_session_initialised",
            zookeeper_client="Kafka server",
            connect_string=f"{self.name}-zk1:2181,{self.name}-zk2:2181,{self.name}-zk3:2181/kafka",
        )
        self.say(node, at + 5, "zookeeper_connection_awaited", zookeeper_client="Kafka server")
        self.say(
            node,
            at + 30,
            "session_established",
            server_address=f"{self.name}-zk1/10.1.0.1:2181",
            session_id=f"{broker.session:x}",
            timeout_ms=SESSION_MS,
        )
        self.say(node, at + 31, "zookeeper_connected", zookeeper_client="Kafka server")
        self.store(at + 28, "createSession", broker.session, timeout=SESSION_MS)

    def register(self, at: int, node: int, is_new: bool = True) -> None:
        """The broker's node in ZooKeeper appears; the first broker of all is elected, the others join."""
        broker = self.brokers[node]
        broker.is_up = True
        broker.known.clear()
        path = f"/brokers/ids/{node}"
        self.store(at, "create", broker.session, path=path, value=None, ephemeral=True)
        self.store(at, "setData", broker.session, path=path, value={"host": self.address(node).split(":")[0], "port": 9092})
        broker.epoch = self.zxid
        self.say(node, at - 2, "znode_creation_started", znode_path=path)
        self.say(node, at, "znode_creation_answered", znode_path=path, creation_result="OK")
        self.say(node, at, "znode_created", broker=node, broker_epoch=broker.epoch, at_ms=at, session_id_decimal=broker.session)
        self.say(node, at + 1, "broker_registered", broker=node, addresses=f"PLAINTEXT://{self.address(node)}", broker_epoch=broker.epoch)
        if is_new:
            self.say(node, at + 450, "kafka_version_logged", kafka_version=self.release)
            self.say(node, at + 455, "node_started")
        if not self.controller:
            self.elect_controller(at + 40, node)
        else:
            self.say(node, at + 40, "controller_observed", controller=self.controller)
            self.broker_joined(at + 60, node)
        self.say(node, at + 500, "broker_observed_controller", controller=self.controller, controller_address=self.address(self.controller))

    def broker_joined(self, at: int, node: int) -> None:
        """The controller sees a broker: it sends it all of its partitions, and gives it those that have no leader."""
        boss, say = self.controller, self.say
        say(
            boss,
            at,
            "brokers_changed",
            brokers_added=node,
            brokers_deleted="",
            brokers_bounced="",
            brokers_live=",".join(map(str, self.up)),
        )
        say(boss, at + 1, "controller_channel_opening", controller=boss, broker=node)
        say(boss, at + 2, "broker_startup_handled", brokers=node)
        say(
            boss,
            at + 4,
            "controller_channel_opened",
            controller=boss,
            target_broker=node,
            broker_address=f"{self.address(node)} (id: {node} rack: null)",
        )
        say(boss, at + 6, "broker_epochs_updated", epochs=self.epochs())
        hosted = [partition for partition in self.partitions if node in partition.replicas]
        self.request(at + 10, hosted, [node])
        leaderless = [partition for partition in hosted if partition.leader == -1 and node in partition.isr]
        if leaderless:
            self.change(at + 40, [(partition, node, partition.isr) for partition in leaderless], "OfflinePartition")
        self.later(at + self.random.randrange(4_000, 20_000), self.catch_up, node)

    def catch_up(self, at: int, node: int) -> None:
        """A follower is in sync again: its leaders put it back, in a few batches."""
        if not self.brokers[node].is_up or not self.controller:
            return
        behind = [
            partition
            for partition in self.partitions
            if node in partition.replicas and node not in partition.isr and partition.leader not in (-1, node) and self.brokers[partition.leader].is_up
        ]  # fmt: skip
        for number in range(0, len(behind), 40):
            self.write_isr(at + number * 25, [(partition, (*partition.isr, node)) for partition in behind[number : number + 40]])

    def write_isr(self, at: int, changes: list[tuple[Partition, tuple[int, ...]]]) -> None:
        """Leaders change in-sync sets through the controller (AlterIsr); epochs of leaders stay."""
        boss = self.controller
        self.say(boss, at, "isr_write_listed", partition_list=", ".join(partition.name for partition, _ in changes))
        session = self.brokers[boss].session
        for number, (partition, isr) in enumerate(changes):
            if len(isr) > len(partition.isr):
                self.say(
                    partition.leader, at, "isr_expanded", partition_name=partition.name, isr_before=",".join(map(str, partition.isr)), isr_after=",".join(map(str, isr)),
                )  # fmt: skip
            partition.isr = isr
            partition.version += 1
            self.store_state(at + 2, session, partition, "setData")
            listed = ",".join(map(str, isr))
            self.say(boss, at + 3 + number % 3, "isr_written", partition_name=partition.name, isr=listed, partition_epoch=partition.version)
            self.say(
                partition.leader,
                at + 8 + number % 5,
                "isr_updated",
                partition_name=partition.name,
                isr=listed,
                partition_epoch=partition.version,
            )

    def store_state(self, at: int, session: int, partition: Partition, kind: str) -> None:
        value = {
            "controller_epoch": self.controller_epoch,
            "leader": partition.leader,
            "version": 1,
            "leader_epoch": partition.epoch,
            "isr": list(partition.isr),
        }
        self.store(at, kind, session, path=partition.path, value=value)

    def stop_broker(self, at: int, node: int) -> None:
        """A controlled shutdown: leaders move away first, then the session is closed."""
        broker, say = self.brokers[node], self.say
        if not broker.is_up or len(self.up) < 2:
            return
        boss = self.controller
        say(node, at, "termination_signal_received", signal="SIGTERM")
        say(node, at + 2, "node_stopping")
        say(node, at + 3, "controlled_shutdown_started")
        say(boss, at + 12, "broker_shutdown_requested", broker=node, brokers=node)
        say(boss, at + 12, "broker_shutdowns_listed", brokers=node)
        moved = []
        for partition in self.partitions:
            if partition.leader == node and len(partition.replicas) > 1:
                isr = tuple(number for number in partition.isr if number != node)
                if leaders := [number for number in partition.replicas if number in isr]:
                    moved.append((partition, leaders[0], isr))
        self.change(at + 20, moved, "OnlinePartition")
        followed = [partition for partition in self.partitions if node in partition.isr and partition.leader not in (-1, node)]
        say(boss, at + 45, "stop_replica_sent", controller_epoch=self.controller_epoch, partitions=len(followed) + len(moved), broker=node)
        self.reduce(at + 50, followed, node)
        leaders = ",".join(
            f"{partition.name} -> (Leader:{partition.leader},ISR:{','.join(map(str, partition.isr))},LeaderEpoch:{partition.epoch},ZkVersion:{partition.version},ControllerEpoch:{self.controller_epoch})"
            for partition in self.partitions
            if node in partition.replicas
        )  # fmt: skip
        say(boss, at + 90, "leader_cache_updated", leaders=leaders)
        say(node, at + 140, "controlled_shutdown_succeeded")
        for number, thread in enumerate(("Produce", "Fetch", "DeleteRecords", "ElectLeader", "Heartbeat", "Rebalance")):
            say(node, at + 400 + 3 * number, "thread_stopping", thread=f"ExpirationReaper-{node}-{thread}")
            say(node, at + 401 + 3 * number, "thread_stopped", thread=f"ExpirationReaper-{node}-{thread}")
        say(node, at + 500, "cleaner_stopped")
        say(node, at + 501, "cleaner_thread_stopped", cleaner_thread=0)
        say(node, at + 640, "coordinator_stopped")
        for number, partition in enumerate(partition for partition in self.partitions if node in partition.replicas):
            say(node, at + 700 + number, "producer_snapshot_written", partition_name=partition.name, offset=self.end_offset(partition, at))
        say(node, at + 1450, "session_closed", session_id=f"{broker.session:x}")
        say(node, at + 1700, "node_stopped")
        self.journal.actions.append({"start": at, "end": at + 1700, "action": "broker_stop_graceful SIGTERM", "broker": node})
        self.lose(at + 1400, node, is_expired=False)

    def lose(self, at: int, node: int, is_expired: bool = True) -> None:
        """A broker's session ends: the controller, the same or the next one, finds leaders for what it led."""
        broker = self.brokers[node]
        rest = [number for number in self.up if number != node]
        if is_expired:
            self.say(ZOOKEEPER, at, "server_session_expired", session_id=f"{broker.session:x}", timeout_ms=SESSION_MS)
        broker.is_up = False
        broker.known.clear()
        self.store(at, "closeSession", broker.session)
        if self.controller == node:
            self.controller = 0
            if rest:
                self.elect_controller(at + 12, self.random.choice(rest))
            return
        boss, say = self.controller, self.say
        say(
            boss,
            at + 15,
            "brokers_changed",
            brokers_added="",
            brokers_deleted=node,
            brokers_bounced="",
            brokers_live=",".join(map(str, rest)),
        )
        say(boss, at + 16, "controller_channel_closed", target_broker=node)
        say(boss, at + 16, "broker_failure_handled", brokers=node)
        say(boss, at + 17, "broker_epochs_updated", epochs=self.epochs())
        self.take_over(at + 20, [node])

    def take_over(self, at: int, lost: list[int]) -> None:
        """Leaders for partitions whose leader is gone; the lost leave the in-sync sets; without a candidate the leader is -1."""
        up = set(self.up)
        orphans, without = [], []
        for partition in self.partitions:
            if partition.leader in lost or (partition.leader != -1 and partition.leader not in up):
                isr = tuple(number for number in partition.isr if number in up)
                candidates = [number for number in partition.replicas if number in isr]
                if candidates:
                    orphans.append((partition, candidates[0], isr))
                else:
                    without.append(partition)
        self.change(at, orphans, "OfflinePartition")
        for node in lost:
            followed = [partition for partition in self.partitions if node in partition.isr and partition.leader not in (-1, node)]
            self.reduce(at + 60, followed, node)
        self.reduce(at + 80, without, -1)

    def change(self, at: int, changes: list[tuple[Partition, int, tuple[int, ...]]], before: str) -> None:
        """The controller stores leaders and sends them out."""
        if not changes:
            return
        boss, session = self.controller, self.brokers[self.controller].session
        self.placed.clear()
        for number, (partition, leader, isr) in enumerate(changes):
            is_new = partition.epoch == -1
            partition.leader, partition.isr = leader, isr
            partition.epoch += 1
            partition.version += 1
            when = at + number // 30
            self.store_state(when, session, partition, "create" if is_new else "setData")
            said = {
                "controller_epoch": self.controller_epoch,
                "partition_name": partition.name,
                "state_before": before,
                "state_after": "OnlinePartition",
                "leader": leader,
            }
            self.say(
                boss,
                when + 1,
                "partition_leader_changed",
                **said,
                leader_epoch=partition.epoch,
                isr=",".join(map(str, isr)),
                partition_epoch=partition.version,
            )
            self.say(boss, when + 1, "partition_led", **said)
        self.request(at + 3 + len(changes) // 30, [partition for partition, _, _ in changes], self.up)

    def reduce(self, at: int, partitions: list[Partition], node: int) -> None:
        """The controller takes a replica out of in-sync sets; the epoch rises, and a leader that leaves makes it -1."""
        if not partitions or not self.controller:
            return
        boss, session = self.controller, self.brokers[self.controller].session
        self.placed.clear()
        for number, partition in enumerate(partitions):
            gone = partition.leader if node == -1 else node
            partition.leader = -1 if partition.leader == gone else partition.leader
            partition.isr = tuple(other for other in partition.isr if other != gone) or partition.isr
            partition.epoch += 1
            partition.version += 1
            when = at + number // 30
            self.store_state(when, session, partition, "setData")
            self.say(
                boss, when + 1, "isr_reduced_by_controller", controller_epoch=self.controller_epoch, partition_name=partition.name,
                leader=partition.leader, isr=",".join(map(str, partition.isr)), leader_epoch=partition.epoch,
                partition_epoch=partition.version, broker=gone,
            )  # fmt: skip
        self.request(at + 3 + len(partitions) // 30, [partition for partition in partitions if partition.leader != -1], self.up)

    def stored(self, partition: Partition) -> dict[str, Any]:
        """A partition as requests have it, for releases that write a line for each."""
        return {
            "controller_epoch": self.controller_epoch,
            "state_controller_epoch": self.controller_epoch,
            "partition_name": partition.name,
            "leader": partition.leader,
            "leader_epoch": partition.epoch,
            "isr": ",".join(map(str, partition.isr)),
            "partition_epoch": partition.version,
            "replicas": ",".join(map(str, partition.replicas)),
        }

    def request(self, at: int, partitions: Iterable[Partition], nodes: list[int]) -> None:
        """LeaderAndIsr and UpdateMetadata to brokers, and what they make of it."""
        partitions = list(partitions)
        boss = self.controller
        self.correlation += 2
        for node in nodes:
            mine = [partition for partition in partitions if node in partition.replicas]
            led = [partition for partition in mine if partition.leader == node]
            followed = [partition for partition in mine if partition.leader not in (node, -1)]
            if led or followed:
                self.say(
                    boss,
                    at,
                    "leader_and_isr_batch_sent",
                    controller_epoch=self.controller_epoch,
                    broker=node,
                    leaders_made=len(led),
                    followers_made=len(followed),
                )
                for partition in mine if self.is_wordy else ():
                    kind = "become-leader" if partition.leader == node else "become-follower"
                    self.say(
                        boss,
                        at,
                        "leader_and_isr_sent",
                        **self.stored(partition),
                        request_kind=kind,
                        broker=node,
                        is_new=str(not partition.epoch).lower(),
                    )
                self.obey(at + 2, node, led, followed)
        for partition in partitions if self.is_wordy else ():
            stored = self.stored(partition)
            for node in nodes:
                if self.is_per_broker or node == nodes[0]:
                    self.say(boss, at + 1, "update_metadata_sent", **stored, broker=node, brokers=",".join(map(str, nodes)))
                self.say(
                    node, at + 14, "leader_info_cached", **stored, controller=boss, request_controller_epoch=self.controller_epoch,
                    correlation_id=self.correlation + 1, copies=len(partition.replicas),
                )  # fmt: skip
        self.say(
            boss,
            at,
            "update_metadata_batch_sent",
            controller_epoch=self.controller_epoch,
            brokers=",".join(map(str, nodes)),
            partitions=len(partitions),
        )
        for node in nodes:
            self.say(
                node, at + 14, "metadata_cache_updated", partitions=len(partitions), partitions_deleted=0, controller=boss,
                request_controller_epoch=self.controller_epoch, correlation_id=self.correlation + 1,
            )  # fmt: skip

    def obey(self, at: int, node: int, led: list[Partition], followed: list[Partition]) -> None:
        """A broker becomes leader and follower as it is told."""
        broker = self.brokers[node]
        if node not in self.journal.kept:
            for partition in (*led, *followed):
                broker.known[partition] = (partition.epoch, partition.leader)
            broker.loaded.update(led, followed)
            return
        say, log_dir, boss, correlation = self.say, self.log_dir(node), self.controller, self.correlation
        total = len(led) + len(followed)
        said = {"correlation_id": correlation, "controller": boss, "request_controller_epoch": self.controller_epoch}
        say(node, at, "leader_and_isr_batch_received", correlation_id=correlation, controller=boss, partitions=total)
        for partition in (*led, *followed) if self.is_wordy else ():
            say(node, at, "leader_and_isr_received", **self.stored(partition), **said, is_new=str(not partition.epoch).lower())
        for partition in led if self.is_wordy else ():
            say(node, at + 1, "become_leader_begun", **said, partition_name=partition.name)
        for partition in followed if self.is_wordy else ():
            say(node, at + 2, "become_follower_begun", **said, partition_name=partition.name)
        when = at + 1
        for partition in (*led, *followed):
            if partition not in broker.loaded:
                broker.loaded.add(partition)
                say(node, when, "producer_state_loaded", partition_name=partition.name, log_dir=log_dir, to_offset=0)
                say(
                    node,
                    when,
                    "log_created",
                    partition_name=partition.name,
                    log_dir=f"{log_dir}/{partition.name}",
                    settings="min.insync.replicas=2",
                )
                say(node, when, "high_watermark_checkpoint_missing", partition_name=partition.name)
            if partition not in broker.known:
                say(node, when, "partition_log_loaded", partition_name=partition.name, high_watermark=self.end_offset(partition, at))
        if led:
            say(node, when, "fetcher_removed", partition_list=", ".join(partition.name for partition in led))
            say(
                node,
                when,
                "become_leader_handled",
                correlation_id=correlation,
                controller=boss,
                request_controller_epoch=self.controller_epoch,
                partitions=len(led),
            )
        for number, partition in enumerate(led):
            epoch, leader = broker.known.get(partition, (-1, -1))
            end = self.end_offset(partition, at)
            if epoch != partition.epoch:
                say(
                    node, when + number // 20, "leader_started", partition_name=partition.name, leader_epoch=partition.epoch, start_offset=end,
                    high_watermark=end, isr=",".join(map(str, partition.isr)), previous_leader_epoch=epoch,
                )  # fmt: skip
                if leader == node:
                    say(
                        node, when + number // 20 + 1, "leader_skipped", correlation_id=correlation, controller=boss,
                        request_controller_epoch=self.controller_epoch, controller_epoch=self.controller_epoch, partition_name=partition.name,
                    )  # fmt: skip
                elif partition.topic == "__consumer_offsets":
                    self.load_group(when + number // 20 + 2, node, partition)
            broker.known[partition] = (partition.epoch, node)
        when += len(led) // 20 + 1
        fetched: dict[int, list[Partition]] = {}
        changed = 0
        for number, partition in enumerate(followed):
            epoch, leader = broker.known.get(partition, (-1, -1))
            if epoch == partition.epoch:
                continue
            changed += 1
            end = self.end_offset(partition, at)
            say(
                node,
                when + number // 20,
                "follower_started",
                partition_name=partition.name,
                leader_epoch=partition.epoch,
                start_offset=end,
                high_watermark=end,
                previous_leader_epoch=epoch,
            )
            fetched.setdefault(partition.leader, []).append(partition)
            broker.known[partition] = (partition.epoch, partition.leader)
        when += len(followed) // 20 + 1
        if changed:
            names = ", ".join(partition.name for some in fetched.values() for partition in some)
            say(node, when, "fetcher_removed", partition_list=names)
            say(
                node,
                when,
                "become_follower_handled",
                correlation_id=correlation,
                controller=boss,
                request_controller_epoch=self.controller_epoch,
                partitions=changed,
            )
            for leader, some in fetched.items():
                host = self.address(leader)
                offsets = ", ".join(
                    f"{partition.name} -> InitialFetchState(BrokerEndPoint(id={leader}, host={host}),{partition.epoch},{self.end_offset(partition, at)})"
                    for partition in some
                )
                say(node, when + 1, "fetcher_added", leader=leader, offsets=offsets)
                for number, partition in enumerate(some):
                    end = self.end_offset(partition, at)
                    say(
                        node,
                        when + 2 + number // 20,
                        "log_truncation_skipped",
                        partition_name=partition.name,
                        log_dir=log_dir,
                        to_offset=end,
                        last_offset=end - 1,
                    )
                    if partition.topic == "__consumer_offsets":
                        self.unload_group(when + 2 + number // 20, node, partition)
        for partition in led if self.is_wordy else ():
            say(node, when + 3, "become_leader_done", **said, partition_name=partition.name)
        for partition in followed if self.is_wordy else ():
            say(node, when + 4, "become_follower_done", **said, partition_name=partition.name)
        say(
            node,
            when + 3,
            "leader_and_isr_batch_done",
            duration_ms=when + 3 - at,
            correlation_id=correlation,
            controller=boss,
            partitions=total,
        )

    # Coordinators and groups.

    def load_group(self, at: int, node: int, partition: Partition) -> None:
        say = self.say
        took = 3 + partition.number % 40
        say(node, at, "coordinator_elected", partition=partition.number, coordinator_epoch=partition.epoch)
        say(node, at, "offsets_load_started", partition_name=partition.name)
        say(node, at, "offsets_load_scheduled", partition_name=partition.name, coordinator_epoch=partition.epoch)
        for group in self.groups:
            if group.partition is partition and group.generation:
                say(node, at + took, "group_loaded", group_id=group.name, generation_id=group.generation)
        say(
            node,
            at + took,
            "offsets_load_completed",
            partition_name=partition.name,
            duration_ms=took,
            coordinator_epoch=partition.epoch,
            scheduler_ms=took // 3,
        )

    def unload_group(self, at: int, node: int, partition: Partition) -> None:
        say = self.say
        say(node, at, "coordinator_resigned", partition=partition.number, coordinator_epoch=partition.epoch)
        say(node, at, "offsets_unload_scheduled", partition_name=partition.name)
        say(
            node,
            at,
            "offsets_unload_completed",
            partition_name=partition.name,
            coordinator_epoch=partition.epoch,
            offsets_removed=0,
            groups_removed=0,
        )

    def rebalance(self, at: int, group: Group, reason: str) -> None:
        node = group.partition.leader
        if node == -1:
            return
        say, partition = self.say, group.partition.name
        member = f"{group.name}-{group.generation % 7}-{self.random.getrandbits(128):032x}"
        if reason == "expired":
            say(node, at, "member_failed", member_id=member, group_id=group.name)
            why = f"removing member {member} on heartbeat expiration"
        else:
            say(node, at, "member_joined", group_id=group.name, state="Stable", member_id=member)
            why = f"Adding new member {member} with group instance id None"
        say(
            node,
            at + 1,
            "group_rebalance_started",
            group_id=group.name,
            state="PreparingRebalance",
            generation_id=group.generation,
            partition_name=partition,
            reason=why,
        )
        group.generation += 1
        group.members = max(1, group.members + (-1 if reason == "expired" else 1) if 0 < group.members < 12 else 6)
        took = self.random.randrange(20, 4_000)
        say(
            node,
            at + took,
            "group_stabilised",
            group_id=group.name,
            generation_id=group.generation,
            partition_name=partition,
            members=group.members,
        )
        say(
            node,
            at + took + 6,
            "group_assignment_received",
            group_id=group.name,
            generation_id=group.generation,
            members=group.members,
            static_members=0,
        )

    # The controller.

    def elect_controller(self, at: int, node: int) -> None:
        """A broker wins the election and takes the cluster over."""
        say = self.say
        self.controller = node
        self.controller_epoch += 1
        session = self.brokers[node].session
        self.store(at, "create", session, path="/controller", value={"version": 1, "brokerid": node, "timestamp": str(at)}, ephemeral=True)
        self.store(at, "setData", session, path="/controller_epoch", value=self.controller_epoch)
        for other in self.up:
            if other != node:
                say(other, at + 5, "controller_observed", controller=node)
                say(other, at + 60, "broker_observed_controller", controller=node, controller_address=self.address(node))
        said = {"controller": node, "controller_epoch": self.controller_epoch}
        say(node, at + 2, "controller_elected", **said)
        say(node, at + 3, "controller_failover_started", **said)
        say(node, at + 3, "controller_epoch_incremented", **said)
        for number, name in enumerate(("failover_registering", "failover_dirs", "failover_isr", "failover_context")):
            say(node, at + 4 + number, name)
        say(node, at + 12, "broker_epochs_initialised", epochs=self.epochs())
        for other in self.up:
            say(node, at + 15, "controller_channel_opening", controller=node, broker=other)
            say(
                node,
                at + 22,
                "controller_channel_opened",
                controller=node,
                target_broker=other,
                broker_address=f"{self.address(other)} (id: {other} rack: null)",
            )
        say(node, at + 24, "active_brokers_listed", brokers=", ".join(map(str, self.up)))
        say(node, at + 24, "topics_listed", topics=", ".join(sorted({partition.topic for partition in self.partitions})))
        say(node, at + 25, "failover_deletions")
        say(node, at + 26, "failover_metadata")
        up = set(self.up)
        states = ", ".join(
            f"[Topic={partition.topic},Partition={partition.number},Replica={replica}] -> {'OnlineReplica' if replica in up else 'OfflineReplica'}"
            for partition in self.partitions
            for replica in partition.replicas
        )  # fmt: skip
        say(node, at + 130, "replica_machine_started", states=states)
        self.take_over(at + 40, [number for number in self.brokers if number not in up])
        say(
            node,
            at + 140,
            "partition_machine_started",
            states=", ".join(f"{partition.name} -> OnlinePartition" for partition in self.partitions),
        )
        say(node, at + 150, "controller_ready", **said)
        self.request(at + 155, self.partitions, self.up)
        say(node, at + 190, "failover_scheduler")

    def balance(self, at: int) -> None:
        """The controller's round: it measures every broker's share of misplaced leaders and moves them home."""
        self.later(at + self.plan.balance_minutes * MINUTE_MS, self.balance)
        boss, say = self.controller, self.say
        if not boss:
            return
        say(boss, at, "automatic_election_due")
        say(boss, at, "automatic_election_checked")
        for node in sorted(self.up):
            preferred, away = self.misplaced(node)
            say(
                boss,
                at + 1,
                "preferred_leaders_listed",
                broker=node,
                assignments=", ".join([f"{partition.name} -> List({', '.join(map(str, partition.replicas))})" for partition in away]),
            )
            say(boss, at + 1, "leader_imbalance_measured", broker=node, imbalance_ratio=len(away) / max(1, preferred))
            moved = [partition for partition in away if node in partition.isr and partition.leader != -1]
            if len(away) > IMBALANCE * preferred and moved:
                say(
                    boss,
                    at + 2,
                    "election_started",
                    election_type="PREFERRED",
                    partition_list=",".join(partition.name for partition in moved),
                    trigger="AutoTriggered",
                )
                say(boss, at + 2, "preferred_election_started", partition_list=",".join(partition.name for partition in moved))
                self.change(at + 5, [(partition, node, partition.isr) for partition in moved], "OnlinePartition")
                for number, partition in enumerate(moved):
                    say(boss, at + 12 + number // 30, "preferred_election_completed", partition_name=partition.name, leader=node)

    def misplaced(self, node: int) -> tuple[int, list[Partition]]:
        """How many partitions prefer a broker, and those of them that another leads; looked up again where leaders have changed."""
        if node not in self.placed:
            preferred = [partition for partition in self.partitions if partition.replicas[0] == node]
            self.placed[node] = len(preferred), [partition for partition in preferred if partition.leader != node]
        return self.placed[node]

    # What goes wrong.

    def flap(self, at: int) -> None:
        """A follower falls behind on some partitions of one leader and catches up a little later."""
        if self.is_busy(at):
            return
        leader = self.random.choice(self.up)
        follower = self.random.choice([number for number in self.up if number != leader])
        candidates = [
            partition
            for partition in self.partitions
            if partition.leader == leader and follower in partition.isr and len(partition.isr) > 2
        ]
        some = self.random.sample(candidates, min(len(candidates), self.random.randrange(1, 40)))
        for number, partition in enumerate(some):
            end = self.end_offset(partition, at)
            self.say(
                leader, at + number // 8, "isr_shrunk", partition_name=partition.name, isr_before=",".join(map(str, partition.isr)),
                isr_after=",".join(str(other) for other in partition.isr if other != follower), high_watermark=end - 9, log_end_offset=end,
                lagging_replicas=f"(brokerId: {follower}, endOffset: {end - 9})",
            )  # fmt: skip
        if some:
            self.write_isr(at + 10, [(partition, tuple(other for other in partition.isr if other != follower)) for partition in some])
            self.later(at + self.random.randrange(5_000, 90_000), self.catch_up, follower)

    def is_busy(self, at: int, ms: int = 0) -> bool:
        """Whether another incident is still going on, or not all brokers are up; otherwise the next `ms` are taken."""
        if at < self.busy_until or len(self.up) < len(self.brokers):
            return True
        self.busy_until = at + ms
        return False

    def expire(self, at: int) -> None:
        """A broker is frozen for longer than its session lives: it is taken out, comes back and registers again."""
        if self.is_busy(at, 10 * MINUTE_MS):
            return
        node = self.random.choice(self.up)
        old, was_controller = self.brokers[node].session, self.controller == node
        self.lose(at, node)
        back = at + self.random.randrange(2_000, 30_000)
        self.later(back, self.thaw, node, old, back - at + SESSION_MS, was_controller)
        for other in self.up:
            self.say(
                other,
                at - 200,
                "fetch_request_failed",
                fetch_leader=node,
                leader=node,
                fetcher=0,
                fetch_session=self.random.getrandbits(30),
                fetch_epoch=self.random.getrandbits(12),
            )

    def thaw(self, at: int, node: int, old: int, silent_ms: int, was_controller: bool) -> None:
        say = self.say
        say(node, at, "session_timed_out", elapsed_ms=silent_ms, session_id=f"{old:x}")
        say(node, at, "session_closing", elapsed_ms=silent_ms, session_id=f"{old:x}")
        say(node, at + 60, "session_lost", session_id=f"{old:x}")
        say(node, at + 62, "session_expired_noticed", zookeeper_client="Kafka server")
        if was_controller:
            say(node, at + 64, "controller_resigning", controller=node)
            say(node, at + 65, "partition_machine_stopped")
            say(node, at + 65, "replica_machine_stopped")
            say(node, at + 66, "controller_resigned", controller=node)
        self.open_session(at + 70, node)
        self.later(at + 150, self.register, node, False)

    def kill(self, at: int) -> None:
        """A broker dies and is started again a few minutes later, with recovery."""
        if self.is_busy(at, 30 * MINUTE_MS):
            return
        node = self.random.choice(self.up)
        others = [number for number in self.up if number != node]
        for other in others:
            for number in range(12):
                self.say(
                    other,
                    at - SESSION_MS + number * 1500,
                    "client_connection_failed",
                    fetch_leader=node,
                    fetcher=0,
                    target_node=node,
                    server_address=f"{self.address(node).replace(':', '/10.1.0.9:')}",
                )
        self.lose(at, node)
        self.later(at + self.random.randrange(1, 8) * MINUTE_MS, self.start_broker, node, False)

    def roll(self, at: int) -> None:
        """All brokers are restarted one after the other, ten minutes apart."""
        if self.is_busy(at, (10 * len(self.brokers) + 5) * MINUTE_MS):
            self.later(at + HOUR_MS, self.roll)
            return
        self.later(at + self.plan.roll_days * DAY_MS, self.roll)
        for number, node in enumerate(self.brokers):
            self.later(at + number * 10 * MINUTE_MS, self.stop_broker, node)
            self.later(at + number * 10 * MINUTE_MS + 40_000, self.start_broker, node)

    # Topics.

    def create_topic(self, at: int, topic: str, partitions: int, copies: int, per_second: float) -> list[Partition]:
        nodes = list(self.brokers)
        first = self.random.randrange(len(nodes))
        made = []
        for number in range(partitions):
            shift = 0 if copies < 2 else (number // len(nodes)) % 2
            order = [nodes[(first + number + (step if not shift else -step)) % len(nodes)] for step in range(min(copies, len(nodes)))]
            made.append(Partition(topic, number, tuple(order), per_second * self.random.uniform(0.5, 1.5)))
        self.partitions += made
        self.placed.clear()
        boss = self.controller
        assignment = ", ".join(
            f"{partition.name} -> ReplicaAssignment(replicas={','.join(map(str, partition.replicas))}, addingReplicas=, removingReplicas=)"
            for partition in made
        )
        topic_id = "".join(self.random.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") for _ in range(22))
        self.store(at - 20, "create", self.brokers[boss].session, path=f"/brokers/topics/{topic}", value={"version": 3})
        self.say(boss, at - 6, "topic_created", topic=topic, topic_id=topic_id, assignment=f"HashMap({assignment})")
        self.say(boss, at - 5, "topic_creation_handled", partition_list=",".join(partition.name for partition in made))
        for partition in made:
            self.say(
                boss,
                at - 4,
                "partition_state_changed",
                controller_epoch=self.controller_epoch,
                partition_name=partition.name,
                state_before="NonExistentPartition",
                state_after="NewPartition",
                replicas=",".join(map(str, partition.replicas)),
            )
        self.change(
            at,
            [(partition, next(node for node in partition.replicas if self.brokers[node].is_up), partition.replicas) for partition in made],
            "NewPartition",
        )
        return made

    def make_topic(self, at: int) -> None:
        """A topic that lives for some days."""
        if self.is_busy(at):
            return
        topic = f"batch-{moment(at):%m%d%H%M}"
        self.create_topic(at, topic, 6, 3, 3.0)
        self.later(at + self.random.randrange(1, 12) * DAY_MS, self.delete_topic, topic)

    def delete_topic(self, at: int, topic: str) -> None:
        if self.is_busy(at):
            self.later(at + HOUR_MS, self.delete_topic, topic)
            return
        boss, session = self.controller, self.brokers[self.controller].session
        self.say(boss, at, "topic_deletion_started", topic=topic)
        gone = [partition for partition in self.partitions if partition.topic == topic]
        self.partitions = [partition for partition in self.partitions if partition.topic != topic]
        self.placed.clear()
        for number, partition in enumerate(gone):
            for node in partition.replicas:
                path = f"{self.log_dir(node)}/{partition.name}.{self.random.getrandbits(128):032x}-delete"
                self.say(node, at + 100 + number, "log_deletion_scheduled", partition_name=partition.name, log_path=path)
                self.say(node, at + 60_100 + number, "log_deleted", partition_name=partition.name, log_path=path)
                self.brokers[node].known.pop(partition, None)
                self.brokers[node].loaded.discard(partition)
            self.store(at + 400, "delete", session, path=partition.path)
        self.say(boss, at + 450, "topic_deleted", topic=topic)

    # The load of the day.

    def hour(self, at: int) -> None:
        """What an hour brings: segments that roll and expire, cleanings, rebalances."""
        self.later(at + HOUR_MS, self.hour)
        share = HOURS[at // HOUR_MS % 24] / 24
        chance = self.random
        plain = [partition for partition in self.partitions if not partition.topic.startswith("__")]
        for _ in range(int(self.plan.rolls * share + chance.random())):
            self.roll_segment(at + chance.randrange(HOUR_MS), chance.choice(plain))
        compacted = [group.partition for group in self.groups]
        for _ in range(int(self.plan.cleanings * share + chance.random())):
            if self.groups:
                partition = chance.choice(compacted)
                self.clean(at + chance.randrange(HOUR_MS - 5_000), chance.choice(partition.replicas), partition)
        for _ in range(int(self.plan.rebalances * share + chance.random())):
            if self.groups:
                self.later(at + chance.randrange(HOUR_MS), self.rebalance, chance.choice(self.groups), chance.choice(("expired", "joined")))
        for node in self.up:
            for number in range(6):
                self.say(
                    node,
                    at + number * 10 * MINUTE_MS + node * 137,
                    "expired_offsets_removed",
                    offsets_removed=chance.randrange(9),
                    duration_ms=chance.randrange(4),
                )

    def roll_segment(self, at: int, partition: Partition) -> None:
        """Every replica starts a segment and drops one that is a week old."""
        for step, node in enumerate(partition.replicas):
            if node not in self.journal.kept or not self.brokers[node].is_up:
                continue
            log_dir, say, when = self.log_dir(node), self.say, at + 37 * step
            end = self.end_offset(partition, when)
            say(node, when, "producer_snapshot_written", partition_name=partition.name, offset=end)
            say(node, when + 2, "segment_rolled", partition_name=partition.name, log_dir=log_dir, start_offset=end, duration_ms=2 + end % 5)
            oldest = max(0, self.end_offset(partition, when - 7 * DAY_MS))
            if oldest <= partition.start_offset:
                continue
            base, modified = partition.start_offset, when - 7 * DAY_MS
            size = 1_073_741_000 - oldest % 9000
            segment = f"LogSegment(baseOffset={base}, size={size}, lastModifiedTime={modified}, largestRecordTimestamp=Some({modified}))"
            say(
                node,
                when + 60,
                "segments_found_deletable",
                partition_name=partition.name,
                log_dir=log_dir,
                base_offsets=base,
                reason="retention time 604800000ms breach",
            )
            say(
                node, when + 60, "segment_deleted", partition_name=partition.name, log_dir=log_dir, base_offset=base, segment_bytes=size,
                modified_ms=modified, reason="retention time 604800000ms breach based on the largest record timestamp in the segment",
            )  # fmt: skip
            say(
                node,
                when + 62,
                "log_start_offset_incremented",
                partition_name=partition.name,
                log_dir=log_dir,
                log_start_offset=oldest,
                reason="segment deletion",
            )
            say(node, when + 60_062, "segment_files_deleted", partition_name=partition.name, log_dir=log_dir, segment_list=segment)
            for number, (kind, ending) in enumerate((("log", "log"), ("offset index", "index"), ("time index", "timeindex"))):
                say(
                    node,
                    when + 60_063 + number,
                    "segment_file_deleted",
                    file_kind=kind,
                    file=f"{log_dir}/{partition.name}/{base:020d}.{ending}.deleted",
                )
            if step == len(partition.replicas) - 1:
                partition.start_offset = oldest

    def clean(self, at: int, node: int, partition: Partition) -> None:
        """The cleaner's run over one partition of committed offsets."""
        if node not in self.journal.kept or not self.brokers[node].is_up:
            return
        say, log_dir, name = self.say, self.log_dir(node), partition.name
        begin, end = partition.cleaned_to, self.end_offset(partition, at)
        partition.cleaned_to = end
        messages = max(1, end - begin)
        size = messages * 120
        left = 40 + partition.number * 3
        modified = at - 30_000
        say(node, at, "cleaning_started", cleaner_thread=0, partition_name=name)
        say(node, at + 1, "offset_map_started", cleaner_thread=0, partition_name=name)
        say(node, at + 12, "offset_map_sized", cleaner_thread=0, partition_name=name, segments=1, dirty_from=begin, dirty_to=end)
        say(node, at + 420, "offset_map_completed", cleaner_thread=0, partition_name=name)
        horizon = f"{moment(at - 86_400_000):%a %b %d %H:%M:%S UTC %Y}"
        say(
            node,
            at + 421,
            "cleaning_horizon_set",
            cleaner_thread=0,
            partition_name=name,
            cleaning_horizon=f"{moment(modified):%a %b %d %H:%M:%S UTC %Y}",
            tombstone_horizon=horizon,
        )
        say(
            node,
            at + 423,
            "segment_cleaned",
            cleaner_thread=0,
            base_offset=begin,
            segment_bytes=size,
            partition_name=name,
            new_base_offset=0,
            modified_ms=modified,
            modified_at=f"{moment(modified):%a %b %d %H:%M:%S UTC %Y}",
            horizon_ms=at - 86_400_000,
        )
        say(
            node, at + 980, "cleaned_segment_swapped", cleaner_thread=0, base_offset=0, segment_bytes=left * 120, old_bytes=size, base_offsets=begin,
            modified_ms=modified, log_dir=log_dir, partition_name=name, dirty_to=end,
        )  # fmt: skip
        megabytes = size / 1048576
        say(
            node, at + 990, "cleaning_completed", cleaner_thread=0, partition_name=name, dirty_from=begin, dirty_to=end,
            processed_mb=f"{megabytes:,.1f}", duration_seconds="1.0", speed=f"{megabytes:,.1f}", indexed_mb=f"{megabytes:,.1f}", buffer_percent="0.1",
            start_size_mb=f"{megabytes:,.1f}", start_messages=f"{messages:,}", end_size_mb=f"{left * 120 / 1048576:,.1f}", end_messages=f"{left:,}",
            size_reduction_percent=f"{100 - 100 * left / (messages + left):.1f}", message_reduction_percent=f"{100 - 100 * left / (messages + left):.1f}",
        )  # fmt: skip

    # A life.

    def begin(self) -> None:
        """The cluster's birth and everything that is on its calendar from the start."""
        plan, start = self.plan, self.start
        for number, node in enumerate(self.brokers):
            self.later(start + 2_000 * number + 1, self.start_broker, node)
        self.later(start + MINUTE_MS, self.furnish)
        self.later(start + HOUR_MS, self.hour)
        self.later(start + 2 * MINUTE_MS, self.balance)
        if plan.roll_days:
            self.later(start + plan.roll_days * DAY_MS + 9 * HOUR_MS, self.roll)

    def furnish(self, at: int) -> None:
        """The topics and groups that the cluster has for good."""
        names = (
            "orders",
            "payments",
            "clickstream",
            "audit-trail",
            "stock-levels",
            "prices",
            "notifications",
            "shipments",
            "user-sessions",
            "carts",
        )
        offsets = self.create_topic(at, "__consumer_offsets", self.plan.offsets, 3, 8.0)
        for number in range(self.plan.topics):
            self.create_topic(
                at + 1_000 * (number + 1),
                f"{('shop', 'warehouse', 'billing')[number // len(names) % 3]}.{names[number % len(names)]}.v1",
                self.plan.partitions,
                3,
                40.0,
            )
        if self.plan.single:
            self.create_topic(at + 1_000 * (self.plan.topics + 1), "scratch", self.plan.single, 1, 2.0)
        self.groups = [
            Group(f"{names[number % len(names)]}-app-{number // len(names)}", self.random.choice(offsets), 3)
            for number in range(self.plan.groups)
        ]

    def fate(self, at: int) -> None:
        """The incidents of one day, each at a time that the seed gives."""
        for call, rate in (
            (self.flap, self.plan.flaps),
            (self.expire, self.plan.expiries),
            (self.kill, self.plan.kills),
            (self.make_topic, self.plan.topics_made),
        ):
            for _ in range(int(rate + self.random.random())):
                self.later(at + self.random.randrange(HOUR_MS, DAY_MS), call)

    def live(self, days: int) -> None:
        """Run day after day, writing what is settled; lines may reach a minute and a half into the next day."""
        self.begin()
        for day in range(days):
            at = self.start + day * DAY_MS
            self.fate(at)
            self.run(at + DAY_MS)
            self.journal.settle(at + DAY_MS)
