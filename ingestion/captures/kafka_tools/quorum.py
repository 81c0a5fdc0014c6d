"""`kafka-metadata-quorum describe --status` and `--replication`: the KRaft quorum.

Rows (beside those of `_tools`):

- `quorum_status`: cluster_id, leader_id, leader_epoch, high_watermark, max_follower_lag, max_follower_lag_ms, voters, observers
  (ids with commas);
- `quorum_member`: node_id, member_kind (voter, observer), directory_id, endpoints (with commas), of the lists of a status;
- `quorum_replica`: node_id, directory_id (left out where it is all zero, `AAAA…`), log_end_offset, lag, last_fetch_at_ms, last_caught_up_at_ms (milliseconds since 1970; left
  out where it never was), last_fetch_ms_ago, last_caught_up_ms_ago (`--human-readable`), status (Leader, Follower, Observer);
- `quorum_change`: message (`Added controller …`, `Removed …`).

The leader's own fetch time is the time of the answer, so a replication table says its time itself.  Forms: MetadataQuorumCommand of 3.3 to
4.x; members were plain ids until 3.8, objects with directory and endpoints since 3.9.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from ingestion.captures import About, Line, Row, Sample
from ingestion.captures._tools import Stamp, any_of, failed_tool, millis_time, mostly, number, significant, slices, whole

QUORUM = "kafka_metadata_quorum"
KINDS = {QUORUM: "State and replication of the metadata quorum, as kafka-metadata-quorum prints them."}
LOG_BESIDE = True

STATUS = {
    "ClusterId": "cluster_id",
    "LeaderId": "leader_id",
    "LeaderEpoch": "leader_epoch",
    "HighWatermark": "high_watermark",
    "MaxFollowerLag": "max_follower_lag",
    "MaxFollowerLagTimeMs": "max_follower_lag_ms",
    "CurrentVoters": "voters",
    "CurrentObservers": "observers",
}
STATUS_LINE = re.compile(rf"^\s*(?P<name>{'|'.join(sorted(STATUS, key=len, reverse=True))}):\s*(?P<value>.*?)\s*$")
HEADER = re.compile(r"^\s*NodeId\s+(?:DirectoryId\s+)?LogEndOffset\s+Lag\s+LastFetchTimestamp\s+LastCaughtUpTimestamp\s+Status\s*$")
REPLICA = re.compile(
    r"^\s*(?P<node_id>\d+)\s+(?:(?P<directory_id>[\w-]{22})\s+)?(?P<log_end_offset>-?\d+)\s+(?P<lag>-?\d+)\s+"
    r"(?:(?P<fetch_ago>\d+) ms ago|(?P<fetch>-?\d+))\s+(?:(?P<caught_ago>\d+) ms ago|(?P<caught>-?\d+))\s+(?P<status>Leader|Follower|Observer)\s*$"
)
CHANGE = re.compile(r"^(?:Added|Removed|DRY RUN: Would (?:add|remove)) .*controller ")
OWN = any_of(STATUS_LINE, HEADER, REPLICA, CHANGE)
NO_DIRECTORY = "A" * 22
MEMBER = re.compile(r"\{[^{}]*\}|(?<=[\[,])\s*\d+(?=\s*[,\]])")
MEMBER_ID = re.compile(r'"id"\s*:\s*(\d+)')


def kind_of(sample: str, name: str = "") -> str | None:
    lines = significant(sample)
    named = {match["name"] for line in lines if (match := STATUS_LINE.match(line))}
    own = len(named) >= 3 or any(REPLICA.match(line) or HEADER.match(line) or CHANGE.match(line) for line in lines)
    return QUORUM if (own and mostly(lines, OWN)) or failed_tool(sample) == "kafka-metadata-quorum" else None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    stamp = Stamp(about, "kafka-metadata-quorum")
    status: dict[str, Line] = {}
    for line in whole(lines):
        found = STATUS_LINE.match(line.text)
        if status and (not found or STATUS[found["name"]] in status):
            yield from status_rows(status, stamp)
            status = {}
        if found:
            status[STATUS[found["name"]]] = line
        elif not HEADER.match(line.text):
            yield stamp.common(line) or row_of(line, stamp)
    if status:
        yield from status_rows(status, stamp)


def row_of(line: Line, stamp: Stamp) -> Row:
    replica = REPLICA.match(line.text)
    if replica:
        if replica["status"] == "Leader":
            stamp.says(millis_time(replica["fetch"]))
        fields = {name: replica[name] for name in ("node_id", "log_end_offset", "lag", "status")}
        fields["directory_id"] = None if replica["directory_id"] == NO_DIRECTORY else replica["directory_id"]
        fields |= {"last_fetch_ms_ago": replica["fetch_ago"], "last_caught_up_ms_ago": replica["caught_ago"]}
        fields |= {"last_fetch_at_ms": known(replica["fetch"]), "last_caught_up_at_ms": known(replica["caught"])}
        return stamp.row("quorum_replica", line, fields, number(replica["node_id"]))
    if CHANGE.match(line.text):
        return stamp.row("quorum_change", line, {"message": line.text.strip()})
    return stamp.unread(line, "no line of kafka-metadata-quorum")


def status_rows(status: dict[str, Line], stamp: Stamp) -> Iterator[Row]:
    """The row of one status, and those of its members."""
    values = {name: match["value"] for name, line in status.items() if (match := STATUS_LINE.match(line.text))}
    members = {name: members_of(values[name]) for name in ("voters", "observers") if name in values}
    for name, listed in members.items():
        values[name] = ",".join(str(member["id"]) for member in listed)
    first = next(iter(status.values()))
    whole_text = Line(first.offset, "\n".join(line.text for line in status.values()))
    missing = [name for name in STATUS.values() if name not in values]
    yield stamp.row("quorum_status", whole_text, values, warnings=(f"cut: no {', '.join(missing)}",) if missing else ())
    for name, listed in members.items():
        pieces = list(slices(status[name], MEMBER))
        for position, member in enumerate(listed):
            endpoints = member.get("endpoints")
            fields = {"node_id": str(member["id"]), "member_kind": name.removesuffix("s"), "directory_id": member.get("directoryId")}
            fields["endpoints"] = ",".join(str(one) for one in endpoints) if isinstance(endpoints, list) else None
            piece = pieces[position] if len(pieces) == len(listed) else status[name]
            yield stamp.row("quorum_member", piece, fields, number(fields["node_id"]))


def members_of(text: str) -> list[dict[str, Any]]:
    """`[1,2]`, `[{"id": 1, "directoryId": null, "endpoints": [..]}]`; of a cut list the ids that are there."""
    try:
        members = json.loads(text)
    except ValueError:
        members = [{"id": int(found)} for found in MEMBER_ID.findall(text)] or [int(found) for found in re.findall(r"\d+", text)]
    listed = members if isinstance(members, list) else []
    return [
        one if isinstance(one, dict) else {"id": one}
        for one in listed
        if isinstance(one, int) or (isinstance(one, dict) and isinstance(one.get("id"), int))
    ]


def known(millis: str | None) -> str | None:
    return millis if millis not in (None, "-1") else None
