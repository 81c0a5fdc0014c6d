"""What the report asks of the marts, as data.

Each query uses $cluster, $since and $until; a row belongs to the period if it overlaps it.  A further table on the page takes one
more Question here.  A column's name says its unit (`_ms`, `_bytes`, `_ratio`), by which its values are shown.
"""

from __future__ import annotations

from dataclasses import dataclass


def during(start: str, end: str | None = None) -> str:
    """SQL: the row overlaps the period; without an end it is still open."""
    return f"{start} < $until and " + (f"coalesce({end}, $until) >= $since" if end else f"{start} >= $since")


def here(start: str, end: str | None = None) -> str:
    """SQL: the row is of the cluster and overlaps the period."""
    return f"cluster_id = $cluster and {during(start, end)}"


def lasting(start: str) -> str:
    """SQL: milliseconds that a row lasts within the period; what is open lasts to `observed_until`."""
    seconds = f"date_part('epoch', least(observed_until, $until)) - date_part('epoch', greatest({start}, $since))"
    return f"greatest(0, cast(round(({seconds}) * 1000) as bigint))"


@dataclass(frozen=True)
class Question:
    """A table: the `most` first rows of `query` in an `order`, in words the `worst`; `part`: its place on the page."""

    part: str
    title: str
    query: str
    order: str
    most: int = 20
    worst: str = ""
    note: str = ""


# The worst first: impacts of issues and of settings.
HARM = "case impact when 'outage' then 0 when 'data_loss' then 1 when 'degraded' then 2 else 3 end"

AVAILABILITY = "Availability"
NODES = "Nodes, leaders, controllers and sessions"
OFFSETS = "Offsets topic and groups"
KNOWN = "Known issues and configuration"
EVIDENCE = "Coverage of the evidence"

# The time that the evidence of a cluster spans.  Clients and captures know of times for which no node has a line.
SPANS = (
    "select min(first_seen_at) as a, max(last_seen_at) as b from marts.dim_clusters where cluster_id = $cluster",
    "select min(started_at) as a, max(started_at) as b, max(ended_at) as c from marts.fct_incidents where cluster_id = $cluster",
    "select min(expired_at) as a, max(expired_at) as b, max(reconnected_at) as c from marts.fct_session_expiries where cluster_id = $cluster",
    "select cast(min(event_date) as timestamp) at time zone 'UTC' as a, (cast(max(event_date) as timestamp) + interval '1 day' - interval '1 microsecond') at time zone 'UTC' as b"
    " from marts.fct_parse_coverage_daily where cluster_id = $cluster and event_date > date '1970-01-01'",
)

# Facts that the overview counts, the weightiest first: what is counted, and the condition for the period.
OVERVIEW = {
    "fct_incidents": ("*", during("started_at", "ended_at") + " and not coalesce(is_maintenance, false)"),
    "fct_leaderless_windows": ("*", during("started_at", "ended_at")),
    "fct_session_expiries": ("*", during("expired_at")),
    "fct_controller_tenures": ("*", during("known_since_at", "ended_at")),
    "fct_leader_elections": ("*", during("elected_at")),
    "fct_issue_exposures": ("distinct issue_id", "true"),
}

SEVERITIES = ("critical", "error", "high", "major", "warning", "medium", "minor", "low", "info")


def severity_rank() -> str:
    """SQL: 0 for the worst."""
    return (
        "case severity " + " ".join(f"when '{name}' then {rank}" for rank, name in enumerate(SEVERITIES)) + f" else {len(SEVERITIES)} end"
    )


HARMFUL = f"{here('started_at', 'ended_at')} and not coalesce(is_maintenance, false)"
WORST_FIRST = "$rank, leaderless_ms desc nulls last, partitions_affected desc nulls last, started_at, incident_key"
HARM_DONE = f"""
select
    severity, count(*) as incidents, count(*) filter (where ended_at is null) as still_open, sum(leaderless_ms) as leaderless_ms,
    max(ended_at) as last_end
from marts.fct_incidents
where {HARMFUL}
group by severity
order by $rank"""
WORST = f"select summary from marts.fct_incidents where {HARMFUL} order by {WORST_FIRST} limit 1"
# Of replicas that cut the same records, one counts.
CUT = f"""
with unclean as (
    select distinct topic_name, partition_id from marts.fct_leader_elections where cluster_id = $cluster and is_unclean
),
cut as (
    select truncations.topic_name, truncations.partition_id, truncations.leader_epoch, max(truncations.records_truncated) as records
    from marts.fct_truncations as truncations
    left join unclean on truncations.topic_name = unclean.topic_name and truncations.partition_id = unclean.partition_id
    where {here("truncations.truncated_at").replace("cluster_id", "truncations.cluster_id", 1)} and unclean.topic_name is null
    group by truncations.topic_name, truncations.partition_id, truncations.leader_epoch, truncations.to_offset
)
select sum(records) as records from cut"""

INCIDENTS = f"""
select * from (
    select
        incident_key, cluster_incarnation, started_at, ended_at, root_cause_kind, root_cause_key, summary, severity, nodes, partitions_affected,
        leaderless_ms, groups_affected, groups, coalesce(is_maintenance, false) as is_maintenance, warnings,
        count(*) over (partition by coalesce(is_maintenance, false)) as alike,
        row_number() over (
            partition by coalesce(is_maintenance, false)
            order by {WORST_FIRST}
        ) as place
    from marts.fct_incidents
    where {here("started_at", "ended_at")}
) as ranked
where place <= $most
order by place"""

INCIDENT_EVENTS = """
select * from (
    select
        incident_key, incident_event_key, sequence, happened_at, role, sentence, evidence, evidence_count,
        count(*) over (partition by incident_key) as events,
        row_number() over (partition by incident_key order by sequence, incident_event_key) as place
    from marts.fct_incident_events
    where cluster_id = $cluster and incident_key in ($keys)
) as numbered
where place <= $most
order by incident_key, place"""

QUESTIONS = (
    Question(
        AVAILABILITY,
        "Day by day",
        """
select
    event_date as day, evidence_state as evidence, incidents, availability_ratio, leaderless_ms, under_replicated_ms, partitions,
    elections_unclean as unclean_elections, records_truncated, elections_leader_lost as leaders_lost, controller_changes,
    expiries_gc_pause + expiries_process_stall + expiries_process_death + expiries_network + expiries_unknown as sessions_lost,
    stale_epoch_ms, nodes_with_records
from reports.rpt_cluster_daily
where cluster_id = $cluster and event_date >= cast($since as date) and event_date < $until""",
        "day desc",
        31,
        "the latest",
        "Availability is 1 minus the leaderless share of the time for which partitions existed and were observed. Partition-time is summed over the"
        " partitions: two of them for a minute are two minutes. All values are those of whole days; an unknown day has none.",
    ),
    Question(
        AVAILABILITY,
        "Month by month",
        """
select
    month_start_date as month, availability_ratio, slo_target, error_budget_left_ms, incidents, mean_time_to_repair_ms as mean_repair_ms,
    mean_time_between_incidents_ms as mean_between_ms, elections_unclean as unclean_elections, repeat_causes, days_unknown
from reports.rpt_reliability_monthly
where cluster_id = $cluster and month_start_date < $until""",
        "month desc",
        24,
        "the latest",
        "Of each month the known days alone, regardless of the period. The target is what company/cluster_attributes.csv of the warehouse promises.",
    ),
    Question(
        AVAILABILITY,
        "Partitions without a leader, by topic",
        f"""
select
    topic_name, sum({lasting("started_at")}) as leaderless_ms, count(distinct partition_id) as partitions, max({lasting("started_at")}) as longest_ms,
    count(*) as windows, count(*) filter (where is_open) as still_open, min(started_at) as first_at
from marts.fct_leaderless_windows
where {here("started_at", "observed_until")}
group by topic_name""",
        "leaderless_ms desc, topic_name",
        worst="those longest without a leader",
        note="Times within the period; partition-time is summed over partitions. Open windows count up to the last record of the cluster.",
    ),
    Question(
        AVAILABILITY,
        "Replicas out of sync, by topic and node",
        f"""
select
    topic_name, replica_id as node, sum({lasting("started_at")}) as out_of_sync_ms, count(distinct partition_id) as partitions,
    max({lasting("started_at")}) as longest_ms, count(*) as windows, count(*) filter (where is_open) as still_open
from marts.fct_under_replicated_windows
where {here("started_at", "observed_until")}
group by topic_name, replica_id""",
        "out_of_sync_ms desc, topic_name, node",
        worst="those longest out of sync",
        note="Times within the period; partition-time is summed over partitions. Open windows count up to the last record of the cluster.",
    ),
    Question(
        AVAILABILITY,
        "Writes refused for want of in-sync replicas, by topic and broker",
        f"""
select
    topic_name, node_id as node, count(distinct partition_id) as partitions, sum(refusals) as refusals, min(in_sync_replicas) as in_sync_at_least,
    max(min_insync_replicas) as required, min(first_at) as first_at, max(last_at) as last_at
from marts.fct_write_refusals_hourly
where {here("first_at", "last_at")} and node_id is not null
group by topic_name, node_id""",
        "refusals desc, topic_name, node",
        worst="the most refused",
    ),
    Question(
        AVAILABILITY,
        "Transactions that could not be ended",
        f"""
select
    transactional_id, errors, duration_ms as lasted_ms, topic_name, partition_id, producer_id, coordinator_id as coordinator, started_at, last_seen_at
from marts.fct_hanging_transactions
where {here("started_at", "last_seen_at")}""",
        "lasted_ms desc nulls last, started_at, topic_name, partition_id",
        20,
        "the longest",
    ),
    Question(
        AVAILABILITY,
        "Copies to remote storage that failed",
        f"""
select topic_name, partition_id, exception, exception_message as message, failures, node_id as node, started_at, ended_at
from marts.fct_remote_copy_stalls
where {here("started_at", "ended_at")}""",
        "failures desc, started_at, topic_name, partition_id",
        20,
        "the most frequent",
    ),
    Question(
        NODES,
        "Controllers",
        f"""
select
    controller_id as node, end_kind, overlap_ms, late_writes, coalesce(elected_at, known_since_at) as elected_at, superseded_at, ended_at, leader_changes,
    controller_epoch, cluster_incarnation
from marts.fct_controller_tenures
where {here("known_since_at", "ended_at")}""",
        "elected_at desc, cluster_incarnation desc, controller_epoch desc",
        30,
        "the latest",
    ),
    Question(
        NODES,
        "Times without a controller",
        f"""
select
    duration_ms as lasted_ms, started_at, ended_at, last_controller_id as last_controller, next_controller_id as next_controller, last_sign_at, epochs,
    known_by
from marts.fct_controllerless_windows
where {here("started_at", "ended_at")}""",
        "lasted_ms desc nulls first, started_at",
        30,
        "the open and the longest",
        "Without a controller no partition gets another leader and no topic is made. Elections of less than a second are left out.",
    ),
    Question(
        NODES,
        "Sessions lost",
        f"""
select
    owner, cause_kind, unavailable_ms as away_ms, was_controller, timeout_ms, expired_at, noticed_at, reconnected_at, session_kind
from marts.fct_session_expiries
where {here("expired_at")}""",
        "was_controller desc nulls last, away_ms desc nulls last, expired_at, owner",
        30,
        "the controllers', and the longest",
    ),
    Question(
        NODES,
        "Processes",
        f"""
select node_id as node, end_kind, started_at, ready_at, stopped_at, last_seen_at, kafka_version as release, roles, run_number as run
from marts.dim_node_runs
where {here("coalesce(started_at, first_seen_at)", "coalesce(stopped_at, last_seen_at)")}""",
        "last_seen_at desc, node, run",
        30,
        "the latest",
    ),
    Question(
        NODES,
        "Processes that failed",
        f"""
select process_name, failure_kind, reason_kind as failure_reason, detail, has_ended_process as ended, failed_at
from marts.fct_process_failures
where {here("failed_at")}""",
        "failed_at desc, process_name",
        20,
        "the latest",
    ),
    Question(
        NODES,
        "Breaks in the sequence of epochs",
        f"""
select
    gap_kind, topic_name, partition_id, node_id as seen_by_node, duration_ms as lasted_ms, expected_epoch, found_epoch, opened_at, ended_at, epoch_kind
from marts.fct_epoch_gaps
where {here("opened_at", "ended_at")}""",
        "lasted_ms desc nulls first, opened_at, topic_name, partition_id, seen_by_node, found_epoch",
        worst="the open and the longest",
    ),
    Question(
        NODES,
        "Nodes with a leader epoch behind the stored one",
        f"""
select
    topic_name, partition_id, node_id as node, epochs_behind, stored_epoch, stored_leader_id, cached_epoch, cached_leader_id, changed_at
from marts.fct_cached_epochs
where {here("changed_at")} and epochs_behind > 0""",
        "epochs_behind desc, changed_at, topic_name, partition_id, node",
        20,
        "the furthest behind",
    ),
    Question(
        NODES,
        "GC pauses",
        f"select owner, duration_ms as paused_ms, cause, cpu_ms, started_at from marts.fct_gc_pauses where {here('started_at')}",
        "paused_ms desc nulls last, started_at, owner",
        10,
        "the longest",
    ),
    Question(
        NODES,
        "Processes that stalled",
        f"select owner, duration_ms as stalled_ms, cause, found_by, cpu_ms, started_at from marts.fct_process_stalls where {here('started_at')}",
        "stalled_ms desc nulls last, started_at, owner",
        10,
        "the longest",
    ),
    Question(
        NODES,
        "Deadlocks of threads",
        f"""
select node_id as node, found_at, found_by, threads, request_handlers_waiting
from marts.fct_thread_deadlocks
where {here("found_at")}""",
        "found_at, node",
        10,
    ),
    Question(
        NODES,
        "Resources at their limits",
        f"""
select
    node_id as node, resource, mounted_on as disk, max(value) as at_most, min(limit_value) as limit, count(*) as samples,
    count(*) filter (where is_exhausted) as samples_at_the_limit, min(sampled_at) as first_at
from marts.fct_resource_samples
where {here("sampled_at")} and (is_exhausted or value >= 0.8 * limit_value)
group by node_id, resource, mounted_on""",
        "samples_at_the_limit desc, node, resource, disk",
        20,
        "those at the limit",
        "Samples that reach 80 % of a limit.",
    ),
    Question(
        NODES,
        "Log directories that failed",
        f"""
select node_id as node, log_dir, cause, is_disk_full as disk_full, is_node_stopped as node_stopped, partitions_affected, failed_at
from marts.fct_log_dir_failures
where {here("failed_at")}""",
        "failed_at desc, node, log_dir",
        20,
        "the latest",
    ),
    Question(
        NODES,
        "Records discarded by truncation",
        f"""
select
    topic_name, node_id as node, sum(records_truncated) as records_truncated, count(distinct partition_id) as partitions, count(*) as truncations,
    max(truncated_at) as last_at
from marts.fct_truncations
where {here("truncated_at")} and coalesce(records_truncated, 1) > 0
group by topic_name, node_id""",
        "records_truncated desc nulls last, topic_name, node",
        10,
        "the most",
    ),
    Question(
        OFFSETS,
        "Partitions of the offsets topic",
        f"""
select
    partition_id, node_id as node, count(*) filter (where is_abnormal) as hours_out_of_line,
    sum(bytes_growth) filter (where measure_kind = 'measured' or bytes_growth <> 0) as bytes_grown,
    max(bytes_at_end) filter (where measure_kind = 'measured' or bytes_at_end > 0) as bytes_at_most, min(measure_kind) as measure,
    sum(failed_tombstones) as failed_tombstones, max(hours_since_clean) as hours_since_clean, sum(cleaner_runs) as cleaner_runs
from marts.fct_offsets_topic_growth_hourly
where {here("hour_at")}
group by partition_id, node_id""",
        "hours_out_of_line desc, bytes_grown desc nulls last, bytes_at_most desc nulls last, partition_id, node",
        worst="abnormal ones, and the largest growth",
        note="Estimated: from segments that were rolled, cleaned and deleted, without the open one. Where none was, size and growth are unknown.",
    ),
    Question(
        OFFSETS,
        "Log cleaners that were down",
        f"""
select node_id as node, cause, scope as stopped, found_by, stopped_at, ended_at, topic_name, partition_id
from marts.fct_log_cleaner_outages
where {here("stopped_at", "ended_at")}""",
        "ended_at nulls first, stopped_at, node",
        worst="the open ones",
    ),
    Question(
        OFFSETS,
        "Loads of offsets partitions",
        f"""
select partition_id, node_id as node, duration_ms as took_ms, is_unfinished as unfinished, started_at, ended_at
from marts.fct_coordinator_loads
where {here("started_at", "ended_at")}""",
        "unfinished desc nulls last, took_ms desc nulls last, started_at, partition_id, node",
        10,
        "the unfinished and the longest",
    ),
    Question(
        OFFSETS,
        "Rebalances of groups",
        f"""
select
    group_id as group_name, count(*) as rebalances, count(*) filter (where is_stuck) as stuck, max(duration_ms) as longest_ms, min(started_at) as first_at
from marts.fct_group_rebalances
where {here("started_at", "ended_at")}
group by group_id""",
        "stuck desc, rebalances desc, group_name",
        worst="the stuck and the most frequent",
    ),
    Question(
        OFFSETS,
        "Partitions that no consumer owned",
        f"""
select
    group_id as group_name, topic_name, count(distinct partition_id) as partitions, count(*) as times, max({lasting("started_at")}) as longest_ms,
    count(*) filter (where is_open) as still_open
from marts.fct_consumer_ownership_gaps
where {here("started_at", "observed_until")}
group by group_id, topic_name""",
        "longest_ms desc, group_name, topic_name",
        10,
        "the longest",
    ),
    Question(
        KNOWN,
        "Known issues",
        """
select
    exposures.issue_id as issue, min(exposures.exposure) as exposure, issues.title as what_is_wrong, issues.impact, issues.fixed_in,
    min(exposures.kafka_version) as release, count(distinct exposures.node_id) as nodes,
    count(distinct exposures.node_id) filter (where exposures.exposure = 'evidence_seen') as nodes_that_show_it,
    bool_and(exposures.is_suspect) as unverified
from marts.fct_issue_exposures as exposures
left join marts.dim_known_issues as issues on exposures.issue_id = issues.issue_id
where exposures.cluster_id = $cluster
group by exposures.issue_id, issues.impact, issues.title, issues.fixed_in""",
        f"exposure, unverified, {HARM}, issue",
        30,
        "those seen in the evidence, then the verified and gravest",
        "Evidence seen: records show it; version affected: the release has it. Unverified rows decide nothing by themselves. All runs, regardless of the period.",
    ),
    Question(
        KNOWN,
        "Findings in the configuration",
        """
select severity as impact, node_id as node, settings, remedy, rule_id as rule, found_at
from marts.fct_config_findings
where cluster_id = $cluster and coalesce(found_at < $until, true)""",
        f"{HARM}, rule, node, found_at",
        30,
        "the gravest",
    ),
    Question(
        KNOWN,
        "What an upgrade fixes and newly brings",
        """
select from_release, to_release, released_on, fixed_count as fixed, fixed_outages, newly_exposed_count as newly_exposed, still_exposed_count as still_exposed
from reports.rpt_upgrade_exposure
where cluster_id = $cluster and is_latest_of_line""",
        "from_release, released_on desc nulls last, to_release",
        12,
        "the newest releases",
        "Numbers of known issues; the last release of each line.",
    ),
    Question(
        EVIDENCE,
        "Files that were not read completely",
        """
select source_path as file, node_id as node, source_kind as kind, outcome, reason, size_bytes
from marts.fct_sources
where cluster_id = $cluster and outcome not in ('read', 'copy', 'empty')""",
        "size_bytes desc nulls last, file",
        worst="the largest",
        note="Everything that was ingested, regardless of the period.",
    ),
)
