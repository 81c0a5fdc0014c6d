with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        topic_name,
        partition_id,
        {{ field('transactional_id') }} as transactional_id,
        {{ field('error') }} as error
    from events
    where
        {{ has_role('transaction_marker_failure') }}
        and topic_name is not null
        and partition_id is not null
)

select * from final
