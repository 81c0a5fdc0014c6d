with samples as (
    select * from {{ ref('base_metrics__samples') }}
    where metric = 'partitions' and node_id is not null and value >= 0 and not isnan(value)
),

topic_partitions as (
    select
        cluster_id,
        captured_at,
        source_id,
        source_path,
        byte_offset,
        {{ field('topic_name') }} as topic_name,
        {{ field('partition_id', 'int') }} as partition_id,
        explode({{ field('replicas', 'array<int>') }}) as replica_id
    from {{ ref('base_captures__rows') }}
    where
        row_kind = 'topic_partition'
        and {{ field('topic_name') }} is not null
        and {{ field('partition_id', 'int') }} is not null
),

recovery_events as (
    select
        cluster_id,
        node_id,
        logged_at,
        source_path,
        byte_offset,
        {{ field('logs', 'bigint') }} as logs
    from {{ ref('base_logs__distinct_events') }}
    where
        {{ has_role('logs_loading_end') }}
        and node_id is not null
        and {{ field('logs', 'bigint') }} is not null
),

segments as (
    select * from {{ ref('int_nodes__segments') }}
),

leaders as (
    select * from {{ ref('stg_metrics__leaders') }}
),

epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

outages as (
    select * from {{ ref('int_cleaners__thread_outages') }}
),

sessions as (
    select * from {{ ref('int_sessions__owned') }}
),

-- One row per count of the partitions of which a node has a replica, and of the segments of
-- their logs.
partitions_per_node as (
    select
        cluster_id,
        node_id,
        '@partitions_on_node' as setting,
        value,
        sampled_at as measured_at,
        source_path,
        byte_offset
    from samples
    union all
    select
        cluster_id,
        replica_id as node_id,
        '@partitions_on_node' as setting,
        cast(count(distinct topic_name, partition_id) as double) as value,
        max(captured_at) as measured_at,
        max(source_path) as source_path,
        min(byte_offset) as byte_offset
    from topic_partitions
    where replica_id >= 0
    group by cluster_id, replica_id, source_id
    union all
    select
        cluster_id,
        node_id,
        '@partitions_on_node' as setting,
        cast(logs as double) as value,
        logged_at as measured_at,
        source_path,
        byte_offset
    from recovery_events
    union all
    select
        cluster_id,
        node_id,
        '@segments_on_node' as setting,
        segments as value,
        sampled_at as measured_at,
        source_path,
        byte_offset
    from segments
),

-- One row per count of the partitions that a node leads.
-- If nobody sampled it: the partitions that the node leads at the end of the logs.
leaders_per_node as (
    select
        cluster_id,
        node_id,
        '@leaders_on_node' as setting,
        cast(leaders as double) as value,
        sampled_at as measured_at,
        source_path,
        byte_offset
    from leaders
    union all
    select
        cluster_id,
        leader_id as node_id,
        '@leaders_on_node' as setting,
        cast(count(*) as double) as value,
        max(elected_at) as measured_at,
        cast(null as string) as source_path,
        cast(null as bigint) as byte_offset
    from epochs
    where held_until is null and leader_id >= 0
    group by cluster_id, leader_id
),

unioned as (
    select * from leaders_per_node
    union all
    select * from partitions_per_node
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
        -- Whole numbers are printed without decimals.
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
