with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns('writer_id') }},
        topic_name,
        partition_id,
        {{ field('log_dir') }} as log_dir,
        {{ field('segments', 'bigint') }} as segments,
        {{ field('logs', 'bigint') }} as logs
    from events
    where
        {{ has_role([
            'logs_loading_start',
            'logs_loading_end',
            'log_load',
            'segment_recovery',
        ]) }}
        and writer_id is not null
)

select * from final
