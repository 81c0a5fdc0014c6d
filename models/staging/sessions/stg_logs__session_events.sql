with events as (
    select * from {{ ref('base_logs__distinct_events') }}
),

final as (
    select
        {{ event_columns() }},
        {{ process_name(of_record=true) }} as process_name,
        -- ZooKeeper prints session ids in hexadecimal, Kafka up to 3.4 in decimal.
        coalesce(
            lower({{ field('session_id') }}),
            lower(hex({{ field('session_id_decimal', 'bigint') }}))
        ) as session_id,
        {{ field('timeout_ms', 'bigint') }} as timeout_ms,
        {{ field('elapsed_ms', 'bigint') }} as elapsed_ms,
        {{ field('session_state') }} as session_state,
        {{ field('znode_path') }} as znode_path,
        {{ field('zookeeper_client') }} as zookeeper_client,
        {{ field('broker', 'int') }} as broker_id
    from events
    where
        {{ has_role([
            'session_request',
            'session_start',
            'session_expiry',
            'session_expiry_notice',
            'session_loss',
            'session_timeout',
            'session_state',
            'session_znode',
            'broker_znode',
            'zookeeper_leadership',
            'zookeeper_leader_search',
        ]) }}
)

select * from final
