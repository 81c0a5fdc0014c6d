{{ config(materialized='table') }}

with topic_events as (
    select * from {{ ref('stg_logs__topic_events') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

stale_terms as (
    select * from {{ ref('int_controllers__stale_terms') }}
),

placed as (
    {{ placed('topic_events') }}
    where topic_events.topic_name is not null
),

-- A controller whose term is over creates topics that never exist.
committed as (
    select placed.*
    from placed
    left anti join stale_terms
        on
            {{ in_stale_term('placed') }}
            and {{ has_role(
                ['topic_creation', 'topic_deletion', 'partition_creation'], 'placed.event_type'
            ) }}
),

by_id as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        topic_id,
        min(logged_at) as began_at
    from committed
    where topic_id is not null
    group by cluster_id, cluster_incarnation, topic_name, topic_id
),

-- Before topics had ids, partitions that become and leave the state "new" on the controller are the
-- only sign that the topic was created.
born as (
    select
        committed.*,
        committed.state_after in ('OnlinePartition', 'Online') as is_online
    from committed
    left anti join by_id
        on
            committed.cluster_id = by_id.cluster_id
            and committed.cluster_incarnation = by_id.cluster_incarnation
            and committed.topic_name = by_id.topic_name
    where
        committed.state_before in ('NewPartition', 'New')
        and committed.state_after in ('OnlinePartition', 'Online')
        or committed.state_after in ('NewPartition', 'New')
),

-- Partition 0 is in every life, though not always the first to be logged; one that is added later begins none.
by_state as (
    select
        first_partitions.cluster_id,
        first_partitions.cluster_incarnation,
        first_partitions.topic_name,
        cast(null as string) as topic_id,
        min(born.logged_at) as began_at
    from born as first_partitions
    inner join born
        on
            first_partitions.cluster_id = born.cluster_id
            and first_partitions.cluster_incarnation = born.cluster_incarnation
            and first_partitions.topic_name = born.topic_name
            and first_partitions.logged_at >= born.logged_at
            and first_partitions.logged_at <= born.logged_at + interval 2 seconds
    where first_partitions.partition_id = 0 and first_partitions.is_online
    group by
        first_partitions.cluster_id,
        first_partitions.cluster_incarnation,
        first_partitions.topic_name,
        first_partitions.logged_at
),

births as (
    select * from by_id
    union all
    select * from by_state
),

-- What is deleted before its first birth in the logs has lived before them.
deleted as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        min(logged_at) as first_deleted_at
    from committed
    where {{ has_role('topic_deletion') }} and topic_id is null
    group by cluster_id, cluster_incarnation, topic_name
),

numbered as (
    select
        births.*,
        cast(
            row_number() over (lives)
            + if(deleted.first_deleted_at < min(births.began_at) over (of_topic), 1, 0) as int
        ) as life_number,
        lead(births.began_at) over (lives) as next_began_at
    from births
    left join deleted
        on
            births.cluster_id = deleted.cluster_id
            and births.cluster_incarnation = deleted.cluster_incarnation
            and births.topic_name = deleted.topic_name
    window
        of_topic as (
            partition by births.cluster_id, births.cluster_incarnation, births.topic_name
        ),
        lives as (
            partition by births.cluster_id, births.cluster_incarnation, births.topic_name
            order by births.began_at, births.topic_id
        )
),

-- The first life needs no row: whatever is in no other life belongs to it.
final as (
    select * from numbered
    where life_number > 1
)

select * from final
