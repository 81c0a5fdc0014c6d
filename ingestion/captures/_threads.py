"""Threads of one dump, and the deadlocks among them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise

LOCK = "waiting to lock"
AGAIN = "waiting to re-lock in wait()"
PARK = "parking to wait for"
WAIT = "waiting on"

KAFKA_FRAME = re.compile(r"(?:[\w.@-]+/+)?(?:kafka|org\.apache\.kafka)\.")
READ_LOCKED = re.compile(r"\.(?:in|with|under)ReadLock[\w$]*\(")
WRITE_LOCKED = re.compile(r"\.(?:in|with|under)(?:Write|Read)Lock[\w$]*\(")
READ_WRITE_LOCK = re.compile(r"\bReentrantReadWriteLock\b")
SHOWN_FRAMES = 8


@dataclass
class Thread:
    """One thread.  `wait_edge`: whether it cannot go on before another gives the lock away (Object.wait needs no lock)."""

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
    def blocked_on(self) -> str | None:
        """The lock that another thread has to give away, if this one waits for such."""
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


@dataclass
class Cycle:
    """Threads that wait for one another, in order; `locks[i]` is what `threads[i]` waits for."""

    threads: list[Thread]
    locks: list[str]
    is_doubtful: bool


def class_of(frame: str) -> str:
    """`kafka.cluster.Partition` of a frame of it or of what is nested in it."""
    return re.sub(r"^[\w.@-]+/+", "", frame.split("(", 1)[0]).rsplit(".", 1)[0].split("$", 1)[0]


def users_of(frames: list[str], pattern: re.Pattern[str]) -> set[str]:
    """Classes that call a helper which takes a read-write lock around their code (`CoreUtils.inReadLock`)."""
    found = set()
    for frame, caller in pairwise(frames):
        if pattern.search("." + frame):
            found.add(class_of(caller))
    return found


class Owners:
    """Who holds what in one dump, as far as it is printed."""

    def __init__(self, threads: list[Thread]) -> None:
        self.by_number = {thread.fields["number"]: thread for thread in threads if "number" in thread.fields}
        self.by_lock = {lock: thread for thread in threads for lock in thread.holds}

    def of(self, thread: Thread) -> Thread | None:
        """The other thread that holds the lock which this one waits for."""
        lock = thread.blocked_on
        owner = self.by_number.get(thread.owner_number or "") or self.by_lock.get(lock or "")
        return None if lock is None or owner is thread else owner


def cycles(threads: list[Thread], owners: Owners) -> list[Cycle]:
    """Cycles of waiting.

    A reader of a ReentrantReadWriteLock is printed nowhere.  Where nobody is printed as the holder of such a lock, the threads whose
    frames stand within a read-lock helper that the waiting thread's class uses as well are taken for its holders; such a cycle is doubtful.
    """
    readers: dict[str, list[Thread]] = {}
    for thread in threads:
        for user in users_of(thread.frames, READ_LOCKED):
            readers.setdefault(user, []).append(thread)

    def next_of(thread: Thread) -> list[tuple[Thread, bool]]:
        lock = thread.blocked_on
        owner = owners.of(thread)
        if owner is not None:
            return [(owner, False)]
        if lock is None or lock in owners.by_lock:
            return []
        if not READ_WRITE_LOCK.search(thread.fields.get("waits_for_class", "")):
            return []
        users = users_of(thread.frames, WRITE_LOCKED)
        return [(reader, True) for user in users for reader in readers.get(user, []) if reader.blocked_on not in (None, lock)]

    found: list[Cycle] = []
    seen: set[frozenset[int]] = set()
    for first in threads:
        # depth first, along few edges: a thread waits for one lock, which has one holder or a handful of readers
        stack = [(first, [first], False)]
        visited = {id(first)}
        while stack:
            thread, path, doubtful = stack.pop()
            for following, doubt in next_of(thread):
                if following is first:
                    members = frozenset(id(member) for member in path)
                    if members not in seen:
                        seen.add(members)
                        found.append(Cycle(path, [member.blocked_on or "" for member in path], doubtful or doubt))
                elif id(following) not in visited:
                    visited.add(id(following))
                    stack.append((following, [*path, following], doubtful or doubt))
    return found
