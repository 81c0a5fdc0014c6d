"""Splits large logs into parts for several executors: a file of 10 GB is not one task.

A part begins at a record whose time is unambiguous, so all it needs to know of the records before is the node that wrote them.
That is taken to be the node with which the file begins; if it turns out to be another one, the part is read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ingestion.bronze.pieces import PADDING
from ingestion.bronze.tasks import Counted, Task
from ingestion.reading.files import BROKEN, DECODED, hash_before, open_bytes
from ingestion.reading.zones import zone_offsets
from ingestion.records.envelope import REWRITTEN, envelope_named
from ingestion.records.split import local_millis, mask, record_starts

PART_BYTES = 64 << 20
# Bytes that are searched at once for a place to cut.
WINDOW = 256 << 10


def parts_of(task: Task) -> list[Task]:
    """The parts of a source, in order; the source itself if it is small, or has to be read from its beginning."""
    if task.end - task.start < 2 * PART_BYTES or task.capture is not None or task.envelope == REWRITTEN.name:
        return [task]
    try:
        cuts = cuts_of(task)
    except BROKEN:
        # The task that reads it reports the fault.
        return [task]
    begins = [(task.start, task.expected.tail_hash if task.expected else None), *cuts]
    ends = [*(begin for begin, _ in cuts), task.end]
    return [
        replace(
            task,
            start=begin,
            end=end,
            holds_last=task.holds_last and end == task.end,
            # In later parts, a node that the file's ends named is one that an earlier record named.
            node_known_by="neighbour" if task.node_known_by == "content" and begin > task.start else task.node_known_by,
            expected=task.expected and replace(task.expected, tail_hash=tail_hash),
        )
        for (begin, tail_hash), end in zip(begins, ends, strict=True)
    ]


def cuts_of(task: Task) -> list[tuple[int, str | None]]:
    """Where the parts after the first begin, each with the hash of the bytes before."""
    cuts: list[tuple[int, str | None]] = []
    with open_bytes(task.path, WINDOW) as file:
        if isinstance(file, DECODED):
            return []
        at = task.start + PART_BYTES
        while at < task.end - PART_BYTES // 2:
            file.seek(at)
            found = plain_start(file.read(WINDOW), task)
            if found is None:
                at += WINDOW
            else:
                cuts.append((at + found, hash_before(file, at + found)))
                at += found + PART_BYTES
    return cuts


def plain_start(text: bytes, task: Task) -> int | None:
    """The offset of a record in some bytes, which may begin anywhere in a line, whose time and that of the record before the clock shows once."""
    envelope = envelope_named(task.envelope)
    starts = record_starts(np.frombuffer(mask(text), np.uint8), envelope.template)
    starts = starts[starts > 0]
    raw = np.frombuffer(text + b"\n" * PADDING, np.uint8)
    local, timed = local_millis(raw, starts + envelope.time_at, envelope.has_millis)
    offsets = zone_offsets(task.zones, np.where(timed, local, 0))
    is_plain = timed & (offsets.first == offsets.second)
    found = np.flatnonzero(is_plain[1:] & is_plain[:-1])
    return int(starts[found[0] + 1]) if len(found) else None


def to_read_again(parts: Sequence[Task], counted: Sequence[Counted]) -> list[Task]:
    """The parts to be read again: all from the first for which the records before belong to another node than was taken."""
    for number in range(1, len(parts)):
        before, part = counted[number - 1], parts[number]
        if not is_whole(parts[number - 1], before):
            break
        if (before.last_node, before.last_known_by) != (part.node_id, part.node_known_by):
            return [replace(later, node_id=before.last_node, node_known_by=before.last_known_by) for later in parts[number:]]
    return []


def is_whole(part: Task, count: Counted) -> bool:
    """Whether a part was read to its end; parts after an incomplete one do not count."""
    return not (count.fault or count.failed or count.changed) and count.end == part.end


def together(parts: Sequence[Task], counted: Sequence[Counted]) -> tuple[int, Counted]:
    """How many parts count, and what they gave as one source."""
    count = next((number + 1 for number, (part, one) in enumerate(zip(parts, counted, strict=True)) if not is_whole(part, one)), len(parts))
    those = counted[:count]
    doubts = set().union(*(one.doubts for one in those))
    last = those[-1]
    unknown = max(filter(None, (one.unknown for one in those)), default=None)
    return count, replace(
        last, unknown=unknown, records=sum(one.records for one in those), recognised=sum(one.recognised for one in those), doubts=doubts
    )
