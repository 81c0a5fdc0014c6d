{{ config(materialized='table', file_format='parquet') }}

with topic_events as (
    select * from {{ ref('stg_logs__topic_events') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

placed as (
    {{ placed('topic_events') }}
    where topic_events.topic_name is not null
),

by_id as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        cast(null as int) as partition_id,
        topic_id,
        min(logged_at) as began_at
    from placed
    where topic_id is not null
    group by cluster_id, cluster_incarnation, topic_name, topic_id
),

-- Before topics had ids, a partition that leaves the state "new" on the controller is the only sign
-- that the topic was created.
by_state as (
    select
        placed.cluster_id,
        placed.cluster_incarnation,
        placed.topic_name,
        placed.partition_id,
        cast(null as string) as topic_id,
        placed.logged_at as began_at
    from placed
    left anti join by_id
        on
            placed.cluster_id = by_id.cluster_id
            and placed.cluster_incarnation = by_id.cluster_incarnation
            and placed.topic_name = by_id.topic_name
    where
        placed.state_before in ('NewPartition', 'New')
        and placed.state_after in ('OnlinePartition', 'Online')
),

births as (
    select * from by_id
    union all
    select * from by_state
),

numbered as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_id,
        began_at,
        cast(row_number() over (
            partition by cluster_id, cluster_incarnation, topic_name, partition_id
            order by began_at, topic_id
        ) as int) as life_number,
        lead(began_at) over (
            partition by cluster_id, cluster_incarnation, topic_name, partition_id
            order by began_at, topic_id
        ) as next_began_at
    from births
),

-- The first life needs no row: whatever is in no other life belongs to it.
final as (
    select * from numbered
    where life_number > 1
)

select * from final
