"""Thread dumps of JDK 7 to 25: jstack, jcmd Thread.print, kill -3, jcmd Thread.dump_to_file (text and JSON), one or many in a text.

Rows and their fields, all with dump_number (1, 2, … within the text):

- `thread_dump`, one per dump: jvm_name, jvm_version, pid, threads (how many), deadlocks (how many);
- `thread`, one per thread: name, number (`#12`), daemon, virtual, prio, os_prio, tid, nid, state (of java.lang.Thread.State), state_detail,
  activity (as in the head: waiting on condition, runnable …), cpu_ms, elapsed_ms, waits_kind (waiting to lock, waiting to re-lock in wait(), parking to wait
  for, waiting on), waits_for (address, or Class@hash in files of dump_to_file), waits_for_class, holds and holds_classes (comma lists: monitors
  and ownable synchronizers; not the monitor that Object.wait gave away), blocked_by (the thread that holds the lock it waits for), frame_count, frames (the first 8), kafka_frames (the first 8 of
  kafka.* and org.apache.kafka.*), container (of virtual threads), carries;
- `deadlock`: found_by (jvm: a section "Found one Java-level deadlock"; cycle: found by us, where the JVM reports none), threads, waits_for,
  waits_for_classes, held_by: JSON arrays in the order of the cycle (by the JVM also threads that wait behind one).

`at` is the dump's own time (local, in the zone of the source; UTC in files of dump_to_file).
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterable, Iterator

from ingestion.captures import About, Line, Row, time_of, unread
from ingestion.captures import _thread_text as form
from ingestion.captures._thread_json import dumps_of_json
from ingestion.captures._thread_text import Dump, Reader
from ingestion.captures._threads import Owners, cycles

KINDS = {"thread_dump": "What each thread of a JVM does, which locks it holds and waits for."}
OF_NODE = frozenset(KINDS)

MOST_CHARACTERS = 1 << 16  # of a line; what is longer is not looked at
JSON = re.compile(r'\s*\{\s*"threadDump"\s*:')
HEADS = (form.FULL, form.THREAD, form.DUMPED, form.AGENT, form.DEADLOCK)
PARTS = (
    *(form.FRAME, form.BARE_FRAME, form.AGENT_FRAME, form.STATE, form.LOCKED, form.WAITS, form.OWNABLE, form.NOISE),
    *(form.NOTE, form.MEMBER, form.MEMBER_WAITS, form.MEMBER_HELD, form.STACKS, form.FOUND),
)


def kind_of(sample: str, name: str = "") -> str | None:
    """`thread_dump` where heads of dumps, threads or deadlocks are there, and most lines belong to them."""
    if JSON.match(sample):
        return "thread_dump"
    heads = parts = other = 0
    for text in sample.split("\n")[:2000]:
        text = text[:2000].rstrip("\r")
        if not text.strip():
            continue
        if any(pattern.match(text) for pattern in HEADS):
            heads += 1
        elif any(pattern.match(text) for pattern in PARTS):
            parts += 1
        elif not text[0].isspace() and not form.is_head(text):
            other += 1
    return "thread_dump" if heads and heads + parts > 2 * other else None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row]:
    """Rows of all dumps of a text; lines between them are unread rows."""
    number, strangers = 0, []
    for item in dumps(lines):
        if isinstance(item, Line):
            strangers.append(item)
            continue
        yield from unread(strangers, "no line of a thread dump")
        strangers = []
        number += 1
        yield from rows(item, number, about)
    yield from unread(strangers, "no line of a thread dump")


def dumps(lines: Iterable[Line]) -> Iterator[Dump | Line]:
    """Dumps of a text, which is JSON or not by its first line that is not empty."""
    lines = iter(lines)
    reader = Reader()
    for line in lines:
        if reader.dump is None and re.match(r"\s*\{", line.text) and not reader.before:
            yield from dumps_of_json([line, *lines])
            return
        if len(line.text) > MOST_CHARACTERS:
            yield line
        else:
            yield from reader.feed(line)
    yield from reader.close()


def rows(dump: Dump, number: int, about: About) -> Iterator[Row]:
    """The rows of one dump: itself, its threads, its deadlocks."""
    at, known_by, doubts = time_of_dump(dump, about)
    base = {"dump_number": str(number)}
    completed = [(thread, thread.complete()) for thread in dump.threads]
    owners = Owners(dump.threads)
    for thread, fields in completed:
        owner = owners.of(thread)
        fields |= {"blocked_by": owner.name} if owner is not None and owner.name else {}
    reported = [set(deadlock.threads) for deadlock in dump.deadlocks]
    found = [
        cycle for cycle in cycles(dump.threads, owners) if not any({thread.name for thread in cycle.threads} <= names for names in reported)
    ]
    fields = dump.fields | base | {"threads": str(len(dump.threads)), "deadlocks": str(len(dump.deadlocks) + len(found))}
    yield Row("thread_dump", dump.offset, "\n".join(dump.raw), fields, at, known_by, None, (*dump.warnings, *doubts))
    for thread, fields in completed:
        yield Row("thread", thread.offset, "\n".join(thread.raw), base | fields, at, known_by, None, tuple(thread.warnings))
    for deadlock in dump.deadlocks:
        fields = deadlock_fields("jvm", deadlock.threads, deadlock.locks, deadlock.classes, deadlock.holders)
        whole = len(deadlock.threads) == len(deadlock.locks) == len(deadlock.holders) > 0
        yield Row(
            "deadlock",
            deadlock.offset,
            "\n".join(deadlock.raw),
            base | fields,
            at,
            known_by,
            None,
            () if whole else ("the section of the deadlock is not whole",),
        )
    for cycle in found:
        names = [thread.name for thread in cycle.threads]
        classes = [thread.fields.get("waits_for_class", "") for thread in cycle.threads]
        fields = deadlock_fields("cycle", names, cycle.locks, classes, names[1:] + names[:1])
        doubt = ("who holds the read lock is not printed; taken from the frames",) if cycle.is_doubtful else ()
        raw = "\n\n".join("\n".join(thread.raw) for thread in cycle.threads)
        yield Row("deadlock", cycle.threads[0].offset, raw, base | fields, at, known_by, None, doubt)


def deadlock_fields(found_by: str, threads: list[str], locks: list[str], classes: list[str], holders: list[str]) -> dict[str, str]:
    lists = {"threads": threads, "waits_for": locks, "waits_for_classes": classes, "held_by": holders}
    return {"found_by": found_by} | {key: json.dumps(values, ensure_ascii=False) for key, values in lists.items()}


def time_of_dump(dump: Dump, about: About) -> tuple[dt.datetime | None, str | None, tuple[str, ...]]:
    try:
        if dump.instant:
            return dt.datetime.fromisoformat(dump.instant).astimezone(dt.UTC), "content", ()
        if dump.local_time:
            return dt.datetime.fromisoformat(dump.local_time).replace(tzinfo=about.zone).astimezone(dt.UTC), "content", ()
    except (ValueError, OverflowError):
        pass
    return time_of(about)
