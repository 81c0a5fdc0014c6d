{{ config(materialized='table', file_format='parquet') }}

with epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

states as (
    select * from {{ ref('int_partitions__isr_states') }}
),

replicas as (
    select * from {{ ref('int_partitions__replicas') }}
),

reported as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        topic_id,
        elected_at as seen_at,
        elected_at,
        leader_id,
        cast(null as array<int>) as replicas
    from epochs
    union all
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        cast(null as string) as topic_id,
        reported_at as seen_at,
        cast(null as timestamp) as elected_at,
        cast(null as int) as leader_id,
        cast(null as array<int>) as replicas
    from states
    union all
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        cast(null as string) as topic_id,
        reported_at as seen_at,
        cast(null as timestamp) as elected_at,
        cast(null as int) as leader_id,
        replicas
    from replicas
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        max(topic_id) as topic_id,
        max_by(replicas, struct(seen_at, array_join(replicas, ',')))
        filter (where replicas is not null) as replicas,
        cast(max(size(replicas)) filter (where replicas is not null) as int) as max_replicas,
        max_by(leader_id, struct(elected_at, leader_id)) filter (where leader_id is not null)
            as leader_id,
        min(seen_at) as first_seen_at,
        max(seen_at) as last_seen_at,
        max(elected_at) as last_elected_at
    from reported
    group by cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
)

select * from final
