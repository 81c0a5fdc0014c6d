"""What it means that the facts of a history with holes are a subset of the whole's (`tests.holes`).

A row is of the whole if the whole has a row about the same (`of`: equal, or null where the holes hide it) that says at least as much:

- `says`: equal; null, or a word for "not known" (`UNKNOWN`), where the row no longer knows it
- `is_so`: false may be "not known", so only a true that is false in the whole is new
- `at_most`: numbers that count evidence: no larger
- `measured`: settings, equal; of those that were measured, the highest value that the logs show counts evidence: no higher
- `some_of`: lists of what was seen: no other items
- `begins`: not before the whole's row and, if the row is a stretch of time (`ends`), not after its end: of a stretch that is known from its
  middle on, the middle is all that is left
- `ends`: the same end, or null, or open
- `at`: other times: the same, or null

Times are compared as the archive's own times, to two seconds: the records of one event are written within that by different nodes, and the
first of them may be lost.  Everything else in a row (keys, positions such as run numbers and incarnations, sentences, durations, evidence) follows from these
columns, or is a number of this warehouse.

A row that is not of the whole has to say so in `warnings`.  A warning that says nothing about what is missing (`NO_EXCUSE`) does not count.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Row = Mapping[str, Any]
# Ms of a time of the history → of the archive.
Clock = Callable[[int], int]
SLACK_MS = 2000
UNKNOWN = {"unknown", "open"}
MEASURED = " (measured)"


@dataclass(frozen=True)
class Meaning:
    """What a row of a fact says; see the module."""

    of: tuple[str, ...]
    says: tuple[str, ...] = ()
    is_so: tuple[str, ...] = ()
    at_most: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    some_of: tuple[str, ...] = ()
    begins: str | None = None
    ends: str | None = None
    at: tuple[str, ...] = ()
    no_excuse: frozenset[str] = frozenset()

    @property
    def columns(self) -> list[str]:
        found = [*self.of, *self.says, *self.is_so, *self.at_most, *self.measured, *self.some_of, self.begins, self.ends, *self.at]
        return [name for name in dict.fromkeys(found) if name]


FACTS = {
    "dim_node_runs": Meaning(
        of=("node_id",), says=("roles", "kafka_version", "end_kind"), begins="started_at", ends="stopped_at", at=("ready_at", "stopping_at")
    ),
    "fct_node_restarts": Meaning(
        of=("node_id",),
        says=("roles", "end_kind", "kafka_version_before", "kafka_version_after", "shutdown_ms"),
        begins="stopped_at",
        ends="ready_at",
        at=("stopping_at", "started_at"),
        no_excuse=frozenset({"nothing names its node: it is known by its file alone (--node says which node it is)"}),
    ),
    "fct_leader_elections": Meaning(
        of=("topic_name", "partition_id", "leader_epoch"),
        says=("leader_id", "previous_leader_id", "isr", "controller_id", "controller_epoch", "start_offset", "election_kind"),
        is_so=("is_unclean", "is_leaderless"),
        begins="elected_at",
        ends="held_until",
    ),
    "fct_leaderless_windows": Meaning(
        of=("topic_name", "partition_id"), says=("isr", "last_leader_id"), begins="started_at", ends="ended_at"
    ),
    "fct_controller_tenures": Meaning(
        of=("epoch_kind", "controller_epoch"),
        says=("controller_id", "end_kind", "overlapping_controller_id"),
        is_so=("is_split_brain",),
        at_most=("leader_changes", "late_writes"),
        begins="elected_at",
        ends="ended_at",
        at=("superseded_at",),
    ),
    "fct_controllerless_windows": Meaning(
        of=("epoch_kind",), says=("last_controller_id", "next_controller_id"), at_most=("epochs",), begins="started_at", ends="ended_at"
    ),
    "fct_session_expiries": Meaning(
        of=("session_kind", "owner", "session_id"),
        says=("node_id", "timeout_ms", "cause_kind"),
        is_so=("was_controller",),
        begins="expired_at",
        at=("last_contact_at", "noticed_at", "reconnected_at"),
        no_excuse=frozenset({"the process prints several client ids"}),
    ),
    "fct_epoch_gaps": Meaning(
        of=("epoch_kind", "gap_kind", "topic_name", "partition_id", "node_id", "found_epoch"),
        says=("expected_epoch",),
        at_most=("missing_epochs",),
        begins="opened_at",
        ends="ended_at",
    ),
    "fct_cached_epochs": Meaning(
        of=("topic_name", "partition_id", "node_id", "change_kind"),
        says=("stored_epoch", "stored_leader_id", "cached_epoch", "cached_leader_id", "epochs_behind", "controller_epoch"),
        begins="changed_at",
    ),
    "fct_isr_changes": Meaning(
        of=("topic_name", "partition_id"),
        # `node_id` is the node that reports it first, which is evidence.
        says=("leader_epoch", "partition_epoch", "isr_before", "isr_after", "removed", "added", "change_kind"),
        begins="changed_at",
    ),
    "fct_under_replicated_windows": Meaning(of=("topic_name", "partition_id", "replica_id"), begins="started_at", ends="ended_at"),
    "fct_fetcher_disconnects_hourly": Meaning(
        of=("node_id", "source_node_id", "fetcher_id", "hour_at"), at_most=("disconnects",), some_of=("error_kinds",)
    ),
    "fct_offsets_topic_growth_hourly": Meaning(
        of=("node_id", "partition_id", "hour_at"),
        says=("bytes_at_end", "bytes_growth", "measure_kind", "hours_since_clean"),
        is_so=("is_abnormal",),
        at_most=("segments_rolled", "segments_deleted", "cleaner_runs", "failed_tombstones", "longest_load_ms"),
    ),
    "fct_log_cleaner_outages": Meaning(
        of=("node_id", "cleaner_thread", "topic_name", "partition_id", "scope"),
        says=("found_by", "cause"),
        begins="stopped_at",
        ends="ended_at",
        at=("noticed_at",),
    ),
    "fct_coordinator_loads": Meaning(
        of=("node_id", "topic_name", "partition_id"),
        says=("coordinator_epoch", "outcome", "records_loaded", "bytes_loaded", "error"),
        begins="started_at",
        ends="ended_at",
    ),
    "fct_group_rebalances": Meaning(
        of=("group_id", "generation_id", "rebalance_kind", "member_id"),
        says=("coordinator_id", "outcome", "reason", "reason_kind"),
        is_so=("is_failed", "is_stuck"),
        at_most=("members", "retries", "partitions_owned"),
        begins="started_at",
        ends="ended_at",
        no_excuse=frozenset({"group derived from the consumer id"}),
    ),
    "fct_group_coordinators": Meaning(of=("group_id", "coordinator_id"), begins="started_at", ends="ended_at"),
    "fct_consumer_ownership_gaps": Meaning(
        of=("group_id", "topic_name", "partition_id"),
        says=("last_owner", "next_owner", "cause_kind"),
        begins="started_at",
        ends="ended_at",
        no_excuse=frozenset({"group derived from the consumer id"}),
    ),
    "fct_group_lag_status": Meaning(
        of=("group_id", "topic_name", "partition_id", "source_kind", "status_kind"),
        says=("status", "first_offset", "last_offset", "first_lag", "last_lag"),
        at_most=("samples",),
        begins="window_started_at",
        ends="window_ended_at",
    ),
    "fct_gc_pauses": Meaning(
        of=("node_id", "owner", "process_name", "pause_kind", "collector"),
        says=("cause", "failure", "duration_ms", "cpu_ms", "heap_before_bytes", "heap_after_bytes", "heap_total_bytes"),
        begins="started_at",
        ends="ended_at",
        no_excuse=frozenset({"the process prints several client ids"}),
    ),
    "fct_process_stalls": Meaning(
        of=("node_id", "owner", "process_name"),
        says=("found_by", "cause", "cpu_ms"),
        begins="started_at",
        ends="ended_at",
        # It doubts the kind of failure, not that there was one.
        no_excuse=frozenset({"the process prints several client ids", "could also be a network failure"}),
    ),
    "fct_resource_samples": Meaning(
        of=("node_id", "process_name", "process_id", "resource"),
        says=("value", "limit_value", "limit_name"),
        is_so=("is_exhausted",),
        begins="sampled_at",
        no_excuse=frozenset({"limit unknown", "the host may have run out of memory instead"}),
    ),
    "fct_thread_deadlocks": Meaning(
        of=("node_id", "threads"), at_most=("waiting_threads", "request_handlers_waiting"), begins="found_at", ends="last_found_at"
    ),
    "fct_log_dir_failures": Meaning(
        of=("node_id", "log_dir"),
        says=("disk_operation", "exception", "cause"),
        is_so=("is_disk_full", "is_dir_offline", "is_node_stopped"),
        some_of=("partitions",),
        begins="failed_at",
        no_excuse=frozenset({"no record names the directory", "no record shows that the directory went offline"}),
    ),
    "fct_process_failures": Meaning(
        of=("node_id", "process_name"),
        says=("failure_kind", "reason_kind", "exception", "exception_message", "detail"),
        is_so=("has_ended_process",),
        begins="failed_at",
        ends="last_sign_at",
        at=("ended_at",),
        no_excuse=frozenset({"the process that failed is not known by its node"}),
    ),
    "fct_write_refusals_hourly": Meaning(
        of=("node_id", "process_name", "topic_name", "partition_id", "hour_at"),
        says=("min_insync_replicas",),
        at_most=("refusals", "refusals_after_append"),
        begins="first_at",
        ends="last_at",
        no_excuse=frozenset({"reported by a producer; the brokers count the same refusals", "no record states min.insync.replicas"}),
    ),
    "fct_hanging_transactions": Meaning(
        of=("transactional_id", "producer_id", "topic_name", "partition_id"),
        says=("coordinator_id", "found_by"),
        at_most=("failures",),
        some_of=("errors",),
        begins="started_at",
        ends="last_seen_at",
        no_excuse=frozenset({"no record says when it ended", "open when the tool ran"}),
    ),
    "fct_remote_copy_stalls": Meaning(
        of=("node_id", "topic_name", "partition_id"),
        at_most=("failures",),
        begins="started_at",
        ends="ended_at",
        at=("last_failed_at",),
    ),
    "fct_truncations": Meaning(
        of=("node_id", "topic_name", "partition_id"),
        says=("from_offset", "to_offset", "records_truncated", "leader_epoch", "high_watermark", "reason_kind"),
        begins="truncated_at",
        no_excuse=frozenset({"no records truncated", "cut below the high watermark"}),
    ),
    "fct_config_findings": Meaning(
        of=("node_id", "owner_kind", "owner", "rule_id"), says=("kafka_version", "severity"), measured=("settings",)
    ),
    "fct_issue_exposures": Meaning(
        of=("node_id", "issue_id"),
        says=("kafka_version", "exposure"),
        is_so=("is_suspect",),
        no_excuse=frozenset({"not verified for this release", "the symptom alone is no proof", "ZooKeeper or KRaft mode unknown"}),
    ),
    "fct_tool_errors": Meaning(
        of=("tool", "command", "failure_kind", "message", "group_id", "topic_name", "partition_id"),
        says=("node_id", "request", "error_class"),
        begins="failed_at",
    ),
    "fct_metrics_hourly": Meaning(
        of=("node_id", "metric_name", "attribute", "labels", "hour_at"), says=("unit", "kind"), at_most=("value_max", "samples")
    ),
}
NOT_COMPARED = {
    "fct_partition_daily": "sums of the elections and windows above, day by day",
    "fct_sources": "one row per file that was read: what is missing here is the hole itself",
    "fct_parse_coverage_daily": "counts the records that were read",
    "fct_unrecognised_shapes": "counts the records that were read; a shape is no fact about the cluster",
    "fct_incident_events": "the events are the facts above; the incident itself is compared by its root",
}


@dataclass(frozen=True)
class New:
    """A row that the whole does not have and that carries no warning.  `why`: the columns in which the nearest row of the whole differs, with both
    values (of the whole, and of the row); `about` alone if there is none."""

    table: str
    about: str
    why: tuple[str, ...]
    said: str

    @property
    def cause(self) -> str:
        return ", ".join(self.why) or "no such row"


@dataclass
class Compared:
    """The rows of a table of one case: how many the whole has, how many are of the whole, and how many are not but carry a warning."""

    table: str
    whole: int = 0
    same: int = 0
    warned: int = 0
    new: list[New] = field(default_factory=list)
    # Keys of rows that are of the whole or carry a warning.
    sound: set[str] = field(default_factory=set)


def compared(table: str, whole: Iterable[Row], holes: Iterable[Row], clock: Clock) -> Compared:
    """Compare the rows of one case's table.  The first column is its key."""
    meaning = FACTS[table]
    found = Compared(table)
    by_subject: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in whole:
        found.whole += 1
        by_subject[_subject(meaning, row)].append(row)
    for row in holes:
        candidates = _about_the_same(meaning, row, by_subject)
        reasons = sorted((tuple(_differences(meaning, row, other, clock)) for other in candidates), key=len)
        if reasons and not reasons[0]:
            found.same += 1
        elif excuses(meaning, row):
            found.warned += 1
        else:
            about = ", ".join(f"{column}={shown(row[column])}" for column in meaning.of if row[column] is not None)
            differences = reasons[0] if reasons else ()
            begin = f" at {shown(row[meaning.begins])}" if meaning.begins else ""
            found.new.append(
                New(
                    table,
                    about,
                    tuple(column for column, _ in differences),
                    about + begin + "".join(f"; {said}" for _, said in differences),
                )
            )
            continue
        found.sound.add(next(iter(row.values())))
    return found


def incidents_compared(whole: Iterable[Row], holes: Iterable[Row], sound: set[str]) -> Compared:
    """Incidents of a case: each has a root that is a fact of the whole or has a warning (`sound`: the keys of such facts), or a warning itself."""
    found = Compared("fct_incidents", whole=sum(1 for _ in whole))
    for row in holes:
        if row["root_cause_key"] in sound:
            found.same += 1
        elif row["warnings"]:
            found.warned += 1
        else:
            found.new.append(New("fct_incidents", row["root_cause_kind"], ("root",), f"{shown(row['started_at'])}: {row['summary']}"))
    return found


def excuses(meaning: Meaning, row: Row) -> list[str]:
    """The warnings of a row that say that something may be missing."""
    return [warning for warning in row.get("warnings") or [] if warning not in meaning.no_excuse]


def _subject(meaning: Meaning, row: Row) -> tuple[Any, ...]:
    return tuple(_plain(row[column]) for column in meaning.of)


def _about_the_same(meaning: Meaning, row: Row, by_subject: dict[tuple[Any, ...], list[Row]]) -> list[Row]:
    subject = _subject(meaning, row)
    if None not in subject:
        return by_subject.get(subject, [])
    return [
        other
        for known, rows in by_subject.items()
        if all(mine is None or mine == theirs for mine, theirs in zip(subject, known, strict=True))
        for other in rows
    ]


def _differences(meaning: Meaning, row: Row, other: Row, clock: Clock) -> Iterator[tuple[str, str]]:
    """Column and both values of what a row says beyond another."""
    for column in _beyond(meaning, row, other, clock):
        yield column, f"{column} {shown(other[column])} -> {shown(row[column])}"


def _beyond(meaning: Meaning, row: Row, other: Row, clock: Clock) -> Iterator[str]:
    for column in meaning.says:
        mine, theirs = _plain(row[column]), _plain(other[column])
        if mine is not None and mine not in UNKNOWN and mine != theirs:
            yield column
    for column in meaning.is_so:
        if row[column] and not other[column]:
            yield column
    for column in meaning.at_most:
        if row[column] is not None and row[column] > (other[column] or 0):
            yield column
    for column in meaning.measured:
        if row[column] is not None and _is_higher(row[column], other[column] or {}):
            yield column
    for column in meaning.some_of:
        if not set(row[column] or ()) <= set(other[column] or ()):
            yield column
    for column in meaning.at:
        if row[column] is not None and not _is_same(row[column], other[column], clock):
            yield column
    if meaning.ends and row[meaning.ends] is not None and not _is_same(row[meaning.ends], other[meaning.ends], clock):
        yield meaning.ends
    if meaning.begins and row[meaning.begins] is not None and not _begins_in(meaning, row, other, clock):
        yield meaning.begins


def _is_higher(mine: Mapping[str, str], theirs: Mapping[str, str]) -> bool:
    """Whether settings are others, or a measured one is higher."""
    if set(mine) != set(theirs):
        return True
    pairs = [(mine[name].partition(MEASURED), theirs[name].partition(MEASURED)) for name in mine]
    return any(float(one[0]) > float(two[0]) if one[1] and two[1] else one != two for one, two in pairs)


def _begins_in(meaning: Meaning, row: Row, other: Row, clock: Clock) -> bool:
    assert meaning.begins
    mine, theirs = _millis(row[meaning.begins], clock), _millis(other[meaning.begins], clock)
    if mine is None or theirs is None:
        return mine is None
    if not meaning.ends:
        return abs(mine - theirs) <= SLACK_MS
    until = _millis(other[meaning.ends], clock)
    return mine >= theirs - SLACK_MS and (until is None or mine <= until + SLACK_MS)


def _is_same(mine: dt.datetime, theirs: dt.datetime | None, clock: Clock) -> bool:
    one, two = _millis(mine, clock), _millis(theirs, clock)
    return one is not None and two is not None and abs(one - two) <= SLACK_MS


def _millis(at: dt.datetime | None, clock: Clock) -> int | None:
    return None if at is None else clock(round(at.replace(tzinfo=dt.UTC).timestamp() * 1000))


def _plain(value: Any) -> Any:
    """A value that can be compared and hashed."""
    if isinstance(value, dict):
        return tuple(sorted((str(name), _plain(item)) for name, item in value.items()))
    return tuple(map(_plain, value)) if isinstance(value, list) else value


def shown(value: Any) -> str:
    return f"{value:%Y-%m-%d %H:%M:%S.%f}"[:-3] if isinstance(value, dt.datetime) else str(value)
