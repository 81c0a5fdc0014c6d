"""Files that a broker keeps in a log directory: offset checkpoints, leader epochs of a partition, the quorum's state.

Rows:

- `checkpoint`: topic_name, partition_id, offset, checkpoint_kind (high_watermark, recovery_point, log_start, cleaner: by the file's name);
- `leader_epoch`: leader_epoch, start_offset, topic_name, partition_id (the last two by the folder, where it is known);
- `quorum_state`: leader_id (-1: none), leader_epoch, voted_id, voted_directory_id, applied_offset, voters (ids with commas), data_version,
  cluster_id.

Forms: version (0), number of entries, one entry a line (all releases); quorum-state V0 (2.8 to 3.8) and V1 (3.9 and later) as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from ingestion.captures import About, Line, Row, Sample
from ingestion.captures._tools import Stamp, documents, flat, partition_of, significant

CHECKPOINT, EPOCHS, QUORUM_STATE = "kafka_offset_checkpoint", "kafka_leader_epoch_checkpoint", "kafka_quorum_state"
KINDS = {
    CHECKPOINT: "An offset for each partition of a log directory, as a broker last wrote it.",
    EPOCHS: "The leader epochs of a partition with the offset at which each began.",
    QUORUM_STATE: "What a node of the quorum remembers of leader, epoch and vote.",
}
OF_NODE = frozenset(KINDS)

ENTRY = re.compile(r"^(?P<topic_name>[\w.-]{1,249}) (?P<partition_id>\d+) (?P<offset>-?\d+)$")
EPOCH = re.compile(r"^(?P<leader_epoch>\d+) (?P<start_offset>\d+)$")
HEAD = re.compile(r"\A0\n(?P<count>\d+)(?:\n|\Z)")
STATE = re.compile(r'\A\s*\{(?=[^{}]*"leaderEpoch"\s*:)(?=.*"votedId"\s*:)(?=.*"data_version"\s*:).*\}\s*\Z', re.S)
CHECKPOINTS = {"replication": "high_watermark", "recovery-point": "recovery_point", "log-start": "log_start", "cleaner": "cleaner"}
FILE = re.compile(r"(?P<name>replication|recovery-point|log-start|cleaner)-offset-checkpoint")
FOLDER = re.compile(r"(?:^|[/!])(?P<folder>[\w.-]+-\d+)/leader-epoch-checkpoint")


def kind_of(sample: str, name: str = "") -> str | None:
    text = sample.replace("\r", "")
    head = HEAD.match(text)
    if head:
        entries = text[head.end() :].split("\n")
        entries = [line for line in (entries[:-1] if len(sample) >= 60_000 else entries) if line]
        if not entries and head["count"] == "0":
            return CHECKPOINT if FILE.search(name) else EPOCHS if "leader-epoch-checkpoint" in name else None
        if entries and len(entries) <= int(head["count"]):
            return CHECKPOINT if all(map(ENTRY.match, entries)) else EPOCHS if all(map(EPOCH.match, entries)) else None
    return QUORUM_STATE if STATE.match("\n".join(significant(text))) else None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    stamp = Stamp(about)
    if kind == QUORUM_STATE:
        for line, value in documents(lines):
            if isinstance(value, dict):
                yield quorum_state(value, line, stamp)
            elif line.text.strip():
                yield stamp.common(line) or stamp.unread(line, "no quorum state")
        return
    named, folder = FILE.search(about.name), FOLDER.search(about.name)
    more = (
        {"checkpoint_kind": CHECKPOINTS[named["name"]] if named else None}
        if kind == CHECKPOINT
        else partition_of(folder["folder"])
        if folder
        else {}
    )
    count, entries, last = None, 0, Line(0, "")
    for position, line in enumerate(lines):
        entry = (ENTRY if kind == CHECKPOINT else EPOCH).match(line.text)
        if position == 1 and line.text.isdigit():
            count, last = int(line.text), line
        elif entry:
            entries += 1
            yield stamp.row("checkpoint" if kind == CHECKPOINT else "leader_epoch", line, entry.groupdict() | more)
        elif line.text.strip() and position > 0:
            yield stamp.unread(line, "no entry of a checkpoint")
    if count is not None and count != entries:
        yield stamp.unread(last, f"cut: {entries} of {count} entries")


def quorum_state(value: dict[str, object], line: Line, stamp: Stamp) -> Row:
    voters = value.pop("currentVoters", None)
    fields = flat(value)
    fields["cluster_id"] = fields.get("cluster_id") or None
    ids = (
        [str(voter["voterId"]) for voter in voters if isinstance(voter, dict) and "voterId" in voter] if isinstance(voters, list) else None
    )
    raw = Line(line.offset, json.dumps({**value, "currentVoters": voters}) if "\n" in line.text else line.text)
    return stamp.row("quorum_state", raw, fields | {"voters": ",".join(ids) if ids is not None else None})
