"""`kafka-dump-log` (DumpLogSegments): segments, their indexes, producer snapshots, with or without a decoder.

Rows (beside those of `_tools`); log_topic and log_partition are of the folder that is dumped, where it is named:

- `dumped_file`: path, log_topic, log_partition; `dumped_segment`: start_offset, of a snapshot end_offset and leader_epoch;
- `record_batch`: base_offset, last_offset, record_count, base_sequence, last_sequence, producer_id, producer_epoch, leader_epoch,
  is_transactional, is_control, delete_horizon_ms, position, timestamp_ms, timestamp_kind, size_bytes, magic, compression, crc, is_valid;
- `record`: offset, position, timestamp_ms, timestamp_kind, key_size_bytes, value_size_bytes, sequence, header_keys, end_marker (COMMIT,
  ABORT), coordinator_epoch, control_kind, and of its batch what old releases print beside it; key and payload as printed, or decoded:
  key_kind (offset_commit, group_metadata, transaction_metadata), key_…, value_… (names of the JSON in snake case, lists as JSON),
  is_tombstone;
- `index_entry`: offset, position; `time_index_entry`: timestamp_ms, offset;
- `aborted_transaction`: version, producer_id, first_offset, last_offset, last_stable_offset;
- `producer_state`: producer_id, producer_epoch, coordinator_epoch, transaction_start_offset, last_timestamp_ms, first_sequence …;
- `finding`: finding, message, and the two numbers that disagree (expected, found) or invalid_bytes.

A batch and a record carry their own time.  Forms: 0.8 to 4.x; decoders of 0.9 (`offset::g:t:0`), 0.11 (`transactionalId=…`), 2.0
(`offset_commit::group=g,partition=t-0`), 3.5 (JSON with type and version), the metadata's since 2.8.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ingestion.captures import About, Line, Row, Sample
from ingestion.captures._tools import DECORATION, TRACE, Stamp, any_of, millis_time, mostly, partition_of, significant, snake
from ingestion.captures.kafka_tools._decoded import decoded
from ingestion.reading import linear

DUMP = "kafka_dump_log"
KINDS = {DUMP: "Batches, records or index entries of log files, as kafka-dump-log prints them."}
OF_NODE = frozenset(KINDS)
LOG_BESIDE = True

DUMPED = linear.for_lines(r"\.(?:log|index|timeindex|txnindex|snapshot|checkpoint)(?:\.\w+)*$")
DUMPING = re.compile(r"^Dumping (?P<path>\S.*)$")
STARTS = re.compile(
    r"^(?:Log starting|Starting) offset: (?P<start_offset>\d+)\s*$|^Snapshot end offset: (?P<end_offset>\d+), epoch: (?P<leader_epoch>\d+)\s*$"
)
FOLDER = linear.for_lines(r"(?:^|/)(?P<folder>[\w.-]+-\d+)(?:\.[0-9a-f]+-(?:delete|future|stray))?/[^/]+$")
INDEX = re.compile(r"^offset: (?P<offset>\d+) position: (?P<position>\d+)\s*$")
TIME_INDEX = re.compile(r"^timestamp: (?P<timestamp_ms>-?\d+) offset: (?P<offset>\d+)\s*$")
BATCH = re.compile(r"^(?:baseOffset: \d+ lastOffset: \d+ |offset: \d+ position: \d+ .*\bsize: \d+ magic: )")
RECORD = re.compile(
    r"^\|? ?offset: \d+ (?:position: \d+ |CreateTime: |LogAppendTime: |NoTimestampType: |keysize: |isvalid: )|^\| (?:key|payload): "
)
ABORTED = re.compile(r"^version: \d+ producerId: -?\d+ firstOffset: ")
PRODUCER = re.compile(r"^producerId: -?\d+ producerEpoch: ")
FINDINGS = {
    "invalid_bytes": re.compile(r"^Found (?P<invalid_bytes>\d+) invalid bytes at the end of \S+"),
    "index_mismatch": re.compile(r"^\s+Index offset: (?P<expected>-?\d+), log offset: (?P<found>-?\d+)"),
    "timestamp_mismatch": re.compile(r"^\s+Index timestamp: (?P<expected>-?\d+), log timestamp: (?P<found>-?\d+)"),
    "timestamp_out_of_order": re.compile(r"^\s+Index timestamp: (?P<expected>-?\d+), Previously indexed timestamp: (?P<found>-?\d+)"),
    "offset_not_found": re.compile(r"^\s*Indexed offset: (?P<expected>-?\d+), found log offset: (?P<found>-?\d+)"),
    "offset_gap": re.compile(r"^\s+(?P<expected>-?\d+) is followed by (?P<found>-?\d+)\s*$"),
    "empty_index": re.compile(r"^\S+index is empty\.$"),
    "sane_index": re.compile(r"^\S+index passed sanity check\.$"),
}
SAID = re.compile(
    r"^(?:Mismatches in ?:|Non-consecutive offsets in|Non-secutive offsets in|Found timestamp mismatch in|Found out of order timestamp in"
    r"|The following indexed offsets are not found|Ignoring unknown file|KRaft bootstrap snapshot)"
)
OWN = any_of(DUMPING, STARTS, INDEX, TIME_INDEX, BATCH, RECORD, ABORTED, PRODUCER, SAID, *FINDINGS.values())
UNMISTAKABLE = any_of(BATCH, RECORD, ABORTED, PRODUCER)

PAIR = re.compile(r"\s*(?:\| )?(?P<name>\w+): ?(?P<value>\[[^\]]*\]|OptionalLong\S+|\S+)(?=\s|$)")
CONTENT = re.compile(r"^\|?\s*+(?:key: (?P<key>(?:\S++|\s++(?!payload: ))*+))?\s*+(?:payload: ?(?P<payload>.*))?\Z", re.S)
CONTROL = linear.for_lines(r"\s(?P<control>LeaderChange|SnapshotHeader|SnapshotFooter|KRaftVersion|KRaftVoters):? (?P<json>\{.*\})\s*$")
NAMES = {
    "count": "record_count",
    "partitionLeaderEpoch": "leader_epoch",
    "size": "size_bytes",
    "compresscodec": "compression",
    "isvalid": "is_valid",
    "keysize": "key_size_bytes",
    "keySize": "key_size_bytes",
    "valuesize": "value_size_bytes",
    "valueSize": "value_size_bytes",
    "payloadsize": "value_size_bytes",
    "endTxnMarker": "end_marker",
    "controlType": "control_kind",
    "currentTxnFirstOffset": "transaction_start_offset",
    "lastTimestamp": "last_timestamp_ms",
    "timestamp": "timestamp_ms",
}
TIMESTAMPS = {"CreateTime", "LogAppendTime", "NoTimestampType"}
OPTIONAL = re.compile(r"Optional(?:Long|Int)?\[(\d+)\]$")
LONGEST_PAYLOAD = 1000


def kind_of(sample: str, name: str = "") -> str | None:
    lines = significant(sample)
    if not mostly(lines, OWN):
        # A payload of several lines may hide the others.
        return DUMP if lines and DUMPING.match(lines[0]) and any(UNMISTAKABLE.match(line) for line in lines) else None
    entries = sum(bool(INDEX.match(line) or TIME_INDEX.match(line)) for line in lines)
    files = any(DUMPING.match(line) and DUMPED.search(line) for line in lines)
    return DUMP if files or entries > 1 or any(UNMISTAKABLE.match(line) for line in lines) else None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    stamp = Stamp(about)
    place: dict[str, str] = {}
    for line in whole_records(lines):
        dumping = DUMPING.match(line.text)
        if dumping:
            folder = FOLDER.search(dumping["path"].strip())
            found = partition_of(folder["folder"]) if folder else {}
            place = {"log_topic": found["topic_name"], "log_partition": found["partition_id"]} if found else {}
            yield stamp.row("dumped_file", line, {"path": dumping["path"].strip()} | place)
        else:
            yield row_of(line, place, stamp)


def whole_records(lines: Iterable[Line]) -> Iterator[Line]:
    """Joins the lines of a payload that continues over several with their record."""
    held: list[Line] = []
    for line in lines:
        goes_on = held and " payload: " in held[0].text and not OWN.match(line.text) and len(held) < LONGEST_PAYLOAD
        if goes_on or (held and TRACE.match(line.text)):
            held.append(line)
            continue
        if held:
            yield Line(held[0].offset, "\n".join(piece.text for piece in held).rstrip("\n"))
        held = [] if DECORATION.match(line.text) else [line]
    if held:
        yield Line(held[0].offset, "\n".join(piece.text for piece in held).rstrip("\n"))


def row_of(line: Line, place: dict[str, str], stamp: Stamp) -> Row:
    """The row of one line, which for a record may have many."""
    text = line.text
    for kind, form in (("dumped_segment", STARTS), ("index_entry", INDEX), ("time_index_entry", TIME_INDEX)):
        found = form.match(text)
        if found:
            return stamp.row(kind, line, found.groupdict() | place)
    if BATCH.match(text):
        return timed(stamp.row("record_batch", line, pairs(text)[0] | place))
    if RECORD.match(text):
        return record(line, place, stamp)
    for kind, form in (("aborted_transaction", ABORTED), ("producer_state", PRODUCER)):
        if form.match(text):
            return stamp.row(kind, line, pairs(text)[0] | place)
    for finding, form in FINDINGS.items():
        found = form.match(text)
        if found:
            return stamp.row("finding", line, {"finding": finding, "message": text.strip()} | found.groupdict() | place)
    common = stamp.common(line)
    said = (
        stamp.row("remark", line, {"message": text.strip()} | place)
        if SAID.match(text)
        else stamp.unread(line, "no line of kafka-dump-log")
    )
    return common or said


def record(line: Line, place: dict[str, str], stamp: Stamp) -> Row:
    fields, rest = pairs(line.text)
    control = CONTROL.search(rest)
    content = None if control else CONTENT.match(rest)
    if control:
        fields |= {"control_kind": snake(control["control"])} | decoded(None, control["json"], is_control=True)
    elif content and (content["key"] is not None or content["payload"] is not None):
        fields |= decoded(content["key"], content["payload"], is_control=False, topic=place.get("log_topic"))
    if fields.get("value_size_bytes") == "-1" and "end_marker" not in fields:
        fields["is_tombstone"] = "true"
    return timed(stamp.row("record", line, fields | place))


def pairs(text: str) -> tuple[dict[str, str | None], str]:
    """The `name: value` pairs at the beginning, under our names, and the text after them."""
    fields: dict[str, str | None] = {}
    position = 0
    while found := PAIR.match(text, position):
        name, value = found["name"], found["value"]
        if name in ("key", "payload", "LeaderChange"):
            break
        if name in TIMESTAMPS:
            fields |= {
                "timestamp_ms": None if value == "-1" else value,
                "timestamp_kind": {"CreateTime": "create", "LogAppendTime": "log_append"}.get(name),
            }
        else:
            fields[NAMES.get(name, snake(name))] = clean(name, value)
        position = found.end()
    return fields, text[position:]


def clean(name: str, value: str) -> str | None:
    if name == "compresscodec":
        codec = value.lower().removesuffix("compressioncodec")
        return "none" if codec == "no" else codec
    if name == "headerKeys":
        return value[1:-1]
    optional = OPTIONAL.match(value)
    # 3.x prints a brace too many after the checksum of an old record.
    return optional[1] if optional else None if value in ("OptionalLong.empty", "Optional.empty", "null") else value.rstrip("}")


def timed(row: Row) -> Row:
    """A batch or record at the time that it carries."""
    at = millis_time(row.fields.get("timestamp_ms"))
    return (
        row
        if at is None
        else replace(row, at=at, at_known_by="content", warnings=tuple(one for one in row.warnings if not one.startswith("no time")))
    )
