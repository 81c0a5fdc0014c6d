with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        topic_name,
        partition_id,
        {{ field('cleaner_thread', 'int') }} as cleaner_thread,
        {{ field('exception') }} as exception,
        {{ field('exception_message') }} as exception_message
    from events
    where
        event_type in (
            'cleaner_started',
            'cleaner_stopped',
            'cleaner_thread_started',
            'cleaner_thread_failed',
            'cleaner_thread_stopped',
            'cleaning_started',
            'cleaning_completed',
            'cleaning_horizon_set',
            'partition_marked_uncleanable'
        )
        and node_id is not null
)

select * from final
