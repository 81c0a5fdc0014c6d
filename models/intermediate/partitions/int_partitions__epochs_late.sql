{{ config(materialized='table', file_format='parquet') }}

with epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

reached as (
    select * from {{ ref('int_partitions__epochs_reached') }}
),

-- A node follows a partition if its log mentions it.
watchers as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        node_id,
        term_epoch,
        min(leader_epoch) as first_epoch,
        max(leader_epoch) as last_epoch,
        max(is_cached) as is_cached
    from reached
    group by all
),

-- Each epoch from the first on that a node got, and the first record of the node with it or a later one.
awaited as (
    select
        epochs.cluster_id,
        epochs.cluster_incarnation,
        epochs.topic_name,
        epochs.partition_id,
        epochs.topic_incarnation,
        watchers.node_id,
        watchers.term_epoch,
        epochs.leader_epoch,
        epochs.controller_epoch,
        epochs.elected_at,
        epochs.evidence[0] as line,
        watchers.first_epoch,
        watchers.is_cached,
        array_contains(epochs.known_replicas, watchers.node_id) as is_replica,
        reached.line as own_line,
        min(reached.line) over (
            partition by
                epochs.cluster_id,
                epochs.cluster_incarnation,
                epochs.topic_name,
                epochs.partition_id,
                epochs.topic_incarnation,
                watchers.node_id,
                watchers.term_epoch
            order by epochs.leader_epoch desc
            rows between unbounded preceding and current row
        ) as caught_up_line
    from watchers
    inner join epochs
        on
            watchers.cluster_id = epochs.cluster_id
            and watchers.cluster_incarnation = epochs.cluster_incarnation
            and watchers.topic_name = epochs.topic_name
            and watchers.partition_id = epochs.partition_id
            and watchers.topic_incarnation = epochs.topic_incarnation
            and watchers.first_epoch <= epochs.leader_epoch
            and (watchers.term_epoch is null or watchers.last_epoch >= epochs.leader_epoch)
    left join reached
        on
            watchers.cluster_id = reached.cluster_id
            and watchers.cluster_incarnation = reached.cluster_incarnation
            and watchers.topic_name = reached.topic_name
            and watchers.partition_id = reached.partition_id
            and watchers.topic_incarnation = reached.topic_incarnation
            and watchers.node_id = reached.node_id
            and watchers.term_epoch <=> reached.term_epoch
            and epochs.leader_epoch = reached.leader_epoch
),

-- Slow propagation is not staleness, but the network never delays a control request by five
-- seconds. In its own term a controller only misses what an older one still writes.
-- A replica may have been removed, or its topic deleted: the node was certainly behind only if it
-- got the epoch after all, or logs every partition.
judged as (
    select
        *,
        first_epoch < leader_epoch
        and coalesce(caught_up_line.logged_at > elected_at + interval 5 seconds, true)
        and coalesce(controller_epoch < term_epoch, term_epoch is null)
        and (is_cached or (coalesce(is_replica, true) and caught_up_line is not null)) as is_late
    from awaited
),

marked as (
    select
        *,
        max(is_late) over (
            partition by
                cluster_id,
                cluster_incarnation,
                topic_name,
                partition_id,
                topic_incarnation,
                node_id,
                term_epoch
        ) as is_ever_late
    from judged
),

-- What a node got, and what it got late or never, in two rows if both.
passed as (
    select
        *,
        explode(array_compact(array(
            if(own_line is null, null, false),
            if(is_late, true, null)
        ))) as is_missed
    from marked
    where is_ever_late
),

-- At the same moment, what it got comes first.
known as (
    select
        *,
        max(if(is_missed, null, struct(leader_epoch, own_line))) over (
            partition by
                cluster_id,
                cluster_incarnation,
                topic_name,
                partition_id,
                topic_incarnation,
                node_id,
                term_epoch
            order by if(is_missed, elected_at, own_line.logged_at), is_missed
            rows between unbounded preceding and current row
        ) as had
    from passed
),

-- One row per partition, node and leader epoch that the node got more than five seconds late, or
-- never, though it had an older one.
final as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        node_id,
        term_epoch,
        leader_epoch,
        elected_at,
        caught_up_line.logged_at as reached_at,
        is_cached,
        struct(elected_at as logged_at, line.node_id, line.source_path, line.byte_offset)
            as stored_line,
        caught_up_line,
        had.leader_epoch as known_epoch,
        had.own_line as known_line
    from known
    where is_missed and had.leader_epoch < leader_epoch
)

select * from final
