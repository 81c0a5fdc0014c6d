"""What a run reports of a file at its end, whether it opened the file or not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ingestion import captures
from ingestion.records.kinds import is_of_node
from ingestion.sources.stages import BINARY, EMPTY, FAILED, MISSING, REFUSED, TO_READ, UNREADABLE, Identified, Placed

# Outcomes in `bronze.sources` of files whose records were taken: to the end, or up to a fault.
CUT = "cut"
READ = (TO_READ, CUT)
TORN = "ends in the middle of a line, which is loaded as it is"


def fault(source: Identified, is_held: bool) -> str | None:
    """Why a file could not be read as a log, or not to its end; None for one of no known layout, since these are only counted.  `is_held`: it may
    still grow."""
    if source.outcome in (MISSING, EMPTY, BINARY, UNREADABLE, REFUSED, FAILED):
        return f"{source.shown}: {source.outcome}: {source.reason}"
    if source.outcome == TO_READ and source.ends_torn and not is_held:
        return f"{source.shown}: cut: {TORN}"
    return None


def is_nodeless(source: Placed) -> bool:
    """Whether a file is a log or a capture of a single node that nothing identifies."""
    if source.outcome != TO_READ or source.node_id is not None:
        return False
    if source.capture is not None:
        return captures.is_of_node(source.capture)
    return source.envelope is not None and is_of_node(source.kind)


@dataclass
class Reported:
    """What is reported of some files: how many have each outcome, what is wrong with some, and which have no node."""

    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    nodeless: list[str] = field(default_factory=list)

    def add(self, shown: str, outcome: str, fault: str | None, is_nodeless: bool) -> None:
        self.outcomes[outcome] += 1
        if fault:
            self.faults.append(fault)
        if is_nodeless:
            self.nodeless.append(shown)

    def extend(self, other: Reported) -> None:
        self.outcomes.update(other.outcomes)
        self.faults += other.faults
        self.nodeless += other.nodeless
