with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        topic_name,
        partition_id,
        -- A cleaner whose node no record names (0.9 prints none, nor does log-cleaner.log) is known by its log.
        case when node_id is null then {{ process_name() }} end as process_name,
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
)

select * from final
