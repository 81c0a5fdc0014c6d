with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        {{ field('offsets.topic.segment.bytes', 'bigint') }} as segment_bytes,
        {{ field('offsets.topic.num.partitions', 'int') }} as partitions,
        {{ field('log.cleaner.enable', 'boolean') }} as is_cleaner_enabled
    from events
    where {{ has_role('node_config') }} and node_id is not null
)

select * from final
