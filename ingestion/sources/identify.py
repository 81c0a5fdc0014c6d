"""Which source each file is, and from which byte on it is new: placed to identified.  No Spark here.

A source is known by its first bytes (decompressed), so that growth, renaming, rotation and gzip keep it (Filebeat's fingerprint does the
same); two files that begin alike are one source only while all their common bytes agree.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence

from ingestion.reading.files import BROKEN, open_bytes, tail_hash
from ingestion.sources.names import ROTATED, stem
from ingestion.sources.stages import COPY, TO_READ, Identified, Inspected, Known, Placed, grown


def same_bytes(one: str, other: str) -> bool:
    """Whether two files agree as far as both go."""
    try:
        with open_bytes(one) as left, open_bytes(other) as right:
            while True:
                a, b = left.read(1 << 20), right.read(1 << 20)
                common = min(len(a), len(b))
                if a[:common] != b[:common]:
                    return False
                if len(a) != len(b) or not a:
                    return True
    except BROKEN:
        return False


def _name(*parts: object) -> str:
    return hashlib.sha256("\x1f".join(str(part) for part in parts).encode()).hexdigest()[:32]


def identify(sources: Sequence[Placed], known: Sequence[Known] = ()) -> list[Identified]:
    """Give every readable file its id and the byte from which it is new; mark those that repeat another one.

    A file continues a known source where the bytes before the known end are the same.  Of files that begin alike in one
    run the longest is read, one that it contains is a copy, and one that differs further on is a source of its own.
    """
    taken = Taken(known)
    order = sorted(range(len(sources)), key=lambda n: (-(1 << 62 if (size := sources[n].size) is None else size), sources[n].path))
    out = {n: taken.take(sources[n], n) if sources[n].outcome == TO_READ else unread(sources[n]) for n in order}
    return [out[n] for n in range(len(sources))]


def unread(source: Placed) -> Identified:
    """A file of which nothing is to be read."""
    return grown(Identified, source, source_id="", start=source.begin, tail_hash=None)


def copy(source: Placed, source_id: str, name: str) -> Identified:
    """A file that says what another one says already."""
    return grown(Identified, unread(source), source_id=source_id, outcome=COPY, reason=f"the same bytes as {name}")


class Taken:
    """The sources that are known: of earlier runs, and those of this run so far."""

    def __init__(self, known: Sequence[Known]) -> None:
        self.by_hash: dict[tuple[int, str], list[Known]] = {}
        for entry in known:
            self.by_hash.setdefault((entry.fingerprint_length, entry.fingerprint), []).append(entry)
        self.lengths = sorted({length for length, _ in self.by_hash})
        # Ids that are in use, and those that a file of this run goes by.
        self.used = {entry.source_id for entry in known}
        self.ids: set[str] = set()
        # Files of this run by their first bytes, and by their path those that have not changed since they were read.
        self.groups: dict[str, list[Identified]] = {}
        self.seen: dict[str, str] = {}

    def take(self, source: Placed, number: int) -> Identified:
        """A file as what it is: another one's copy, a known source further on, or a new one.  `number`: of the file in its run."""
        group = source.fingerprint()
        match = self.known_as(source)
        twin = next((other for other in self.groups.get(group, []) if self.are_twins(other, source)), None)
        if twin is not None:
            return copy(source, twin.source_id, twin.shown)
        if match is not None and match.source_id in self.ids:
            return copy(source, match.source_id, match.path)
        if match is not None:
            # A log goes on with the node that wrote it last; a capture's node is as it is known now.
            node = source.node_id if match.node_id is None or source.capture else match.node_id
            one = grown(Identified, source, source_id=match.source_id, start=match.end, tail_hash=match.tail_hash, node_id=node)
        else:
            one = grown(Identified, unread(source), source_id=self.new_id(source, group, number))
        self.ids.add(one.source_id)
        self.used.add(one.source_id)
        if one.seen_as == one.source_id:
            self.seen[one.path] = one.source_id
        self.groups.setdefault(group, []).append(one)
        return one

    def known_as(self, source: Placed) -> Known | None:
        """The source of an earlier run that a file goes on with."""
        candidates = [
            entry
            for length in self.lengths
            if length <= len(source.head)
            for entry in self.by_hash.get((length, source.fingerprint(length)), [])
        ]
        candidates.sort(key=lambda entry: (entry.source_id != source.seen_as, entry.path != source.shown, -entry.end))
        return next(
            (entry for entry in candidates if not is_of_other(source, entry.path, entry.node_id) and continues(source, entry)), None
        )

    def are_twins(self, other: Identified, source: Placed) -> bool:
        """Whether a file that is taken already and another one agree as far as both go."""
        if is_of_other(source, other.shown, other.node_id):
            return False
        if source.seen_as and other.path in self.seen:
            return self.seen[other.path] == source.seen_as
        return same_bytes(other.path, source.path)

    def new_id(self, source: Placed, group: str, number: int) -> str:
        """An id by the first bytes, which is that of no other source."""
        choices = [(group,), (group, stem(source.shown)), (group, source.shown)]
        return next((name for name in (_name(*parts) for parts in choices) if name not in self.used), _name(*choices[-1], number))


def is_of_other(source: Placed, path: str, node: int | None) -> bool:
    """Whether a capture cannot be the one at another path, for it is of another node, though their texts are the same."""
    return bool(source.capture) and path != source.shown and None not in (node, source.node_id) and node != source.node_id


def continues(source: Placed, entry: Known) -> bool:
    """Whether a file is the same source further on: the bytes before the known end are the same."""
    if entry.outcome == COPY:
        return False
    if source.seen_as == entry.source_id:
        return True
    if source.size is not None and source.size < entry.end:
        return os.path.exists(entry.path) and entry.path != source.shown and same_bytes(source.path, entry.path)
    if entry.tail_hash is None:
        return True
    return tail_hash(source.path, entry.end) == entry.tail_hash


def may_grow(source: Inspected, now: float, settled_after: float) -> bool:
    """Whether the last record may still lack its end: not rotated, not compressed, not out of an archive, and changed within the last
    `settled_after` seconds.  A change in the future is a clock that is wrong, and no reason to wait."""
    is_fresh = 0 <= now - source.modified < settled_after
    return is_fresh and not source.compressed and not source.is_whole and not ROTATED.search(source.shown)
