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
        min(reached.reached_at) over (
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
        ) as reached_at
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
    select *
    from awaited
    where
        (reached_at is null or reached_at > elected_at + interval 5 seconds)
        and (term_epoch is null or controller_epoch < term_epoch)
        and (is_cached or (coalesce(is_replica, true) and reached_at is not null))
),

-- One row per partition, node and leader epoch that the node got more than five seconds late, or
-- never, though it had an older one.
known as (
    select
        late.cluster_id,
        late.cluster_incarnation,
        late.topic_name,
        late.partition_id,
        late.topic_incarnation,
        late.node_id,
        late.term_epoch,
        late.leader_epoch,
        late.elected_at,
        late.reached_at,
        late.is_cached,
        struct(
            late.elected_at as logged_at,
            late.line.node_id,
            late.line.source_path,
            late.line.byte_offset
        ) as stored_line,
        max(struct(reached.leader_epoch, reached.line))
        filter (where reached.reached_at <= late.elected_at) as had,
        min(reached.line)
        filter (where reached.leader_epoch >= late.leader_epoch) as caught_up_line
    from late
    inner join reached
        on
            late.cluster_id = reached.cluster_id
            and late.cluster_incarnation = reached.cluster_incarnation
            and late.topic_name = reached.topic_name
            and late.partition_id = reached.partition_id
            and late.topic_incarnation = reached.topic_incarnation
            and late.node_id = reached.node_id
            and late.term_epoch <=> reached.term_epoch
    group by all
),

final as (
    select
        * except (had),
        had.leader_epoch as known_epoch,
        had.line as known_line
    from known
    where had.leader_epoch < leader_epoch
)

select * from final
