with configs as (
    select *
    from {{ ref('stg_logs__configs') }}
    where config_class = 'KafkaConfig' and node_id is not null
),

-- As they are printed (3.0 and later).
final as (
    select
        cluster_id,
        node_id,
        max_by(
            try_cast(settings['broker.session.timeout.ms'] as bigint),
            struct(logged_at, source_path, byte_offset)
        ) as session_ms,
        max_by(
            try_cast(settings['broker.heartbeat.interval.ms'] as bigint),
            struct(logged_at, source_path, byte_offset)
        ) as heartbeat_ms,
        max_by(
            try_cast(settings['controller.quorum.fetch.timeout.ms'] as bigint),
            struct(logged_at, source_path, byte_offset)
        ) as fetch_timeout_ms
    from configs
    group by cluster_id, node_id
)

select * from final
