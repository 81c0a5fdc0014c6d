with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        {{ field('broker', 'int') }} as broker_id
    from events
    where
        {{ has_role([
            'kraft_shutdown_request',
            'kraft_shutdown_grant',
            'own_shutdown_request',
            'own_shutdown_grant',
        ]) }}
)

select * from final
