"""`kafka-leader-election` and its forerunner `kafka-preferred-replica-election`.

Rows (beside those of `_tools`):

- `leader_election`: topic_name, partition_id, election_kind (preferred, unclean; left out where the tool does not say), result
  (completed, not_needed, failed, started), error.

Forms: LeaderElectionCommand of 2.4 to 4.x, PreferredReplicaLeaderElectionCommand of 0.8 to 2.x.  Only an elected partition is named; one whose
leader was right already is `not_needed`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ingestion.captures import About, Line, Row, Sample
from ingestion.captures._tools import Stamp, any_of, failed_tool, mostly, partition_of, significant, whole

ELECTIONS = "kafka_leader_election"
KINDS = {ELECTIONS: "Results of elections that were asked for, as kafka-leader-election prints them."}
LOG_BESIDE = True

TOOLS = ("kafka-leader-election", "kafka-preferred-replica-election")
DONE = re.compile(r"^Successfully completed leader election \((?P<election_kind>[A-Z]+)\) for partitions? (?P<partitions>\S.*)$")
NOT_NEEDED = re.compile(r"^Valid replica already elected for partitions? (?P<partitions>\S.*)$")
FAILED = re.compile(
    r"^Error completing leader election \((?P<election_kind>[A-Z]+)\) for partition: (?P<partitions>\S+): (?P<error>.*)$", re.S
)
STARTED = re.compile(
    r"^(?:Successfully started preferred replica election for partitions|Created preferred replica election path with) (?P<partitions>\S.*)$"
)
OLD_FAILED = re.compile(
    r"^Error completing preferred replica leader election for partition (?P<partitions>\S+) due to (?P<error>.*)$", re.S
)
SAID = re.compile(
    r"^(?:Timeout waiting for election results|Not authorized to perform leader election|\d+ replica\(s\) could not be elected|Error while making request)"
)
PARTITION = re.compile(r"\[[\w.-]+,\d+\]|(?<![\w.-])[\w.-]+-\d+(?![\w.-])")
JSON_PARTITION = re.compile(r'"topic"\s*:\s*"(?P<topic>[^"]+)"\s*,\s*"partition"\s*:\s*(?P<partition>\d+)')
RESULTS = {DONE: "completed", NOT_NEEDED: "not_needed", FAILED: "failed", OLD_FAILED: "failed", STARTED: "started"}
OWN = any_of(*RESULTS, SAID)


def kind_of(sample: str, name: str = "") -> str | None:
    return ELECTIONS if mostly(significant(sample), OWN) or failed_tool(sample) in TOOLS else None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    stamp = Stamp(about, "kafka-leader-election")
    for line in whole(lines):
        common = stamp.common(line)
        yield from (common,) if common else rows_of(line, stamp)


def rows_of(line: Line, stamp: Stamp) -> Iterator[Row]:
    """A row for each partition of one sentence."""
    for form, result in RESULTS.items():
        found = form.match(line.text)
        if not found:
            continue
        known = found.groupdict()
        kind = known.get("election_kind")
        fields = {"result": result, "error": known.get("error"), "election_kind": kind.lower() if kind else None}
        if form is STARTED:
            fields["election_kind"] = "preferred"
        named = [f"{topic}-{partition}" for topic, partition in JSON_PARTITION.findall(known["partitions"])] or PARTITION.findall(
            known["partitions"]
        )
        for partition in named:
            yield stamp.row("leader_election", line, partition_of(partition) | fields)
        if not named:
            yield stamp.unread(line, "an election without a partition")
        return
    yield (stamp.said(line) if SAID.match(line.text) else stamp.unread(line, "no line of kafka-leader-election"))
