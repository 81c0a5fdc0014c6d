"""A file on its way to bronze: found, inspected, placed, identified.  Each stage has what the one before has, and adds its own.

A file together with what a worker read of it is `bronze.tasks.Read`.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar

from ingestion.reading.files import FINGERPRINT, Expected, readable, real
from ingestion.reading.names import COMPRESSED
from ingestion.records.kinds import kinds_of_others
from ingestion.records.streams import PLAIN, Wrapping
from ingestion.sources import owners

# Captures that grow and rotate as logs do.
GROWING = ("gc_log",)
# Outcomes: what becomes of a file.
TO_READ, COPY, EMPTY, BINARY, UNKNOWN, UNREADABLE, MISSING, REFUSED, FAILED = (
    "read",
    "copy",
    "empty",
    "binary",
    "unknown",
    "unreadable",
    "missing",
    "refused",
    "failed",
)


@dataclass(frozen=True, slots=True)
class Found:
    """A file, and what its path says.

    `path`: where its bytes lie, `shown`: its name (a member of an archive lies elsewhere), `folder`: that of its name; `root`: the given
    path; `path_node`, `path_host`: what was said for its path, `is_said_of_file`: by a layout for the file's own name;
    `is_whole`: it does not grow, because it comes out of an archive, is an object, or was given by its own name; `refused`: why a member of an archive was not taken out.
    """

    path: str
    shown: str
    folder: str
    cluster_id: str
    root: str = ""
    path_node: int | None = None
    path_host: str | None = None
    is_said_of_file: bool = False
    is_whole: bool = False
    refused: str | None = None

    @classmethod
    def at(cls, path: str, cluster_id: str, path_node: int | None = None) -> Found:
        """A file that was given by its own path."""
        return cls(path, readable(real(path)), readable(os.path.dirname(path)), cluster_id, path_node=path_node)


@dataclass(frozen=True, slots=True)
class Inspected(Found):
    """A file with what its content says.

    `size`: bytes, decompressed (None for a compressed file), `disk_size`: bytes on disk; `modified`: seconds since 1970; `begin`: where its text
    begins, after a byte order mark; `wrapping`: how records are found if it is not plain, `writers`: who writes into it, with the node that each names;
    `head`: its first bytes; `mentions`: (local ms, node) where it names the node that writes it;
    `first_at`: local ms of its first record; `evidence`: (local ms, '+05:30') where it shows its clock together with UTC; `is_utc`: whether each
    record says that it is in UTC; `shows_utc`: whether each shows its clock together with UTC; `tells`: what it says of
    nodes and hosts, `host`: the machine on which it was taken; `seen_as`: its source when it was read, if it has not changed
    since.
    """

    outcome: str = TO_READ
    reason: str | None = None
    size: int | None = None
    disk_size: int | None = None
    modified: float = 0.0
    compressed: bool = False
    begin: int = 0
    head: bytes = b""
    ends_torn: bool = False
    kind: str = "unknown"
    layout: str | None = None
    layout_known_by: str | None = None
    envelope: str | None = None
    wrapping: Wrapping = PLAIN
    writers: tuple[tuple[str, int | None], ...] = ()
    capture: str | None = None
    mentions: tuple[tuple[int, int], ...] = ()
    first_at: int = 0
    evidence: tuple[tuple[int, str], ...] = ()
    is_utc: bool = False
    shows_utc: bool = False
    tells: owners.Tells = field(default_factory=owners.Tells)
    host: str | None = None
    seen_as: str | None = None

    def fingerprint(self, length: int = FINGERPRINT) -> str:
        """SHA-256 of the cluster, the node that the path names, and the first bytes; hexadecimal.

        A capture that is taken once adds its name and folder: the same describe an hour later is another one.
        """
        identity = f"{self.cluster_id}\x1f{self.path_node}\x1f"
        if self.capture is not None and self.capture not in GROWING:
            identity += "/".join(COMPRESSED.sub("", self.shown).split("/")[-2:]) + "\x1f"
        return hashlib.sha256(identity.encode() + self.head[:length]).hexdigest()

    @property
    def changed_at(self) -> dt.datetime | None:
        """When the file was last changed; None if its file system gives an impossible year."""
        try:
            return dt.datetime.fromtimestamp(self.modified, dt.UTC) if self.modified else None
        except (ValueError, OverflowError, OSError):
            return None

    @property
    def nodes(self) -> tuple[int, ...]:
        """The nodes that the file's ends name, in order."""
        return tuple(dict.fromkeys(node for _, node in self.mentions))

    @property
    def takes_nodes(self) -> bool:
        """Whether lines of this kind name the node that wrote them."""
        return self.kind not in kinds_of_others()


@dataclass(frozen=True, slots=True)
class Placed(Inspected):
    """A file with its node and its time zone, each with how it is known.

    `doubts`: what is doubtful about the node, `warnings`: about node and zone; `zones`: (local ms from which it holds, name or '+05:30').
    """

    node_id: int | None = None
    node_known_by: str | None = None
    doubts: tuple[str, ...] = ()
    zones: tuple[tuple[int, str], ...] = ()
    zone_known_by: str = "default"
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Identified(Placed):
    """A file with its source, whatever its name, and the byte from which it is new.  `tail_hash`: of the bytes before that one."""

    source_id: str = ""
    start: int = 0
    tail_hash: str | None = None

    @property
    def expected(self) -> Expected:
        """What a worker must find again when it opens the file."""
        return Expected(hashlib.sha256(self.head).hexdigest(), len(self.head), self.tail_hash)


STAGES = (Found, Inspected, Placed, Identified)
Stage = TypeVar("Stage", bound=Found)
Put = Callable[[Found, Any], None]
# Stage → name → setter of a field, although a file is frozen.
PLACES: dict[type[Found], dict[str, Put]] = {
    stage: {one.name: getattr(stage, one.name).__set__ for one in fields(stage)} for stage in STAGES
}


@dataclass(frozen=True)
class Way:
    """How a file gets from a stage to a later one: its values so far, their setters, and the setters and defaults of the other fields."""

    values: attrgetter[tuple[Any, ...]]
    puts: list[Put]
    others: list[tuple[Put, Any]]


def way(before: type[Found], stage: type[Found]) -> Way:
    """From a stage to the same or a later one."""
    places, known = PLACES[stage], PLACES[before]
    more = [one for one in fields(stage) if one.name not in known]
    others = [(places[one.name], one.default if one.default_factory is dataclasses.MISSING else one.default_factory()) for one in more]
    return Way(attrgetter(*known), [places[name] for name in known], others)


WAYS = {(before, stage): way(before, stage) for before in STAGES for stage in STAGES if issubclass(stage, before)}


def grown(stage: type[Stage], earlier: Found, **more: Any) -> Stage:
    """A file at a later stage, or at its own with changes.  Bypasses the constructor: each of 100,000 files passes here a few times, and
    `dataclasses.replace` takes several times as long."""
    later, taken, places = object.__new__(stage), WAYS[type(earlier), stage], PLACES[stage]
    for put, value in zip(taken.puts, taken.values(earlier), strict=True):
        put(later, value)
    for put, value in taken.others:
        put(later, value)
    for name, value in more.items():
        places[name](later, value)
    return later


def said_of(file: Found) -> dict[str, Any]:
    """The values of a file at its stage, by name."""
    return {name: getattr(file, name) for name in PLACES[type(file)]}


@dataclass(frozen=True, slots=True)
class Known:
    """A source of an earlier run: where it was, what its bytes were, how far it has been read."""

    source_id: str
    path: str
    fingerprint: str
    fingerprint_length: int
    end: int
    tail_hash: str | None
    size: int | None
    outcome: str
    node_id: int | None = None
