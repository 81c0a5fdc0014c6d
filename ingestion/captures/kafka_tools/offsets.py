"""`kafka-get-offsets` (GetOffsetShell) and `kafka-delete-records`.

Rows (beside those of `_tools`):

- `partition_offset`: topic_name, partition_id, offset; several offsets of 0.8 to 2.x (`--offsets 3`, the newest first) stay joined by commas,
  one that the tool leaves empty is left out;
- `deleted_records`: topic_name, partition_id, low_watermark, error.

Forms: `topic:partition:offset` on every line, all releases; `partition: topic-0<tab>low_watermark: 5`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ingestion.captures import About, Line, Row, Sample
from ingestion.captures._tools import Stamp, any_of, failed_tool, mostly, partition_of, significant, typed, whole
from ingestion.reading import linear

OFFSETS, DELETED = "kafka_get_offsets", "kafka_delete_records"
TOOLS = {"kafka-get-offsets": OFFSETS, "kafka-delete-records": DELETED}
KINDS = {
    OFFSETS: "The offsets of partitions, as kafka-get-offsets (GetOffsetShell) prints them.",
    DELETED: "What kafka-delete-records deleted.",
}
LOG_BESIDE = True

# A name of a topic with a letter in it, so that no time of day is taken for an offset.
OFFSET = re.compile(r"^(?P<topic_name>(?=[\w.-]*[A-Za-z_])[\w.-]{1,249}):(?P<partition_id>\d{1,6}):(?P<offset>-?\d+(?:,\d+)*)?$")
DELETION = linear.for_lines(r"^partition: (?P<partition>\S+)\s+(?:low_watermark: (?P<low_watermark>-?\d+)|error: (?P<error>.*))\s*$")
SAID = re.compile(
    r"^(?:Skip getting offsets for|Error: |Error occurred|Could not match any|Executing records delete operation|Records delete operation completed"
    r"|Offset json file|Invalid partition)"
)


def kind_of(sample: str, name: str = "") -> str | None:
    lines = significant(sample)
    if mostly(lines, any_of(DELETION, SAID)) and any(DELETION.match(line) or line.startswith("Executing records") for line in lines):
        return DELETED
    if failed_tool(sample) in TOOLS:
        return TOOLS[failed_tool(sample)]
    offsets = [line for line in lines if OFFSET.match(line)]
    # One line alone may be an address with something behind it.
    enough = (
        len(offsets) > 1 or typed(sample, "kafka-get-offsets") or "GetOffsetShell" in sample or "offset" in name.rsplit("/", 1)[-1].lower()
    )
    return OFFSETS if offsets and enough and all(OFFSET.match(line) or SAID.match(line) for line in lines[:-1]) else None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    stamp = Stamp(about, "kafka-get-offsets" if kind == OFFSETS else "kafka-delete-records")
    for line in whole(lines):
        yield stamp.common(line) or row_of(kind, line, stamp)


def row_of(kind: str, line: Line, stamp: Stamp) -> Row:
    offset = OFFSET.match(line.text) if kind == OFFSETS else None
    if offset:
        return stamp.row("partition_offset", line, offset.groupdict())
    deletion = DELETION.match(line.text)
    if deletion:
        fields = partition_of(deletion["partition"]) | {"low_watermark": deletion["low_watermark"], "error": deletion["error"]}
        return stamp.row("deleted_records", line, fields)
    return stamp.said(line) if SAID.match(line.text) else stamp.unread(line, f"no line of {kind}")
