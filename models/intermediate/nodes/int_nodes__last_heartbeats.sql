with runs as (
    select * from {{ ref('int_nodes__runs') }}
),

fencings as (
    select * from {{ ref('int_brokers__fencings') }}
),

timed as (
    select * from {{ ref('int_nodes__heartbeat_timeouts') }}
),

terms as (
    select * from {{ ref('int_controllers__terms') }}
    where epoch_kind = 'metadata'
),

-- A broker is fenced when its session timeout passes without a heartbeat: it died between its last
-- heartbeat and the next, and the midpoint is the best estimate.
dated as (
    select
        runs.cluster_id,
        runs.node_id,
        runs.run_number,
        fencings.logged_at as fenced_at,
        fencings.logged_at - make_dt_interval(
            0, 0, 0,
            (coalesce(timed.session_ms, 9000) - coalesce(timed.heartbeat_ms, 2000) / 2) / 1000
        ) as last_heartbeat_at,
        fencings.logged_at - make_dt_interval(
            0, 0, 0, (coalesce(timed.session_ms, 9000) + coalesce(timed.heartbeat_ms, 2000)) / 1000
        ) as waited_since,
        fencings.node_id as reporting_node_id,
        fencings.source_path,
        fencings.byte_offset
    from runs
    inner join fencings
        on
            runs.cluster_id = fencings.cluster_id
            and runs.node_id = fencings.broker_id
            and runs.fell_silent_at < fencings.logged_at
            and runs.next_started_at > fencings.logged_at
    left join timed on runs.cluster_id = timed.cluster_id and runs.node_id = timed.node_id
    where coalesce(runs.stopped_at, runs.stopping_at, runs.failed_at) is null
),

-- A controller gives every broker a whole timeout when its term begins: then its fencing says nothing about the last heartbeat.
heard as (
    select dated.*
    from dated
    left anti join terms
        on
            dated.cluster_id = terms.cluster_id
            and dated.waited_since < terms.elected_at
            and dated.fenced_at >= terms.elected_at
),

final as (
    select
        cluster_id,
        node_id,
        run_number,
        min(struct(fenced_at, last_heartbeat_at, reporting_node_id, source_path, byte_offset))
            as fencing
    from heard
    group by cluster_id, node_id, run_number
)

select * from final
