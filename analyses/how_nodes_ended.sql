with lives as (
    select
        *,
        lead(started_at) over (
            partition by cluster_id, node_id order by run_number
        ) as next_started_at
    from {{ ref('dim_node_runs') }}
)

select
    cluster_id,
    node_id,
    run_number,
    roles,
    kafka_version,
    started_at,
    ready_at,
    stopped_at,
    end_kind,
    next_started_at,
    node_run_key
from lives
where {{ question_filter(
    node='node_id',
    start='coalesce(started_at, first_seen_at)',
    end='coalesce(stopped_at, last_seen_at)'
) }}
order by cluster_id, coalesce(started_at, first_seen_at), node_id, run_number
