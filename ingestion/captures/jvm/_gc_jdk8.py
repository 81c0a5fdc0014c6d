"""GC logs of JDK 7 and 8: `2021-05-05T16:17:25.693+0000: 0.612: [GC pause (G1 Evacuation Pause) (young), 0.0092810 secs]`.

Source: the `gclog_or_tty` prints of HotSpot 8 (genCollectedHeap, g1CollectedHeap, psScavenge, psMarkSweep,
concurrentMarkSweepGeneration, shenandoahHeap, runtimeService).  A pause is one pair of brackets, over many lines where
other switches print into it; its stamp is its beginning.  Concurrent threads print their phases into the middle of it, and
with their stamp at the end; these are taken out first.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from decimal import Decimal

from ingestion.captures import Line
from ingestion.captures.jvm._gc import (
    CAUSE,
    DATE,
    HEAP,
    NUMBER,
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

# For `search`: it matches where digits begin, and not again at each of them.
STAMP = rf"(?:(?P<date>{DATE}): )?(?:(?P<up>(?<!\d){NUMBER}): )?(?:#\d+: )?"
CONCURRENT = re.compile(
    STAMP + rf"\[(?:GC (?P<g1>concurrent-[a-z-]+?)-end, (?P<g1_secs>{NUMBER}) secs|"
    rf"(?P<cms>CMS-concurrent-[a-z-]+): (?P<active>{NUMBER})/(?P<cms_secs>{NUMBER}) secs|"
    rf"(?P<shenandoah>Concurrent [a-zA-Z ()-]+?)(?:(?<! ) ++{HEAP})?, (?P<shenandoah_ms>{NUMBER}) ms|"
    rf"(?:GC concurrent-|CMS-concurrent-|Concurrent )[^\[\]]*)\](?: \[Times: (?P<times>[^\[\]]*)\])?"
)
STOPPED = re.compile(
    STAMP + rf"Total time for which application threads were stopped: (?P<stopped>{NUMBER}) seconds"
    rf"(?:, Stopping threads took: (?P<reach>{NUMBER}) seconds)?"
)
RUNNING = re.compile(STAMP + rf"Application time: {NUMBER} seconds")
HEAD = re.compile(
    STAMP + r"(?P<head>\[(?:Full GC|GC pause|GC remark|GC cleanup|GC(?=[ \[(-])(?! Worker| ref-proc| concurrent)|GC$|Pause [A-Z]))"
)
LONE_STAMP = re.compile(STAMP + " ?")
HEAD_AT_BEGINNING = re.compile(rf"(?:{DATE}: |{NUMBER}: )+(?:#\d+: )?\[(?:Full GC|GC|Pause )")
ADDRESSES = re.compile(r"\[0x[0-9a-f]+,[^\[\]]*?\)")
DURATION = re.compile(rf", (?P<duration>{NUMBER}) (?P<unit>secs|ms)\]$")
SIZES = re.compile(r"(?<!\d)(?P<before>\d++(?:[.,]\d+)?[BKMG])->(?P<after>\d+(?:[.,]\d+)?[BKMG])\((?P<total>\d+(?:[.,]\d+)?[BKMG])\)")
OCCUPANCY = re.compile(r"(?:^|[\] ])(?P<after>\d+[KMG])\((?P<total>\d+[KMG])\)")
METASPACE = re.compile(r"\[(?P<name>Metaspace|CMS Perm|PSPermGen|Perm) *: (?P<sizes>[^\[\]]*)\]")
G1_HEAP = re.compile(
    r"\bHeap: (?P<before>\d+(?:[.,]\d+)?[BKMG])\(\d+(?:[.,]\d+)?[BKMG]\)->(?P<after>\d+(?:[.,]\d+)?[BKMG])\((?P<total>\d+(?:[.,]\d+)?[BKMG])\)"
)
G1_KIND = re.compile(
    r"\[GC pause (?:\((?P<cause>(?!young|mixed|partial)(?:[^()]|\(\))+)\) )?\((?P<kind>young|mixed|partial)\)(?P<initial> \(initial-mark\))?"
)
FAILURES = ("concurrent mode failure", "concurrent mode interrupted", "promotion failed", "to-space exhausted", "to-space overflow")

VM = re.compile(r"(?P<name>.*\bVM) \((?P<build>[^()]+)\) for (?P<platform>\S+) JRE \((?P<version>[^()]+)\)")
MEMORY = re.compile(r"Memory: \d+k page, physical (\d+k)")
FLAGS = re.compile(r"CommandLine flags: (.*)")
COLLECTORS = (
    ("G1GC", "G1"),
    ("ConcMarkSweepGC", "CMS"),
    ("ParNewGC", "CMS"),
    ("ParallelGC", "Parallel"),
    ("ParallelOldGC", "Parallel"),
    ("SerialGC", "Serial"),
    ("ShenandoahGC", "Shenandoah"),
)
DECORATION = re.compile(
    r"\s|\{?Heap\b|\}|- age|Desired survivor size|[A-Za-z]*AdaptiveSize|CMS: |/proc/meminfo|\(?GC log file|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d GC log file"
    # What Shenandoah prints of its heuristics.
    r"|(?:Free|Evacuation Reserve|Trigger|(?:Immediate|Collectable|Total) Garbage|Cancelling GC|Uncommitted)\b|(?:Pacer for|Adaptive CSet Selection)\b"
    r"|Mem[A-Z]|Before GC|After GC|Statistics for|Total Free Space|Max Chunk|Max\s+Chunk|Number of Blocks|Av\.\s+Block|Tree\s+Height|-+$|: \d|PS[A-Z]"
)
# Shenandoah's summary at the JVM's end, up to the first line of another JVM.
STATISTICS = "GC STATISTICS:"
STATISTICS_END = re.compile(rf"(?:{DATE}|{NUMBER}): |.*\bVM \(|Memory: |CommandLine flags: ")
NOT_A_PIECE = re.compile(r"\[Times: [^\[\]]*\]|CMS: abort preclean due to time|\{Heap before GC.*")
MOST_LINES = 2000


def is_statistics(text: str, are_before: bool) -> bool:
    """Whether a line belongs to the summary at a JVM's end.  `are_before`: whether the line before does."""
    return text.strip() == STATISTICS or (are_before and not STATISTICS_END.match(text))


def metaspace_fields(match: re.Match[str]) -> dict[str, str]:
    """Sizes of the metaspace, or of the permanent generation that JDK 7 had in its place."""
    sizes = SIZES.search(match["sizes"])
    return heap_fields(sizes, "metaspace" if match["name"] == "Metaspace" else "permgen") if sizes else {}


class Jdk8:
    """Reads one log line by line; keeps one open pause and the last one until its CPU times came.  `zone`: that of the local times."""

    def __init__(self, zone: dt.tzinfo) -> None:
        self.zone = zone
        self.collector: str | None = None
        self.header: Event | None = None
        self.open: Event | None = None
        self.body = ""
        self.depth = 0
        self.last: Event | None = None
        self.start_seen = self.in_statistics = False
        self.lone_stamp = ""

    def feed(self, line: Line) -> Iterator[Event]:
        """The events that are complete with this line."""
        text = line.text
        self.in_statistics = is_statistics(text, self.in_statistics)
        if self.in_statistics:
            return
        if self.open is None and (header := self.header_of(text)):
            yield from self.headed(line, header)
            return
        if self.header is not None and text.strip() and not DECORATION.match(text):
            # the JVM's start: the stamp of its first line less its uptime
            stamp = re.match(STAMP, text)
            if stamp and stamp["date"] and stamp["up"]:
                self.header.at = back(date_of(stamp["date"], self.zone), number(stamp["up"]) * 1000)
            yield self.header
            self.header = None
        taken = False
        for pattern, make in ((CONCURRENT, self.concurrent), (STOPPED, self.stopped), (RUNNING, None)):
            for match in pattern.finditer(text):
                taken = True
                if make and (event := make(line, match)):
                    yield event
            text = pattern.sub("", text) if taken else text
        if self.open is not None and HEAD_AT_BEGINNING.match(text) and "[YG occupancy" not in self.body:
            yield self.torn()
        if self.open is not None:
            self.open.raw.append(line.text)
            yield from self.inside(line, "\n" + text)
        else:
            yield from self.outside(line, text, taken)

    def close(self) -> Iterator[Event]:
        """What is left at the end."""
        if self.header is not None:
            yield self.header
        if self.last is not None:
            yield self.last
        if self.open is not None:
            yield self.torn()
        self.header = self.last = None

    def header_of(self, text: str) -> dict[str, str]:
        """Fields of a line that a JVM prints at its start."""
        if match := VM.match(text):
            return {"jvm_name": match["name"], "jvm_build": match["build"], "jvm_version": match["version"], "platform": match["platform"]}
        if match := MEMORY.match(text):
            return {"memory_bytes": bytes_of(match[1])}
        if match := FLAGS.match(text):
            used = [collector for flag, collector in COLLECTORS if f"-XX:+Use{flag}" in match[1].split()]
            self.collector = used[0] if used else self.collector
            fields = {"flags": match[1].strip()} | ({"collector": used[0]} if used else {})
            for key, flag in (("heap_initial_bytes", "InitialHeapSize"), ("heap_max_bytes", "MaxHeapSize")):
                if size := re.search(rf"-XX:{flag}=(\d+)\b", match[1]):
                    fields[key] = size[1]
            return fields
        return {}

    def headed(self, line: Line, fields: dict[str, str]) -> Iterator[Event]:
        if self.header is not None and fields.keys() & self.header.fields.keys():
            yield self.header
            self.header = None
        if self.header is None:
            self.header = Event("gc_header", line.offset, [])
        self.header.raw.append(line.text)
        self.header.fields |= fields

    def stamped(self, kind: str, line: Line, match: re.Match[str], ended_ms: Decimal = Decimal(0)) -> Event:
        """An event with the stamp printed before it, minus its duration if the stamp is that of its end."""
        clock = number(match["up"]) * 1000 - ended_ms if match["up"] else None
        event = Event(
            kind, line.offset, [line.text], at=back(date_of(match["date"], self.zone), ended_ms) if match["date"] else None, clock_ms=clock
        )
        if clock is not None:
            event.fields["uptime_ms"] = plain(clock)
        return event

    def concurrent(self, line: Line, match: re.Match[str]) -> Event | None:
        """A phase concurrent with the application; the line of its start says nothing that its end does not."""
        seconds = match["g1_secs"] or match["cms_secs"]
        if seconds is None and match["shenandoah_ms"] is None:
            return None
        duration = number(seconds) * 1000 if seconds else number(match["shenandoah_ms"])
        ended = Decimal(0) if match["shenandoah"] and not self.start_seen else duration
        event = self.stamped("gc_concurrent", line, match, ended)
        collector = "G1" if match["g1"] else "CMS" if match["cms"] else "Shenandoah"
        event.fields |= {
            "collector": collector,
            "concurrent_kind": "phase",
            "phase": match["g1"] or match["cms"] or match["shenandoah"],
            "duration_ms": plain(duration),
        }
        if match["active"]:
            event.fields["active_ms"] = ms_of_seconds(match["active"])
        if match["before"]:
            event.fields |= heap_fields(match)
        if match["times"] and (times := TIMES.search(match["times"])):
            event.fields |= times_fields(times)
        self.collector = collector
        return event

    def stopped(self, line: Line, match: re.Match[str]) -> Event:
        event = self.stamped("safepoint", line, match, number(match["stopped"]) * 1000)
        event.fields["duration_ms"] = ms_of_seconds(match["stopped"])
        if match["reach"]:
            event.fields["reach_ms"] = ms_of_seconds(match["reach"])
        return event

    def outside(self, line: Line, text: str, taken: bool) -> Iterator[Event]:
        """A line between pauses: the next one's beginning, details of the last one, or noise."""
        head = HEAD.search(text)
        if head is None:
            yield from self.detail(line, text, taken)
            return
        before = text[: head.start()]
        if self.last is not None and (times := TIMES.search(before)):
            self.last.fields |= times_fields(times)
        if self.last is not None:
            yield self.last
            self.last = None
        if self.lone_stamp and not head["date"] and not head["up"]:
            head = HEAD.match(self.lone_stamp + text[head.start() :]) or head
            text = head.string
            before = ""
        self.lone_stamp = ""
        self.open = self.stamped("gc_pause", line, head)
        if NOT_A_PIECE.sub("", before).strip(" ]"):
            self.open.warnings.append("the line begins with a piece of another")
        self.body, self.depth = "", 0
        yield from self.inside(line, text[head.start("head") :])

    def detail(self, line: Line, text: str, taken: bool) -> Iterator[Event]:
        if self.last is not None:
            times, heap, metaspace = TIMES.search(text), G1_HEAP.search(text), METASPACE.search(text)
            if heap:
                self.last.fields |= heap_fields(heap)
            if metaspace:
                self.last.fields |= metaspace_fields(metaspace)
            if times:
                self.last.fields |= times_fields(times)
            if times or heap or metaspace:
                self.last.raw.append(line.text)
                if times:
                    yield self.last
                    self.last = None
                return
        if LONE_STAMP.fullmatch(text):  # a concurrent thread's line stood between a pause and its stamp
            self.lone_stamp = text
            return
        if text.strip() and not taken and not DECORATION.match(text) and not TIMES.search(text):
            yield Event("unread", line.offset, [line.text], warnings=["no line of a GC log"])

    def inside(self, line: Line, text: str) -> Iterator[Event]:
        """Text of the open pause; what is after its last bracket are its CPU times."""
        assert self.open is not None
        text = ADDRESSES.sub("", text)
        again = HEAD.search(text, 1) if self.body.startswith("[GC pause") or text.startswith("[GC pause") else None
        if again is not None:  # G1's pauses hold no other: two processes write this file
            yield self.torn()
            self.open = self.stamped("gc_pause", line, again)
            self.open.warnings.append("the line begins with a piece of another")
            text = text[again.start("head") :]
        for place, character in enumerate(text):
            if character == "[":
                self.depth += 1
            elif character == "]":
                self.depth -= 1
                if self.depth == 0:
                    self.body += text[: place + 1]
                    rest = text[place + 1 :]
                    following = HEAD.search(rest)
                    yield from self.closed(rest[: following.start()] if following else rest)
                    if following:
                        yield from self.outside(line, rest, True)
                    return
        self.body += text
        if len(self.open.raw) > MOST_LINES:
            yield self.torn()

    def closed(self, rest: str) -> Iterator[Event]:
        """The open pause is whole."""
        event, body = self.open, self.body
        assert event is not None
        self.open = None
        if body.endswith(", start]"):  # Shenandoah: if starts are printed, an end is stamped at the end
            self.start_seen = True
            return
        duration = DURATION.search(body)
        if duration is None:
            yield Event("unread", event.offset, event.raw, warnings=["a pause without duration"])
            return
        milliseconds = number(duration["duration"]) * (1000 if duration["unit"] == "secs" else 1)
        event.fields |= self.pause_fields(body) | {"duration_ms": plain(milliseconds)}
        if duration["unit"] == "ms" and self.start_seen:
            event.at = back(event.at, milliseconds)
            if event.clock_ms is not None:
                event.clock_ms -= milliseconds
                event.fields["uptime_ms"] = plain(event.clock_ms)
        self.last = event
        if times := TIMES.search(rest):
            event.fields |= times_fields(times)
            yield event
            self.last = None

    def torn(self) -> Event:
        """The open pause, whose end is missing."""
        event = self.open
        assert event is not None
        self.open, self.body, self.depth = None, "", 0
        return Event("unread", event.offset, event.raw, at=event.at, clock_ms=event.clock_ms, warnings=["a pause that is cut"])

    def pause_fields(self, body: str) -> dict[str, str]:
        """Kind, cause, collector and sizes of a whole pause."""
        inner = body[1:-1]
        while (flat := re.sub(r"\[[^\[\]]*\]", " ", inner)) != inner:
            inner = flat
        collector = self.collector_of(body)
        self.collector = collector or self.collector
        g1 = G1_KIND.match(body)
        if body.startswith("[Pause"):
            fields = pause_of(re.split(r",| \d", inner)[0].strip())
        elif g1:
            fields = {
                "pause_kind": "mixed" if g1["kind"] == "mixed" else "young",
                "pause_name": f"GC pause ({g1['kind']}){g1['initial'] or ''}",
            }
            fields |= {"cause": g1["cause"]} if g1["cause"] else {}
        else:
            kind = self.kind_of(body)
            fields = {
                "pause_kind": kind,
                "pause_name": "Full GC" if body.startswith("[Full") else {"remark": "GC remark", "cleanup": "GC cleanup"}.get(kind, "GC"),
            }
            if cause := re.match(rf"\[(?:Full )?GC (?:pause )?{CAUSE}", body):
                fields["cause"] = cause[1]
        fields |= {"collector": self.collector} if self.collector else {}
        failures = [failure for failure in FAILURES if failure in body] + (
            ["promotion failed"] if re.match(r"\[GC(?: \(.*?\))?--", body) else []
        )
        fields |= {"failure": failures[0]} if failures else {}
        sizes = list(SIZES.finditer(inner))
        if sizes:
            fields |= heap_fields(sizes[-1])
        elif fields["pause_kind"] in ("remark", "initial_mark") and (occupancy := OCCUPANCY.search(inner)):
            fields |= {"heap_after_bytes": bytes_of(occupancy["after"]), "heap_total_bytes": bytes_of(occupancy["total"])}
        if metaspace := METASPACE.search(body):
            fields |= metaspace_fields(metaspace)
        return fields

    @staticmethod
    def kind_of(body: str) -> str:
        """Canonical kind; a young collection that fell back to the old generation is a full one, whatever its head says."""
        if "CMS-initial-mark" in body or body.startswith("[GC (CMS Initial Mark)"):
            return "initial_mark"
        if "CMS-remark" in body or body.startswith(("[GC remark", "[GC (CMS Final Remark)")):
            return "remark"
        if body.startswith("[GC cleanup"):
            return "cleanup"
        if body.startswith("[Full GC") or re.search(r"\[(?:Tenured|CMS(?! Perm|[\w-])|ParOldGen|PSOldGen)", body):
            return "full"
        return "young"

    def collector_of(self, body: str) -> str | None:
        for names, collector in (
            (("[ParNew", "[CMS", "CMS-"), "CMS"),
            (("[PSYoungGen", "[ParOldGen", "[PSOldGen"), "Parallel"),
            (("[DefNew", "[Tenured"), "Serial"),
            (("[GC pause", "[GC remark", "[GC cleanup"), "G1"),
            (("[Pause",), "Shenandoah"),
        ):
            if any(name in body for name in names):
                return collector
        return None
