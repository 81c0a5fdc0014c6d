with partitions as (
    select * from {{ ref('int_partitions__lives_described') }}
),

endings as (
    select * from {{ ref('int_partitions__endings') }}
),

final as (
    select
        {{
            row_key(['cluster_id', 'cluster_incarnation', 'topic_name', 'topic_incarnation', 'partition_id'])
        }} as partition_key,
        cluster_id,
        cluster_incarnation,
        {{ row_key(['cluster_id', 'cluster_incarnation', 'topic_name', 'topic_incarnation']) }}
            as topic_key,
        topic_name,
        topic_incarnation,
        partition_id,
        replicas,
        get(replicas, 0) as preferred_leader_id,
        leader_id as last_leader_id,
        replication_factor,
        min_insync_replicas,
        first_seen_at,
        last_seen_at,
        ended_at
    from partitions
    left join endings
        using (cluster_id, cluster_incarnation, topic_name, topic_incarnation, partition_id)
)

select * from final
