with events as (
    select * from {{ ref('stg_logs__events') }}
),

final as (
    select
        {{ event_columns() }},
        level,
        logger,
        {{ field('kafka_version') }} as kafka_version,
        {{ field('kafka_cluster_id') }} as kafka_cluster_id,
        {{ field('process.roles') }} as process_roles,
        {{ field('zookeeper.connect') }} as zookeeper_connect,
        {{ field('signal') }} as signal
    from events
    where
        not is_copy
        and node_id is not null
)

select * from final
