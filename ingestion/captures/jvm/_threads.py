"""Threads of one dump, and the deadlocks among them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

LOCK = "waiting to lock"
AGAIN = "waiting to re-lock in wait()"
PARK = "parking to wait for"
WAIT = "waiting on"

KAFKA_FRAME = re.compile(r"(?:[\w.@-]+/+)?(?:kafka|org\.apache\.kafka)\.")
JDK_FRAME = re.compile(r"(?:java\.\w+(?:@[^/]*)?/+)?(?:java|jdk|sun)\.")
LOCK_HELPER = re.compile(r"\.(?:in|with|under)(?P<kind>Write|Read)Lock[\w$]*\(")
READ_WRITE_LOCK = re.compile(r"\bReentrantReadWriteLock\b")
SHOWN_FRAMES = 8


@dataclass
class Thread:
    """One thread.  `wait_edge`: whether it cannot continue before another releases the lock (Object.wait needs no lock)."""

    offset: int
    raw: list[str]
    fields: dict[str, str] = field(default_factory=dict)
    frames: list[str] = field(default_factory=list)
    holds: dict[str, str] = field(default_factory=dict)
    released: set[str] = field(default_factory=set)
    owner_number: str | None = None
    warnings: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.fields.get("name", "")

    @property
    def label(self) -> str:
        """Its name; of a virtual thread without one its number."""
        return self.name or f"#{self.fields.get('number', '')}"

    @property
    def blocked_on(self) -> str | None:
        """The lock that another thread has to release, if this one waits for one."""
        kind = self.fields.get("waits_kind")
        state = self.fields.get("state")
        # a timed wait for a lock ends by itself; JDK 8 prints "waiting on" also for a thread that wants its monitor back
        waits = kind in (LOCK, AGAIN) or (kind == PARK and state != "TIMED_WAITING") or (kind == WAIT and state == "BLOCKED")
        return self.fields.get("waits_for") if waits else None

    def waits(self, kind: str, lock: str, lock_class: str | None) -> None:
        """The first wait that is printed is that of the top frame."""
        if "waits_kind" in self.fields:
            return
        self.fields |= {"waits_kind": kind, "waits_for": lock} | ({"waits_for_class": lock_class} if lock_class else {})
        if kind in (WAIT, AGAIN):
            self.released.add(lock)  # Object.wait has given the monitor away, though its frame is still printed as `locked`

    def complete(self) -> dict[str, str]:
        """All fields of its row."""
        kafka = [frame for frame in self.frames if KAFKA_FRAME.match(frame)]
        holds = {lock: name for lock, name in self.holds.items() if lock not in self.released}
        self.holds = holds
        fields = dict(self.fields) | {"frame_count": str(len(self.frames))}
        if holds:
            fields |= {"holds": ",".join(holds), "holds_classes": ",".join(holds.values())}
        if self.frames:
            fields["frames"] = "\n".join(self.frames[:SHOWN_FRAMES])
        if kafka:
            fields["kafka_frames"] = "\n".join(kafka[:SHOWN_FRAMES])
        return fields


@dataclass(frozen=True)
class Edge:
    """A thread that waits for a lock, and one that holds it."""

    waiter: Thread
    holder: Thread
    is_doubtful: bool


def class_of(frame: str) -> str:
    """`kafka.cluster.Partition` of a frame of it or of what is nested in it."""
    return re.sub(r"^[\w.@-]+/+", "", frame.split("(", 1)[0]).rsplit(".", 1)[0].split("$", 1)[0]


def users_of(thread: Thread) -> tuple[str | None, set[str]]:
    """(class for whose read-write lock a thread waits, classes whose read lock it holds), as helpers among its frames tell.

    A helper takes the lock around the code of the class that calls it (`CoreUtils.inReadLock`).  The one directly below the wait is
    not yet inside; where other code stands between them, nothing tells whose lock the thread waits for.
    """
    waits = thread.blocked_on is not None and READ_WRITE_LOCK.search(thread.fields.get("waits_for_class", ""))
    frames = [frame for frame in thread.frames if not JDK_FRAME.match(frame)]
    wanted, held = None, set()
    for place, (frame, caller) in enumerate(pairwise(frames)):
        helper = LOCK_HELPER.search("." + frame)
        if helper is None:
            continue
        if waits and {class_of(above) for above in frames[:place]} <= {class_of(frame)}:
            wanted = class_of(caller)
        elif helper["kind"] == "Read":
            held.add(class_of(caller))
    return wanted, held


class Waits:
    """Who waits for whom in one dump, as far as it is printed.

    A thread waits for one lock, which has one owner or several readers.  Dumps do not print the readers of a ReentrantReadWriteLock: if
    no owner of such a lock is printed, the blocked threads within a read-lock helper of the class from which its waiters call
    one are taken as its readers, which is doubtful.
    """

    def __init__(self, threads: list[Thread]) -> None:
        self.threads = threads
        self.by_number = {thread.fields["number"]: thread for thread in threads if "number" in thread.fields}
        self.by_lock = {lock: thread for thread in threads for lock in thread.holds}
        self.readers = self._readers()
        self.edges = {id(thread): self._edges_of(thread) for thread in threads}

    def owner_of(self, thread: Thread) -> Thread | None:
        """The other thread that is printed as the owner of the lock which this one waits for."""
        lock = thread.blocked_on
        owner = self.by_number.get(thread.owner_number or "") or self.by_lock.get(lock or "")
        return None if lock is None or owner is thread else owner

    def _readers(self) -> dict[str, list[Thread]]:
        """Lock -> threads that seem to read under it."""
        wanted: dict[str, set[str]] = {}
        readers: dict[str, list[Thread]] = {}
        for thread in self.threads:
            user, held = users_of(thread)
            if user is not None and thread.blocked_on is not None:
                wanted.setdefault(thread.blocked_on, set()).add(user)
            for name in held if thread.blocked_on is not None else ():
                readers.setdefault(name, []).append(thread)
        return {
            lock: list(
                {id(thread): thread for user in sorted(users) for thread in readers.get(user, []) if thread.blocked_on != lock}.values()
            )
            for lock, users in wanted.items()
            if lock not in self.by_lock
        }

    def _edges_of(self, thread: Thread) -> list[Edge]:
        owner = self.owner_of(thread)
        if owner is not None:
            return [Edge(thread, owner, False)]
        return [Edge(thread, reader, True) for reader in self.readers.get(thread.blocked_on or "", [])]

    def deadlocks(self) -> list[list[Edge]]:
        """The edges within each strongly connected part of two or more threads, along the waits from its first thread on (Tarjan 1972)."""
        index: dict[int, int] = {}
        low: dict[int, int] = {}
        pending: list[Thread] = []
        part_of: dict[int, int] = {}
        for root in self.threads:
            path = [] if id(root) in index else [(root, iter(self.edges[id(root)]))]
            while path:
                thread, following = path[-1]
                if id(thread) not in index:
                    index[id(thread)] = low[id(thread)] = len(index)
                    pending.append(thread)
                for edge in following:
                    if id(edge.holder) not in index:
                        path.append((edge.holder, iter(self.edges[id(edge.holder)])))
                        break
                    if id(edge.holder) not in part_of:
                        low[id(thread)] = min(low[id(thread)], index[id(edge.holder)])
                else:
                    path.pop()
                    if path:
                        above = id(path[-1][0])
                        low[above] = min(low[above], low[id(thread)])
                    if low[id(thread)] == index[id(thread)]:
                        while id(thread) not in part_of:
                            part_of[id(pending.pop())] = index[id(thread)]
        sizes = Counter(part_of.values())
        found, seen = [], set()
        for thread in self.threads:
            part = part_of[id(thread)]
            if sizes[part] > 1 and part not in seen:
                seen.add(part)
                found.append(self._within(thread, part_of))
        return found

    def _within(self, first: Thread, part_of: dict[int, int]) -> list[Edge]:
        """Edges within the part of a thread, each thread's together, in the order in which the waits lead to them."""
        edges: list[Edge] = []
        pending, seen = [first], {id(first)}
        while pending:
            thread = pending.pop()
            own = [edge for edge in self.edges[id(thread)] if part_of[id(edge.holder)] == part_of[id(first)]]
            edges += own
            for edge in reversed(own):
                if id(edge.holder) not in seen:
                    seen.add(id(edge.holder))
                    pending.append(edge.holder)
        return edges

    def behind(self, members: list[Thread]) -> list[Thread]:
        """The other threads that wait for one of these, or for one that does, and so on."""
        waiters: dict[int, list[Thread]] = {}
        for thread in self.threads:
            for edge in self.edges[id(thread)]:
                waiters.setdefault(id(edge.holder), []).append(thread)
        reached, pending = {id(member) for member in members}, list(members)
        found = []
        while pending:
            for thread in waiters.get(id(pending.pop()), []):
                if id(thread) not in reached:
                    reached.add(id(thread))
                    pending.append(thread)
                    found.append(thread)
        return found
