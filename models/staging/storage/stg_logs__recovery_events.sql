with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        topic_name,
        partition_id,
        {{ field('log_dir') }} as log_dir,
        {{ field('segments', 'bigint') }} as segments,
        {{ field('logs', 'bigint') }} as logs
    from events
    where
        event_type in (
            'log_loading_started',
            'log_loading_completed',
            'segment_recovered',
            'log_loaded'
        )
        and node_id is not null
)

select * from final
