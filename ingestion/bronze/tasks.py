"""What a worker is asked to read, and what it gave."""

from __future__ import annotations

import datetime as dt
import os
from dataclasses import dataclass, field

from ingestion.reading.files import Expected, real
from ingestion.reading.names import stem
from ingestion.records.kinds import kinds_by_name, kinds_of_others
from ingestion.records.streams import PLAIN, Wrapping
from ingestion.sources.stages import Identified

# The file that stands for all logs of a broker.
BROKERS_LOG = "server.log"


@dataclass(frozen=True, slots=True)
class Task:
    """What a worker needs to know to read one source.

    `path`: where the file lies, `shown`: what the tables call it; `zones`: (local milliseconds from which it holds, name or
    '+05:30'); `envelope`: the layout of a log, `wrapping`: how records are found in one that is not plain, `writers`: who writes into it, with the node
    that each names; `capture`: the kind of a capture; `expected`: what the file held when it was inspected; `writer`: the process
    that wrote a log, by its file and stream.
    """

    cluster_id: str
    source_id: str
    path: str
    start: int
    end: int
    holds_last: bool
    envelope: str
    node_id: int | None
    node_known_by: str | None
    takes_nodes: bool
    zones: tuple[tuple[int, str], ...]
    zone_known_by: str
    batch_id: int
    ingested_at: dt.datetime
    shown: str = ""
    wrapping: Wrapping = PLAIN
    writers: tuple[tuple[str, int | None], ...] = ()
    capture: str | None = None
    modified_at: dt.datetime | None = None
    expected: Expected | None = None
    compressed: bool = False
    writer: str = ""


@dataclass(slots=True)
class Counted:
    """What one source gave: its records, how many of them were recognised, the byte up to which it was read and the SHA-256 of the bytes before (None
    if the file is another one by now), the node of its last record and how it is known, why it was cut; `failed`: a fault of our own code, after
    which some records are kept as raw text alone; `changed`: the file became another one before it was read to its end; `lacks_end`: the rest of its
    last record comes later; `doubts`: what is doubtful about its times; `unknown`: of the commonest shape that is not recognised, where most are not, how
    many records have it, and one of them."""

    records: int = 0
    recognised: int = 0
    end: int = 0
    last_node: int | None = None
    last_known_by: str | None = None
    tail_hash: str | None = None
    fault: str | None = None
    failed: str | None = None
    changed: bool = False
    lacks_end: bool = False
    doubts: set[str] = field(default_factory=set)
    unknown: tuple[int, str] | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """A file with what reading it gave: the last stage."""

    source: Identified
    count: Counted


def writer_of(path: str, stream: str = "") -> str:
    """The process that wrote a log, where no node is known: '/pasted/broker.log', with the stream where a file has several.  Rotated files are of one
    process, and so are the files that one broker writes into a folder (server.log, controller.log …)."""
    name = stem(path)
    kind = kinds_by_name().get(name)
    if kind is not None and kind not in kinds_of_others():
        name = BROKERS_LOG
    process = os.path.join(os.path.dirname(path), name)
    return f"{process} {stream}" if stream else process


def task_of(source: Identified, holds_last: bool, batch_id: int, now: dt.datetime) -> Task:
    """What a worker needs to read one source."""
    return Task(
        cluster_id=source.cluster_id,
        source_id=source.source_id,
        path=real(source.path),
        start=source.start,
        end=-1 if source.size is None else source.size,
        holds_last=holds_last,
        envelope=source.envelope or "",
        node_id=source.node_id,
        node_known_by=source.node_known_by,
        takes_nodes=source.takes_nodes,
        zones=source.zones,
        zone_known_by=source.zone_known_by,
        batch_id=batch_id,
        ingested_at=now,
        wrapping=source.wrapping,
        writers=source.writers,
        capture=source.capture,
        modified_at=source.changed_at,
        shown=source.shown,
        expected=source.expected,
        compressed=source.compressed,
        writer=writer_of(source.shown),
    )
