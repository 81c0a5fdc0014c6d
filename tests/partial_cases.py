"""Histories that arrive piece by piece, which `tests.partial` makes from the logs of real clusters, by seed.

A case is a cluster: some nodes of an archive, a part of its history, its clocks stretched over hours, days or months, and cut into pieces
that arrive in some order.  No Spark and no disk here.
"""

from __future__ import annotations

import datetime as dt
import posixpath
import re
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random

from ingestion.reading.names import ROTATED
from tests.lab import ARCHIVES, INCIDENTS

# A line that begins with '[2021-01-01 10:00:00,123] ' as Kafka's logs do, or with '2021-01-01 10:00:00,123 ' as ZooKeeper's.
STAMP = re.compile(rb"^\[?(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})(?=\] | \[myid| - )", re.MULTILINE)
# Files of settings have no times in them.
TIMELESS = (".properties", ".cfg")
# Ingestion identifies a file by this many first bytes; of two that begin alike, the one met later is the copy.
BEGINNING = 1024
HOUR, DAY = 3_600_000, 86_400_000
EPOCH = dt.datetime(1970, 1, 1)
# The first day of stretched histories lies within a month from here: cases share days.
FIRST_DAY = int((dt.datetime(2026, 1, 20) - EPOCH).total_seconds() * 1000)

# Local time in ms, and the text with all lines that follow it.
Record = tuple[int, bytes]


@dataclass(frozen=True)
class Scale:
    """How large cases are.  `rounds`: deliveries at most; `most_bytes`: of a case's logs; `most_days`: that a history is stretched to;
    `grain_ms`: the length of a rotated piece (None: at random)."""

    rounds: int = 4
    most_bytes: int = 500_000
    most_days: float = 100
    grain_ms: int | None = None


@dataclass(frozen=True)
class Archive:
    """Raw files of a cluster: a tar archive (of what lies below `input/` in it, if there is such a folder), or a folder."""

    name: str
    path: Path

    def files(self) -> dict[str, bytes]:
        """Path → content, in order of paths."""
        return _files(self.path)


@lru_cache(maxsize=4)
def _files(path: Path) -> dict[str, bytes]:
    if path.is_dir():
        return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}
    with tarfile.open(path) as packed:
        members = {member.name: member for member in packed.getmembers() if member.isfile()}
        inputs = {name: name.split("/input/", 1)[1] for name in members if "/input/" in name}
        names = inputs or {name: name.split("/", 1)[-1] for name in members}
        found = {}
        for name, shown in sorted(names.items(), key=lambda pair: pair[1]):
            file = packed.extractfile(members[name])
            assert file is not None
            found[shown] = file.read()
        return found


def archives(*more: Path) -> list[Archive]:
    """Those of the tests, and those in other folders."""
    packed = [path for folder in (ARCHIVES, *more) for path in sorted(folder.glob("*.tar.xz"))]
    found = [Archive(path.name.removesuffix(".tar.xz"), path) for path in packed]
    return found + [Archive(f"incident-{path.parent.name[0]}", path) for path in sorted(INCIDENTS.glob("*/input"))]


@dataclass(frozen=True)
class Case:
    """A cluster and how it arrives.  `files`: path → its final content; `arrivals`: path → (round, bytes that are there from then on),
    in order; `story`: what it is made of."""

    name: str
    story: str
    files: dict[str, bytes]
    arrivals: dict[str, list[tuple[int, int]]]

    def arriving(self, round_: int) -> Iterator[tuple[str, bytes, bool]]:
        """The files of a round: path, content, whether that is all of it."""
        for path, steps in self.arrivals.items():
            for number, size in steps:
                if number == round_:
                    yield path, self.files[path][:size], size == len(self.files[path])

    @property
    def rounds(self) -> list[int]:
        """The rounds in which something arrives."""
        return sorted({number for steps in self.arrivals.values() for number, _ in steps})


def made(number: int, seed: int, found: list[Archive], scale: Scale) -> Case:
    """A case by its number.  It is the same whatever other cases there are."""
    name = f"case-{number:03}"
    draw = Random(f"{seed} {name}")
    archive = archive_of(number, seed, found)
    logs, others = some_of(archive.files(), draw)
    is_stretched = bool(logs) and draw.random() < 0.75
    if is_stretched:
        others = {path: content for path, content in others.items() if path.endswith(TIMELESS)}
    logs = within(logs, scale.most_bytes, draw)
    story = archive.name
    if is_stretched:
        logs, said = stretched(logs, scale.most_days, draw)
        story += said
    # At least two rounds; with two in all, some cases need only one, so that there are clusters that a build leaves out.
    fewest = max(min(2, scale.rounds - 1), 1)
    history = History(scale, draw, sorted(draw.sample(range(scale.rounds), draw.randint(fewest, scale.rounds))))
    for path, content in fitting(others, scale.most_bytes // 2, draw).items():
        history.whole(path, content)
    history.arrive(logs)
    history.begin_whole()
    return Case(name, f"{story}, {history.style}", history.files, {path: sorted(set(steps)) for path, steps in history.arrivals.items()})


def archive_of(number: int, seed: int, found: list[Archive]) -> Archive:
    """The archive of a case by its number: all archives come once before one comes again."""
    return Random(f"{seed} {number // len(found)}").sample(found, len(found))[number % len(found)]


def records(content: bytes) -> list[Record]:
    """The records of a log; nothing if it does not begin with a stamp."""
    heads = list(STAMP.finditer(content))
    if not heads or heads[0].start():
        return []
    ends = [head.start() for head in heads[1:]] + [len(content)]
    found = []
    for head, end in zip(heads, ends, strict=True):
        try:
            found.append((millis(head[1].decode()), content[head.start() : end]))
        except ValueError:
            return []
    return found


def millis(stamp: str) -> int:
    """'2021-01-01 10:00:00,123' in ms.  Raises ValueError if there is no such time."""
    at = dt.datetime.fromisoformat(stamp)
    return (at - EPOCH) // dt.timedelta(milliseconds=1)


def stamp(at: int, pattern: str = "%Y-%m-%d %H:%M:%S") -> str:
    """A time in ms as logs print it."""
    return f"{EPOCH + dt.timedelta(milliseconds=at):{pattern}}" + (f",{at % 1000:03}" if pattern.endswith("%S") else "")


def some_of(files: dict[str, bytes], draw: Random) -> tuple[dict[str, list[Record]], dict[str, bytes]]:
    """The logs of some nodes as records, and their other files."""
    nodes = sorted({path.split("/")[0] for path in files})
    taken = set(draw.sample(nodes, draw.randint(1, len(nodes)))) if draw.random() < 0.5 else set(nodes)
    return logs_and_others({path: content for path, content in files.items() if path.split("/")[0] in taken})


def logs_and_others(files: dict[str, bytes]) -> tuple[dict[str, list[Record]], dict[str, bytes]]:
    """Files with a stamp at each record as records, and the others; empty and packed ones are left out."""
    logs: dict[str, list[Record]] = {}
    others: dict[str, bytes] = {}
    for path, content in files.items():
        if content and not path.endswith(".gz"):
            if found := records(content):
                logs[path] = found
            else:
                others[path] = content
    return logs, others


def within(logs: dict[str, list[Record]], most_bytes: int, draw: Random | None) -> dict[str, list[Record]]:
    """The records of all files in one span of time that holds this many bytes; half of the spans, or all without a `draw`, begin where the logs
    do."""
    times = sorted((at, len(text)) for lines in logs.values() for at, text in lines)
    if sum(size for _, size in times) <= most_bytes:
        return logs
    first = 0 if draw is None or draw.random() < 0.5 else draw.randrange(len(times))
    held, last = 0, first
    while last < len(times) and held < most_bytes:
        held += times[last][1]
        last += 1
    since, until = times[first][0], times[last - 1][0]
    some = {path: [(at, text) for at, text in lines if since <= at <= until] for path, lines in logs.items()}
    return {path: lines for path, lines in some.items() if lines}


def fitting(files: dict[str, bytes], most_bytes: int, draw: Random) -> dict[str, bytes]:
    """Some files that together have no more bytes than that."""
    found, held = {}, 0
    for path in draw.sample(sorted(files), len(files)):
        if held + len(files[path]) <= most_bytes:
            found[path] = files[path]
            held += len(files[path])
    return found


def stretched(logs: dict[str, list[Record]], most_days: float, draw: Random) -> tuple[dict[str, list[Record]], str]:
    """The logs with their clocks rewritten so that they cover hours, days or months, in the same order; and a description of the change."""
    times = [at for lines in logs.values() for at, _ in lines]
    first, span = min(times), max(max(times) - min(times), 1)
    hours = 2 * (most_days * 12) ** draw.random()
    factor = max(hours * HOUR / span, 1.0)
    begin = FIRST_DAY + draw.randrange(30 * DAY)
    return moved(logs, lambda at: begin + round((at - first) * factor)), f" over {span * factor / DAY:.1f} days"


def moved(logs: dict[str, list[Record]], clock: Callable[[int], int]) -> dict[str, list[Record]]:
    """The logs with the times that a clock shows instead of theirs."""

    def at_its_time(record: Record) -> Record:
        at = clock(record[0])
        head = STAMP.match(record[1])
        assert head is not None
        return at, record[1][: head.start(1)] + stamp(at).encode() + record[1][head.end(1) :]

    return {path: [at_its_time(record) for record in lines] for path, lines in logs.items()}


class History:
    """The files of a case and their arrivals.  `turns`: the rounds in which something arrives."""

    def __init__(self, scale: Scale, draw: Random, turns: list[int]) -> None:
        self.scale, self.draw, self.turns = scale, draw, turns
        self.files: dict[str, bytes] = {}
        self.arrivals: dict[str, list[tuple[int, int]]] = {}
        self.beginnings: dict[str, set[bytes]] = {}
        self.style = draw.choice(["day by day", "mixed", "mixed", "late"])

    def arrive(self, logs: dict[str, list[Record]]) -> None:
        """Cut logs, and decide when each piece arrives."""
        times = [at for lines in logs.values() for at, _ in lines]
        if not times:
            return
        clocks = sorted(self.draw.randint(min(times), max(times)) for _ in self.turns[1:])
        span = max(times) - min(times)
        self.grain = self.scale.grain_ms or max(span // self.draw.randint(3, 12), 1)
        for path, lines in logs.items():
            style = self.draw.choice(["whole", "grown", "rotated", "late", "shuffled"]) if self.style == "mixed" else self.style
            {
                "day by day": lambda path, lines: self.by_clock(path, lines, clocks),
                "whole": lambda path, lines: self.whole(path, joined(lines)),
                "grown": self.grown,
                "rotated": lambda path, lines: self.rotated(path, lines, "in order"),
                "late": lambda path, lines: self.rotated(path, lines, "late"),
                "shuffled": lambda path, lines: self.rotated(path, lines, "shuffled"),
            }[style](path, lines)
            if self.draw.random() < 0.3:
                self.overlap(path, lines)
        for path in sorted(self.files):
            if self.draw.random() < 0.1:
                self.again(path)

    def whole(self, path: str, content: bytes) -> None:
        """Add a file that arrives at once."""
        self.add(path, content, [self.draw.choice(self.turns)])

    def grown(self, path: str, lines: list[Record]) -> None:
        """Add a file that grows in some rounds, each time to any byte."""
        turns = sorted(self.draw.sample(self.turns, self.draw.randint(1, len(self.turns))))
        self.add(path, joined(lines), turns, [self.draw.random() for _ in turns[1:]])

    def by_clock(self, path: str, lines: list[Record], clocks: list[int]) -> None:
        """Add a file that grows to the same time as the cluster's other files in each round, and a bit into the next line."""
        content = joined(lines)
        sizes = [sum(len(text) for at, text in lines if at <= clock) + self.draw.randrange(150) for clock in clocks]
        self.add(path, content, self.turns, [size / len(content) for size in sizes])

    def rotated(self, path: str, lines: list[Record], order: str) -> None:
        """Add a file in rotated pieces of equal time; the last has the file's own name, and grows.  `order`: 'in order', 'late' (in order, but
        some come last), or 'shuffled'."""
        pieces = pieces_of(lines, self.grain)
        by_hour = self.draw.random() < 0.5
        turns = sorted(self.draw.choice(self.turns) for _ in pieces)
        if order == "shuffled":
            self.draw.shuffle(turns)
        for number, piece in enumerate(pieces):
            turn = self.turns[-1] if order == "late" and self.draw.random() < 0.3 else turns[number]
            if number == len(pieces) - 1:
                later = [other for other in self.turns if other >= turn]
                self.add(path, joined(piece), later, [self.draw.random() for _ in later[1:]])
                return
            base = ROTATED.sub("", path)
            name = f"{base}.{stamp(piece[0][0], '%Y-%m-%d-%H')}"
            if not by_hour or name in self.files:
                name = next(name for n in range(1, 10**6) if (name := f"{base}.{n}") not in self.files)
            self.add(name, joined(piece), [turn])

    def overlap(self, path: str, lines: list[Record]) -> None:
        """Put some of its lines into another file of the same node as well."""
        if len(lines) > 2:
            first = self.draw.randrange(1, len(lines) - 1)
            last = self.draw.randint(first + 1, len(lines))
            self.whole(posixpath.join(posixpath.dirname(path), f"restored-{posixpath.basename(path)}"), joined(lines[first:last]))

    def again(self, path: str) -> None:
        """Deliver the same file again after all of it was there: in its place, or under a name that sorts after its own."""
        done = self.arrivals[path][-1][0]
        turn = self.draw.choice([other for other in self.turns if other >= done])
        if self.draw.random() < 0.5:
            self.arrivals[path].append((turn, len(self.files[path])))
        elif not path.endswith(TIMELESS):
            self.files[f"{path}.bak"] = self.files[path]
            self.arrivals[f"{path}.bak"] = [(turn, len(self.files[path]))]

    def begin_whole(self) -> None:
        """Deliver a file that shares lines with another of its node with all the bytes that identify it: these decide which of the two files has
        an event, and so is its evidence."""
        lines = {path: set(content.splitlines()) for path, content in self.files.items()}
        for path, steps in self.arrivals.items():
            node = path.split("/")[0]
            if any(other != path and other.split("/")[0] == node and lines[path] & lines[other] for other in self.files):
                least = min(BEGINNING, len(self.files[path]))
                self.arrivals[path] = [(turn, max(size, least)) for turn, size in steps]

    def add(self, path: str, content: bytes, turns: list[int], cuts: list[float] | None = None) -> None:
        """Add a file that grows to `cuts` of its length, and to all of it in the last turn.  One that begins like another of its node is left out."""
        node = path.split("/")[0]
        known = self.beginnings.setdefault(node, set())
        if any(content.startswith(other[:BEGINNING]) or other.startswith(content[:BEGINNING]) for other in known):
            return
        sizes = [min(int(cut * len(content)), len(content)) for cut in sorted(cuts or [])]
        if ROTATED.search(path):
            # It counts as complete, with its last line.
            turns, sizes = turns[-1:], []
        known.add(content[:BEGINNING])
        self.files[path] = content
        self.arrivals[path] = [(turn, size) for turn, size in zip(turns, [*sizes, len(content)], strict=True) if size]


def pieces_of(lines: list[Record], grain_ms: int) -> list[list[Record]]:
    """The records of a log as it is rotated at the end of each stretch of time of this length."""
    pieces: list[list[Record]] = []
    for number, record in enumerate(lines):
        if not number or record[0] // grain_ms > lines[number - 1][0] // grain_ms:
            pieces.append([])
        pieces[-1].append(record)
    return pieces


def joined(lines: list[Record]) -> bytes:
    return b"".join(text for _, text in lines)
