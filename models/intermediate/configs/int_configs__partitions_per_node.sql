with samples as (
    select * from {{ ref('base_metrics__samples') }}
    where metric = 'partitions' and node_id is not null and value >= 0 and not isnan(value)
),

topic_partitions as (
    select
        *,
        explode(replicas) as replica_id
    from {{ ref('stg_captures__topic_partitions') }}
    where topic_name is not null and partition_id is not null
),

recovery_events as (
    select * from {{ ref('stg_logs__recovery_events') }}
    where {{ has_role('logs_loading_end') }} and logs is not null
),

segments as (
    select * from {{ ref('int_nodes__segments') }}
),

final as (
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
)

select * from final
