with unioned as (
    select * from {{ ref('int_nodes__leaders') }}
    union all
    select * from {{ ref('int_nodes__partitions') }}
    union all
    select * from {{ ref('int_nodes__troubles') }}
    union all
    select * from {{ ref('int_nodes__loads') }}
),

sessions as (
    select * from {{ ref('int_sessions__owned') }}
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
