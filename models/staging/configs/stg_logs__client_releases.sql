with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        {{ field('kafka_version') }} as kafka_version
    from events
    where event_type = 'kafka_version_logged' and node_id is null
)

select * from final
