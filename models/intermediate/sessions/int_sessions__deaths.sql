with ended as (
    select * from {{ ref('int_sessions__ended') }}
),

runs as (
    select * from {{ ref('int_nodes__runs') }}
),

stops as (
    select * from {{ ref('int_processes__standstills') }}
),

-- A process that was stalled when the session expired, and then continued, was not dead.
waiting as (
    select ended.*
    from ended
    left anti join stops
        on
            ended.cluster_id = stops.cluster_id
            and stops.process_name = concat('node ', ended.node_id)
            and ended.expired_at > stops.started_at
            and ended.expired_at < stops.ended_at
),

-- A process that ended without a word, and whose end lies before the expiry, is its cause.
final as (
    select
        waiting.cluster_id,
        waiting.owner,
        waiting.session_id,
        waiting.expired_at,
        max(runs.run_number) as run_number
    from waiting
    inner join runs
        on
            waiting.cluster_id = runs.cluster_id
            and waiting.node_id = runs.node_id
            and runs.stopped_at is null
            and waiting.expired_at >= runs.last_seen_at
            and coalesce(runs.next_started_at, timestamp '9999-01-01 00:00:00') > runs.last_seen_at
            and coalesce(runs.started_at, runs.first_seen_at) < waiting.expired_at
            and waiting.noticed_at is null
    where
        runs.next_started_at is null
        or waiting.expired_at
        < runs.next_started_at
        + make_dt_interval(0, 0, 0, coalesce(waiting.timeout_ms, 60000) / 1000.0)
    group by waiting.cluster_id, waiting.owner, waiting.session_id, waiting.expired_at
)

select * from final
