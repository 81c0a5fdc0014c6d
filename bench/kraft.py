"""A KRaft cluster: the quorum and its terms, brokers that are registered, fenced and unfenced, and what every node writes about it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bench.cluster import IMBALANCE, MINUTE_MS, Cluster, Partition
from bench.journal import HOUR_MS, Journal
from bench.plan import Plan
from bench.voices import Voices

CONTROLLERS = (11, 12, 13)
# broker.session.timeout.ms; a controller is missed after two seconds (controller.quorum.fetch.timeout.ms).
SESSION_MS = 9_000


class KraftCluster(Cluster):
    """A cluster whose state is kept in its own metadata log."""

    def __init__(self, name: str, release: str, seed: int, start: int, journal: Journal, plan: Plan, voices: Voices) -> None:
        super().__init__(name, release, seed, start, journal, plan, voices)
        self.term = 0
        self.offset = -1
        self.incarnations = dict.fromkeys(self.brokers, "")

    def begin(self) -> None:
        self.elect_controller(self.start + 500, self.random.choice(CONTROLLERS))
        self.schedule()

    # What is true.

    def record(self, at: int, kind: str, **row: Any) -> int:
        """One record of the metadata log, as `metadata.jsonl` has it; its offset."""
        self.offset += 1
        self.journal.truth.append({"offset": self.offset, "epoch": self.term, "ts": at, "type": kind, **row})
        return self.offset

    def change_record(self, at: int, partition: Partition, **changed: Any) -> None:
        """A change of a partition; what is not named stays."""
        self.record(
            at,
            "PARTITION_CHANGE_RECORD",
            data={"partitionId": partition.number, "topicId": partition.topic_id, **changed},
            topic=partition.topic,
        )

    def everywhere(self, at: int, name: str, **values: Any) -> None:
        """A record that every controller replays."""
        for node in CONTROLLERS:
            self.say(node, at + (0 if node == self.controller else 3 + node % 5), name, **values)

    # The quorum.

    def elect_controller(self, at: int, node: int) -> None:
        """A controller wins an election; all others follow it."""
        self.term += 1
        self.controller = node
        offset = self.record(at, "CONTROL", control="LEADER_CHANGE", leader=node)
        directory = "".join(self.random.choices("abcdefghijklmnop", k=22))
        self.say(
            node,
            at + 1,
            "raft_leader",
            quorum_state="Leader",
            quorum_leader=node,
            directory_id=directory,
            quorum_epoch=self.term,
            epoch_start_offset=offset,
        )
        self.say(node, at + 60, "controller_activated", quorum_epoch=self.term, next_write_offset=offset + 1)
        for other in (*CONTROLLERS, *self.up):
            if other == node:
                continue
            self.say(
                other,
                at + 30,
                "raft_follower",
                quorum_state="FollowerState",
                fetch_timeout_ms=2000,
                quorum_epoch=self.term,
                quorum_leader=node,
                state_left=f"voters=[], highWatermark=Optional.empty) from UnattachedState(epoch={self.term}, voters=[])",
            )
            if other in CONTROLLERS:
                self.say(other, at + 40, "quorum_leader_observed", quorum_epoch=self.term, quorum_leader=node)
            else:
                self.say(
                    other,
                    at + 200,
                    "broker_observed_controller",
                    channel="heartbeat",
                    controller=node,
                    controller_address=self.address(node),
                )

    # The life of a broker.

    def start_broker(self, at: int, node: int, is_clean: bool = True) -> None:
        """The process starts, loads its logs and registers; it is unfenced when it has caught up."""
        say = self.say
        say(node, at, "node_starting")
        say(
            node,
            at + 300,
            "broker_observed_controller",
            channel="heartbeat",
            controller=self.controller,
            controller_address=self.address(self.controller),
        )
        self.later(self.load_logs(at, node, 600, is_clean), self.register, node)

    def register(self, at: int, node: int) -> None:
        """A new incarnation is registered, still fenced."""
        previous, self.incarnations[node] = self.incarnations[node], self.identifier()
        incarnation = self.incarnations[node]
        self.say(node, at - 20, "broker_incarnation_started", incarnation_id=incarnation, broker=node, kafka_cluster_id=self.cluster_id())
        epoch = self.record(at, "REGISTER_BROKER_RECORD", data={"brokerId": node, "incarnationId": incarnation, "fenced": True})
        self.brokers[node].epoch = epoch
        name = "broker_registration_renewed" if previous else "broker_registration_accepted"
        self.say(
            self.controller,
            at,
            name,
            broker=node,
            previous_incarnation_id=previous,
            incarnation_id=incarnation,
            records_written=0,
            broker_epoch=epoch,
        )
        self.everywhere(
            at + 2,
            "broker_registration_replayed",
            broker=node,
            incarnation_id=incarnation,
            broker_epoch=epoch,
            fenced="true",
            in_controlled_shutdown="false",
        )
        self.say(node, at + 30, "broker_registered_with_controller", broker=node, broker_epoch=epoch)
        self.say(node, at + 400, "broker_caught_up")
        self.later(at + 420, self.unfence, node, True)

    def unfence(self, at: int, node: int, is_new: bool) -> None:
        """A broker that has caught up may lead again; leaderless partitions take it at once."""
        broker = self.brokers[node]
        broker.is_up = True
        broker.known.clear()
        self.record(
            at,
            "BROKER_REGISTRATION_CHANGE_RECORD",
            data={"brokerId": node, "brokerEpoch": broker.epoch, "fenced": -1, "inControlledShutdown": 0},
        )
        self.say(self.controller, at, "broker_unfencing_granted", broker=node, broker_epoch=broker.epoch, offset=broker.epoch)
        self.everywhere(at + 1, "broker_registration_changed", broker=node, broker_epoch=broker.epoch, fenced=-1, in_controlled_shutdown=0)
        if is_new:
            self.say(node, at + 30, "broker_unfenced_noticed")
            self.say(node, at + 200, "broker_started")
            self.say(node, at + 210, "kafka_version_logged", kafka_version=self.release)
            self.say(node, at + 220, "node_started")
        hosted = [partition for partition in self.partitions if node in partition.replicas]
        self.change(at + 1, [(partition, node, partition.isr) for partition in hosted if partition.leader == -1 and node in partition.isr])
        self.tell(at + 20, hosted, [node])
        self.later(at + self.random.randrange(4_000, 20_000), self.catch_up, node)

    def stop_broker(self, at: int, node: int) -> None:
        """A controlled shutdown: it leads nothing any more, then it is let go; its fencing comes when its session is over."""
        broker, say = self.brokers[node], self.say
        if not broker.is_up or len(self.up) < 2:
            return
        boss = self.controller
        say(node, at, "termination_signal_received", signal="SIGTERM")
        say(node, at + 3, "controlled_shutdown_started")
        self.record(
            at + 12,
            "BROKER_REGISTRATION_CHANGE_RECORD",
            data={"brokerId": node, "brokerEpoch": broker.epoch, "fenced": 0, "inControlledShutdown": 1},
        )
        say(boss, at + 12, "broker_shutdown_asked", broker=node, broker_epoch=broker.epoch)
        self.everywhere(at + 13, "broker_registration_changed", broker=node, broker_epoch=broker.epoch, fenced=0, in_controlled_shutdown=1)
        changes = self.without(node)
        say(
            boss,
            at + 14,
            "leaving_partitions_counted",
            change_reason="enterControlledShutdown",
            broker=node,
            partitions_changed=len(changes),
        )
        self.change(at + 14, changes)
        say(
            boss,
            at + 600,
            "broker_shutdown_granted",
            broker=node,
            broker_epoch=broker.epoch,
            offset=self.offset + 1,
            shutdown_offset=self.offset,
        )
        say(node, at + 640, "controlled_shutdown_succeeded")
        for number, thread in enumerate(("Produce", "Fetch", "DeleteRecords", "ElectLeader", "Heartbeat", "Rebalance")):
            say(node, at + 700 + 3 * number, "thread_stopping", thread=f"ExpirationReaper-{node}-{thread}")
            say(node, at + 701 + 3 * number, "thread_stopped", thread=f"ExpirationReaper-{node}-{thread}")
        say(node, at + 800, "cleaner_stopped")
        say(node, at + 840, "coordinator_stopped")
        for number, partition in enumerate(partition for partition in self.partitions if node in partition.replicas):
            say(
                node,
                at + 900 + number,
                "producer_snapshot_written",
                partition_name=partition.name,
                offset=self.end_offset(partition, at),
                producers=2,
                duration_ms=1,
            )
        say(node, at + 1_900, "node_stopped")
        self.happened(at, at + 1_900, "broker_stop_graceful SIGTERM", node)
        broker.is_up = False
        broker.known.clear()
        self.later(at + 640 + SESSION_MS, self.fence, node)

    def lose(self, at: int, node: int) -> None:
        """A broker has said nothing for the whole of its session: it is fenced, and leads nothing any more."""
        self.brokers[node].is_up = False
        self.brokers[node].known.clear()
        self.fence(at, node)

    def fence(self, at: int, node: int) -> None:
        epoch = self.brokers[node].epoch
        boss = self.controller
        self.say(boss, at - 3, "broker_fenced", broker=node, broker_epoch=epoch)
        changes = self.without(node)
        if changes:
            self.say(boss, at - 1, "fenced_partitions_counted", change_reason="handleBrokerFenced", partitions_changed=len(changes))
        self.change(at, changes)
        self.record(
            at, "BROKER_REGISTRATION_CHANGE_RECORD", data={"brokerId": node, "brokerEpoch": epoch, "fenced": 1, "inControlledShutdown": 0}
        )
        self.everywhere(at + 1, "broker_registration_changed", broker=node, broker_epoch=epoch, fenced=1, in_controlled_shutdown=0)

    def without(self, node: int) -> list[tuple[Partition, int, tuple[int, ...]]]:
        """What partitions become without a broker: their leader and in-sync set; the last of a set stays in it."""
        up = set(self.up) - {node}
        changes = []
        for partition in self.partitions:
            if node not in partition.isr and partition.leader != node:
                continue
            isr = tuple(number for number in partition.isr if number != node) or partition.isr
            leader = partition.leader
            if leader == node or leader == -1:
                leader = next((number for number in partition.replicas if number in isr and number in up), -1)
            if (leader, isr) != (partition.leader, partition.isr):
                changes.append((partition, leader, isr))
        return changes

    def expire(self, at: int) -> None:
        """A broker, or else the active controller, is frozen for longer than its timeout, and comes back."""
        if self.is_busy(at, 10 * MINUTE_MS):
            return
        if self.random.random() < 0.3:
            old = self.controller
            # The epoch in which a vote was lost has no leader.
            self.term += self.random.randrange(2)
            self.elect_controller(at, self.random.choice([node for node in CONTROLLERS if node != old]))
            self.happened(at, at, "controller_frozen", old)
            return
        node = self.random.choice(self.up)
        self.lose(at, node)
        for other in self.up:
            session, epoch = self.random.getrandbits(30), self.random.getrandbits(12)
            self.say(
                other, at - 200, "fetch_request_failed", fetch_leader=node, leader=node, fetcher=0, fetch_session=session, fetch_epoch=epoch
            )
        back = at + self.random.randrange(2_000, 30_000)
        self.happened(at, back, "broker_frozen", node)
        self.later(back, self.unfence, node, False)

    # Leaders and followers.

    def change(self, at: int, changes: list[tuple[Partition, int, tuple[int, ...]]]) -> None:
        """Leaders and in-sync sets change; the leader's epoch rises with the leader alone."""
        self.placed.clear()
        for partition, leader, isr in changes:
            changed: dict[str, Any] = {}
            if isr != partition.isr:
                changed["isr"] = list(isr)
            if leader != partition.leader:
                changed["leader"] = leader
                partition.epoch += 1
            partition.leader, partition.isr = leader, isr
            partition.version += 1
            self.change_record(at, partition, **changed)
        self.tell(at + 40, [partition for partition, _, _ in changes], self.up)

    def write_isr(self, at: int, changes: list[tuple[Partition, tuple[int, ...]]]) -> None:
        for number, (partition, isr) in enumerate(changes):
            partition.isr = isr
            partition.version += 1
            self.change_record(at, partition, isr=list(isr))
            self.say(
                partition.leader,
                at + 8 + number % 5,
                "isr_updated",
                partition_name=partition.name,
                isr=",".join(map(str, isr)),
                partition_epoch=partition.version,
            )
        self.tell(at + 20, [partition for partition, _ in changes], self.up)

    def tell(self, at: int, partitions: Iterable[Partition], nodes: list[int]) -> None:
        """Brokers replay what has changed of their partitions."""
        partitions = list(partitions)
        for node in nodes:
            mine = [partition for partition in partitions if node in partition.replicas]
            led = [partition for partition in mine if partition.leader == node]
            followed = [partition for partition in mine if partition.leader != node]
            if mine:
                self.replay(at, node, led, followed)

    def replay(self, at: int, node: int, led: list[Partition], followed: list[Partition]) -> None:
        """A broker becomes leader and follower as the metadata say."""
        broker, say, log_dir = self.brokers[node], self.say, self.log_dir(node)
        if node not in self.journal.kept:
            for partition in (*led, *followed):
                broker.known[partition] = (partition.epoch, partition.leader)
            broker.loaded.update(led, followed)
            return
        for partition in (*led, *followed):
            if partition not in broker.loaded:
                broker.loaded.add(partition)
                say(node, at, "partition_hosted", partition_name=partition.name, topic_id=partition.topic_id)
                say(node, at, "log_created", partition_name=partition.name, log_dir=f"{log_dir}/{partition.name}", settings="")
                say(node, at, "high_watermark_checkpoint_missing", partition_name=partition.name)
            if partition not in broker.known:
                say(node, at, "partition_log_loaded", partition_name=partition.name, high_watermark=self.end_offset(partition, at))
        if led:
            say(node, at, "partitions_led", partitions=len(led))
        for number, partition in enumerate(led):
            epoch, leader = broker.known.get(partition, (-1, -1))
            end, when = self.end_offset(partition, at), at + 1 + number // 20
            said = self.stored(partition) | {"start_offset": end, "high_watermark": end, "previous_leader_epoch": epoch}
            if epoch == partition.epoch:
                say(node, when, "leader_skipped", **said)
            else:
                say(node, when, "leader_started", **said, previous_leader=f"Some({leader})" if leader != -1 else "None")
                if partition.topic == "__consumer_offsets" and leader != node:
                    self.load_group(when + 1, node, partition)
            broker.known[partition] = (partition.epoch, node)
        at += 2 + len(led) // 20
        if followed:
            say(node, at, "partitions_followed", partitions=len(followed))
        fetched: dict[int, list[Partition]] = {}
        for number, partition in enumerate(followed):
            epoch, leader = broker.known.get(partition, (-1, -1))
            end, when = self.end_offset(partition, at), at + 1 + number // 20
            previous = f"Some({leader})" if leader != -1 else "None"
            said = self.stored(partition) | {
                "start_offset": end,
                "high_watermark": end,
                "previous_leader_epoch": epoch,
                "previous_leader": previous,
            }
            if epoch == partition.epoch:
                say(node, when, "follower_skipped", **said)
                continue
            say(node, when, "follower_started", **said)
            if partition.leader != -1:
                fetched.setdefault(partition.leader, []).append(partition)
            if partition.topic == "__consumer_offsets":
                self.unload_group(when + 1, node, partition)
            broker.known[partition] = (partition.epoch, partition.leader)
        at += 2 + len(followed) // 20
        if fetched:
            say(node, at, "become_follower_handled", partitions=sum(map(len, fetched.values())))
        for leader, some in fetched.items():
            offsets = ", ".join(
                f"{partition.name} -> InitialFetchState(Some({partition.topic_id}),BrokerEndPoint(id={leader}, host={self.address(leader)}),{partition.epoch},{self.end_offset(partition, at)})"
                for partition in some
            )  # fmt: skip
            say(node, at + 1, "fetcher_added", leader=leader, offsets=offsets)

    def stored(self, partition: Partition) -> dict[str, Any]:
        """A partition as the metadata have it."""
        return {
            "controller_epoch": -1,
            "partition_name": partition.name,
            "topic": partition.topic,
            "topic_id": partition.topic_id,
            "partition": partition.number,
            "leader": partition.leader,
            "leader_epoch": partition.epoch,
            "isr": ",".join(map(str, partition.isr)),
            "partition_epoch": partition.version,
            "replicas": ",".join(map(str, partition.replicas)),
        }

    def balance(self, at: int) -> None:
        """The controller's round: it moves leaders home, broker by broker."""
        self.later(at + self.plan.balance_minutes * MINUTE_MS, self.balance)
        for node in sorted(self.up):
            preferred, away = self.misplaced(node)
            moved = [partition for partition in away if node in partition.isr and partition.leader != -1]
            if len(away) > IMBALANCE * preferred and moved:
                self.say(
                    self.controller,
                    at + 2,
                    "controller_events_measured",
                    controller_event="maybeBalancePartitionLeaders",
                    records_written=len(moved),
                    duration_us=740,
                )
                self.change(at, [(partition, node, partition.isr) for partition in moved])

    # Topics.

    def create_topic(self, at: int, topic: str, partitions: int, copies: int, per_second: float) -> list[Partition]:
        made = self.laid_out(topic, partitions, copies, per_second)
        topic_id = made[0].topic_id
        self.say(self.controller, at - 2, "topic_creation_answered", topic=topic, partitions=partitions, copies=copies)
        self.record(at, "TOPIC_RECORD", data={"name": topic, "topicId": topic_id})
        self.everywhere(at, "topic_created", topic=topic, topic_id=topic_id)
        for partition in made:
            partition.leader = next(node for node in partition.replicas if self.brokers[node].is_up)
            partition.isr = tuple(node for node in partition.replicas if self.brokers[node].is_up)
            partition.epoch = partition.version = 0
            self.record(
                at,
                "PARTITION_RECORD",
                data={
                    "partitionId": partition.number,
                    "topicId": topic_id,
                    "replicas": list(partition.replicas),
                    "isr": list(partition.isr),
                    "leader": partition.leader,
                    "leaderEpoch": 0,
                    "partitionEpoch": 0,
                },
            )
            self.everywhere(at + 1, "partition_created", **self.stored(partition))
        self.tell(at + 150, made, self.up)
        return made

    def delete_topic(self, at: int, topic: str) -> None:
        if self.is_busy(at):
            self.later(at + HOUR_MS, self.delete_topic, topic)
            return
        topic_id = self.delete_files(at, topic)[0].topic_id
        self.record(at, "REMOVE_TOPIC_RECORD", data={"topicId": topic_id})
        self.everywhere(at + 1, "topic_deleted", topic=topic, topic_id=topic_id)
