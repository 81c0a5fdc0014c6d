"""Finds which source each file is, and from which byte on it is new: placed to identified.  No Spark here.

A source is identified by its first bytes (decompressed), so it stays the same through growth, renaming, rotation and gzip (Filebeat's
fingerprint does the same); two files that begin alike are one source only while all their common bytes agree.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from ingestion.reading.files import BROKEN, exists, open_bytes, tail_hash
from ingestion.reading.names import ROTATED, stem
from ingestion.sources.stages import COPY, GROWING, TO_READ, Identified, Inspected, Known, Placed, grown


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


# Lengths of the prefixes by which files that begin alike are told apart before they are compared with each other.
PREFIXES = (*range(1024 + 64, 2048, 64), *(base << n for n in range(9) for base in (2048, 3072)))


class Alike:
    """The files taken so far, by their first bytes: finds, of many that begin alike, those with which another file may agree as far as both go.

    Only files that agree in two thirds of their bytes, or in the first 768 KiB, are left to be compared with each other.
    """

    def __init__(self) -> None:
        self.groups: dict[str, list[Identified]] = {}
        # Files that have not changed since they were read, by source; such files are compared by source and not opened.
        self.seen: dict[str, Identified] = {}
        self.has_unseen: set[str] = set()
        self.indexed: dict[str, int] = {}
        # Hash of group and prefix → numbers of its files: of those that reach this length, and of those that end there.
        self.reach: dict[bytes, list[int]] = {}
        self.ends: dict[bytes, list[int]] = {}

    def add(self, group: str, source: Identified) -> None:
        self.groups.setdefault(group, []).append(source)
        if source.seen_as == source.source_id:
            self.seen[source.source_id] = source
        else:
            self.has_unseen.add(group)

    def find(self, group: str, source: Placed) -> list[Identified]:
        """Those whose bytes agree as far as a cheap check shows, in the order in which they were taken."""
        taken = self.groups.get(group, [])
        if source.seen_as and group not in self.has_unseen:
            return [self.seen[source.seen_as]] if source.seen_as in self.seen else []
        if not taken:
            return []
        for number in range(self.indexed.get(group, 0), len(taken)):
            prefixes = prefixes_of(group, taken[number].path)
            for prefix in prefixes:
                self.reach.setdefault(prefix, []).append(number)
            self.ends.setdefault(prefixes[-1], []).append(number)
        self.indexed[group] = len(taken)
        *shorter, longest = prefixes_of(group, source.path)
        numbers = [*self.reach.get(longest, ()), *(number for prefix in shorter for number in self.ends.get(prefix, ()))]
        return [taken[number] for number in sorted(numbers)]


def prefixes_of(group: str, path: str) -> list[bytes]:
    """Hashes of the group and a file's first bytes, for each of PREFIXES that it reaches; the first is that of the group alone."""
    known = hashlib.sha256(group.encode())
    out, done = [known.digest()[:16]], 0
    try:
        with open_bytes(path) as file:
            for length in PREFIXES:
                piece = file.read(length - done)
                known.update(piece)
                done += len(piece)
                if done < length:
                    break
                out.append(known.digest()[:16])
    except BROKEN:
        pass
    return out


def _name(*parts: object) -> str:
    return hashlib.sha256("\x1f".join(str(part) for part in parts).encode()).hexdigest()[:32]


def identify(sources: Sequence[Placed], known: Sequence[Known] = (), in_the_making: Collection[str] = ()) -> list[Identified]:
    """Give every readable file its id and the byte from which it is new; mark those that repeat another one.

    A file continues a known source where the bytes before the known end are the same.  Of files that begin alike in one
    run the longest is read, one that it contains is a copy, and one that differs further on is a source of its own.
    `in_the_making`: paths of copies that may be incomplete; one that begins like another source but continues none is left out.
    """
    taken, out = Taken(known), dict[int, Identified]()

    def place(number: int) -> tuple[str, int, str]:
        """Sorts by cluster, the longest file first.  A compressed file's length is unknown: it comes first, or last if it may be incomplete."""
        source = sources[number]
        size = (0 if source.path in in_the_making else 1 << 62) if source.size is None else source.size
        return source.cluster_id, -size, source.path

    for _, numbers in groupby(sorted(range(len(sources)), key=place), lambda number: sources[number].cluster_id):
        # Files of two clusters are never one source.
        taken.alike = Alike()
        for number in numbers:
            source = sources[number]
            if source.outcome != TO_READ:
                out[number] = unread(source)
            elif one := taken.take(source, number, source.path in in_the_making):
                out[number] = one
    return [out[number] for number in sorted(out)]


def unread(source: Placed) -> Identified:
    """A file with nothing to be read."""
    return grown(Identified, source, source_id="", start=source.begin, tail_hash=None)


def copy(source: Placed, source_id: str, name: str) -> Identified:
    """A file with the same bytes as another one."""
    return grown(Identified, unread(source), source_id=source_id, outcome=COPY, reason=f"the same bytes as {name}")


class Earlier:
    """The sources of earlier runs, indexed by id, path and first bytes."""

    def __init__(self, known: Sequence[Known]) -> None:
        self.by_id = {entry.source_id: entry for entry in known}
        self.by_path: dict[str, list[Known]] = {}
        self.by_hash: dict[tuple[int, str], list[Known]] = {}
        for entry in sorted(known, key=lambda entry: -entry.end):
            self.by_path.setdefault(entry.path, []).append(entry)
            self.by_hash.setdefault((entry.fingerprint_length, entry.fingerprint), []).append(entry)
        self.lengths = sorted({length for length, _ in self.by_hash})

    def find(self, source: Placed) -> Iterator[Known]:
        """Those that begin as a file does, the likeliest first: the one that it was when it was read, those at its path, then the longest.  So a
        known file looks at its own source alone, even if thousands begin alike."""

        def begins_alike(entry: Known) -> bool:
            length = entry.fingerprint_length
            return length <= len(source.head) and source.fingerprint(length) == entry.fingerprint

        likely = [self.by_id[source.seen_as]] if source.seen_as in self.by_id else []
        likely += self.by_path.get(source.shown, [])
        yield from filter(begins_alike, likely)
        lengths = [length for length in self.lengths if length <= len(source.head)]
        yield from heapq.merge(
            *(self.by_hash.get((length, source.fingerprint(length)), ()) for length in lengths), key=lambda entry: -entry.end
        )


class Taken:
    """The sources that are known: of earlier runs, and those of this run so far."""

    def __init__(self, known: Sequence[Known]) -> None:
        self.earlier = Earlier(known)
        self.alike = Alike()
        # Ids in use, and those of this run's files.
        self.used = {entry.source_id for entry in known}
        self.ids: set[str] = set()

    def take(self, source: Placed, number: int, may_lack_end: bool) -> Identified | None:
        """Identify a file: as a copy of another one, a known source further on, or a new source; None if it may be the beginning of a copy.
        `number`: of the file in its run."""
        group = source.fingerprint()
        match = self.known_as(source)
        twin = next((other for other in self.alike.find(group, source) if are_twins(other, source)), None)
        if twin is not None:
            return copy(source, twin.source_id, twin.shown)
        if match is not None and match.source_id in self.ids:
            return copy(source, match.source_id, match.path)
        if match is not None:
            # A log continues with the node that wrote it last; a capture has the node that is known now.
            node = source.node_id if match.node_id is None or source.capture else match.node_id
            one = grown(Identified, source, source_id=match.source_id, start=match.end, tail_hash=match.tail_hash, node_id=node)
        elif may_lack_end and (group in self.alike.groups or any(self.earlier.find(source))):
            return None
        else:
            one = grown(Identified, unread(source), source_id=self.new_id(source, group, number))
        self.ids.add(one.source_id)
        self.used.add(one.source_id)
        self.alike.add(group, one)
        return one

    def known_as(self, source: Placed) -> Known | None:
        """The source of an earlier run that a file continues."""
        candidates = self.earlier.find(source)
        return next(
            (entry for entry in candidates if not is_of_other(source, entry.path, entry.node_id) and continues(source, entry)), None
        )

    def new_id(self, source: Placed, group: str, number: int) -> str:
        """An id from the first bytes that no other source has."""
        choices = [(group,), (group, stem(source.shown)), (group, source.shown)]
        return next((name for name in (_name(*parts) for parts in choices) if name not in self.used), _name(*choices[-1], number))


def are_twins(taken: Identified, source: Placed) -> bool:
    """Whether a taken file and another one agree as far as both go; if neither has changed since it was read, their sources
    decide."""
    if is_of_other(source, taken.shown, taken.node_id):
        return False
    if source.seen_as and taken.seen_as == taken.source_id:
        return taken.source_id == source.seen_as
    return same_bytes(taken.path, source.path)


def is_of_other(source: Placed, path: str, node: int | None) -> bool:
    """Whether a capture differs from the one at another path, even with the same text, because it is of another node."""
    return bool(source.capture) and path != source.shown and None not in (node, source.node_id) and node != source.node_id


def continues(source: Placed, entry: Known) -> bool:
    """Whether a file is the same source further on: the bytes before the known end are the same."""
    if entry.outcome == COPY:
        return False
    if source.seen_as == entry.source_id:
        return True
    if source.size is not None and source.size < entry.end:
        return exists(entry.path) and entry.path != source.shown and same_bytes(source.path, entry.path)
    if entry.tail_hash is None:
        return True
    return tail_hash(source.path, entry.end) == entry.tail_hash


def may_grow(source: Inspected, now: float, settled_after: float) -> bool:
    """Whether the last record may be incomplete: in a fresh file that is logged to, or that ends within a line and so may be a copy in the
    making.  In a compressed log it is incomplete only if the file is."""
    if not is_fresh(source, now, settled_after):
        return False
    return source.capture is None if source.compressed else source.ends_torn or not is_rotated(source)


def is_in_the_making(source: Inspected, now: float, settled_after: float) -> bool:
    """Whether a log, or a capture that grows like one, may be an incomplete copy: nobody logs to it and it is fresh, so logrotate may be
    copying or compressing it."""
    return is_fresh(source, now, settled_after) and is_rotated(source) and (source.capture is None or source.capture in GROWING)


def is_fresh(source: Inspected, now: float, settled_after: float) -> bool:
    """Whether a file was changed within the last `settled_after` seconds and is not out of an archive.  A change in the future means a wrong
    clock, and is no reason to wait."""
    return 0 <= now - source.modified < settled_after and not source.is_whole


def is_rotated(source: Inspected) -> bool:
    """Whether nothing is logged to a file any more."""
    return source.compressed or bool(ROTATED.search(source.shown))
