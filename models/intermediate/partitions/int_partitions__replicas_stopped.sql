with stops as (
    select * from {{ ref('stg_logs__replicas_stopped') }}
),

topic_events as (
    select * from {{ ref('stg_logs__topic_events') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

lives as (
    select * from {{ ref('int_topics__lives') }}
),

deletions as (
    select
        cluster_id,
        topic_name,
        partition_id,
        logged_at as deleted_at
    from topic_events
    where state_after in ('NonExistentPartition', 'NotExists')
),

-- Releases differ in whether the partition or its replicas go first, and a broker that is down
-- delays the deletion.
deleted as (
    select stops.*
    from stops
    left semi join deletions
        on
            stops.cluster_id = deletions.cluster_id
            and stops.topic_name = deletions.topic_name
            and stops.partition_id = deletions.partition_id
            and stops.logged_at >= deletions.deleted_at - interval 10 minutes
            and stops.logged_at <= deletions.deleted_at + interval 10 minutes
),

placed as (
    {{ placed('deleted') }}
),

final as (
    select
        placed.cluster_id,
        placed.cluster_incarnation,
        placed.topic_name,
        placed.partition_id,
        coalesce(lives.life_number, 1) as topic_incarnation,
        placed.node_id,
        placed.logged_at,
        placed.source_path,
        placed.byte_offset,
        placed.broker_id
    from placed
    left join lives on {{ placed_in_life('placed') }}
)

select * from final
