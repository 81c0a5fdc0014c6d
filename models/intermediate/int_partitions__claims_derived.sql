with claims as (
    select * from {{ ref('int_partitions__claims') }}
),

runs as (
    select * from {{ ref('int_nodes__runs') }}
),

-- The state of each partition as its last line has it.
latest as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_life,
        leader_epoch,
        max_by(leader_id, logged_at) filter (where leader_id is not null) as leader_id,
        max_by(isr, logged_at) filter (where isr is not null) as isr,
        max(topic_id) as topic_id,
        max(logged_at) as last_said_at,
        max_by(struct(node_id, source_path, byte_offset), logged_at) as line,
        lead(leader_epoch) over (
            partition by cluster_id, cluster_incarnation, topic_name, partition_id, topic_life
            order by leader_epoch
        ) as next_leader_epoch
    from claims
    group by cluster_id, cluster_incarnation, topic_name, partition_id, topic_life, leader_epoch
),

-- In KRaft the controlled shutdown of a leader that is alone in sync begins an epoch without a leader. Brokers that hold
-- no replica do not log it, those that do are down: it follows from what is logged.
final as (
    select
        latest.cluster_id,
        latest.cluster_incarnation,
        latest.topic_name,
        latest.partition_id,
        latest.topic_life,
        latest.leader_epoch + 1 as leader_epoch,
        latest.line.node_id,
        min(runs.stopping_at) as logged_at,
        latest.line.source_path,
        latest.line.byte_offset,
        latest.topic_id,
        latest.isr
    from latest
    inner join runs
        on
            latest.cluster_id = runs.cluster_id
            and latest.leader_id = runs.node_id
            and runs.is_kraft
            and latest.last_said_at <= runs.stopping_at
            and coalesce(runs.started_at, runs.first_seen_at) <= latest.last_said_at
    where
        size(latest.isr) = 1
        and latest.isr[0] = latest.leader_id
        and (latest.next_leader_epoch is null or latest.next_leader_epoch = latest.leader_epoch + 2)
    group by all
)

select * from final
