with epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

reached as (
    select * from {{ ref('int_partitions__epochs_reached') }}
),

-- Who follows a partition: whoever speaks of it.
watchers as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_life,
        node_id,
        term_epoch,
        min(leader_epoch) as first_epoch,
        max(leader_epoch) as last_epoch,
        max(is_cached) as is_cached
    from reached
    group by all
),

assigned as (
    select
        *,
        last_value(replicas, true) over (
            partition by cluster_id, cluster_incarnation, topic_name, partition_id, topic_life
            order by leader_epoch
            rows between unbounded preceding and current row
        ) as known_replicas
    from epochs
),

awaited as (
    select
        assigned.cluster_id,
        assigned.cluster_incarnation,
        assigned.topic_name,
        assigned.partition_id,
        assigned.topic_life,
        watchers.node_id,
        watchers.term_epoch,
        assigned.leader_epoch,
        assigned.controller_epoch,
        assigned.elected_at,
        assigned.evidence[0] as line,
        watchers.is_cached,
        array_contains(assigned.known_replicas, watchers.node_id) as is_replica,
        min(reached.reached_at) over (
            partition by
                assigned.cluster_id,
                assigned.cluster_incarnation,
                assigned.topic_name,
                assigned.partition_id,
                assigned.topic_life,
                watchers.node_id,
                watchers.term_epoch
            order by assigned.leader_epoch
            rows between current row and unbounded following
        ) as reached_at
    from watchers
    inner join assigned
        on
            watchers.cluster_id = assigned.cluster_id
            and watchers.cluster_incarnation = assigned.cluster_incarnation
            and watchers.topic_name = assigned.topic_name
            and watchers.partition_id = assigned.partition_id
            and watchers.topic_life = assigned.topic_life
            and watchers.first_epoch < assigned.leader_epoch
            and (watchers.term_epoch is null or watchers.last_epoch >= assigned.leader_epoch)
    left join reached
        on
            watchers.cluster_id = reached.cluster_id
            and watchers.cluster_incarnation = reached.cluster_incarnation
            and watchers.topic_name = reached.topic_name
            and watchers.partition_id = reached.partition_id
            and watchers.topic_life = reached.topic_life
            and watchers.node_id = reached.node_id
            and watchers.term_epoch <=> reached.term_epoch
            and assigned.leader_epoch = reached.leader_epoch
),

-- Propagation is no staleness: a control request that waits for five seconds does not wait for the network. In its term a
-- controller only misses what an older one still writes.
final as (
    select *
    from awaited
    where
        (reached_at is null or reached_at > elected_at + interval 5 seconds)
        and (term_epoch is null or controller_epoch < term_epoch)
)

select * from final
