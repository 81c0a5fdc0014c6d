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

owners as (
    select * from {{ ref('topic_owners') }}
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

-- The owner of a topic: what is given for its cluster goes before what is given for all, and the pattern with most letters before the others.
owned as (
    select
        grouped.cluster_id,
        grouped.topic_name,
        max_by(
            owners.owner,
            struct(
                owners.cluster_id is not null,
                length(replace(owners.topic_pattern, '*', '')),
                owners.topic_pattern
            )
        ) as owner
    from grouped
    inner join owners
        on
            coalesce(grouped.cluster_id = owners.cluster_id, true)
            and grouped.topic_name
            like replace(replace(owners.topic_pattern, '_', '!_'), '*', '%') escape '!'
    group by grouped.cluster_id, grouped.topic_name
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
        last_elected_at,
        owned.owner
    from grouped
    left join owned using (cluster_id, topic_name)
)

select * from final
