"""`kafka-consumer-groups`, `kafka-share-groups`, `kafka-streams-groups`, `kafka-groups` and the ConsumerOffsetChecker of 0.8.

Rows (beside those of `_tools`); a value that the tool prints as `-`, `unknown` or `none` is not known and left out:

- `group_offset`: group_id, topic_name, partition_id, current_offset, log_end_offset, lag, leader_epoch, start_offset, new_offset,
  member_id, host, client_id, owner (the owner of 0.8 to 0.10);
- `group_member`: group_id, member_id, group_instance_id, host, client_id, partition_count, assignment, member_epoch, target_epoch,
  target_assignment, topology_epoch, target_assignment_epoch, member_protocol, process_id;
- `group_state`: group_id, coordinator (host:port), coordinator_id, assignment_strategy, state, member_count, group_type, protocol,
  group_epoch, target_assignment_epoch; of a sentence: state `Empty` (no active members), `Dead` (does not exist), `Rebalancing`;
- `group_name`: group_id (a plain list).

Forms: 0.9 with commas; 0.10 GROUP first and OWNER last; 0.10.2 to 2.x without GROUP (it is then that of the sentence or the
command above, else not known); 2.1 and later GROUP first; 4.x `--verbose` with LEADER-EPOCH.  Rows that a terminal broke are joined.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ingestion.captures import UNREAD, About, Line, Row, Sample, lines_of
from ingestion.captures._tools import Stamp, failed_tool, significant, typed, whole
from ingestion.captures.kafka_tools._group_tables import COLUMN, HEADER, UUID, Table, is_header, unglued
from ingestion.reading import linear

DESCRIBE, LIST, CHECKER = "kafka_groups_describe", "kafka_groups_list", "kafka_consumer_offset_checker"
KINDS = {
    DESCRIBE: "Offsets, members or states of groups, as kafka-consumer-groups and its like print them.",
    LIST: "Names of groups, as kafka-consumer-groups --list prints them.",
    CHECKER: "Offsets of a ZooKeeper consumer's group, as the ConsumerOffsetChecker of 0.8 prints them.",
}
LOG_BESIDE = True

OFFSETS = linear.for_lines(
    r"^\s*(?:\S+,?\s+)?\S+,?\s+(?:\d+|-),?\s+(?:(?:-?\d+|-|unknown),?\s+){2,4}(?:-?\d+|-|unknown)(?:,?\s+\S+|\s+\S+\s+(?:/\S+|-)\s+\S.*)?\s*$"
)
MEMBER = linear.for_lines(rf"^\s*(?:\S+\s+)?(?:\S+-{UUID}|[\w-]{{22}})\s+(?:\S+\s+)?/\S+\s+\S+\s+\d")
STATE = linear.for_lines(
    r"^\s*(?:\S+\s+)?[^\s:]+:\d+\s+\(-?\d+\)\s|^\s*\S+\s+(?:\S+\s+)?(?:Stable|Empty|Dead|PreparingRebalance|CompletingRebalance|Assigning|Reconciling|NotReady|Unknown)\s*$"
)
TOOLS = ("kafka-consumer-groups", "kafka-share-groups", "kafka-streams-groups", "kafka-groups")
TOOLS_OF = {DESCRIBE: "kafka-consumer-groups", LIST: "kafka-consumer-groups", CHECKER: "kafka-consumer-offset-checker"}
FIRST_SAID = ("Deletion of ", "Error: Executing consumer group command failed", "Consumer group `")
# The beginning of a line shows what it is; some of JSON have megabytes.
LONGEST = 1000
# Rows that tell what they are without a header: a member's id before its host, or an owner of 0.10.
UNMISTAKABLE = linear.for_lines(rf"^\s*\S+\s.*(?:-{UUID}\s+/\S|\s\d+\s+\d+\s+\d+\s+\d+\s+\S+_/[\d.]+\s*$)")
SENTENCE = re.compile(
    r"^(?:Warning: |Error: )?(?:The )?(?:[Cc]onsumer|[Ss]hare|[Ss]treams) group (?P<quote>[`'\"])(?P<group>.+?)(?P=quote) (?:(?P<Empty>has no active members)"
    r"|(?P<Rebalancing>is rebalancing)|(?P<Dead>does not exist(?! or )))\b"
)
SAID = re.compile(
    r"^Note: This will (?:not )?(?:only )?show information about|^(?:Warning|Error): |^Deletion of (?:requested|some)|^These .*groups were deleted"
    r"|^Exiting due to: |^BROKER INFO$|^\d+ -> \S+:\d+$|^\* Group '|^Request succeed for deleting offsets|^(?:Share|Consumer|Streams) group '.*' has no"
    r"|^Consumer group [`'].*[`'] does not exist or is rebalancing|^Could not fetch offset|^No topic available for consumer group"
)
GROUP_NAMED = re.compile(r"--group[= ]+(?P<quote>['\"]?)(?P<group>[^'\"\s]+)(?P=quote)|groupId=(?P<client>[^\s\],]+)")
# Columns by the number of words, if the header was not copied: those of 2.1, of 0.11, of 0.10.
HEADERLESS = {
    9: "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID",
    8: "TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID",
    7: "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG OWNER",
}


def kind_of(sample: str, name: str = "") -> str | None:
    lines = [unglued(line[:LONGEST]) for line in significant(sample)]
    headers = [
        line
        for position, line in enumerate(lines)
        if HEADER.match(line) and (is_header(line) or is_header("".join(lines[position : position + 2])))
    ]
    if headers:
        rows = [row for row in read(DESCRIBE, lines_of("\n".join(lines)), About(name)) if isinstance(row, Row)]
        is_table = 2 * sum(row.kind == UNREAD for row in rows) <= len(rows)
        return (CHECKER if headers[0].lstrip().startswith("Group") else DESCRIBE) if is_table else None
    if lines and all(
        SENTENCE.match(line) or SAID.match(line) or OFFSETS.match(line) or MEMBER.match(line) or STATE.match(line) for line in lines
    ):
        if any(line.startswith("Exiting due to: ") and "/consumers/" in line for line in lines):
            return CHECKER
        if any(SENTENCE.match(line) or UNMISTAKABLE.match(line) or line.startswith(FIRST_SAID) for line in lines):
            return DESCRIBE
    if failed_tool(sample) in TOOLS:
        return DESCRIBE
    if lines and all(len(line.split()) == 1 for line in lines):
        base = name.rsplit("/", 1)[-1]
        return LIST if any(typed(sample, tool, "--list") for tool in TOOLS) or ("groups" in base and "list" in base) else None
    return None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    stamp, table = Stamp(about, TOOLS_OF[kind]), Table()
    held: Line | None = None
    for line in whole(lines):
        if held is None:
            held = line
            continue
        joined = join(held, line, table)
        if joined is None:
            yield from rows_of(kind, held, stamp, table)
        held = joined or line
    if held is not None:
        yield from rows_of(kind, held, stamp, table)


def join(held: Line, line: Line, table: Table) -> Line | None:
    """One line, where a terminal has broken a header or a row in two."""
    glued, spaced = Line(held.offset, held.text + line.text), Line(held.offset, f"{held.text} {line.text}")
    if HEADER.match(held.text):
        more = not is_header(line.text) and not COLUMN.sub("", line.text).strip()
        return next((one for one in (glued, spaced) if is_header(one.text) and (more or not is_header(held.text))), None)
    if not table.columns or speaks(held.text) or speaks(line.text) or table.values(line.text) is not None:
        return None
    if table.values(held.text) is None:
        return next((one for one in (glued, spaced) if table.by_words(one.text) is not None), None)
    # The row is complete: what follows can only be the end of its last word.
    is_end = len(held.text) >= 80 and re.fullmatch(r"(?=[\w.:/-]*[\d-])[\w.:/-]*+", line.text) is not None
    return glued if is_end and table.by_words(glued.text) is not None else None


def speaks(text: str) -> bool:
    """Whether a line is not a row but a sentence of the tool, of its log, a header or a command."""
    return not significant(text) or HEADER.match(text) is not None or SENTENCE.match(text) is not None or SAID.match(text) is not None


def rows_of(kind: str, line: Line, stamp: Stamp, table: Table) -> Iterator[Row]:
    """The row of one line; a header gives none."""
    named = GROUP_NAMED.search(line.text)
    common = stamp.common(line)
    if common is not None:
        if named:
            table.group_id = named["group"] or named["client"]
        yield common
        return
    if is_header(line.text):
        table.begins(line.text)
        return
    sentence = SENTENCE.match(line.text)
    if sentence:
        table.group_id = sentence["group"]
        yield stamp.row("group_state", line, {"group_id": sentence["group"], "state": sentence.lastgroup})
    elif SAID.match(line.text):
        yield stamp.said(line)
    elif kind == LIST:
        yield stamp.row("group_name", line, {"group_id": line.text.strip()})
    else:
        yield table_row(line, stamp, table)


def table_row(line: Line, stamp: Stamp, table: Table) -> Row:
    words = len(unglued(line.text).split())
    if not table.columns and words in HEADERLESS:
        table.begins(HEADERLESS[words])
    values = table.values(line.text) if table.columns else None
    if values is None:
        return stamp.unread(line, "no row of the table above it")
    if "group_id" not in table.names and table.group_id is not None:
        values["group_id"] = table.group_id
    warnings = () if "group_id" in values else ("the group is not named",)
    return stamp.row(table.kind, line, values, warnings=warnings)
