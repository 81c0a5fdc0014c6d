with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        topic_name,
        partition_id,
        {{ has_role('remote_copy_failure') }} as is_failure,
        coalesce({{ field('root_exception') }}, {{ field('exception') }}) as exception,
        coalesce(
            {{ field('root_exception_message') }},
            {{ field('exception_message') }},
            {{ field('error') }}
        ) as exception_message
    from events
    where
        {{ has_role(['remote_copy_failure', 'remote_copy_end']) }}
        and topic_name is not null
        and partition_id is not null
)

select * from final
