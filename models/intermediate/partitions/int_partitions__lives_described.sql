with seen as (
    select * from {{ ref('int_partitions__lives') }}
),

topics as (
    select * from {{ ref('stg_captures__topics') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

placed as (
    {{ placed('topics', at='captured_at') }}
),

lives as (
    select
        *,
        lead(first_seen_at) over (
            partition by cluster_id, cluster_incarnation, topic_name, partition_id
            order by topic_incarnation
        ) as next_seen_at
    from seen
),

-- A describe belongs to the incarnation that the topic had at that time.
final as (
    select
        lives.cluster_id,
        lives.cluster_incarnation,
        lives.topic_name,
        lives.partition_id,
        lives.topic_incarnation,
        lives.topic_id,
        lives.replicas,
        lives.leader_id,
        lives.first_seen_at,
        lives.last_seen_at,
        lives.last_elected_at,
        coalesce(
            lives.settled_replicas,
            max_by(
                placed.replication_factor,
                struct(placed.captured_at, placed.source_path, placed.byte_offset)
            ) filter (where placed.replication_factor is not null)
        ) as replication_factor,
        max_by(
            placed.partition_count,
            struct(placed.captured_at, placed.source_path, placed.byte_offset)
        ) filter (where placed.partition_count is not null) as partition_count,
        max_by(
            placed.min_insync_replicas,
            struct(placed.captured_at, placed.source_path, placed.byte_offset)
        ) filter (where placed.has_settings) as min_insync_replicas
    from lives
    left join placed
        on
            lives.cluster_id = placed.cluster_id
            and lives.cluster_incarnation = placed.cluster_incarnation
            and lives.topic_name = placed.topic_name
            and lives.first_seen_at <= placed.captured_at
            and (lives.next_seen_at is null or lives.next_seen_at > placed.captured_at)
    group by
        lives.cluster_id,
        lives.cluster_incarnation,
        lives.topic_name,
        lives.partition_id,
        lives.topic_incarnation,
        lives.topic_id,
        lives.replicas,
        lives.leader_id,
        lives.settled_replicas,
        lives.first_seen_at,
        lives.last_seen_at,
        lives.last_elected_at
)

select * from final
