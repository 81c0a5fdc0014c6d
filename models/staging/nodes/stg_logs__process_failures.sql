with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns('writer_id') }},
        {{ process_name(of_record=true) }} as process_name,
        {{ field('exception') }} as exception,
        coalesce({{ field('exception_message') }}, {{ field('error') }}) as exception_message,
        {{ field('root_exception') }} as root_exception,
        {{ field('root_exception_message') }} as root_exception_message,
        {{ has_role('node_failure') }} as is_end,
        {{ has_role(['node_start_failure', 'start_step_failure', 'start_step_retry']) }}
            as is_of_start,
        {{ has_role('node_stop_failure') }} as is_of_stop,
        {{ has_role(['disk_stop', 'disk_error']) }} as is_of_disk,
        {{ has_role(['start_step_retry', 'disk_error']) }}
        and not {{ has_role('node_failure') }} as is_context
    from events
    where
        {{ has_role([
            'node_failure',
            'node_start_failure',
            'start_step_failure',
            'start_step_retry',
            'disk_error',
        ]) }}
)

select * from final
