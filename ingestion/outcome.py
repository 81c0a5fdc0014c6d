"""What an ingestion did, and what it reports."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from ingestion.bronze.tasks import Read
from ingestion.records.kinds import kinds_of_others
from ingestion.sources.owners import layout_for
from ingestion.sources.said import Reported
from ingestion.sources.stages import COPY, FAILED, TO_READ, UNKNOWN

# Records of a log that is too short to say whether it is understood, and logs that are named in the summary.
FEW, MOST_NAMED = 3, 3


class Seconds(dict[str, float]):
    """Seconds that each part of an ingestion took, in order."""

    @contextmanager
    def of(self, part: str) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        finally:
            self[part] = self.get(part, 0.0) + time.monotonic() - began

    def followed_by(self, later: Seconds) -> Seconds:
        """The sums of two ingestions."""
        return Seconds({part: self.get(part, 0.0) + later.get(part, 0.0) for part in self | later})


@dataclass(frozen=True)
class LittleKnown:
    """A log of which less than half is recognised.  `alike`: records of its commonest unknown shape, `sample`: one of them."""

    path: str
    records: int
    recognised: int
    alike: int
    sample: str


def is_little_known(read: Read) -> bool:
    """Whether less than half of a log is recognised.  Logs of other programs than nodes hold their own words, and those of a few lines say nothing."""
    source, count = read.source, read.count
    return (
        source.envelope is not None
        and source.kind not in kinds_of_others()
        and count.records >= FEW
        and 2 * count.recognised < count.records
    )


def little_known_said(logs: Sequence[LittleKnown]) -> list[str]:
    """Messages about logs of which less than half is recognised, the largest first."""
    largest = sorted(logs, key=lambda one: (one.recognised - one.records, one.path))
    out = [
        f"{one.path}: {one.recognised:,} of {one.records:,} records recognised; most frequent of the others, {one.alike:,} times: {one.sample}"
        for one in largest[:MOST_NAMED]
    ]
    if len(largest) > MOST_NAMED:
        out.append(
            f"{len(largest) - MOST_NAMED:,} more logs are recognised by less than half; marts.fct_sources has all, with their counts"
        )
    if out:
        out.append(f"if the layout is taken wrongly, --pattern says it; `chronicle catalogue suggest {largest[0].path}` proposes a pattern")
    return out


@dataclass
class Outcome:
    """What an ingestion did: what became of each file, new bytes and records, and what went wrong where.

    `little_known`: logs of which less than half was recognised; `states`: by path; `seconds`: time that each part took; `changed`: files that became
    others (rotation) while they were read; `failed`: files on which our own code failed; `nodeless`: files of a node that is unknown; `owned_now`: files of
    earlier runs that have another node now; `passed_by`:
    number of skipped, unchanged files by outcome, which have no state.
    """

    batch_id: int | None = None
    states: dict[str, list[str]] = field(default_factory=dict)
    bytes_read: int = 0
    records: int = 0
    recognised: int = 0
    seconds: Seconds = field(default_factory=Seconds)
    rows_written: int = 0
    waiting: int = 0
    faults: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    clusters: set[str] = field(default_factory=set)
    nodeless: list[str] = field(default_factory=list)
    owned_now: int = 0
    passed_by: Counter[str] = field(default_factory=Counter)
    little_known: list[LittleKnown] = field(default_factory=list)

    @property
    def read_seconds(self) -> float:
        """Seconds from identifying the files to the commit of what they gave."""
        return sum(self.seconds.get(part, 0.0) for part in ("identify", "start Spark", "read", "commit"))

    @property
    def files(self) -> dict[str, int]:
        """Files by what became of them: `new`, `unchanged`, or their outcome."""
        counts = Counter(state for states in self.states.values() for state in states)
        return dict(counts + Counter({state_of(outcome, records=0): count for outcome, count in self.passed_by.items()}))

    def add(self, read: Read, is_held: bool) -> None:
        """Count a file and what it gave."""
        source, count = read.source, read.count
        is_read = source.outcome == TO_READ
        self.states.setdefault(source.shown, []).append(state_of(source.outcome, count.records))
        self.records += count.records
        self.recognised += count.recognised
        self.bytes_read += count.end - source.start if count.records else 0
        self.waiting += is_held and is_read and source.size is not None and count.end < source.size
        if fault := count.fault or count.failed:
            self.faults.append(f"{source.shown}: cut: {fault}; read up to byte {count.end}")
        if count.changed:
            self.changed.append(source.shown)
        if is_little_known(read):
            self.little_known.append(LittleKnown(source.shown, count.records, count.recognised, *(count.unknown or (0, ""))))
        if count.failed or source.outcome == FAILED:
            self.failed.append(source.shown)

    def followed_by(self, later: Outcome) -> Outcome:
        """This outcome and that of another look at the same files, as one."""
        new = {path: states for path, states in self.states.items() if "new" in states and "new" not in later.states.get(path, [])}
        return replace(
            later,
            batch_id=later.batch_id or self.batch_id,
            # A file that the first look has read is unchanged for the next one.
            states=self.states | later.states | new,
            bytes_read=self.bytes_read + later.bytes_read,
            records=self.records + later.records,
            recognised=self.recognised + later.recognised,
            seconds=self.seconds.followed_by(later.seconds),
            rows_written=self.rows_written + later.rows_written,
            faults=list(dict.fromkeys(self.faults + later.faults)),
            failed=list(dict.fromkeys(self.failed + later.failed)),
            clusters=self.clusters | later.clusters,
            owned_now=self.owned_now + later.owned_now,
            little_known=self.little_known + later.little_known,
            passed_by=self.passed_by if self.seconds else later.passed_by,
        )


def state_of(outcome: str, records: int) -> str:
    """What is reported of a file: `new`, `unchanged`, or its outcome."""
    if outcome != TO_READ:
        return outcome
    return "new" if records else "unchanged"


def faults(reported: Reported) -> list[str]:
    """One line for every file that could not be read as a log; those of no known layout are only counted."""
    out = list(reported.faults)
    if unknown := reported.outcomes[UNKNOWN]:
        out.append(f"{unknown} files of no known layout are left out; marts.fct_sources lists them with the reason")
    if reported.outcomes.total() and not reported.outcomes[TO_READ] and not reported.outcomes[COPY]:
        out.append("no logs of Kafka or ZooKeeper among the files")
    return out


def no_files_said(paths: Sequence[str]) -> str:
    """A message: there is no file, and what was looked for."""
    return (
        f"no files in {', '.join(paths)}; looked in all folders and archives there for logs of Kafka, ZooKeeper and their JVMs,"
        " output of Kafka's tools and of the system's, configurations, and metrics (docs/inputs.md)"
    )


def nodeless_said(paths: list[str]) -> str:
    """A message: how many files are of an unknown node, an example, and the option that gives them one."""
    example = next((path for path in paths if layout_for(os.path.basename(path))), paths[0])
    layout = layout_for(os.path.basename(example))
    count = f"{len(paths):,} file{'s are' if len(paths) > 1 else ' is'} of an unknown node, for example {example}"
    if layout is None:
        return f"{count}; use --node for a folder of one node, or a layout like '**/{{kind}}-broker-{{node}}.txt'"
    return f"{count}; if its number is the node's, use --layout '{layout}' (or --node for a folder of one node)"
