{{ config(materialized='table') }}

with late as (
    select * from {{ ref('int_partitions__epochs_late') }}
),

runs as (
    select * from {{ ref('int_nodes__runs') }}
),

sources as (
    select * from {{ ref('stg_sources__files') }}
),

-- Nodes whose state-change.log is there without their server.log, which shows when they were down.
half_logged as (
    select
        sources.cluster_id,
        sources.node_id
    from sources
    left anti join runs
        on
            sources.cluster_id = runs.cluster_id
            and sources.node_id = runs.node_id
            and coalesce(runs.started_at, runs.ready_at, runs.stopping_at, runs.stopped_at)
            is not null
    where sources.node_id is not null and sources.records > 0
    group by sources.cluster_id, sources.node_id
    having
        bool_or(sources.source_kind = 'kafka_state_change_log')
        and not bool_or(sources.source_kind = 'kafka_server_log')
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
        last_seen_at,
        is_kraft
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
        -- In KRaft all partitions have one log of changes: who has a newer one has all before it.
        late.is_unheard
        or half_logged.cluster_id is not null
        or coalesce(
            lives.is_kraft
            and late.newer_reached_at + interval 10 minutes
            < coalesce(late.reached_at, lives.alive_until, lives.last_seen_at),
            false
        ) as is_unheard,
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
    left join half_logged
        on late.cluster_id = half_logged.cluster_id and late.node_id = half_logged.node_id
    where
        late.is_cached
        or late.reached_at <= coalesce(lives.alive_until, late.reached_at)
)

select * from final
