"""GC logs of JDK 7 to 25, of Serial, Parallel, CMS, G1, ZGC and Shenandoah, by their switches of before and after JDK 9.

Rows, with `at` = the beginning of what they tell (JDK 8 prints it; unified logging prints the end) and these fields:

- `gc_pause`, one per stop of the world: pause_kind (young, mixed, full, remark, cleanup, initial_mark, final_mark, init_update_refs,
  final_update_refs, degenerated, mark_start, mark_end, relocate_start …), pause_name (as printed), collector (Serial, Parallel, CMS, G1, Z,
  Shenandoah), cause, duration_ms, gc_id, generation (young, old), heap_before_bytes, heap_after_bytes, heap_total_bytes,
  metaspace_before_bytes, metaspace_after_bytes, metaspace_total_bytes (permgen_… of JDK 7), user_ms, sys_ms, real_ms, uptime_ms, failure (to-space exhausted, promotion
  failed, concurrent mode failure …), inside_gc_id (the pause that holds this one: leave it out of sums);
- `gc_concurrent`: collector, phase, concurrent_kind (cycle, phase), duration_ms, active_ms (CMS: without yields), gc_id, generation, heap and CPU as above;
- `safepoint`: duration_ms (threads stopped, with the time to reach it), reach_ms, operation.  A pause is also a safepoint: never add the two;
- `gc_stall`: stall_kind, thread, duration_ms: one thread waited for memory (ZGC);
- `gc_header`: jvm_version, jvm_name, collector, flags, cpus, memory_bytes, heap_min_bytes, heap_initial_bytes, heap_max_bytes, heap_region_bytes …;
- `gc_message`: level, message, of warnings.

Where a log has uptimes alone, the start of the JVM is taken from the file's name (`-Xlog:gc:gc-%t.log`), else from the
file's last change less the last uptime, with a warning.  Other details of a collection (phases, regions, workers) are
not kept.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal

from ingestion.captures import UNREAD, About, Line, Row, time_of
from ingestion.captures.jvm._gc import DATE, NUMBER, Event
from ingestion.captures.jvm._gc_jdk8 import CONCURRENT, DECORATION, FLAGS, HEAD, STOPPED, VM, Jdk8, is_statistics
from ingestion.captures.jvm._gc_unified import QUIET, Unified, split

KINDS = {"gc_log": "Garbage collections and safepoints of a JVM, as JDK 8 or unified logging prints them."}
OF_NODE = frozenset(KINDS)
WITHIN_LOGS = (b"[gc", b"[safepoint", b"[GC", b"[Full GC", b"] GC(", b"application threads were stopped: ", b"CommandLine flags: ")

STRONG = re.compile(
    rf"^(?:{DATE}: |{NUMBER}: )+(?:#\d+: )?\[(?:GC|Full GC|CMS-|Pause |Concurrent )|\[(?:Full )?GC[ \[(]|\[Times: user="
    r"|^ .* total +\d+K, used \d+K \[0x"
)
NAMED_START = re.compile(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d")  # %t in the name of a log file: when the JVM started
MOST_WAITING = 50_000  # rows that wait for the last uptime of a log without dates
MOST_CHARACTERS = 1 << 16  # of a line; what is longer is not looked at
RESTART_MS = 10_000  # uptimes that fall by more are those of another run; less is the disorder of threads
FROM_NAME = "the log has uptimes alone; the start of the JVM is taken from the file's name"
FROM_CHANGE = "the log has uptimes alone; its last one is taken for the time of the file's last change"
UNKNOWN_START = "the log has uptimes alone, and nothing says when its JVM started"


def kind_of(sample: str, name: str = "") -> str | None:
    """`gc_log` where lines of a GC log are there and at least half of all."""
    strong = weak = other = 0
    in_statistics = False
    for text in sample.split("\n")[:2000]:
        text = text[:2000].rstrip("\r")
        in_statistics = is_statistics(text, in_statistics)
        if in_statistics or not text.strip():
            continue
        if STRONG.search(text) or is_unified(text) or STOPPED.search(text) or FLAGS.match(text):
            strong += 1
        elif text[0].isspace() and not text.lstrip().startswith("["):
            continue  # details of a collection, and anybody's indented lines
        elif DECORATION.match(text) or VM.match(text) or CONCURRENT.search(text) or HEAD.match(text) or text.startswith("Memory: "):
            weak += 1
        else:
            other += 1
    return "gc_log" if strong and strong + weak > other and "Full thread dump" not in sample else None


def is_unified(text: str) -> bool:
    parts = split(text)
    if parts is None:
        return False
    decorations, message = parts
    if decorations.tags is not None or not text.startswith("["):
        return True
    return bool(
        re.match(
            r"GC\(\d+\) |Using |Initializing |Safepoint \"|Entering safepoint|Leaving safepoint|Total time for which|Application time",
            message,
        )
    )


def begins(text: str) -> bool:
    """Whether a line is of a GC log, whatever stands around it."""
    if STRONG.match(text) or STOPPED.match(text) or FLAGS.match(text):
        return True
    parts = split(text) if text.startswith("[") else None
    if parts is None:
        return False
    decorations, message = parts
    return (decorations.tags or "").startswith(("gc", "safepoint")) or bool(re.match(r"GC\(\d+\) ", message))


def goes_on(text: str) -> bool:
    """Whether a line may be one of the details of a collection; any may be, and `read` leaves out what is none."""
    return True


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row]:
    """Rows of a GC log; one that changes its form (a JVM was replaced) is read to its end."""
    return dated(joined(events(lines, about.zone)), about)


def events(lines: Iterable[Line], zone: dt.tzinfo) -> Iterator[Event]:
    """The events of a log, in the order in which they are complete.  `zone`: that of its local times."""
    unified, jdk8 = Unified(), Jdk8(zone)
    for line in lines:
        if len(line.text) > MOST_CHARACTERS:
            yield Event(UNREAD, line.offset, [line.text], warnings=["a line too long for a GC log"])
            continue
        if jdk8.open is None and QUIET.match(line.text):
            continue
        parts = split(line.text, zone) if jdk8.open is None or line.text.startswith("[2") else None
        if parts is not None:
            yield from unified.feed(line, *parts)
        else:
            yield from jdk8.feed(line)
    yield from unified.close()
    yield from jdk8.close()


def joined(found: Iterator[Event]) -> Iterator[Event]:
    """Neighbouring lines that were not understood make one row."""
    held: Event | None = None
    for event in found:
        if held is not None and event.kind == UNREAD and event.warnings == held.warnings and len(held.raw) < 50:
            held.raw += event.raw
            continue
        if held is not None:
            yield held
        held = event if event.kind == UNREAD else None
        if held is None:
            yield event
    if held is not None:
        yield held


def dated(found: Iterator[Event], about: About) -> Iterator[Row]:
    """Rows with their times; those of a log with uptimes alone wait for its end, for so long as memory allows."""
    start = time_of(about)[0] if NAMED_START.search(about.name.rsplit("/", 1)[-1]) else None
    waiting: list[Event] = []
    last = Decimal(0)
    has_dates = False
    for event in found:
        if event.clock_ms is not None:
            ended = event.clock_ms + Decimal(event.fields.get("duration_ms", "0"))
            if ended < last - RESTART_MS:  # another run: neither the name nor the file's last change mentions both
                yield from (row(earlier, None, None, UNKNOWN_START) for earlier in waiting)
                waiting, start, last = [], None, ended
            last = max(last, ended)
        has_dates = has_dates or event.at is not None
        waiting.append(event)
        if has_dates or start is not None or about.modified_at is None or len(waiting) > MOST_WAITING:
            known_by = "name" if start is not None else None
            yield from (row(earlier, start, known_by, FROM_NAME if known_by else UNKNOWN_START) for earlier in waiting)
            waiting = []
    if waiting and about.modified_at is not None:
        start = about.modified_at - dt.timedelta(milliseconds=float(last))
    yield from (row(event, start, "modified", FROM_CHANGE) for event in waiting)


def row(event: Event, start: dt.datetime | None, known_by: str | None, doubt: str) -> Row:
    at, at_known_by, warnings = event.at, "content" if event.at is not None else None, tuple(event.warnings)
    if at is None and event.clock_ms is not None:
        warnings += (doubt,)
        if start is not None:
            at, at_known_by = start + dt.timedelta(microseconds=round(event.clock_ms * 1000)), known_by
    return Row(event.kind, event.offset, "\n".join(event.raw), event.fields, at, at_known_by, None, warnings)
