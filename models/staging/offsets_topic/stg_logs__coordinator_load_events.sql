with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        -- The lines of the transaction coordinator's election name a partition and no topic.
        coalesce(
            topic_name,
            case when event_type like 'transaction%' then '__transaction_state' end,
            '__consumer_offsets'
        ) as topic_name,
        partition_id,
        {{ field('coordinator_epoch', 'int') }} as coordinator_epoch,
        {{ field('duration_ms', 'bigint') }} as duration_ms,
        {{ field('load_start_ms', 'bigint') }} as load_start_ms,
        coalesce(
            {{ field('records_loaded', 'bigint') }},
            {{ field('transactions_loaded', 'bigint') }}
        ) as records_loaded,
        {{ field('bytes_loaded', 'bigint') }} as bytes_loaded,
        coalesce({{ field('exception') }}, {{ field('error') }}) as error
    from events
    where
        event_type in (
            'offsets_load_scheduled',
            'offsets_load_started',
            'offsets_load_completed',
            'offsets_load_failed',
            'offsets_load_skipped',
            'offsets_log_missing',
            'offsets_unload_scheduled',
            'offsets_unload_completed',
            'transactions_load_started',
            'transactions_load_read',
            'transactions_load_completed',
            'transactions_load_failed',
            'transactions_load_cancelled',
            'transactions_unloaded',
            'transaction_coordinator_resigned'
        )
        and node_id is not null
        and partition_id is not null
)

select * from final
