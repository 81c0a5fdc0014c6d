with claims as (
    select * from {{ ref('int_partitions__claims') }}
),

described as (
    select * from {{ ref('stg_captures__topic_partitions') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

lives as (
    select * from {{ ref('int_topics__lives') }}
),

topic_events as (
    select * from {{ ref('stg_logs__topic_events') }}
),

placed as (
    {{ placed('described', at='captured_at') }}
),

-- In ZooKeeper mode the controller names the replicas of a partition when it is created, and from 2.4 on when it is moved.
assigned as (
    {{ placed('topic_events') }}
    where
        size(topic_events.replicas) > 0
        and (
            topic_events.state_after in ('NewPartition', 'New')
            or {{ has_role('reassignment', 'topic_events.event_type') }}
        )
),

statements as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        logged_at as reported_at,
        node_id,
        source_path,
        byte_offset,
        leader_epoch,
        replicas,
        false as is_moving
    from claims
    where size(replicas) > 0
    union all
    select
        placed.cluster_id,
        placed.cluster_incarnation,
        placed.topic_name,
        placed.partition_id,
        coalesce(lives.life_number, 1) as topic_incarnation,
        placed.captured_at as reported_at,
        cast(null as int) as node_id,
        placed.source_path,
        placed.byte_offset,
        cast(null as int) as leader_epoch,
        placed.replicas,
        coalesce(size(placed.adding_replicas) > 0, false) as is_moving
    from placed
    left join lives on {{ placed_in_life('placed', at='captured_at') }}
    where size(placed.replicas) > 0 and placed.captured_at is not null
    union all
    select
        assigned.cluster_id,
        assigned.cluster_incarnation,
        assigned.topic_name,
        assigned.partition_id,
        coalesce(lives.life_number, 1) as topic_incarnation,
        assigned.logged_at as reported_at,
        assigned.node_id,
        assigned.source_path,
        assigned.byte_offset,
        if(assigned.state_after is null, null, 0) as leader_epoch,
        assigned.replicas,
        false as is_moving
    from assigned
    left join lives on {{ placed_in_life('assigned') }}
),

-- A controller that starts prints each partition as it was created; requests arrive late.
dated as (
    select
        *,
        max(leader_epoch) over (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by reported_at, source_path, byte_offset
            rows between unbounded preceding and current row
        ) as newest_epoch
    from statements
),

compared as (
    select
        *,
        lag(replicas) over (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by reported_at, source_path, byte_offset
        ) as previous_replicas
    from dated
    where leader_epoch is null or leader_epoch = newest_epoch
),

final as (
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
        is_moving,
        array(
            named_struct('node_id', node_id, 'source_path', source_path, 'byte_offset', byte_offset)
        ) as evidence
    from compared
    where previous_replicas is null or previous_replicas <> replicas
)

select * from final
