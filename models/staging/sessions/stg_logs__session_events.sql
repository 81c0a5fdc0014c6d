with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        {{ process_name() }} as process_name,
        -- ZooKeeper prints session ids in hexadecimal, Kafka up to 3.4 in decimal.
        coalesce(
            lower({{ field('session_id') }}),
            lower(hex({{ field('session_id_decimal', 'bigint') }}))
        ) as session_id,
        {{ field('timeout_ms', 'bigint') }} as timeout_ms,
        {{ field('elapsed_ms', 'bigint') }} as elapsed_ms,
        {{ field('session_state') }} as session_state,
        {{ field('znode_path') }} as znode_path,
        {{ field('broker', 'int') }} as broker_id
    from events
    where
        event_type in (
            'session_established',
            'session_expired',
            'session_expired_noticed',
            'session_lost',
            'session_timed_out',
            'zookeeper_state_changed',
            'znode_created',
            'broker_reregistering',
            'broker_registered'
        )
)

select * from final
