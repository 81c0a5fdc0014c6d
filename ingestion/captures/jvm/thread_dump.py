"""Thread dumps of JDK 7 to 25: jstack, jcmd Thread.print, kill -3, jcmd Thread.dump_to_file (text and JSON), one or many in a text.

Rows and their fields, all with dump_number (1, 2, … within the text):

- `thread_dump`, one per dump: jvm_name, jvm_version, pid, threads (how many), deadlocks (how many);
- `thread`, one per thread: name, number (`#12`), daemon, virtual, prio, os_prio, tid, nid, state (of java.lang.Thread.State), state_detail,
  activity (as in the head: waiting on condition, runnable …), cpu_ms, elapsed_ms, waits_kind (waiting to lock, waiting to re-lock in wait(), parking to wait
  for, waiting on), waits_for (address, or Class@hash in files of dump_to_file), waits_for_class, holds and holds_classes (comma lists: monitors
  and ownable synchronizers; not the monitor that Object.wait gave away), blocked_by (the thread that holds the lock it waits for), frame_count, frames (the first 8), kafka_frames (the first 8 of
  kafka.* and org.apache.kafka.*), container (of virtual threads), carries;
- `deadlock`, one per strongly connected part of the graph of who waits for whom: found_by (jvm: a section "Found one Java-level deadlock"; cycle: found
  by us, where the JVM reports none), and JSON arrays: threads (in the order of the waits; the JVM's sections begin with those that lead into the cycle);
  waiters, waits_for, waits_for_classes, held_by: one element per thread and holder of its lock (a read-write lock may have several); waiting_threads: the
  other threads that wait for one of them, or for one that does, and so on; members: the threads of the cycle alone, sorted, each with what names
  it in its process (tid, else process id and number), where every one of them has such.

`at` is the dump's own time (local, in the zone of the source; UTC in files of dump_to_file).
"""

from __future__ import annotations

import datetime as dt
import html
import json
import re
from collections.abc import Iterable, Iterator

from ingestion.captures import About, Line, Row, time_of, unread
from ingestion.captures.jvm import _thread_text as form
from ingestion.captures.jvm._thread_json import dumps_of_json
from ingestion.captures.jvm._thread_text import Deadlock, Dump, Reader
from ingestion.captures.jvm._threads import Edge, Thread, Waits

KINDS = {"thread_dump": "What each thread of a JVM does, which locks it holds and waits for."}
OF_NODE = frozenset(KINDS)
WITHIN_LOGS = (b"Full thread dump", b"Java-level deadlock")
EMPTY_LINES = re.compile(r"Full thread dump|Java-level deadlock|tid=0x|Thread \d+: \(state")

MOST_CHARACTERS = 1 << 16  # of a line; what is longer is not looked at
JSON = re.compile(r'\s*\{\s*"threadDump"\s*:')
ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#\d{1,6}|#x[0-9a-fA-F]{1,5});")
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
        text = as_printed(text[:2000].rstrip("\r"))
        if not text.strip():
            continue
        if is_head_of_part(text):
            heads += 1
        elif any(pattern.match(text) for pattern in PARTS):
            parts += 1
        elif not text[0].isspace() and not form.is_head(text):
            other += 1
    return "thread_dump" if heads and heads + parts > 2 * other else None


def is_head_of_part(text: str) -> bool:
    """Whether a line is the head of a dump, a thread or a deadlock."""
    return any(pattern.match(text) for pattern in HEADS)


def begins(text: str) -> bool:
    """Whether a line begins a dump, or a deadlock of one."""
    return bool(form.FULL.match(text) or form.DEADLOCK.match(text))


def leads(text: str) -> bool:
    """Whether a line is the time before a dump."""
    return bool(form.DATE.match(text))


def goes_on(text: str) -> bool:
    """Whether a line may belong to a dump that has begun."""
    text = as_printed(text)
    return is_head_of_part(text) or any(pattern.match(text) for pattern in PARTS) or bool(form.INSIDE.match(text))


def as_printed(text: str) -> str:
    """A line as the JVM printed it, of one that a web page has written in entities, with other quotes or indented."""
    if "&" in text and ENTITY.search(text):
        text = html.unescape(text)
    if "“" in text or "”" in text:
        text = text.replace("“", '"').replace("”", '"')
    stripped = text.lstrip() if text[:1].isspace() else text
    return stripped if stripped is not text and stripped[:1] in '"FJ#' and is_head_of_part(stripped) else text


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
    lines = (line if len(line.text) > MOST_CHARACTERS else Line(line.offset, as_printed(line.text)) for line in lines)
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
    waits = Waits(dump.threads)
    for thread, fields in completed:
        owner = waits.owner_of(thread)
        fields |= {"blocked_by": owner.name} if owner is not None and owner.name else {}
    parts = waits.deadlocks()
    found = [
        *((section, parts_of(section, parts)) for section in dump.deadlocks),
        *((None, part) for part in parts if not any(parts_of(section, [part]) for section in dump.deadlocks)),
    ]
    fields = dump.fields | base | {"threads": str(len(dump.threads)), "deadlocks": str(len(found))}
    yield Row("thread_dump", dump.offset, "\n".join(dump.raw), fields, at, known_by, None, (*dump.warnings, *doubts))
    for thread, fields in completed:
        yield Row("thread", thread.offset, "\n".join(thread.raw), base | fields, at, known_by, None, tuple(thread.warnings))
    for section, edges in found:
        yield deadlock_row(dump, waits, section, edges, base, at, known_by)


def parts_of(section: Deadlock, parts: list[list[Edge]]) -> list[Edge]:
    """The edges of those parts that share a thread with a section of the JVM: they are the same deadlock."""
    return [edge for part in parts if any(edge.waiter.name in section.threads for edge in part) for edge in part]


def deadlock_row(
    dump: Dump,
    waits: Waits,
    section: Deadlock | None,
    edges: list[Edge],
    base: dict[str, str],
    at: dt.datetime | None,
    known_by: str | None,
) -> Row:
    """One deadlock: what the JVM reports of it, and what the locks of its threads show beyond that."""
    members = list({id(edge.waiter): edge.waiter for edge in edges}.values())
    doubts: list[str] = []
    told = section or Deadlock(members[0].offset, ["\n\n".join("\n".join(thread.raw) for thread in members)])
    if section is not None:
        edges = [edge for edge in edges if edge.waiter.name not in section.threads]
        if not len(section.threads) == len(section.locks) == len(section.holders) > 0:
            doubts.append("the section of the deadlock is not whole")
        members = members or in_cycle(section, dump.threads)
    if any(edge.is_doubtful for edge in edges):
        doubts.append("who holds the read lock is not printed; taken from the frames")
    threads = [*told.threads, *(thread.label for thread in members if thread.name not in told.threads)]
    arrays = {
        "threads": threads,
        "waiters": [*told.threads, *(edge.waiter.label for edge in edges)],
        "waits_for": [*told.locks, *(edge.waiter.blocked_on or "" for edge in edges)],
        "waits_for_classes": [*told.classes, *(edge.waiter.fields.get("waits_for_class", "") for edge in edges)],
        "held_by": [*told.holders, *(edge.holder.label for edge in edges)],
        "waiting_threads": sorted(
            {thread.label for thread in waits.behind([*members, *(thread for thread in dump.threads if thread.name in told.threads)])}
        ),
    }
    identities = [identity for thread in members if (identity := identity_of(thread, dump))]
    if members and len(identities) == len(members):
        arrays["members"] = sorted(identities)
    fields = {key: json.dumps(values, ensure_ascii=False) for key, values in arrays.items()}
    found_by = {"found_by": "cycle" if section is None else "jvm"}
    return Row("deadlock", told.offset, "\n".join(told.raw), base | found_by | fields, at, known_by, None, tuple(doubts))


def in_cycle(section: Deadlock, threads: list[Thread]) -> list[Thread]:
    """The threads of a section's cycle, if their own lines show no locks: those from the one that holds what the last waits for."""
    if not section.holders or section.holders[-1] not in section.threads:
        return []
    names = section.threads[section.threads.index(section.holders[-1]) :]
    members = [thread for thread in threads if thread.name in names]
    return members if len(members) == len(names) else []


def identity_of(thread: Thread, dump: Dump) -> str | None:
    """A name for a thread that is the same in all dumps of its process, and in no other process."""
    if "tid" in thread.fields:
        return f"{thread.label} {thread.fields['tid']}"
    if "number" in thread.fields and "pid" in dump.fields:
        return f"{thread.label} {dump.fields['pid']}#{thread.fields['number']}"
    return None


def time_of_dump(dump: Dump, about: About) -> tuple[dt.datetime | None, str | None, tuple[str, ...]]:
    try:
        if dump.instant:
            return dt.datetime.fromisoformat(dump.instant).astimezone(dt.UTC), "content", ()
        if dump.local_time:
            return dt.datetime.fromisoformat(dump.local_time).replace(tzinfo=about.zone).astimezone(dt.UTC), "content", ()
    except (ValueError, OverflowError):
        pass
    return time_of(about)
