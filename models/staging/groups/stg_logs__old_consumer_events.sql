with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        -- If another thread logs that a consumer gave up, only the exception names the consumer.
        coalesce(
            {{ field('member_id') }},
            substring_index({{ field('exception_message') }}, ' can', 1)
        ) as member_id,
        topic_name,
        coalesce(partition_id, {{ field('partition', 'int') }}) as partition_id,
        {{ field('attempt', 'int') }} as attempt,
        {{ field('exception_message') }} as exception_message,
        coalesce({{ field('exception') }} like '%ConsumerRebalanceFailedException', false)
            as is_given_up
    from events
    where
        (
            {{ has_role([
                'old_consumer_rebalance_start',
                'old_consumer_rebalance_end',
                'old_consumer_rebalance_failure',
                'old_consumer_ownership',
                'old_consumer_release',
                'old_consumer_wait',
                'old_consumer_expiry',
                'old_consumer_stop',
            ]) }}
            and fields['member_id'] is not null
        )
        or (
            {{ has_role(['old_consumer_rebalance_failure', 'old_consumer_host_failure']) }}
            and fields['exception'] like '%ConsumerRebalanceFailedException'
            and fields['exception_message'] like '% can_t rebalance after %'
        )
)

select * from final
