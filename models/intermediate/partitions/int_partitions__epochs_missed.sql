{{ config(materialized='table', file_format='parquet') }}

with late as (
    select * from {{ ref('int_partitions__epochs_late') }}
),

runs as (
    select * from {{ ref('int_nodes__runs') }}
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

-- A process that ends loses its cache; only one that logs every partition was certainly behind until then.
final as (
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
        late.is_dated_late,
        late.is_unheard,
        least(late.reached_at, lives.alive_until) as behind_until,
        late.stored_line,
        late.caught_up_line,
        late.known_epoch,
        late.known_line
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
        or late.reached_at <= coalesce(lives.alive_until, late.reached_at)
)

select * from final
