{{ config(materialized='table') }}

with epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

states as (
    select * from {{ ref('int_partitions__isr_states') }}
),

replicas as (
    select * from {{ ref('int_partitions__replicas') }}
),

listed as (
    select
        *,
        lag(replicas) over (life) as previous_replicas,
        lead(reported_at) over (life) as next_reported_at
    from replicas
    window
        life as (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by reported_at, source_path, byte_offset
        )
),

-- While a partition moves, its list holds the old replicas and the new ones. A list that only adds some is not settled until all of it
-- has been in sync: then the move of which it could be a part ends at once.
settling as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        reported_at,
        source_path,
        byte_offset,
        replicas,
        not is_moving
        and (
            previous_replicas is null
            or size(array_except(previous_replicas, replicas)) > 0
            or size(replicas) <= size(previous_replicas)
            or exists (
                select 1
                from states
                where
                    states.cluster_id = listed.cluster_id
                    and states.cluster_incarnation = listed.cluster_incarnation
                    and states.topic_name = listed.topic_name
                    and states.partition_id = listed.partition_id
                    and states.topic_incarnation = listed.topic_incarnation
                    and states.reported_at >= listed.reported_at
                    and coalesce(states.reported_at < listed.next_reported_at, true)
                    and size(array_except(listed.replicas, states.isr)) = 0
            )
        ) as is_settled
    from listed
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
        cast(null as array<int>) as replicas,
        cast(null as struct<at: timestamp, source_path: string, byte_offset: bigint>) as settled
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
        cast(null as array<int>) as replicas,
        cast(null as struct<at: timestamp, source_path: string, byte_offset: bigint>) as settled
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
        replicas,
        if(
            is_settled,
            named_struct('at', reported_at, 'source_path', source_path, 'byte_offset', byte_offset),
            null
        ) as settled
    from settling
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
        cast(max_by(size(replicas), settled) as int) as settled_replicas,
        max_by(leader_id, struct(elected_at, leader_id)) filter (where leader_id is not null)
            as leader_id,
        min(seen_at) as first_seen_at,
        max(seen_at) as last_seen_at,
        max(elected_at) as last_elected_at
    from reported
    group by cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
)

select * from final
