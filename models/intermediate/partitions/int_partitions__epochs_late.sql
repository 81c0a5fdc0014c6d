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
        watchers.is_cached,
        array_contains(epochs.known_replicas, watchers.node_id) as is_replica,
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
            and watchers.first_epoch < epochs.leader_epoch
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
late as (
    select
        *,
        caught_up_line.logged_at as reached_at
    from awaited
    where
        (caught_up_line is null or caught_up_line.logged_at > elected_at + interval 5 seconds)
        and (term_epoch is null or controller_epoch < term_epoch)
        and (is_cached or (coalesce(is_replica, true) and caught_up_line is not null))
),

-- What such a node got, and what it got late or never, on one timeline; at the same moment the
-- former comes first.
passed as (
    select
        reached.cluster_id,
        reached.cluster_incarnation,
        reached.topic_name,
        reached.partition_id,
        reached.topic_incarnation,
        reached.node_id,
        reached.term_epoch,
        reached.reached_at as passed_at,
        struct(reached.leader_epoch, reached.line) as got,
        null as missed
    from reached
    left semi join late
        on
            reached.cluster_id = late.cluster_id
            and reached.cluster_incarnation = late.cluster_incarnation
            and reached.topic_name = late.topic_name
            and reached.partition_id = late.partition_id
            and reached.topic_incarnation = late.topic_incarnation
            and reached.node_id = late.node_id
            and reached.term_epoch <=> late.term_epoch
    union all
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        node_id,
        term_epoch,
        elected_at as passed_at,
        null as got,
        struct(leader_epoch, reached_at, is_cached, line, caught_up_line) as missed
    from late
),

known as (
    select
        *,
        max(got) over (
            partition by
                cluster_id,
                cluster_incarnation,
                topic_name,
                partition_id,
                topic_incarnation,
                node_id,
                term_epoch
            order by passed_at, missed is not null
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
        missed.leader_epoch,
        passed_at as elected_at,
        missed.reached_at,
        missed.is_cached,
        struct(
            passed_at as logged_at,
            missed.line.node_id,
            missed.line.source_path,
            missed.line.byte_offset
        ) as stored_line,
        missed.caught_up_line,
        had.leader_epoch as known_epoch,
        had.line as known_line
    from known
    where missed is not null and had.leader_epoch < missed.leader_epoch
)

select * from final
