with claims as (
    select * from {{ ref('int_partitions__claims') }}
),

taken as (
    select * from {{ ref('int_brokers__leadership_losses') }}
),

-- The state of each partition as its last line has it.
reported as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        leader_epoch,
        max_by(leader_id, struct(logged_at, source_path, byte_offset))
        filter (where leader_id is not null) as leader_id,
        max_by(isr, struct(logged_at, source_path, byte_offset))
        filter (where isr is not null) as isr,
        max(topic_id) as topic_id,
        min(logged_at) as first_said_at,
        max(logged_at) as last_said_at
    from claims
    group by
        cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation, leader_epoch
),

followed as (
    select
        *,
        lead(leader_epoch) over (life) as next_leader_epoch,
        lead(leader_id) over (life) as next_leader_id,
        lead(first_said_at) over (life) as next_said_at,
        last_value(nullif(leader_id, -1), true) over (so_far) as last_leader_id
    from reported
    window
        life as (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by leader_epoch
        ),
        so_far as (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by leader_epoch
            rows between unbounded preceding and current row
        )
),

-- An epoch without a leader is logged late, or never: brokers without a replica do not log it, and those with one are down
-- or frozen. It begins when the previous leader loses its leadership.
leaderless as (
    select *
    from followed
    where
        next_leader_id = -1 and next_leader_epoch = leader_epoch + 1
        or size(isr) = 1
        and isr[0] = leader_id
        and coalesce(next_leader_epoch, leader_epoch + 2) = leader_epoch + 2
),

lost as (
    select
        leaderless.cluster_id,
        leaderless.cluster_incarnation,
        leaderless.topic_name,
        leaderless.partition_id,
        leaderless.topic_incarnation,
        leaderless.leader_epoch + 1 as leader_epoch,
        leaderless.topic_id,
        leaderless.isr,
        min(
            struct(taken.lost_at, taken.source_path, taken.byte_offset, taken.node_id)
        ) as first_line
    from leaderless
    inner join taken
        on
            leaderless.cluster_id = taken.cluster_id
            and leaderless.cluster_incarnation = taken.cluster_incarnation
            and leaderless.last_leader_id = taken.broker_id
            and leaderless.first_said_at < taken.lost_at
            and coalesce(
                leaderless.next_said_at > taken.lost_at,
                -- What is logged of the state before may lag behind.
                leaderless.last_said_at - interval 2 seconds <= taken.lost_at
            )
    group by all
),

final as (
    select
        * except (first_line),
        first_line.lost_at as logged_at,
        first_line.node_id,
        first_line.source_path,
        first_line.byte_offset
    from lost
)

select * from final
