with session_events as (
    select * from {{ ref('stg_logs__session_events') }}
),

clients as (
    select * from {{ ref('int_clients__named') }}
),

-- A session belongs to the process whose own log names it, or to the node whose znode carries it.
named as (
    select
        cluster_id,
        session_id,
        coalesce(case when event_type = 'znode_created' then broker_id end, node_id) as node_id,
        case when event_type <> 'znode_created' then process_name end as process_name,
        timeout_ms,
        logged_at,
        event_type
    from session_events
    where
        session_id is not null
        and event_type in (
            'session_established', 'session_timed_out', 'session_lost', 'znode_created'
        )
),

final as (
    {{ with_owner('named') }}
)

select * from final
