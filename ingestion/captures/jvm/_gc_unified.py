"""GC logs of unified logging (JDK 9 and later): `[2026-08-08T14:52:43.197+0300][gc] GC(0) Pause Young (Normal) … 9.884ms`.

Source: logging/logDecorations.cpp (decorations are printed in one fixed order, whichever are selected), gc/shared/gcTraceTime,
gcInitLogger.cpp, runtime/safepoint.cpp, services/runtimeService.cpp (JDK 9 to 12).  A line is printed when the event that it
mentions has ended; the beginning is computed from the duration.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from ingestion.captures import Line
from ingestion.captures.jvm._gc import (
    CAUSE,
    DATE,
    HEAP,
    NUMBER,
    SIZE,
    TIMES,
    Event,
    back,
    bytes_of,
    date_of,
    heap_fields,
    ms_of_seconds,
    number,
    pause_of,
    plain,
    times_fields,
)
from ingestion.reading import linear

PREFIX = re.compile(r"((?:\[[^\[\]]*\])*) ?(.*)", re.DOTALL)
LEVELS = ("trace", "debug", "info", "warning", "error")
TAGS = re.compile(r"(gc|safepoint)(,[a-z0-9]+)*")
HOST_OR_ID = re.compile(r"[\w.-]+")
STAMPED = re.compile(rf"(?P<date>{DATE})|(?P<s>{NUMBER})s|(?P<ms>\d+)ms|(?P<ns>\d+)ns")

WITH_ID = re.compile(r"GC\((\d+)\) (.*)", re.DOTALL)
PAUSE = re.compile(rf"(?:(?P<generation>[YyO]): )?(?P<name>Pause .*?)(?: {HEAP})?(?: (?P<ms>{NUMBER})ms)?$")
CONCURRENT = linear.for_lines(
    rf"(?:(?P<generation>[YyO]): )?(?P<name>Concurrent .*?|Garbage Collection .*?|(?:Major|Minor) Collection .*?)"
    rf"(?: \({NUMBER}s(?:, {NUMBER}s)?\))?(?: {HEAP})?(?: (?P<duration>{NUMBER})(?P<unit>ms|s))?$"
)
METASPACE = re.compile(rf"Metaspace: (?P<before>{SIZE})(?:\({SIZE}\))?->(?P<after>{SIZE})\((?P<total>{SIZE})\)")
STALL = re.compile(rf"(?P<name>Allocation Stall|Relocation Stall) \((?P<thread>.*)\) (?P<ms>{NUMBER})ms$")
FAILURE = re.compile(r"To-space (?:exhausted|overflow)$")
SAFEPOINT = re.compile(
    r'Safepoint "(?P<operation>.*?)", Time since last: \d+ ns, Reaching safepoint: (?P<reach>\d+) ns,.*? Total: (?P<total>\d+) ns'
)
ENTERING = re.compile(r"Entering safepoint region: (?P<operation>.*)")
STOPPED = re.compile(
    rf"Total time for which application threads were stopped: (?P<stopped>{NUMBER}) seconds"
    rf"(?:, Stopping threads took: (?P<reach>{NUMBER}) seconds)?"
)
USING = re.compile(r"(?:Using|Initializing) (?:The )?(?P<collector>Serial|Parallel|G1|Shenandoah|Epsilon|Concurrent Mark Sweep|Z)\b")
HEADERS = (
    ("jvm_version", re.compile(r"Version: (.*)")),
    ("cpus", re.compile(r"CPUs: (\d+) total")),
    ("memory_bytes", re.compile(rf"Memory: ({SIZE})$")),
    ("heap_min_bytes", re.compile(rf"(?:Heap )?Min Capacity: ({SIZE})")),
    ("heap_initial_bytes", re.compile(rf"(?:Heap )?Initial Capacity: ({SIZE})")),
    ("heap_max_bytes", re.compile(rf"(?:Heap )?Max Capacity: ({SIZE})")),
    ("heap_region_bytes", re.compile(rf"(?:Heap [Rr]egion [Ss]ize|Region Size): ({SIZE})")),
    ("parallel_workers", re.compile(r"Parallel Workers: (\d+)")),
    ("concurrent_workers", re.compile(r"Concurrent Workers: (\d+)")),
)
INIT = re.compile(
    r"(?:Concurrent Refinement|CDS |Compressed class|Narrow klass|Attempting |Large Page Support|NUMA Support|Compressed Oops|Pre-touch|Heap address|CardTable entry size|Periodic GC)\b"
)
# Most lines are details that no row is made of; this skips them, unless they are warnings.
DECORATION = rf"{DATE}|{NUMBER}s|\d+(?:ms|ns)?|(?:trace|debug|info) *|(?:gc|safepoint)[a-z0-9,]* *"
QUIET = re.compile(
    rf"(?>\[(?:{DECORATION})\](?:\[(?:{DECORATION}|[\w.-]+(?<!warning)(?<!error))\])* ?)"
    r"(?!\[|(?:GC\(\d+\) )?(?:[YyO]: )?(?:Pause|Concurrent|Garbage|Major|Minor|User=|Metaspace: |To-space|Using|Initializing|Version|CPUs|Memory|Heap|Min |Initial |Max |Region|Parallel"
    r"|PSYoungGen|DefNew|ParNew|Safepoint|Entering|Total time|Allocation|Relocation))"
)

GENERATIONS = {"Y": "young", "y": "young", "O": "old"}
YOUNG_GENERATIONS = {"PSYoungGen": "Parallel", "DefNew": "Serial", "ParNew": "CMS"}
TWO_JVMS = "two JVMs write this file: which of them used how much CPU is not known"
WAITS_FOR_CPU = 16  # lines; the line with the CPU times follows the pause's own, with at most a few of other threads between
OPEN_COLLECTIONS = 64


@dataclass(frozen=True)
class Decorations:
    """What was in brackets before a message.  `clock_ms`: since the JVM's start, or for `nanos` since an arbitrary moment."""

    at: dt.datetime | None = None
    clock_ms: Decimal | None = None
    nanos: bool = False
    level: str | None = None
    tags: str | None = None


def split(text: str, zone: dt.tzinfo | None = None) -> tuple[Decorations, str] | None:
    """(decorations, message) of a line; None if the brackets are not those of unified logging.  Of several clocks that of UTC counts (`utctime`,
    `timemillis`), because the offset of `time` may have the wrong sign.  `zone`: that of the local times."""
    match = PREFIX.match(text)
    assert match is not None
    if not match[1]:
        return (Decorations(), text) if is_message(text) else None
    at = utc = up = nanos = level = tags = None
    for part in match[1][1:-1].split("]["):
        stamp, word = STAMPED.fullmatch(part), part.rstrip()
        if stamp and stamp["date"]:
            if at is None:
                at = date_of(stamp["date"], zone)
            elif part.endswith("+0000"):
                utc = date_of(stamp["date"])
        elif stamp and stamp["s"]:
            up = number(stamp["s"]) * 1000
        elif stamp and stamp["ms"] and len(stamp["ms"]) >= 13:  # timemillis, since 1970; shorter ones are uptimemillis
            utc = dt.datetime.fromtimestamp(int(stamp["ms"][:13]) / 1000, dt.UTC)
        elif stamp and stamp["ms"]:
            up = up if up is not None else Decimal(stamp["ms"])
        elif stamp:
            nanos = Decimal(stamp["ns"]) / 1_000_000
        elif word in LEVELS:
            level = word
        elif TAGS.fullmatch(word):
            tags = word
        elif not HOST_OR_ID.fullmatch(word):
            return None
    at = utc or at
    if at is None and up is None and nanos is None and level is None and tags is None:
        return None
    clock = up if up is not None else nanos
    return Decorations(at, clock, up is None and nanos is not None, level, tags), match[2]


def is_message(text: str) -> bool:
    """Whether an undecorated text is a message of these logs."""
    return bool(
        WITH_ID.match(text)
        or USING.match(text)
        or SAFEPOINT.match(text)
        or ENTERING.match(text)
        or STALL.match(text)
        or INIT.match(text)
        or any(pattern.match(text) for _, pattern in HEADERS)
    )


class Unified:
    """Reads one log line by line; keeps the collections that are open, and the last pauses until their CPU times came."""

    def __init__(self) -> None:
        self.collector: str | None = None
        self.header: Event | None = None
        self.operation: str | None = None
        self.count = 0
        self.open: dict[str, dict[str, str]] = {}
        self.started: dict[str, int] = {}
        self.waiting: list[tuple[int, str, int | None, Event]] = []

    def feed(self, line: Line, decorations: Decorations, message: str) -> Iterator[Event]:
        """The events that are complete with this line."""
        self.count += 1
        while self.waiting and self.count - self.waiting[0][0] > WAITS_FOR_CPU:
            yield self.waiting.pop(0)[-1]
        match = WITH_ID.match(message)
        if match:
            yield from self.end_of_header()
            yield from self.collection(line, decorations, match[1], match[2])
        elif self.is_header(line, decorations, message):
            yield from self.headed(line, decorations, message)
        else:
            yield from self.other(line, decorations, message)

    def close(self) -> Iterator[Event]:
        """What is left at the end."""
        yield from self.end_of_header()
        for *_, event in self.waiting:
            yield event
        self.waiting = []

    def end_of_header(self) -> Iterator[Event]:
        if self.header is not None:
            yield self.header
        self.header = None

    def is_header(self, line: Line, decorations: Decorations, message: str) -> bool:
        if decorations.tags is not None and not decorations.tags.startswith("gc"):
            return False
        return bool(USING.match(message) or INIT.match(message) or any(pattern.match(message) for _, pattern in HEADERS))

    def headed(self, line: Line, decorations: Decorations, message: str) -> Iterator[Event]:
        """A line that a JVM prints at its start; a repeated line begins the next start's."""
        fields = {}
        using = USING.match(message)
        if using:
            self.collector = {"Concurrent Mark Sweep": "CMS"}.get(using["collector"], using["collector"])
            fields = {"collector": self.collector}
        for key, pattern in HEADERS:
            match = pattern.match(message)
            if match:
                fields = {key: bytes_of(match[1]) if key.endswith("_bytes") else match[1].strip()}
        if self.header is not None and any(
            self.header.fields.get(key, value) != value or (key == "jvm_version" and key in self.header.fields)
            for key, value in fields.items()
        ):
            yield from self.end_of_header()
        if self.header is None and not fields:
            return
        if self.header is None:
            self.header = self.event("gc_header", line, decorations)
            self.started, self.open = {}, {}
        else:
            self.header.raw.append(line.text)
        self.header.fields |= fields

    def event(self, kind: str, line: Line, decorations: Decorations, ended_ms: Decimal = Decimal(0)) -> Event:
        """An event that lasted `ended_ms` until its line was printed."""
        clock = decorations.clock_ms
        event = Event(
            kind, line.offset, [line.text], at=back(decorations.at, ended_ms), clock_ms=None if clock is None else clock - ended_ms
        )
        if clock is not None and not decorations.nanos:
            event.fields["uptime_ms"] = plain(clock - ended_ms)
        return event

    def collection(self, line: Line, decorations: Decorations, gc_id: str, message: str) -> Iterator[Event]:
        """A message that begins with `GC(n)`."""
        pause = PAUSE.match(message)
        concurrent = None if pause else CONCURRENT.match(message)
        if pause and pause["ms"]:
            yield from self.paused(line, decorations, gc_id, pause)
        elif pause and "->" in pause["name"]:
            yield self.cut(line, decorations)
        elif pause:
            self.started[gc_id] = self.count
            while len(self.started) > OPEN_COLLECTIONS:
                del self.started[next(iter(self.started))]
        elif concurrent and (concurrent["duration"] or concurrent["before"]):
            yield self.concurrent(line, decorations, gc_id, concurrent)
        elif "=" in message and (times := TIMES.search(message)):
            of_id = [
                (place, event)
                for place, (_, waiting_id, _, event) in enumerate(self.waiting)
                if waiting_id == gc_id and "real_ms" not in event.fields and event.kind == "gc_pause"
            ]
            if len(of_id) > 1:
                for _, event in of_id:
                    event.warnings += [] if TWO_JVMS in event.warnings else [TWO_JVMS]
            elif of_id:
                place, event = of_id[0]
                event.fields |= times_fields(times)
                event.raw.append(line.text)
                if not self.started:
                    yield self.waiting.pop(place)[-1]
        elif metaspace := METASPACE.match(message):
            self.note(gc_id, heap_fields(metaspace, "metaspace"))
        elif FAILURE.match(message):
            self.note(gc_id, {"failure": message.lower()})
        elif message.startswith(tuple(YOUNG_GENERATIONS)):
            self.collector = self.collector or YOUNG_GENERATIONS.get(message.split(":")[0])
        elif message.startswith("Using ") and (using := USING.match(message)):
            self.collector = using["collector"]

    def cut(self, line: Line, decorations: Decorations) -> Event:
        event = self.event("unread", line, decorations)
        event.warnings.append("a pause that is cut")
        return event

    def note(self, gc_id: str, fields: dict[str, str]) -> None:
        """Keep what is printed before the pause's own line."""
        self.open.setdefault(gc_id, {}).update(fields)
        while len(self.open) > OPEN_COLLECTIONS:
            del self.open[next(iter(self.open))]

    def paused(self, line: Line, decorations: Decorations, gc_id: str, match: re.Match[str]) -> Iterator[Event]:
        duration = number(match["ms"])
        event = self.event("gc_pause", line, decorations, duration)
        event.fields |= {"gc_id": gc_id, **pause_of(match["name"]), "duration_ms": plain(duration)}
        if match["before"]:
            event.fields |= heap_fields(match)
        if match["generation"]:
            event.fields["generation"] = GENERATIONS[match["generation"]]
        self.infer(event.fields, decorations, match["generation"])
        event.fields |= self.open.pop(gc_id, {})
        start = self.started.pop(gc_id, None)
        for _, inner_id, inner_start, inner in self.waiting:
            # Serial's full collection is printed within the young one that failed: its time is part of the outer's.  It is the next one; others
            # are of another JVM that writes this file
            is_next = int(inner_id) == int(gc_id) + 1
            if is_next and start is not None and inner_start is not None and inner_start > start and inner.kind == "gc_pause":
                inner.fields["inside_gc_id"] = gc_id
        self.waiting.append((self.count, gc_id, start, event))
        return iter(())

    def concurrent(self, line: Line, decorations: Decorations, gc_id: str, match: re.Match[str]) -> Event:
        duration = number(match["duration"]) * (1000 if match["unit"] == "s" else 1) if match["duration"] else None
        event = self.event("gc_concurrent", line, decorations, duration or Decimal(0))
        name = match["name"]
        cycle = "Collection" in name or re.match(r"Concurrent (?:Mark |Undo )?Cycle", name)
        event.fields |= {"gc_id": gc_id, "concurrent_kind": "cycle" if cycle else "phase", "phase": name}
        if duration is None:
            event.warnings.append("the line says no duration; the time is that of the end")
        else:
            event.fields["duration_ms"] = plain(duration)
        if "Collection" in name and (cause := re.search(CAUSE, name)):
            event.fields["cause"] = cause[1]
        if match["before"]:
            event.fields |= heap_fields(match)
        if match["generation"]:
            event.fields["generation"] = GENERATIONS[match["generation"]]
        if self.collector:
            event.fields["collector"] = self.collector
        return event

    def infer(self, fields: dict[str, str], decorations: Decorations, generation: str | None) -> None:
        """Set the collector; a rotated file lacks the line that names it."""
        name, cause = fields["pause_name"], fields.get("cause", "")
        if self.collector is None:
            if name.startswith(("Pause Mark ", "Pause Relocate")) or generation:
                self.collector = "Z"
            elif name.startswith(("Pause Init ", "Pause Final ", "Pause Degenerated")):
                self.collector = "Shenandoah"
            elif cause.startswith("G1 ") or name == "Pause Cleanup" or re.match(r"Pause Young \((?:Normal|Mixed|Prepare|Concurrent)", name):
                self.collector = "G1"
        if self.collector:
            fields["collector"] = self.collector

    def other(self, line: Line, decorations: Decorations, message: str) -> Iterator[Event]:
        """Safepoints, stalls, and what a JVM warns of."""
        if match := SAFEPOINT.match(message):
            total = Decimal(match["total"]) / 1_000_000
            event = self.event("safepoint", line, decorations, total)
            event.fields |= {
                "operation": match["operation"],
                "duration_ms": plain(total),
                "reach_ms": plain(Decimal(match["reach"]) / 1_000_000),
            }
            yield event
        elif match := ENTERING.match(message):
            self.operation = match["operation"]
        elif match := STOPPED.match(message):
            event = self.event("safepoint", line, decorations, number(match["stopped"]) * 1000)
            event.fields |= {"duration_ms": ms_of_seconds(match["stopped"])}
            if match["reach"]:
                event.fields["reach_ms"] = ms_of_seconds(match["reach"])
            if self.operation:
                event.fields["operation"] = self.operation
            self.operation = None
            yield event
        elif match := STALL.match(message):
            event = self.event("gc_stall", line, decorations, number(match["ms"]))
            event.fields |= {"stall_kind": match["name"], "thread": match["thread"], "duration_ms": plain(number(match["ms"]))}
            yield event
        elif decorations.level in ("warning", "error") and message.strip():
            event = self.event("gc_message", line, decorations)
            event.fields |= {"level": decorations.level, "message": message.strip()}
            yield event
