with lives as (
    select * from {{ ref('int_partitions__lives') }}
),

topic_lives as (
    select * from {{ ref('int_topics__lives') }}
),

topic_events as (
    select * from {{ ref('stg_logs__topic_events') }}
    where
        {{ has_role('topic_deletion') }} or state_after in ('NonExistentPartition', 'NotExists')
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

stale_terms as (
    select * from {{ ref('int_controllers__stale_terms') }}
),

deletions as (
    {{ placed('topic_events') }}
),

-- A controller whose term is over deletes nothing.
committed as (
    select deletions.*
    from deletions
    left anti join stale_terms on {{ in_stale_term('deletions') }}
),

-- Controllers print deletions again when they start, and begin some that they do not finish: one counts if nothing is
-- reported of the partition later than a minute after it.
deleted as (
    select
        lives.cluster_id,
        lives.cluster_incarnation,
        lives.topic_name,
        lives.partition_id,
        lives.topic_incarnation,
        lives.last_seen_at,
        min(committed.logged_at) as deleted_at
    from lives
    left join committed
        on
            lives.cluster_id = committed.cluster_id
            and lives.cluster_incarnation = committed.cluster_incarnation
            and lives.topic_name = committed.topic_name
            and (committed.partition_id is null or lives.partition_id = committed.partition_id)
            and coalesce(lives.topic_id = committed.topic_id, true)
            and lives.last_seen_at <= committed.logged_at + interval 1 minute
    group by
        lives.cluster_id,
        lives.cluster_incarnation,
        lives.topic_name,
        lives.partition_id,
        lives.topic_incarnation,
        lives.last_seen_at
),

ended as (
    select
        deleted.cluster_id,
        deleted.cluster_incarnation,
        deleted.topic_name,
        deleted.partition_id,
        deleted.topic_incarnation,
        least(
            if(deleted.deleted_at < deleted.last_seen_at, deleted.last_seen_at, deleted.deleted_at),
            topic_lives.began_at,
            nullif(incarnations.valid_to, timestamp '9999-01-01 00:00:00')
        ) as ended_at
    from deleted
    inner join incarnations
        on
            deleted.cluster_id = incarnations.cluster_id
            and deleted.cluster_incarnation = incarnations.cluster_incarnation
    left join topic_lives
        on
            deleted.cluster_id = topic_lives.cluster_id
            and deleted.cluster_incarnation = topic_lives.cluster_incarnation
            and deleted.topic_name = topic_lives.topic_name
            and deleted.topic_incarnation + 1 = topic_lives.life_number
),

final as (
    select * from ended
    where ended_at is not null
)

select * from final
