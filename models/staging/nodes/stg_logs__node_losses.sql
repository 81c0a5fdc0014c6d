with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        coalesce({{ field('fetch_leader', 'int') }}, {{ field('target_node', 'int') }})
            as lost_node_id
    from events
    where
        {{ has_role(['fetch_failure', 'client_disconnection']) }}
        and node_id is not null
        and node_id
        <> coalesce({{ field('fetch_leader', 'int') }}, {{ field('target_node', 'int') }})
)

select * from final
