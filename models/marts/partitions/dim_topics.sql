with partitions as (
    select * from {{ ref('int_partitions__lives') }}
),

grouped as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        topic_incarnation,
        max(topic_id) as topic_id,
        cast(max(partition_id) + 1 as int) as partitions,
        max(max_replicas) as replication_factor,
        min(first_seen_at) as first_seen_at,
        max(last_elected_at) as last_elected_at
    from partitions
    group by cluster_id, cluster_incarnation, topic_name, topic_incarnation
),

final as (
    select
        {{ row_key(['cluster_id', 'cluster_incarnation', 'topic_name', 'topic_incarnation']) }}
            as topic_key,
        cluster_id,
        cluster_incarnation,
        topic_name,
        topic_incarnation,
        topic_id,
        partitions,
        replication_factor,
        topic_name like '\_\_%' as is_internal,
        first_seen_at,
        last_elected_at
    from grouped
)

select * from final
