with ended as (
    select * from {{ ref('int_sessions__ended') }}
),

runs as (
    select * from {{ ref('int_nodes__runs') }}
),

-- A process that ended without a word, and whose end lies before the expiry, is its cause.
final as (
    select
        ended.cluster_id,
        ended.owner,
        ended.session_id,
        ended.expired_at,
        max(runs.run_number) as run_number
    from ended
    inner join runs
        on
            ended.cluster_id = runs.cluster_id
            and ended.node_id = runs.node_id
            and runs.stopped_at is null
            and ended.expired_at >= runs.last_seen_at
            and coalesce(runs.next_started_at, timestamp '9999-01-01 00:00:00') > runs.last_seen_at
            and coalesce(runs.started_at, runs.first_seen_at) < ended.expired_at
            and ended.noticed_at is null
    where
        runs.next_started_at is null
        or ended.expired_at
        < runs.next_started_at
        + make_dt_interval(0, 0, 0, coalesce(ended.timeout_ms, 60000) / 1000.0)
    group by ended.cluster_id, ended.owner, ended.session_id, ended.expired_at
)

select * from final
