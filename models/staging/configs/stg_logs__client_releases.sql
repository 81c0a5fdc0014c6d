with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        {{ field('kafka_version') }} as kafka_version
    from events
    where {{ has_role('kafka_version') }} and node_id is null
)

select * from final
