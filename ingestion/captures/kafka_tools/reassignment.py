"""`kafka-reassign-partitions` (`--generate`, `--execute`, `--verify`, `--list`, `--cancel`) and its plans in JSON.

Rows (beside those of `_tools`):

- `assignment`: topic_name, partition_id, replicas, log_dirs (with commas), plan (current, proposed; left out of a plan that is alone);
- `reassignment`: topic_name, partition_id, state (started, in_progress, completed, not_active, failed, cancelled), replicas,
  target_replicas, adding_replicas, removing_replicas, message;
- `replica_move`: topic_name, partition_id, node_id, state (started, in_progress, completed, not_active, missing, elsewhere, cancelled), log_dir, message;
- `topic_to_move`: topic_name (the input of `--generate`);
- `throttle`: bytes_per_second, throttle_kind (inter_broker, log_dir), message; `throttle_cleared`: message.

Forms: ReassignPartitionsCommand of 0.8 to 4.x; partitions were `[topic,0]` until 0.11.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from ingestion.captures import About, Line, Row, Sample
from ingestion.captures._tools import Stamp, any_of, documents, failed_tool, mostly, number, partition_of, significant, slices, whole
from ingestion.reading import linear

REASSIGNMENT = "kafka_reassignment"
KINDS = {REASSIGNMENT: "Plans and states of reassignments, as kafka-reassign-partitions prints them."}
LOG_BESIDE = True

PARTITION = r"(?P<partition>\[[\w.-]+,\d+\]|[\w.-]+-\d+)"
STATES = {
    state: linear.for_lines(form)
    for state, form in {
        "in_progress": rf"^(?:Reassignment of partition {PARTITION} is (?:still )?in progress\.?|{PARTITION.replace('partition', 'listed')}: replicas: .*)\s*$",
        "completed": rf"^Reassignment of partition {PARTITION} (?:is completed|completed successfully)\.?\s*$",
        "failed": rf"^Reassignment of partition {PARTITION} failed\.?\s*$",
        "not_active": rf"^There is no active reassignment of partition {PARTITION}, but replica set is (?P<replicas>[\d,]*) rather than (?P<target_replicas>[\d,]*)\.$",
    }.items()
}
MOVES = {
    state: linear.for_lines(form)
    for state, form in {
        "in_progress": r"^Reassignment of replica (?P<replica>\S+) is still in progress\.?\s*$",
        "completed": r"^Reassignment of replica (?P<replica>\S+) (?:is )?completed(?: successfully)?\.?\s*$",
        "not_active": r"^Partition (?P<partition>\S+) on broker (?P<node_id>\d+) is not being moved from log dir \S+ to (?P<log_dir>\S+?)\.$",
        "elsewhere": r"^Partition (?P<partition>\S+) on broker (?P<node_id>\d+) is being moved to log dir (?P<log_dir>\S+) instead of \S+$",
        "missing": r"^Partition (?P<partition>\S+) (?:is not found in any live log dir|cannot be found in any live log directory) on broker (?P<node_id>\d+)\.",
    }.items()
}
REPLICA = re.compile(r"^(?P<partition>[\w.-]+-\d+)-(?P<node_id>\d+)$")
LISTED = re.compile(
    r"replicas: (?P<replicas>[\d,]*)\.(?: adding: (?P<adding_replicas>[\d,]*)\.)?(?: removing: (?P<removing_replicas>[\d,]*)\.)?"
)
STARTED = re.compile(
    r"^Successfully (?P<state>started|cancelled) (?:partition )?reassignments? (?:of partitions |for |for: ?)?(?P<partitions>.*)$"
)
MOVING = re.compile(r"^Successfully (?P<state>started|cancelled) log directory moves? for: (?P<replicas>.*)$")
OLD_STARTED = re.compile(r"^Successfully started reassignment of partitions (?P<plan>\{.*\})$")
THROTTLE = re.compile(
    r"^(?:The (?P<kind>inter-broker|replica-alter-dir) throttle limit was set to|The throttle limit was set to) (?P<rate>\d+) B/s"
)
CLEARED = re.compile(r"^(?:Clearing (?:broker|topic)-level throttles on|Throttle was removed\.)")
HEADING = re.compile(
    r"^(?P<plan>Current|Proposed) partition (?:replica assignment|reassignment configuration)\s*$|^Current partition reassignments:$|^Status of partition reassignment: ?$"
)
SAID = re.compile(
    r"^(?:Save this to use as the --reassignment-json-file option|Warning: You must run --verify|No partition reassignments found"
    r"|Error: |Cannot execute because|There is an existing assignment running|Failed to reassign partitions|None of the specified partition moves are active)"
)
OWN = any_of(*STATES.values(), *MOVES.values(), STARTED, MOVING, THROTTLE, CLEARED, HEADING)
ENTRY = re.compile(r"\{[^{}]*\}")
PLAN = re.compile(r'^\s*\{(?=.*"(?:partitions|topics)"\s*:\s*\[)(?=.*"(?:replicas|version|topic)"\s*:).*\}\s*$', re.S)


def kind_of(sample: str, name: str = "") -> str | None:
    lines = significant(sample)
    if mostly(lines, OWN) or failed_tool(sample) == "kafka-reassign-partitions":
        return REASSIGNMENT
    text = "\n".join(lines)
    return REASSIGNMENT if PLAN.match(text) and any(rows_of_plan(json_of(text), Line(0, text), None, Stamp(About(name)))) else None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    stamp, plan = Stamp(about, "kafka-reassign-partitions"), None
    for line, value in documents(whole(lines)):
        heading = HEADING.match(line.text)
        if heading:
            plan = heading["plan"].lower() if heading["plan"] else None
        elif value is not None:
            yield from (
                rows_of_plan(value, line, plan, stamp) if PLAN.match(line.text) else (stamp.unread(line, "no plan of a reassignment"),)
            )
        else:
            common = stamp.common(line)
            yield from (common,) if common else rows_of(line, stamp)


def rows_of_plan(value: object, line: Line, plan: str | None, stamp: Stamp) -> Iterator[Row]:
    """The rows of a plan: where partitions are to lie, or which topics are to be moved."""
    parts = value if isinstance(value, dict) else {}
    entries = [one for name in ("partitions", "topics") for one in parts.get(name) or []]
    pieces = list(slices(line, ENTRY))
    # Each entry has its own offset, if there is a piece of text for each.
    places = iter(pieces if len(pieces) == len(entries) else [line] * len(entries))
    for one in parts.get("partitions") or []:
        place = next(places)
        if isinstance(one, dict) and {"topic", "partition"} <= one.keys():
            fields = {"topic_name": str(one["topic"]), "partition_id": str(one["partition"]), "plan": plan}
            fields |= {"replicas": commas(one.get("replicas")), "log_dirs": commas(one.get("log_dirs"))}
            yield stamp.row("assignment", place, fields)
    for one in parts.get("topics") or []:
        place = next(places)
        if isinstance(one, dict) and set(one) == {"topic"}:
            yield stamp.row("topic_to_move", place, {"topic_name": str(one["topic"])})


def rows_of(line: Line, stamp: Stamp) -> Iterator[Row]:
    """The rows of one sentence."""
    message = {"message": line.text.strip()}
    started = STARTED.match(line.text)
    moving = MOVING.match(line.text)
    throttle = THROTTLE.match(line.text)
    old = OLD_STARTED.match(line.text)
    if old:
        yield stamp.row("remark", line, message)
        yield from rows_of_plan(json_of(old["plan"]), line, "proposed", stamp)
    elif started:
        for partition in re.findall(r"\[[\w.-]++,\d++\]|(?<![\w.-])[\w.-]+-\d+", started["partitions"]):
            yield stamp.row("reassignment", line, partition_of(partition) | {"state": started["state"]} | message)
    elif moving:
        for replica in map(REPLICA.match, moving["replicas"].split(",")):
            if replica:
                fields = partition_of(replica["partition"]) | {"node_id": replica["node_id"], "state": moving["state"]}
                yield stamp.row("replica_move", line, fields | message, number(replica["node_id"]))
    elif throttle:
        kind = {"inter-broker": "inter_broker", "replica-alter-dir": "log_dir"}.get(throttle["kind"] or "inter-broker")
        yield stamp.row("throttle", line, {"bytes_per_second": throttle["rate"], "throttle_kind": kind} | message)
    elif CLEARED.match(line.text):
        yield stamp.row("throttle_cleared", line, message)
    else:
        yield state_row(line, message, stamp)


def state_row(line: Line, message: dict[str, str], stamp: Stamp) -> Row:
    fields: dict[str, str | None]
    for state, form in STATES.items():
        found = form.match(line.text)
        if found:
            known = found.groupdict()
            listed = LISTED.search(line.text) if known.get("listed") else None
            fields = {**partition_of(known.get("partition") or known.get("listed") or ""), "state": state}
            fields |= {name: known.get(name) for name in ("replicas", "target_replicas")} | (listed.groupdict() if listed else {})
            return stamp.row("reassignment", line, fields | message)
    for state, form in MOVES.items():
        found = form.match(line.text)
        if found:
            known = found.groupdict()
            replica = REPLICA.match(known.get("replica") or "")
            known |= replica.groupdict() if replica else {}
            fields = {
                **partition_of(known.get("partition") or ""),
                "node_id": known.get("node_id"),
                "state": state,
                "log_dir": known.get("log_dir"),
            }
            return stamp.row("replica_move", line, fields | message, number(known.get("node_id")))
    return stamp.said(line) if SAID.match(line.text) else stamp.unread(line, "no line of kafka-reassign-partitions")


def commas(values: object) -> str | None:
    return ",".join(str(value) for value in values) if isinstance(values, list) else None


def json_of(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None
