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
        coalesce(case when {{ has_role('session_znode') }} then broker_id end, node_id) as node_id,
        case when not {{ has_role('session_znode') }} then process_name end as process_name,
        timeout_ms,
        logged_at,
        event_type
    from session_events
    where
        session_id is not null
        and {{ has_role([
            'session_start',
            'session_timeout',
            'session_loss',
            'session_znode',
        ]) }}
),

final as (
    {{ with_owner('named') }}
)

select * from final
