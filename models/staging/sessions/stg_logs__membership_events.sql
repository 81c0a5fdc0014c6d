with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        {{ field('brokers_added', 'array<int>') }} as brokers_added,
        {{ field('brokers_deleted', 'array<int>') }} as brokers_deleted,
        {{ field('brokers_live', 'array<int>') }} as brokers_live,
        {{ field('broker', 'int') }} as broker_id
    from events
    where
        {{ has_role(['live_brokers', 'shutdown_request']) }}
)

select * from final
