"""Thread dumps as text: what `jstack`, `jcmd Thread.print`, `kill -3` and `jcmd Thread.dump_to_file` print.

Source: HotSpot's vmError-free prints of JDK 7 to 25 (javaThread.cpp, vframe.cpp, threadService.cpp), ThreadDumper.java, and the
serviceability agent's (`jstack -F`, `jhsdb jstack`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ingestion.captures import Line
from ingestion.captures.jvm._threads import LOCK, PARK, WAIT, Thread
from ingestion.reading import linear

FULL = linear.for_lines(r"(?:\d+: *)?Full thread dump (?P<name>.*?)(?: \((?P<version>.*)\))?:?\s*$")
DATE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\s*$")
PID = re.compile(r"\d{1,8}:?\s*$")
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z\s*$")
VERSION = re.compile(r"\d++(?:\.\d++)*+(?:[+-][\w.+-]++)?+\s*+$")
THREAD = linear.for_lines(
    r'"(?P<name>.*)"(?: #(?P<number>\d+))?(?: \[(?P<native>\d+)\])?(?P<daemon> daemon)?(?: prio=(?P<prio>-?\d+))?(?: os_prio=(?P<os_prio>-?\d+))?'
    r"(?: cpu=(?P<cpu_ms>\d+[.,]\d+)ms)?(?: elapsed=(?P<elapsed>\d+[.,]\d+)s)?(?: allocated=\S+)?(?: defined_classes=\d+)?"
    r" tid=(?P<tid>0x[0-9a-f]+|\d+)(?: nid=(?P<nid>0x[0-9a-f]+|\d+|NA))?(?: (?P<activity>[^\[]*?))?(?:\s*\[(?P<stack>[^\]]*)\])?\s*$"
)
DUMPED = re.compile(r'#(?P<number>\d+) "(?P<name>.*)"(?P<virtual> virtual)?(?: (?P<state>[A-Z_]{3,}))?(?: (?P<at>\d{4}-\S+Z))?\s*$')
AGENT = re.compile(r"Thread (?P<nid>\d+): \(state = (?P<state>\w+)\)")
STATE = re.compile(r"\s*java\.lang\.Thread\.State: (?P<state>[A-Z_]+)(?: \((?P<detail>.*)\))?")
FRAME = re.compile(r"\s*at (?P<frame>\S.*)")
BARE_FRAME = re.compile(r"\s{4,}(?P<frame>[\w.$/@<>-]+\.[\w$<>]+\([^()]*\))\s*$")
AGENT_FRAME = linear.for_lines(r"\s*- (?P<frame>\S.*) @bci=.*\(.* frame.*\)")
LOCKED = re.compile(r"\s*- locked <(?P<lock>[^>]+)>(?: \(an? (?P<class>.*)\))?")
WAITS = re.compile(
    r"\s*- (?P<kind>waiting to lock|waiting to re-lock in wait\(\)|parking to wait for|waiting on) +<(?P<lock>[^>]+)>(?: \(an? (?P<class>.*?)\))?(?:, owner #(?P<owner>\d+))?\s*$"
)
NOTE = re.compile(r"\s+// (?P<kind>parked on|blocked on|waiting on|locked) (?P<lock>\S+@[0-9a-f]+)\s*$")  # dump_to_file of JDK 24
NOTED = {"parked on": PARK, "blocked on": LOCK, "waiting on": WAIT}
SYNCHRONIZERS = re.compile(r"\s*Locked ownable synchronizers:")
OWNABLE = re.compile(r"\s*- <(?P<lock>0x[0-9a-f]+)>,? \(an? (?P<class>.*)\)")
MOUNTED = re.compile(r"\s*(?:Carrying|Mounted) virtual thread #(?P<number>\d+)")
INSIDE = re.compile(r"\s*- |\s+(?:No compile task|Compiling: |JavaThread state: |Carried by )|\s{2,}\S")

DEADLOCK = re.compile(r"Found (?:one|\d+) Java-level deadlocks?:")
STACKS = re.compile(r"Java stack information for the threads listed above")
FOUND = re.compile(r"Found (?:a total of )?\d+ deadlocks?\.|No deadlocks found\.|Deadlock Detection:")
MEMBER = linear.for_lines(r'\s*"(?P<name>.*)":\s*$')
MEMBER_WAITS = re.compile(
    r"\s*waiting (?:to lock [mM]onitor ?@?|to lock |for ownable synchronizer )(?P<monitor>0x[0-9a-f]+)?[, ]*\(?(?:[oO]bject[ @](?P<object>0x[0-9a-f]+), ?)?an? (?P<class>[^)]*)\)"
)
MEMBER_HELD = re.compile(r'\s*(?:in JNI, )?which is held by "(?P<name>.*)"')
NOISE = re.compile(
    r"\s*$|=+\s*$|Threads class SMR info|_java_thread_list=|_to_delete_list|0x[0-9a-f]{8,}[, }]|0x[0-9a-f]{8,}$|\}\s*$|JNI global ref|Heap\s*$|Attaching to|Debugger attached"
    r"|Deadlock Detection:|No deadlocks found|Server compiler|JVM version is|Dumping all threads|SMR"
)
MOST_HEADS = 8  # lines that may be the head of a dump that is to come


@dataclass
class Deadlock:
    """A section "Found one Java-level deadlock"."""

    offset: int
    raw: list[str]
    threads: list[str] = field(default_factory=list)
    locks: list[str] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    holders: list[str] = field(default_factory=list)


@dataclass
class Dump:
    """One dump.  `local_time`, `instant`: as printed, without a zone or in UTC."""

    offset: int
    raw: list[str] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)
    local_time: str | None = None
    instant: str | None = None
    threads: list[Thread] = field(default_factory=list)
    deadlocks: list[Deadlock] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


class Reader:
    """Reads dumps line by line; a dump is complete when the next begins or the text ends."""

    def __init__(self) -> None:
        self.dump: Dump | None = None
        self.thread: Thread | None = None
        self.deadlock: Deadlock | None = None
        self.in_stacks = False
        self.in_synchronizers = False
        self.ended = False  # the JVM said how many deadlocks it found: the last words of a dump
        self.before: list[Line] = []

    def feed(self, line: Line) -> Iterator[Dump | Line]:
        """A dump that ended, or a line that belongs to none."""
        text = line.text
        if FULL.match(text) or (DUMPED.match(text) and (self.dump is None or any(INSTANT.match(head.text) for head in self.before))):
            yield from self.begin(line)
            if FULL.match(text):
                return
        if THREAD.match(text) or DUMPED.match(text) or AGENT.match(text):
            yield from self.flush()
            self.head(line)
        elif DEADLOCK.match(text):
            yield from self.flush()
            if self.dump is not None and self.ended:
                yield self.dump
                self.dump = None
            self.deadlock = Deadlock(line.offset, [text])
            self.of_dump(line).deadlocks.append(self.deadlock)
            self.thread, self.in_stacks = None, False
        elif self.dump is not None and STACKS.match(text):
            self.in_stacks = True
            self.keep(text)
        elif self.dump is not None and FOUND.match(text):
            self.deadlock, self.thread, self.in_stacks, self.ended = None, None, False, True
        elif self.deadlock is not None and self.member(line):
            pass
        elif self.thread is not None and self.inside(text):
            self.thread.raw.append(text)
        elif self.dump is None or (text.strip() and is_head(text)):
            self.before.append(line)
            if len(self.before) > MOST_HEADS:
                yield self.before.pop(0)
        elif NOISE.match(text):
            self.thread = self.thread if not text.strip() else None
        elif not (text[0].isspace() and self.thread is None):
            yield line

    def close(self) -> Iterator[Dump | Line]:
        """What is left."""
        if self.dump is not None:
            yield self.dump
        yield from self.flush()
        self.dump = self.thread = self.deadlock = None

    def flush(self) -> Iterator[Line]:
        """Lines that turned out not to be the head of a dump."""
        for line in self.before:
            if not NOISE.match(line.text):
                yield line
        self.before = []

    def begin(self, line: Line) -> Iterator[Dump | Line]:
        """A new dump, with the lines before it that are its head."""
        if self.dump is not None:
            yield self.dump
        heads: list[Line] = []
        while self.before and is_head(self.before[-1].text):
            heads.insert(0, self.before.pop())
        yield from self.flush()
        self.thread, self.deadlock, self.in_stacks, self.ended = None, None, False, False
        self.dump = Dump(heads[0].offset if heads else line.offset)
        for head in heads:
            text = head.text.strip()
            self.dump.raw += [text] if text else []
            if DATE.match(text):
                self.dump.local_time = text
            elif INSTANT.match(text):
                self.dump.instant = text
            elif PID.match(text) and "pid" not in self.dump.fields:
                self.dump.fields["pid"] = text.rstrip(": ")
            elif VERSION.match(text):
                self.dump.fields["jvm_version"] = text
        if match := FULL.match(line.text):
            self.dump.raw.append(line.text)
            self.dump.fields["jvm_name"] = match["name"].strip()
            if match["version"]:
                self.dump.fields["jvm_version"] = match["version"].split(" ")[0]

    def of_dump(self, line: Line) -> Dump:
        """The dump that is read; a piece that was pasted without its head starts one."""
        if self.dump is None:
            self.ended = False
            self.dump = Dump(line.offset, warnings=["the head of the dump is missing"])
        return self.dump

    def head(self, line: Line) -> None:
        """A thread's first line."""
        self.deadlock, self.in_stacks, self.in_synchronizers = None, False, False
        fields: dict[str, str] = {}
        match = THREAD.match(line.text) or DUMPED.match(line.text) or AGENT.match(line.text)
        assert match is not None
        for key, value in match.groupdict().items():
            if value is None or key in ("stack", "native", "at"):
                continue
            if key in ("daemon", "virtual"):
                fields[key] = "true"
            elif key == "elapsed":
                fields["elapsed_ms"] = milliseconds(value)
            elif value.strip():
                fields[key] = value.replace(",", ".") if key == "cpu_ms" else value.strip()
        if "prio" in fields:
            fields.setdefault("daemon", "false")
        self.thread = Thread(line.offset, [line.text], fields)
        self.of_dump(line).threads.append(self.thread)

    def inside(self, text: str) -> bool:
        """Whether a line belongs to the thread that is read; what it says is kept."""
        thread = self.thread
        assert thread is not None
        if not text.strip():
            return False
        if match := STATE.match(text):
            thread.fields["state"] = match["state"]
            if match["detail"]:
                thread.fields["state_detail"] = match["detail"]
        elif SYNCHRONIZERS.match(text):
            self.in_synchronizers = True
        elif self.in_synchronizers and (match := OWNABLE.match(text)):
            thread.holds[match["lock"]] = match["class"]
        elif match := LOCKED.match(text):
            name = match["class"] or match["lock"].split("@")[0]
            thread.holds.setdefault(match["lock"], name)
        elif match := WAITS.match(text):
            if match["lock"].startswith("no object"):
                thread.fields.setdefault("waits_kind", match["kind"])
            else:
                thread.waits(
                    match["kind"], match["lock"], match["class"] or (match["lock"].split("@")[0] if "@" in match["lock"] else None)
                )
            thread.owner_number = thread.owner_number or match["owner"]
        elif match := NOTE.match(text):
            if match["kind"] == "locked":
                thread.holds.setdefault(match["lock"], match["lock"].split("@")[0])
            else:
                thread.waits(NOTED[match["kind"]], match["lock"], match["lock"].split("@")[0])
        elif match := AGENT_FRAME.match(text) or FRAME.match(text) or BARE_FRAME.match(text):
            thread.frames.append(match["frame"])
        elif match := MOUNTED.match(text):
            thread.fields["carries"] = match["number"]
        elif not INSIDE.match(text):
            return False
        return True

    def keep(self, text: str) -> None:
        if self.deadlock is not None and text.strip():
            self.deadlock.raw.append(text)

    def member(self, line: Line) -> bool:
        """A line of a deadlock's section: who waits for what and whom, then the stacks of these."""
        assert self.deadlock is not None
        deadlock, text = self.deadlock, line.text
        if match := MEMBER.match(text):
            self.keep(text)
            if not self.in_stacks:
                deadlock.threads.append(match["name"])
                return True
            known = [thread for thread in self.of_dump(line).threads if thread.name == match["name"]]
            self.thread = Thread(line.offset, [text], {"name": match["name"]})
            self.in_synchronizers = False
            if not known:
                self.thread.warnings.append("known by the section of its deadlock alone")
                self.of_dump(line).threads.append(self.thread)
            return True
        if not self.in_stacks and (match := MEMBER_WAITS.match(text)):
            deadlock.locks.append(match["object"] or match["monitor"] or "")
            deadlock.classes.append(match["class"].replace("/", "."))
        elif not self.in_stacks and (match := MEMBER_HELD.match(text)):
            deadlock.holders.append(match["name"])
        elif not (self.in_stacks and self.thread is not None and self.inside(text)):
            return False
        else:
            self.thread.raw.append(text)
        self.keep(text)
        return True


def is_head(text: str) -> bool:
    """Whether a line may be before a dump: a time, a process id, a version, nothing."""
    return not text.strip() or any(pattern.match(text) for pattern in (PID, DATE, INSTANT, VERSION))


def milliseconds(seconds: str) -> str:
    """`24.22` s → `24220` ms."""
    whole, _, part = seconds.replace(",", ".").partition(".")
    return str(int(whole) * 1000 + int(f"{part:0<3}"[:3]))
