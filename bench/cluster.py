"""What clusters of both modes have in common: partitions, groups, the load of the day, and a calendar of incidents."""

from __future__ import annotations

import heapq
import random
import string
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bench.journal import DAY_MS, HOUR_MS, Journal, moment
from bench.plan import Plan
from bench.voices import Voices

SESSION_MS = 18_000
MINUTE_MS = 60_000
# The share of misplaced leaders from which the balancer acts (leader.imbalance.per.broker.percentage).
IMBALANCE = 0.1
LETTERS = string.ascii_letters + string.digits
LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR")
# Load of each hour relative to the mean hour, from midnight on.
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
    topic_id: str = ""
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


class Cluster(ABC):
    """The state of one cluster and the queue of what happens to it; all by one seed."""

    def __init__(self, name: str, release: str, seed: int, start: int, journal: Journal, plan: Plan, voices: Voices) -> None:
        self.name = name
        self.release = release
        self.random = random.Random(f"{seed} {name}")
        self.start = start
        self.journal = journal
        self.plan = plan
        # Where the lines of a node go: nowhere for nodes whose files are not kept, and for lines that the release or the level leaves out.
        said = [
            voice for voice in voices.voices.values() if voice.file != "controller" or LEVELS.index(voice.level) >= LEVELS.index(plan.level)
        ]
        self.sinks = {
            (node, voice.name): (journal.sink(node, voice.file), voice.template, voice.derived) for node in journal.kept for voice in said
        }
        self.brokers = {number: Broker(number) for number in range(1, plan.brokers + 1)}
        self.controller = 0
        self.partitions: list[Partition] = []
        self.groups: list[Group] = []
        self.queue: list[tuple[int, int, Callable[..., None], tuple[Any, ...]]] = []
        self.count = 0
        self.busy_until = 0
        # What `misplaced` found, by broker; emptied whenever leaders change.
        self.placed: dict[int, tuple[int, list[Partition]]] = {}

    # Log lines and their times.

    def say(self, node: int, at: int, name: str, **values: Any) -> None:
        """One line of a node, if its files are kept and its release prints such a line."""
        if (node, name) in self.sinks:
            values["node"] = node
            add, template, derived = self.sinks[node, name]
            for made, source, write in derived:
                values[made] = write(values[source])
            add((at, template % values))

    def happened(self, at: int, until: int, action: str, node: int) -> None:
        """One thing that was done to a broker, as `actions.jsonl` has it."""
        self.journal.actions.append({"start": at, "end": until, "action": action, "broker": node})

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

    def cluster_id(self) -> str:
        return "".join(random.Random(self.name).choices(LETTERS, k=22))

    def end_offset(self, partition: Partition, at: int) -> int:
        return int((at - self.start) * partition.per_second / 1000)

    def laid_out(self, topic: str, partitions: int, copies: int, per_second: float) -> list[Partition]:
        """The partitions of a new topic, spread over the brokers."""
        nodes = list(self.brokers)
        first = self.random.randrange(len(nodes))
        topic_id = self.identifier()
        made = []
        for number in range(partitions):
            step = -1 if copies > 1 and number // len(nodes) % 2 else 1
            order = tuple(nodes[(first + number + step * place) % len(nodes)] for place in range(min(copies, len(nodes))))
            made.append(Partition(topic, number, order, per_second * self.random.uniform(0.5, 1.5), topic_id=topic_id))
        self.partitions += made
        self.placed.clear()
        return made

    def identifier(self) -> str:
        """One of Kafka's, 22 letters and digits."""
        return "".join(self.random.choices(LETTERS, k=22))

    def misplaced(self, node: int) -> tuple[int, list[Partition]]:
        """How many partitions prefer a broker, and those of them that another leads; looked up again when leaders have changed."""
        if node not in self.placed:
            preferred = [partition for partition in self.partitions if partition.replicas[0] == node]
            self.placed[node] = len(preferred), [partition for partition in preferred if partition.leader != node]
        return self.placed[node]

    # Files of partitions.

    def load_logs(self, at: int, node: int, after_ms: int, is_clean: bool) -> int:
        """A broker that starts at a time loads its logs, so many ms later, and then starts what works on them.  Returns when it can register."""
        say, log_dir = self.say, self.log_dir(node)
        hosted = [partition for partition in self.partitions if node in partition.replicas]
        began = at + after_ms
        say(node, began, "log_loading_started", log_dirs=log_dir)
        if hosted:
            say(node, began + 5, "log_recovery_skipped" if is_clean else "log_recovery_started", log_dir=log_dir, logs=len(hosted))
        when = began + 6
        for number, partition in enumerate(hosted, 1):
            end = self.end_offset(partition, at)
            where = {"partition_name": partition.name, "log_dir": log_dir}
            if not is_clean:
                say(node, when, "segment_recovered", **where, base_offset=partition.start_offset, segments_recovered=0, segments=1)
            say(node, when, "producer_state_loaded", **where, to_offset=end)
            say(
                node, when + 1, "log_loaded", **where, topic=partition.topic, partition=partition.number, topic_id=partition.topic_id, high_watermark=end,
                log_start_offset=partition.start_offset, local_log_start_offset=partition.start_offset, log_end_offset=end, segments=7,
                duration_ms=1 + number % 9, number=number, logs=len(hosted),
            )  # fmt: skip
            when += 2 if is_clean else 31
        say(node, when, "log_loading_completed", logs=len(hosted), duration_ms=when - began)
        say(node, when + 15, "cleaner_started")
        say(node, when + 16, "cleaner_thread_started", cleaner_thread=0)
        for number, thread in enumerate(("Produce", "Fetch", "DeleteRecords", "ElectLeader", "Heartbeat", "Rebalance")):
            say(node, when + 400 + number, "thread_started", thread=f"ExpirationReaper-{node}-{thread}")
        say(node, when + 900, "coordinator_started")
        return when + 1_200

    def delete_files(self, at: int, topic: str) -> list[Partition]:
        """Brokers delete the files of a topic.  Returns its partitions, which are gone."""
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
        return gone

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
        said = {"group_id": group.name, "generation_id": group.generation, "partition_name": partition, "members": group.members}
        leader = f"{group.name}-1-{self.random.getrandbits(128):032x}"
        say(node, at + took, "group_stabilised", **said)
        say(node, at + took + 6, "group_assignment_received", **said, static_members=0, member_id=leader)

    # What goes wrong.

    def is_busy(self, at: int, ms: int = 0) -> bool:
        """Whether another incident is still going on, or not all brokers are up; otherwise the next `ms` are taken."""
        if at < self.busy_until or len(self.up) < len(self.brokers):
            return True
        self.busy_until = at + ms
        return False

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
            self.happened(at, at, "follower_behind", follower)
            self.write_isr(at + 10, [(partition, tuple(other for other in partition.isr if other != follower)) for partition in some])
            self.later(at + self.random.randrange(5_000, 90_000), self.catch_up, follower)

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
        back = at + self.random.randrange(1, 8) * MINUTE_MS
        self.happened(at, back, "broker_killed", node)
        self.later(back, self.start_broker, node, False)

    def roll(self, at: int) -> None:
        """All brokers are restarted one after the other, ten minutes apart."""
        if self.is_busy(at, (10 * len(self.brokers) + 5) * MINUTE_MS):
            self.later(at + HOUR_MS, self.roll)
            return
        self.later(at + self.plan.roll_days * DAY_MS, self.roll)
        for number, node in enumerate(self.brokers):
            self.later(at + number * 10 * MINUTE_MS, self.stop_broker, node)
            self.later(at + number * 10 * MINUTE_MS + 40_000, self.start_broker, node)

    def make_topic(self, at: int) -> None:
        """A topic that lives for some days."""
        if self.is_busy(at):
            return
        topic = f"batch-{moment(at):%m%d%H%M}"
        self.create_topic(at, topic, 6, 3, 3.0)
        self.later(at + self.random.randrange(1, 12) * DAY_MS, self.delete_topic, topic)

    # The load of the day.

    def hour(self, at: int) -> None:
        """What an hour brings: segments that roll and expire, cleanings, rebalances."""
        self.later(at + HOUR_MS, self.hour)
        share = HOURS[at // HOUR_MS % 24] / 24
        chance = self.random
        plain = [partition for partition in self.partitions if not partition.topic.startswith("__")]
        for _ in range(int(self.plan.rolls * share + chance.random())):
            self.later(at + chance.randrange(HOUR_MS), self.roll_segment, chance.choice(plain))
        compacted = [group.partition for group in self.groups]
        for _ in range(int(self.plan.cleanings * share + chance.random())):
            if self.groups:
                partition = chance.choice(compacted)
                self.later(at + chance.randrange(HOUR_MS), self.clean, chance.choice(partition.replicas), partition)
        for _ in range(int(self.plan.rebalances * share + chance.random())):
            if self.groups:
                self.later(at + chance.randrange(HOUR_MS), self.rebalance, chance.choice(self.groups), chance.choice(("expired", "joined")))
        for when in range(at, at + HOUR_MS, 10 * MINUTE_MS):
            if when // MINUTE_MS % self.plan.expiry_minutes == 0:
                for node in self.up:
                    removed, took = chance.randrange(9), chance.randrange(4)
                    self.say(node, when + node * 137, "expired_offsets_removed", offsets_removed=removed, duration_ms=took)

    def roll_segment(self, at: int, partition: Partition) -> None:
        """Every replica starts a segment and drops one that is a week old."""
        for step, node in enumerate(partition.replicas):
            if node not in self.journal.kept or not self.brokers[node].is_up:
                continue
            log_dir, say, when = self.log_dir(node), self.say, at + 37 * step
            end = self.end_offset(partition, when)
            say(node, when, "producer_snapshot_written", partition_name=partition.name, offset=end, producers=2, duration_ms=1)
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

    # What each mode does in its own way.

    @abstractmethod
    def begin(self) -> None:
        """Everything that is on the calendar from the start."""

    @abstractmethod
    def start_broker(self, at: int, node: int, is_clean: bool = True) -> None:
        """A broker's process starts."""

    @abstractmethod
    def stop_broker(self, at: int, node: int) -> None:
        """A controlled shutdown."""

    @abstractmethod
    def lose(self, at: int, node: int) -> None:
        """A broker is gone without a word, and its session over."""

    @abstractmethod
    def expire(self, at: int) -> None:
        """A broker is frozen for longer than its session lives, and comes back."""

    @abstractmethod
    def write_isr(self, at: int, changes: list[tuple[Partition, tuple[int, ...]]]) -> None:
        """Leaders change in-sync sets; the epochs of leaders stay."""

    @abstractmethod
    def create_topic(self, at: int, topic: str, partitions: int, copies: int, per_second: float) -> list[Partition]:
        """A topic with its leaders."""

    @abstractmethod
    def delete_topic(self, at: int, topic: str) -> None:
        """A topic goes."""

    @abstractmethod
    def balance(self, at: int) -> None:
        """A round of the balancer."""

    # A life.

    def schedule(self) -> None:
        """What both modes have on their calendars from the start."""
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
