with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

-- Clients take 2147483647 minus the id of their coordinator as its number.
named as (
    select
        {{ event_columns() }},
        case when node_id is null then {{ process_name() }} end as process_name,
        coalesce(
            {{ field('fetch_leader', 'int') }},
            {{ coordinator_of_node(field('target_node', 'int')) }}
        ) as lost_node_id
    from events
    where {{ has_role(['fetch_failure', 'client_disconnection']) }}
),

final as (
    select * from named
    where lost_node_id >= 0 and coalesce(node_id <> lost_node_id, true)
)

select * from final
