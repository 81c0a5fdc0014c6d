with holes as (
    select * from {{ ref('int_processes__log_silences') }}
),

late as (
    select * from {{ ref('int_processes__overdue_stalls') }}
),

runs as (
    select * from {{ ref('int_nodes__runs') }}
),

fencings as (
    select * from {{ ref('int_brokers__fencings') }}
),

terms as (
    select *
    from {{ ref('int_controllers__terms') }}
    where epoch_kind = 'metadata' and controller_id <> superseded_by_id
),

stall_events as (
    select * from {{ ref('stg_logs__stall_events') }}
),

heartbeat_times as (
    select * from {{ ref('int_nodes__heartbeat_timeouts') }}
),

-- A broker is fenced when its session timeout passes without a heartbeat.
fenced as (
    select
        fencings.cluster_id,
        fencings.broker_id as node_id,
        fencings.logged_at,
        fencings.source_path,
        fencings.byte_offset,
        fencings.logged_at - make_dt_interval(
            0, 0, 0, coalesce(heartbeat_times.session_ms, 9000) / 1000.0
        ) as silent_since,
        coalesce(heartbeat_times.heartbeat_ms, 2000) as slack_ms
    from fencings
    left join heartbeat_times
        on
            fencings.cluster_id = heartbeat_times.cluster_id
            and fencings.broker_id = heartbeat_times.node_id
),

-- The leader of the quorum is replaced when a follower has fetched in vain for the fetch timeout.
replaced as (
    select
        terms.cluster_id,
        terms.controller_id as node_id,
        terms.superseded_at as logged_at,
        min(struct(stall_events.logged_at, stall_events.source_path, stall_events.byte_offset))
            as given_up
    from terms
    inner join stall_events
        on
            terms.cluster_id = stall_events.cluster_id
            and {{ has_role('quorum_fetch_timeout', 'stall_events.event_type') }}
            and terms.controller_id <> stall_events.node_id
            and terms.elected_at <= stall_events.logged_at
            and terms.superseded_at >= stall_events.logged_at
            and stall_events.logged_at >= terms.superseded_at - interval 30 seconds
    group by terms.cluster_id, terms.controller_id, terms.superseded_at
),

missed as (
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        silent_since,
        slack_ms
    from fenced
    union all
    select
        replaced.cluster_id,
        replaced.node_id,
        replaced.logged_at,
        replaced.given_up.source_path,
        replaced.given_up.byte_offset,
        replaced.given_up.logged_at - make_dt_interval(
            0, 0, 0, coalesce(heartbeat_times.fetch_timeout_ms, 2000) / 1000.0
        ) as silent_since,
        500 as slack_ms
    from replaced
    left join heartbeat_times
        on
            replaced.cluster_id = heartbeat_times.cluster_id
            and replaced.node_id = heartbeat_times.node_id
),

-- A running process logs its failed sends: one that wrote nothing at all during that time had stalled.
silent as (
    select
        missed.cluster_id,
        holes.process_name,
        missed.node_id,
        greatest(holes.silent_from, missed.silent_since) as started_at,
        holes.resumed_at as ended_at,
        missed.logged_at,
        missed.source_path,
        missed.byte_offset
    from missed
    inner join holes
        on
            missed.cluster_id = holes.cluster_id
            and holes.process_name = concat('node ', missed.node_id)
            and holes.silent_from
            <= missed.silent_since + make_dt_interval(0, 0, 0, missed.slack_ms / 1000.0)
            and missed.logged_at <= holes.resumed_at
),

-- If the next record is from a new process, the old one was dead; a start logs other lines before
-- the one that reports it. A process's own report of its stall is more exact.
final as (
    select silent.*
    from silent
    left anti join runs
        on
            silent.cluster_id = runs.cluster_id
            and silent.node_id = runs.node_id
            and silent.started_at <= runs.started_at
            and runs.started_at <= silent.ended_at + interval 10 seconds
    left anti join late
        on
            silent.cluster_id = late.cluster_id
            and silent.process_name = late.process_name
            and silent.started_at < late.ended_at
            and silent.ended_at > late.started_at
)

select * from final
