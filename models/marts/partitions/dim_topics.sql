with partitions as (
    select * from {{ ref('dim_partitions') }}
),

described as (
    select * from {{ ref('int_partitions__lives_described') }}
),

tool_errors as (
    select * from {{ ref('fct_tool_errors') }}
),

-- An error may name a topic without a partition.
members as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        topic_incarnation,
        partition_id
    from partitions
    union
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        topic_incarnation,
        partition_id
    from tool_errors
    where topic_name is not null and partition_id is null
),

grouped as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        topic_incarnation,
        max(topic_id) as topic_id,
        cast(count(partition_id) as int) as partitions,
        cast(
            greatest(max(partition_id) + 1, max(partition_count), count(partition_id))
            - count(partition_id) as int
        ) as partitions_unknown,
        -- As kafka-topics prints it: of the first partition, if they differ.
        min_by(replication_factor, partition_id)
        filter (where replication_factor is not null) as replication_factor,
        min(first_seen_at) as first_seen_at,
        max(last_elected_at) as last_elected_at
    from members
    left join described
        using (cluster_id, cluster_incarnation, topic_name, topic_incarnation, partition_id)
    group by cluster_id, cluster_incarnation, topic_name, topic_incarnation
),

final as (
    select
        {{ topic_key() }} as topic_key,
        {{ cluster_key() }} as cluster_key,
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
