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
        {{ has_role([
            'cleaner_start',
            'cleaner_stop',
            'cleaner_thread_start',
            'cleaner_thread_end',
            'cleaning_start',
            'cleaning_horizon',
            'cleaning_end',
            'uncleanable_partition',
            'cleaner_thread_failure',
        ]) }}
        and node_id is not null
)

select * from final
