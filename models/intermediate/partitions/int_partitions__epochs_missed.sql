{{ config(materialized='table', file_format='parquet') }}

with epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

reached as (
    select * from {{ ref('int_partitions__epochs_reached') }}
),

runs as (
    select * from {{ ref('int_nodes__runs') }}
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

-- One row per partition, node and leader epoch that the node got more than five seconds late, or
-- never.
-- Slow propagation is not staleness, but the network never delays a control request by five
-- seconds. In its own term a controller only misses what an older one still writes.
late as (
    select *
    from awaited
    where
        (reached_at is null or reached_at > elected_at + interval 5 seconds)
        and (term_epoch is null or controller_epoch < term_epoch)
),

lives as (
    select
        cluster_id,
        node_id,
        -- A process that never got ready is not behind: it has not joined yet.
        if(started_at is null, coalesce(ready_at, first_seen_at), ready_at) as alive_from,
        coalesce(
            stopping_at,
            stopped_at,
            if(next_started_at is not null or failed_at is not null, last_seen_at, null)
        ) as alive_until,
        last_seen_at
    from runs
),

-- A process that ends loses its cache. A replica may have been removed, or its topic deleted: the
-- node was certainly behind only if it got the epoch after all, or logs every partition.
behind as (
    select
        late.*,
        least(late.reached_at, lives.alive_until) as behind_until
    from late
    inner join lives
        on
            late.cluster_id = lives.cluster_id
            and late.node_id = lives.node_id
            and late.elected_at >= lives.alive_from
            and late.elected_at + interval 5 seconds
            < coalesce(lives.alive_until, lives.last_seen_at)
    where
        late.is_cached
        or (
            coalesce(late.is_replica, true)
            and late.reached_at <= coalesce(lives.alive_until, late.reached_at)
        )
),

known as (
    select
        behind.cluster_id,
        behind.cluster_incarnation,
        behind.topic_name,
        behind.partition_id,
        behind.topic_incarnation,
        behind.node_id,
        behind.term_epoch,
        behind.leader_epoch,
        behind.elected_at,
        behind.behind_until,
        struct(
            behind.elected_at as logged_at,
            behind.line.node_id,
            behind.line.source_path,
            behind.line.byte_offset
        ) as stored_line,
        max(struct(reached.leader_epoch, reached.line))
        filter (where reached.reached_at <= behind.elected_at) as had,
        min(reached.line)
        filter (where reached.leader_epoch >= behind.leader_epoch) as caught_up_line
    from behind
    inner join reached
        on
            behind.cluster_id = reached.cluster_id
            and behind.cluster_incarnation = reached.cluster_incarnation
            and behind.topic_name = reached.topic_name
            and behind.partition_id = reached.partition_id
            and behind.topic_incarnation = reached.topic_incarnation
            and behind.node_id = reached.node_id
            and behind.term_epoch <=> reached.term_epoch
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
