with events as (
    select * from {{ ref('stg_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        topic_name,
        partition_id,
        coalesce({{ field('isr', 'array<int>') }}, {{ field('isr_after', 'array<int>') }}) as isr
    from events
    where
        event_type in ('isr_expanded', 'isr_shrunk', 'isr_updated', 'isr_updated_under_minimum')
        and topic_name is not null
        and partition_id is not null
)

select * from final
