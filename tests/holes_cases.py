"""Long histories of real clusters, and the same histories with holes, which `tests.holes` compares; made by seed.

A history is an archive's: fewer partitions and fewer repetitions of what floods a log, so that a small case still has all lives of all
processes; its clocks stretched, evenly or in its pauses, to weeks.  A hole takes away what people lose.  No Spark and no disk here.
"""

from __future__ import annotations

import bisect
import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from random import Random

from ingestion.bronze.shapes import shape_of
from ingestion.reading.names import ROTATED
from ingestion.recognition.recognise import catalogue
from ingestion.records.envelope import DIGITS, envelope_named
from tests.partial_cases import (
    DAY,
    FIRST_DAY,
    HOUR,
    TIMELESS,
    Archive,
    Case,
    Record,
    archive_of,
    fitting,
    joined,
    logs_and_others,
    moved,
    pieces_of,
    stamp,
    within,
)

Logs = dict[str, list[Record]]
# A partition as messages name it: `Partition [orders,3]`, `partition orders-3`.
PARTITION = re.compile(rb"[Pp]artition \[?([\w.]+(?:-[\w.]*[A-Za-z_.][\w.]*)*)(?:,|-)(\d+)")
# A process begins: what brokers and controllers print first, from 0.8 to 4.x.
BEGINNING = re.compile(rb"(?:starting|Starting controller|Transition from SHUTDOWN to STARTING) \(kafka\.server\.")
# The two lines of a combined node are one beginning.
ONE_BEGINNING_MS = 30_000
# Ids that a wiped ZooKeeper, and the brokers after it, give anew: sessions (in ZooKeeper's hexadecimal, and in decimal as the owner of a
# node), and ids of clusters and topics, which are 22 characters of Base64.
SESSION = re.compile(rb"0x([0-9a-f]{14,16})\b")
OWNER = re.compile(rb"(?<=owner ')(\d{15,19})(?=')")
UUID = re.compile(rb"(?<![\w./+-])(?=[\w-]*\d)(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{22}(?![\w./+-])")
LATER_SESSION = 1 << 44
# Of lines of one file that are alike but for their numbers, the first so many are kept, fewer if a case were too large: 0.8's fetchers print
# 100,000 in five minutes.
MOST_ALIKE = (150, 50, 20, 10, 5)
LONG = 500
# A number, or a name with one in it.
NUMBERED = re.compile(rb"[\w-]*\d[\w-]*")
FEWEST_PARTITIONS = 6
# A pause is a time in which no node logs for so long.
PAUSE_MS = 1000


@dataclass(frozen=True)
class Scale:
    """How large cases are.  `most_bytes`: of a case's logs; `most_days`: that a history is stretched to."""

    most_bytes: int = 500_000
    most_days: float = 60


@dataclass(frozen=True)
class Clock:
    """Original times, in ms and ascending, and the times of the history at which the same happens; in between both run evenly."""

    originals: tuple[int, ...] = (0,)
    shown: tuple[int, ...] = (0,)

    def at(self, original: int) -> int:
        return _between(original, self.originals, self.shown)

    def original(self, at: int) -> int:
        return _between(at, self.shown, self.originals)


def _between(at: int, own: tuple[int, ...], other: tuple[int, ...]) -> int:
    place = bisect.bisect_right(own, at)
    if place in (0, len(own)):
        end = 0 if place == 0 else -1
        return other[end] + at - own[end]
    share = (at - own[place - 1]) / max(own[place] - own[place - 1], 1)
    return other[place - 1] + round(share * (other[place] - other[place - 1]))


@dataclass(frozen=True)
class History:
    """A cluster's files: logs as records, and others.  `clock`: between the archive's times and those of the history."""

    logs: Logs
    others: dict[str, bytes]
    clock: Clock = Clock()
    said: str = ""

    @property
    def span(self) -> tuple[int, int]:
        times = [at for lines in self.logs.values() for at, _ in lines]
        return min(times), max(times)

    @property
    def nodes(self) -> list[str]:
        return sorted({path.split("/")[0] for path in self.logs})

    def keeping(self, keeps: Callable[[str, int], bool]) -> dict[str, list[Record]]:
        """The records for which this is true, by path and time."""
        some = {path: [record for record in lines if keeps(path, record[0])] for path, lines in self.logs.items()}
        return {path: lines for path, lines in some.items() if lines}


@dataclass(frozen=True)
class Pair:
    """A case: a history, and the same with holes.  `kinds`: of its holes; `clock`: of both."""

    name: str
    story: str
    kinds: tuple[str, ...]
    whole: Case
    holes: Case
    clock: Clock = field(repr=False, compare=False, default=Clock())


# A hole: a description and the history without what was lost; None if this history has nothing of that kind.
Hole = tuple[str, History] | None


def made(number: int, seed: int, found: list[Archive], scale: Scale) -> Pair:
    """A case by its number.  It is the same whatever other cases there are."""
    name = f"case-{number:03}"
    draw = Random(f"{seed} {name}")
    archive = archive_of(number, seed, found)
    logs, others = logs_and_others(archive.files())
    # Each kind comes first in one case of six; one that the archive cannot have gives way to the others.
    first = list(HOLES)[number % len(HOLES)]
    wanted = [first, *draw.sample(list(HOLES), len(HOLES))]
    lives_twice = is_zookeepers(logs) and (first == "two lives" or draw.random() < 0.5)
    logs = thinned(logs, scale.most_bytes // (2 if lives_twice else 1), draw, from_the_start=lives_twice)
    whole = stretched(History(logs, others), scale, draw)
    if lives_twice:
        whole = twice(whole, draw)
        wanted = ["two lives", *wanted]
    grain = max((whole.span[1] - whole.span[0]) // draw.randint(4, 10), 1)
    is_rotated = wanted[0] == "every third file" or draw.random() < 0.4
    if is_rotated:
        whole = replace(whole, logs=rotated(whole.logs, grain))
    kinds: list[str] = []
    told: list[str] = []
    left = whole
    for kind in dict.fromkeys(wanted):
        if (len(kinds) == 1 and draw.random() < 0.65) or len(kinds) == 2:
            break
        # In quiet hours nothing is lost.
        if (hole := HOLES[kind](left, draw)) is not None and hole[1].logs and hole[1] != left:
            kinds.append(kind)
            told.append(f"{kind}: {hole[0]}")
            left = hole[1]
    story = f"{archive.name}{whole.said}{', rotated' if is_rotated else ''}; {'; '.join(told)}"
    return Pair(name, story, tuple(kinds), case(f"{name}-whole", story, whole), case(f"{name}-holes", story, left), whole.clock)


def case(name: str, story: str, history: History) -> Case:
    """A history whose files arrive at once."""
    files = {path: joined(lines) for path, lines in history.logs.items()} | history.others
    return Case(name, story, files, {path: [(0, len(content))] for path, content in files.items()})


def thinned(logs: Logs, most_bytes: int, draw: Random, *, from_the_start: bool) -> Logs:
    """Fewer repetitions and fewer partitions; if that is still too much, one span of time of the logs."""
    logs = without_copies(logs)
    topics = {topic for lines in logs.values() for _, text in lines for topic, _ in PARTITION.findall(text)}
    names = b"|".join(re.escape(topic) for topic in sorted(topics, key=len, reverse=True))
    partition = re.compile(rb"(?<![\w.-])(" + names + rb")(?:-|, ?)(\d+)(?!\w)" if topics else rb"(?!)()()")
    for most_alike in MOST_ALIKE:
        fewer = {path: without_floods(lines, most_alike) for path, lines in logs.items()}
        about = {path: [set(partition.findall(text)) for _, text in lines] for path, lines in fewer.items()}
        sizes: Counter[tuple[bytes, bytes]] = Counter()
        of_none = 0
        for path, lines in fewer.items():
            for (_, text), named in zip(lines, about[path], strict=True):
                of_none += 0 if named else len(text)
                for one in named:
                    sizes[one] += len(text)
        if of_none <= most_bytes * 2 // 3:
            break
    kept: set[tuple[bytes, bytes]] = set()
    held = of_none
    for one in draw.sample(sorted(sizes), len(sizes)):
        if len(kept) < FEWEST_PARTITIONS or held + sizes[one] <= most_bytes:
            kept.add(one)
            held += sizes[one]
    for path, lines in fewer.items():
        fewer[path] = [record for record, named in zip(lines, about[path], strict=True) if not named or named & kept]
    return within({path: lines for path, lines in fewer.items() if lines}, most_bytes, None if from_the_start else draw)


def without_copies(logs: Logs) -> Logs:
    """The logs without those of which most is in another one of the node, as that of the standard output."""
    texts = {path: {text for _, text in lines} for path, lines in logs.items()}
    copies = {
        path
        for path in logs
        for other in logs
        if path != other
        and posixpath.dirname(path) == posixpath.dirname(other)
        and path.endswith(".out")
        and len(texts[path] & texts[other]) > len(texts[path]) / 2
    }
    return {path: lines for path, lines in logs.items() if path not in copies}


def without_floods(lines: list[Record], most_alike: int) -> list[Record]:
    """The records of a file, but of those that are alike except for numbers only the first so many, fewer of long ones, and of those of which no
    fact is made only the first."""
    alike: Counter[bytes] = Counter()
    found = []
    for at, text in lines:
        head = text.split(b"\n", 1)[0]
        shape = NUMBERED.sub(b"0", head[:LONG])
        if alike[shape] < (most_alike if tells_something(head.translate(DIGITS)) else 1):
            found.append((at, text))
        alike[shape] += 1 + len(text) // LONG
    return found


@lru_cache(maxsize=100_000)
def tells_something(head: bytes) -> bool:
    """Whether a fact may be made of a record, by its first line: its event has a role."""
    for envelope in map(envelope_named, ("kafka", "zookeeper")):
        shape = shape_of(head, True, envelope, catalogue())
        if shape.event_type:
            return shape.event_type in _with_roles()
    return False


@lru_cache(maxsize=1)
def _with_roles() -> set[str]:
    return {form.event for form in catalogue().forms if form.roles}


def stretched(history: History, scale: Scale, draw: Random) -> History:
    """A history over hours to weeks: one in five as it was, with all its files; two that are slower throughout; two of which only the pauses are
    longer, so that what happened within seconds still does."""
    first, last = history.span
    style = draw.choice(["as it was", "evenly", "evenly", "in its pauses", "in its pauses"])
    if style == "as it was" or last == first:
        return History(history.logs, fitting(history.others, scale.most_bytes // 2, draw), history.clock, ", as it was")
    others = {path: content for path, content in history.others.items() if path.endswith(TIMELESS)}
    hours = 12 * (scale.most_days * 2) ** draw.random()
    begin = FIRST_DAY + draw.randrange(30 * DAY)
    times = sorted({at for lines in history.logs.values() for at, _ in lines})
    pauses = sum(later - at for at, later in pairwise(times) if later - at > PAUSE_MS)
    of_pauses = style == "in its pauses" and pauses
    factor = max((hours * HOUR - (last - first - pauses)) / pauses if of_pauses else hours * HOUR / (last - first), 1.0)
    shown = [begin]
    for at, later in pairwise(times):
        gap = later - at
        shown.append(shown[-1] + (round(gap * factor) if not of_pauses or gap > PAUSE_MS else gap))
    clock = Clock(tuple(times), tuple(shown))
    said = f" over {(shown[-1] - shown[0]) / DAY:.1f} days, {style if of_pauses else 'evenly'}"
    return History(moved(history.logs, clock.at), others, clock, said)


def is_zookeepers(logs: Logs) -> bool:
    """Whether the logs are those of a cluster with ZooKeeper, and of its controllers."""
    return any(path.split("/")[0] == "zookeeper" for path in logs) and any(map(is_controllers, logs))


def twice(history: History, draw: Random) -> History:
    """The same history again, some hours or days after its end: ZooKeeper and the brokers' data were wiped, so that epochs begin again and all
    ids are new."""
    first, last = history.span
    pause = round(draw.uniform(0.5, 72) * HOUR)
    later = last - first + pause
    second = moved(history.logs, lambda at: at + later)
    logs = {path: lines + [(at, with_new_ids(text)) for at, text in second[path]] for path, lines in history.logs.items()}
    shown = [at for at in history.clock.shown if first < at < last]
    shown = [first, *shown, last]
    originals = [history.clock.original(at) for at in shown]
    later_originals = originals[-1] - originals[0] + 3 * DAY
    clock = Clock((*originals, *(at + later_originals for at in originals)), (*shown, *(at + later for at in shown)))
    return History(logs, history.others, clock, f"{history.said}, and again after {pause / HOUR:.0f} hours")


def with_new_ids(text: bytes) -> bytes:
    text = SESSION.sub(lambda found: b"0x%0*x" % (len(found[1]), int(found[1], 16) + LATER_SESSION), text)
    text = OWNER.sub(lambda found: b"%d" % (int(found[1]) + LATER_SESSION), text)
    return UUID.sub(lambda found: found[0][:-2][::-1] + found[0][-2:], text)


def rotated(logs: Logs, grain: int) -> Logs:
    """The logs in pieces of this many ms, the last with the file's own name."""
    found: Logs = {}
    for path, lines in logs.items():
        base = ROTATED.sub("", path)
        pieces = pieces_of(lines, grain)
        for number, piece in enumerate(pieces):
            name = path if number == len(pieces) - 1 else f"{base}.{stamp(piece[0][0], '%Y-%m-%d-%H')}"
            while name in found:
                name += "-1"
            found[name] = piece
    return found


def hours_of_one_broker(history: History, draw: Random) -> Hole:
    """A stretch in the middle of one node's logs."""
    node = draw.choice(history.nodes)
    times = [at for path, lines in history.logs.items() if path.split("/")[0] == node for at, _ in lines]
    times.sort()
    share = draw.uniform(0.1, 0.5)
    if draw.random() < 0.5:
        # By its records: quiet hours are more than busy ones.
        first = draw.randrange(max(int(len(times) * (1 - share)), 1))
        since, until = times[first], times[min(first + int(len(times) * share) + 1, len(times) - 1)]
    else:
        since = times[0] + round((times[-1] - times[0]) * draw.uniform(0, 1 - share))
        until = since + round((times[-1] - times[0]) * share)
    left = history.keeping(lambda path, at: path.split("/")[0] != node or not since <= at < until)
    return f"{node} from {stamp(since)} to {stamp(until)}", replace(history, logs=left)


def controllers_log_of_one_life(history: History, draw: Random) -> Hole:
    """The controller's log of one run of a process."""
    of_controller: dict[str, list[int]] = defaultdict(list)
    for path, lines in history.logs.items():
        if is_controllers(path):
            of_controller[path.split("/")[0]] += [at for at, _ in lines]
    if not of_controller:
        return None
    node = draw.choice(sorted(of_controller))
    bounds = [history.span[0], *begins_of(history, node), history.span[1] + 1]
    lives = [(since, until) for since, until in pairwise(bounds) if any(since <= at < until for at in of_controller[node])]
    since, until = draw.choice(lives)
    left = history.keeping(lambda path, at: path.split("/")[0] != node or not is_controllers(path) or not since <= at < until)
    return f"{node} from {stamp(since)} to {stamp(until)}", replace(history, logs=left)


def begins_of(history: History, node: str) -> list[int]:
    """When processes of a node began, by its other logs."""
    times = sorted(
        at
        for path, lines in history.logs.items()
        if path.split("/")[0] == node and not is_controllers(path)
        for at, text in lines
        if BEGINNING.search(text)
    )
    return [at for number, at in enumerate(times) if not number or at - times[number - 1] > ONE_BEGINNING_MS]


def is_controllers(path: str) -> bool:
    return posixpath.basename(path).startswith("controller.log")


def before_a_date(history: History, draw: Random) -> Hole:
    """Everything before a time."""
    first, last = history.span
    since = first + round((last - first) * draw.uniform(0.1, 0.8))
    return stamp(since), replace(history, logs=history.keeping(lambda path, at: at >= since))


def between_two_lives(history: History, draw: Random) -> Hole:
    """The logs of the end of the first life and of the beginning of the second: of all nodes, of all but one, or the controllers' alone."""
    if "again" not in history.said:
        return None
    # Both lives are equally long.
    first, last = history.span
    life = history.clock.shown[len(history.clock.shown) // 2 - 1] - first
    since = first + round(life * draw.uniform(0.8, 1.0))
    until = last - round(life * draw.uniform(0.7, 0.98))
    spared = draw.choice(history.nodes)
    whose, is_lost = draw.choice(
        [
            ("all", lambda path: True),
            (f"all but {spared}", lambda path: path.split("/")[0] != spared),
            ("controllers", lambda path: is_controllers(path) or path.split("/")[0] == "zookeeper"),
        ]
    )
    left = history.keeping(lambda path, at: not (is_lost(path) and since <= at < until))
    return f"{whose} from {stamp(since)} to {stamp(until)}", replace(history, logs=left)


def every_third_file(history: History, draw: Random) -> Hole:
    """One file in three, of all nodes."""
    names = sorted([*history.logs, *history.others])
    lost = set(names[draw.randrange(3) :: 3])
    others = {path: content for path, content in history.others.items() if path not in lost}
    logs = {path: lines for path, lines in history.logs.items() if path not in lost}
    return f"{len(lost)} of {len(names)}", replace(history, logs=logs, others=others)


def one_node(history: History, draw: Random) -> Hole:
    """All files of one node."""
    if len(history.nodes) < 2:
        return None
    node = draw.choice(history.nodes)
    others = {path: content for path, content in history.others.items() if path.split("/")[0] != node}
    logs = {path: lines for path, lines in history.logs.items() if path.split("/")[0] != node}
    return node, replace(history, logs=logs, others=others)


HOLES: dict[str, Callable[[History, Random], Hole]] = {
    "hours of one node": hours_of_one_broker,
    "controller's log": controllers_log_of_one_life,
    "before a date": before_a_date,
    "two lives": between_two_lives,
    "every third file": every_third_file,
    "one node": one_node,
}


def made_pairs(numbers: Iterable[int], seed: int, found: list[Archive], scale: Scale) -> list[Pair]:
    return [made(number, seed, found, scale) for number in numbers]
