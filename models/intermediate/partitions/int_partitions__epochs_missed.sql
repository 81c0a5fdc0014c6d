{{ config(materialized='table', file_format='parquet') }}

with awaited as (
    select * from {{ ref('int_partitions__epochs_awaited') }}
),

reached as (
    select * from {{ ref('int_partitions__epochs_reached') }}
),

runs as (
    select * from {{ ref('int_nodes__runs') }}
),

lives as (
    select
        cluster_id,
        node_id,
        coalesce(ready_at, started_at, first_seen_at) as alive_from,
        coalesce(
            stopping_at,
            stopped_at,
            if(next_started_at is not null or failed_at is not null, last_seen_at, null)
        ) as alive_until,
        last_seen_at
    from runs
),

-- A process that ends takes its cache with it. A replica may have been taken off, or its topic deleted: that it was behind
-- is sure only where it got the epoch after all, or notes every partition.
behind as (
    select
        awaited.*,
        least(awaited.reached_at, lives.alive_until) as behind_until
    from awaited
    inner join lives
        on
            awaited.cluster_id = lives.cluster_id
            and awaited.node_id = lives.node_id
            and awaited.elected_at >= lives.alive_from
            and awaited.elected_at + interval 5 seconds
            < coalesce(lives.alive_until, lives.last_seen_at)
    where
        awaited.is_cached
        or (
            coalesce(awaited.is_replica, true)
            and awaited.reached_at <= coalesce(lives.alive_until, awaited.reached_at)
        )
),

known as (
    select
        behind.cluster_id,
        behind.cluster_incarnation,
        behind.topic_name,
        behind.partition_id,
        behind.topic_life,
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
            and behind.topic_life = reached.topic_life
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
