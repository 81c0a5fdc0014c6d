with partitions as (
    select * from {{ ref('int_partitions__lives_described') }}
),

grouped as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        topic_incarnation,
        max(topic_id) as topic_id,
        cast(count(*) as int) as partitions,
        cast(
            greatest(max(partition_id) + 1, max(partition_count), count(*)) - count(*) as int
        ) as partitions_unknown,
        -- As kafka-topics prints it: of the first partition, if they differ.
        min_by(replication_factor, partition_id)
        filter (where replication_factor is not null) as replication_factor,
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
        partitions_unknown,
        replication_factor,
        topic_name like '\_\_%' as is_internal,
        first_seen_at,
        last_elected_at
    from grouped
)

select * from final
