"""A ZooKeeper-mode cluster: who leads what, which sessions end, and what every node writes about it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bench.cluster import IMBALANCE, MINUTE_MS, SESSION_MS, Cluster, Partition
from bench.journal import HOUR_MS, ZOOKEEPER, Journal
from bench.plan import Plan
from bench.voices import Voices


class ZookeeperCluster(Cluster):
    """A cluster whose state is kept in ZooKeeper."""

    def __init__(self, name: str, release: str, seed: int, start: int, journal: Journal, plan: Plan, voices: Voices) -> None:
        super().__init__(name, release, seed, start, journal, plan, voices)
        # Whether requests are written partition by partition, as up to 2.3; and metadata for each broker, as up to 0.11.
        self.is_wordy = "leader_and_isr_sent" in voices.voices
        self.is_per_broker = self.is_wordy and "%(broker)s" in voices.voices["update_metadata_sent"].template
        self.controller_epoch = 0
        self.correlation = 0
        self.zxid = 0
        self.sessions = 0x100000000000000 + (self.random.getrandbits(24) << 16)

    def begin(self) -> None:
        self.schedule()

    # What is true.

    def store(self, at: int, kind: str, session: int = 0, **row: Any) -> None:
        """One transaction of ZooKeeper, as `truth.jsonl` has it."""
        self.zxid += 1
        self.journal.truth.append({"ts": at, "zxid": self.zxid, "session": hex(session), "type": kind, **row})

    def store_state(self, at: int, session: int, partition: Partition, kind: str) -> None:
        value = {
            "controller_epoch": self.controller_epoch,
            "leader": partition.leader,
            "version": 1,
            "leader_epoch": partition.epoch,
            "isr": list(partition.isr),
        }
        self.store(at, kind, session, path=partition.path, value=value)

    # The life of a broker.

    def start_broker(self, at: int, node: int, is_clean: bool = True) -> None:
        """The process starts; eight seconds later it registers."""
        say = self.say
        say(node, at, "node_starting")
        say(node, at + 3, "zookeeper_connecting", connect_string=f"{self.name}-zk1:2181,{self.name}-zk2:2181,{self.name}-zk3:2181/kafka")
        self.open_session(at + 20, node)
        say(node, at + 320, "kafka_cluster_id_logged", kafka_cluster_id=self.cluster_id())
        self.later(self.load_logs(at, node, 700, is_clean), self.register, node)

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

    def write_isr(self, at: int, changes: list[tuple[Partition, tuple[int, ...]]]) -> None:
        """Leaders change in-sync sets through the controller (AlterIsr); epochs of leaders stay."""
        boss = self.controller
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
        self.happened(at, at + 1700, "broker_stop_graceful SIGTERM", node)
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

    def expire(self, at: int) -> None:
        """A broker is frozen for longer than its session lives: it is taken out, comes back and registers again."""
        if self.is_busy(at, 10 * MINUTE_MS):
            return
        node = self.random.choice(self.up)
        old, was_controller = self.brokers[node].session, self.controller == node
        self.lose(at, node)
        back = at + self.random.randrange(2_000, 30_000)
        self.happened(at, back, "broker_frozen", node)
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

    # The controller, and how the brokers carry out its requests.

    def epochs(self) -> str:
        return ", ".join(f"{number} -> {self.brokers[number].epoch}" for number in self.up)

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
        self.request(at + 3 + len(partitions) // 30, partitions, self.up)

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
        """LeaderAndIsr and UpdateMetadata to brokers, and how they carry them out."""
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
                for partition in (*led, *followed) if self.is_wordy else ():
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

    # Topics.

    def create_topic(self, at: int, topic: str, partitions: int, copies: int, per_second: float) -> list[Partition]:
        made = self.laid_out(topic, partitions, copies, per_second)
        boss = self.controller
        assignment = ", ".join(
            f"{partition.name} -> ReplicaAssignment(replicas={','.join(map(str, partition.replicas))}, addingReplicas=, removingReplicas=)"
            for partition in made
        )
        self.store(at - 20, "create", self.brokers[boss].session, path=f"/brokers/topics/{topic}", value={"version": 3})
        self.say(boss, at - 6, "topic_created", topic=topic, topic_id=made[0].topic_id, assignment=f"HashMap({assignment})")
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

    def delete_topic(self, at: int, topic: str) -> None:
        if self.is_busy(at):
            self.later(at + HOUR_MS, self.delete_topic, topic)
            return
        boss, session = self.controller, self.brokers[self.controller].session
        self.say(boss, at, "topic_deletion_started", topic=topic)
        for partition in self.delete_files(at, topic):
            self.store(at + 400, "delete", session, path=partition.path)
        self.say(boss, at + 450, "topic_deleted", topic=topic)
