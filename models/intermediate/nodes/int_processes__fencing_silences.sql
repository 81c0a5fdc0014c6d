with fencings as (
    select * from {{ ref('int_brokers__fencings') }}
),

holes as (
    select * from {{ ref('int_processes__log_silences') }}
),

heartbeat_times as (
    select * from {{ ref('int_nodes__heartbeat_timeouts') }}
),

stall_events as (
    select * from {{ ref('stg_logs__stall_events') }}
),

-- A controller that stood still for longer than the session timeout fences brokers as soon as it
-- continues, and unfences them with the heartbeats that were waiting for it.
fenced as (
    select
        fencings.cluster_id,
        fencings.node_id,
        holes.process_name,
        holes.silent_from,
        holes.resumed_at,
        min(struct(fencings.logged_at, fencings.source_path, fencings.byte_offset)) as line
    from fencings
    inner join holes
        on
            fencings.cluster_id = holes.cluster_id
            and concat('node ', fencings.node_id) = holes.process_name
            and fencings.logged_at >= holes.resumed_at
            and fencings.logged_at <= holes.resumed_at + interval 1 second
    left join heartbeat_times
        on
            fencings.cluster_id = heartbeat_times.cluster_id
            and fencings.broker_id = heartbeat_times.node_id
    where
        fencings.unfenced_at <= fencings.logged_at + interval 2 seconds
        and holes.silence_ms >= coalesce(heartbeat_times.session_ms, 9000)
    group by
        fencings.cluster_id,
        fencings.node_id,
        holes.process_name,
        holes.silent_from,
        holes.resumed_at
),

-- A single node may have lost its own connection; if several waited in vain, the first of their
-- requests gives the start.
final as (
    select
        fenced.cluster_id,
        fenced.process_name,
        fenced.node_id,
        min(
            greatest(
                fenced.silent_from,
                stall_events.logged_at
                - make_dt_interval(0, 0, 0, stall_events.waited_ms / 1000.0)
            )
        ) as started_at,
        fenced.resumed_at as ended_at,
        fenced.line.logged_at,
        fenced.line.source_path,
        fenced.line.byte_offset
    from fenced
    inner join stall_events
        on
            fenced.cluster_id = stall_events.cluster_id
            and fenced.node_id = stall_events.peer_node_id
            and fenced.node_id <> stall_events.node_id
            and {{ has_role('request_cancellation', 'stall_events.event_type') }}
            and stall_events.waited_ms >= stall_events.allowed_ms
            and fenced.silent_from < stall_events.logged_at
            and fenced.resumed_at > stall_events.logged_at
    group by
        fenced.cluster_id,
        fenced.process_name,
        fenced.node_id,
        fenced.resumed_at,
        fenced.line
    having count(distinct stall_events.node_id) >= 2
)

select * from final
