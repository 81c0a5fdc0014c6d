"""`kafka-topics`: describes of all releases, lists, and what it says when it creates or deletes.

Rows (beside those of `_tools`):

- `topic`: topic_name, topic_id, partition_count, replication_factor, configs (as printed), is_marked_for_deletion;
- `topic_partition`: topic_name, partition_id, leader_id (-1 where it says none), replicas, isr, adding_replicas, removing_replicas,
  elr, last_known_elr, offline_replicas, observers, live_observers (ids with commas; Confluent prints the last three);
- `topic_name`: topic_name, is_marked_for_deletion (a list);
- `topic_change`: topic_name, change (created, marked_for_deletion).

Forms: TopicCommand of 0.8 to 4.x.  Tabs may have become blanks or have gone (a copy out of a web page); `--under-replicated-partitions`
and its like print partitions without a topic.  Until 2.3 the head of a topic has no blank behind its colons; the kafka-list-topic of 0.8.0 writes its names in lower case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ingestion.captures import About, Line, Row, Sample
from ingestion.captures._tools import Stamp, failed_tool, mostly, significant, slices, typed, whole
from ingestion.reading import linear

DESCRIBE, LIST, CHANGE = "kafka_topics_describe", "kafka_topics_list", "kafka_topics_change"
KINDS = {
    DESCRIBE: "Topics and their partitions, as kafka-topics --describe prints them.",
    LIST: "Names of topics, as kafka-topics --list prints them.",
    CHANGE: "What kafka-topics printed when it created, altered or deleted topics.",
}
LOG_BESIDE = True

FIELDS = {
    "Topic": "topic_name",
    "TopicId": "topic_id",
    "PartitionCount": "partition_count",
    "ReplicationFactor": "replication_factor",
    "Configs": "configs",
    "MarkedForDeletion": "is_marked_for_deletion",
    "Partition": "partition_id",
    "Leader": "leader_id",
    "Replicas": "replicas",
    "Isr": "isr",
    "Adding Replicas": "adding_replicas",
    "Removing Replicas": "removing_replicas",
    "Elr": "elr",
    "LastKnownElr": "last_known_elr",
    "Offline": "offline_replicas",
    "Observers": "observers",
    "LiveObservers": "live_observers",
}
# Rows of a describe whose line ends were lost: two or more in a line.
ROW = r"\s{0,20}Topic: ?[\w.-]{1,249}\s{1,20}(?:TopicId|PartitionCount|Partition):"
JOINED = re.compile(rf"{ROW}.{{1,2000}}?(?={ROW})|(?<=\S){ROW}.{{1,2000}}", re.I)
NUMBERS = {"partition_count", "replication_factor", "partition_id", "leader_id"}
IDS = {
    "replicas",
    "isr",
    "adding_replicas",
    "removing_replicas",
    "elr",
    "last_known_elr",
    "offline_replicas",
    "observers",
    "live_observers",
}
NUMBER, ID_LIST = re.compile(r"-?\d+"), re.compile(r"[\d, ]*")
NAME = re.compile(rf"(?:^|(?<=\s))({'|'.join(sorted(FIELDS, key=len, reverse=True))}):", re.I)
FIELD_OF = {name.lower(): field for name, field in FIELDS.items()}
# Where a tab was lost without a blank, the next name follows the value at once; no character of the value can then begin a name.
GLUED = linear.for_lines(
    r"^\s*Topic: ?(?P<topic_name>[\w.-]+?) ?Partition: ?(?P<partition_id>\d+) ?Leader: ?(?P<leader_id>-?\d+|none) ?Replicas: ?(?P<replicas>[\d,]*)"
    r" ?Isr: ?(?P<isr>[\d,]*)(?: ?Adding Replicas: ?(?P<adding_replicas>[\d,]*))?(?: ?Removing Replicas: ?(?P<removing_replicas>[\d,]*))?"
    r"(?: ?Elr: ?(?P<elr>[\d,]*|N/A))?(?: ?LastKnownElr: ?(?P<last_known_elr>[\d,]*|N/A))?(?: ?Offline: ?(?P<offline_replicas>[\d,]*))?\s*$",
    re.I,
)
GLUED_HEAD = linear.for_lines(
    r"^\s*Topic: ?(?P<topic_name>[\w.-]+?) ?(?:TopicId: ?(?P<topic_id>[\w-]{22}) ?)?PartitionCount: ?(?P<partition_count>\d+)"
    r" ?ReplicationFactor: ?(?P<replication_factor>\d+) ?Configs:(?P<configs>.*?)\s*$",
    re.I,
)
HEAD_OR_PARTITION = re.compile(r"^\s*Topic: ?\S.*(?:PartitionCount: ?\d|Partition: ?\d+\s*Leader: ?(?:-?\d|none))", re.I)
TOPIC_NAME = re.compile(r"^(?P<name>[\w.-]{1,249})(?P<deleted> - marked for deletion)?$")
INTERNAL = re.compile(r"^(?:__consumer_offsets|__transaction_state|__share_group_state|\S+ - marked for deletion)$", re.M)
CHANGED = re.compile(r"^Created topic \"?(?P<created>[\w.-]+?)\"?\.$|^Topic (?P<deleted>[\w.-]+) is (?:already )?marked for deletion\.$")
SAID = re.compile(
    r"^WARNING: Due to limitations in metric names|^Note: This will have no impact|^Adding partitions succeeded!"
    r"|^Updated config for topic|^WARNING: If partitions are increased"
)


def kind_of(sample: str, name: str = "") -> str | None:
    lines = significant(sample)
    if mostly(lines, HEAD_OR_PARTITION):
        return DESCRIBE
    if any(CHANGED.match(line) for line in lines) and all(CHANGED.match(line) or SAID.match(line) for line in lines):
        return CHANGE
    if failed_tool(sample) == "kafka-topics":
        return DESCRIBE if typed(sample, "kafka-topics", "--describe") else LIST if typed(sample, "kafka-topics", "--list") else CHANGE
    if lines and all(TOPIC_NAME.match(line) for line in lines[:-1]) and TOPIC_NAME.match(lines[-1]):
        named = "topic" in name.rsplit("/", 1)[-1] and "list" in name.rsplit("/", 1)[-1]
        if typed(sample, "kafka-topics", "--list") or INTERNAL.search("\n".join(lines)) or named:
            return LIST
    return None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    stamp = Stamp(about, "kafka-topics")
    for line in whole(lines):
        for part in slices(line, JOINED) if JOINED.match(line.text) else (line,):
            yield stamp.common(part) or row_of(kind, part, stamp)


def row_of(kind: str, line: Line, stamp: Stamp) -> Row:
    """The row of one line of the tool."""
    changed = CHANGED.match(line.text)
    if changed:
        change = {
            "topic_name": changed["created"] or changed["deleted"],
            "change": "created" if changed["created"] else "marked_for_deletion",
        }
        return stamp.row("topic_change", line, change)
    listed = TOPIC_NAME.match(line.text) if kind == LIST else None
    if listed:
        return stamp.row(
            "topic_name", line, {"topic_name": listed["name"], "is_marked_for_deletion": "true" if listed["deleted"] else None}
        )
    fields = fields_of(line.text)
    if fields is None:
        return stamp.said(line) if SAID.match(line.text) else stamp.unread(line, "no line of kafka-topics")
    if "partition_id" not in fields:
        return stamp.row("topic", line, fields)
    missing = [key for key in ("leader_id", "replicas", "isr") if fields.get(key) is None]
    return stamp.row("topic_partition", line, fields, warnings=(f"cut: no {', '.join(missing)}",) if missing else ())


def fields_of(text: str) -> dict[str, str | None] | None:
    """The values of one line of a describe; None for another line."""
    glued = GLUED.match(text) or GLUED_HEAD.match(text)
    if glued:
        fields = {key: value.strip() for key, value in glued.groupdict().items() if value is not None}
        # Between Configs and MarkedForDeletion there is the same gap, which may have gone too.
        configs, marked, deleted = fields.get("configs", "").partition("MarkedForDeletion:")
        if marked:
            fields |= {"configs": configs.strip(), "is_marked_for_deletion": deleted.strip()}
    else:
        parts = NAME.split(text)
        if parts[0].strip() or len(parts) < 5 or parts[1].lower() != "topic":
            return None
        fields = {FIELD_OF[name.lower()]: value.strip() for name, value in zip(parts[1::2], parts[2::2], strict=True)}
    if fields.get("leader_id") == "none":
        fields["leader_id"] = "-1"
    return {key: value if holds(key, value) else None for key, value in fields.items()}


def holds(key: str, value: str) -> bool:
    """Whether a value is possible for its field: not `N/A`, not that of a torn line."""
    if key in NUMBERS:
        return NUMBER.fullmatch(value) is not None
    return value != "N/A" and (key not in IDS or ID_LIST.fullmatch(value) is not None)
