with session_events as (
    select * from {{ ref('stg_logs__session_events') }}
),

-- A session belongs to the node whose own log names it, or whose znode carries it.
named as (
    select
        cluster_id,
        session_id,
        coalesce(case when event_type = 'znode_created' then broker_id end, node_id) as node_id,
        client_id,
        source_path,
        timeout_ms,
        logged_at
    from session_events
    where
        session_id is not null
        and event_type in ('session_established', 'session_timed_out', 'session_lost', 'znode_created')
),

final as (
    select
        cluster_id,
        session_id,
        max(node_id) as node_id,
        max(client_id) as client_id,
        max(timeout_ms) as timeout_ms,
        min(source_path) as source_path,
        min(logged_at) as first_seen_at
    from named
    group by cluster_id, session_id
)

select * from final
