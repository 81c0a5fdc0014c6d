with outages as (
    select * from {{ ref('int_cleaners__thread_outages') }}
),

sessions as (
    select * from {{ ref('int_sessions__owned') }}
),

unioned as (
    select * from {{ ref('int_configs__leaders_per_node') }}
    union all
    select * from {{ ref('int_configs__partitions_per_node') }}
    union all
    select * from {{ ref('int_nodes__health_maxima') }}
    union all
    select * from {{ ref('int_configs__thread_loads') }}
    union all
    select
        cluster_id,
        node_id,
        '@dead_cleaner_threads' as setting,
        cast(1 as double) as value,
        stopped_at as measured_at,
        get(evidence, 0).source_path as source_path,
        get(evidence, 0).byte_offset as byte_offset
    from outages
    where node_id is not null
),

highest as (
    select
        cluster_id,
        node_id,
        setting,
        max(value) as value,
        max_by(
            struct(measured_at, source_path, byte_offset),
            struct(value, measured_at, source_path, byte_offset)
        ) as line
    from unioned
    group by cluster_id, node_id, setting
),

negotiated as (
    select
        cluster_id,
        node_id,
        min(timeout_ms) as least_ms,
        max(timeout_ms) as most_ms
    from sessions
    where node_id is not null and timeout_ms > 0
    group by cluster_id, node_id
),

final as (
    select
        cluster_id,
        node_id,
        setting,
        -- A whole number is told as one.
        if(
            value = floor(value),
            cast(cast(value as bigint) as string),
            cast(round(value, 3) as string)
        ) as value,
        line
    from highest
    union all
    select
        cluster_id,
        node_id,
        stack(
            2,
            '@shortest_session_timeout_ms', cast(least_ms as string),
            '@longest_session_timeout_ms', cast(most_ms as string)
        ) as (setting, value),
        cast(
            null as struct<measured_at: timestamp, source_path: string, byte_offset: bigint>
        ) as line
    from negotiated
)

select * from final
