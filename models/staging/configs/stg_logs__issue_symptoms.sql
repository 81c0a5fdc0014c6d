with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        fields
    from events
    where
        event_type in (
            'append_failed',
            'cleaner_thread_failed',
            'feature_change_unhandled',
            'fetch_partition_failed',
            'fetched_records_invalid',
            'follower_halted',
            'index_rebuilt',
            'isr_update_rejected_version',
            'kafka_config_logged',
            'leader_and_isr_ignored',
            'log_truncated_below_high_watermark',
            'offsets_load_failed',
            'request_failed',
            'scheduled_task_failed',
            'thread_failed',
            'znode_conflict',
            'zookeeper_auth_failed',
            'zookeeper_reconnect_failed'
        )
        and node_id is not null
)

select * from final
