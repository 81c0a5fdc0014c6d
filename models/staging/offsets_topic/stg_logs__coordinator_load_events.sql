with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        -- The lines of the transaction coordinator's election name a partition and no topic.
        coalesce(
            topic_name,
            case when {{ has_role('transaction_coordination') }} then '__transaction_state' end,
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
        {{ has_role([
            'coordinator_load_start',
            'coordinator_load_end',
            'coordinator_load_confirmation',
            'coordinator_load_failure',
            'coordinator_load_skip',
            'coordinator_load_cancellation',
            'coordinator_unload_order',
            'transaction_coordination',
        ]) }}
        and node_id is not null
        and partition_id is not null
)

select * from final
