with configs as (
    select * from {{ ref('base_logs__distinct_events') }}
    where
        {{ has_role(['node_config', 'client_config']) }}
        and coalesce({{ field('config_class') }}, 'KafkaConfig') = 'KafkaConfig'
        and node_id is not null
),

-- As they are printed (3.0 and later).
final as (
    select
        cluster_id,
        node_id,
        max_by(
            {{ field('broker.session.timeout.ms', 'bigint') }},
            struct(logged_at, source_path, byte_offset)
        ) as session_ms,
        max_by(
            {{ field('broker.heartbeat.interval.ms', 'bigint') }},
            struct(logged_at, source_path, byte_offset)
        ) as heartbeat_ms,
        max_by(
            {{ field('controller.quorum.fetch.timeout.ms', 'bigint') }},
            struct(logged_at, source_path, byte_offset)
        ) as fetch_timeout_ms
    from configs
    group by cluster_id, node_id
)

select * from final
