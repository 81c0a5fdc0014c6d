with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        partition_id
    from events
    where
        {{ has_role('write_refusal') }}
        and topic_name = '__consumer_offsets'
        and partition_id is not null
)

select * from final
