with replication as (
    select * from {{ ref('int_partitions__replication') }}
),

topic_events as (
    select * from {{ ref('stg_logs__topic_events') }}
),

lagging as (
    select
        *,
        explode(out_of_sync) as replica_id
    from replication
),

-- States that follow each other with the same replica out of sync are one stretch.
numbered as (
    select
        *,
        place - row_number() over (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_life, replica_id
            order by place
        ) as stretch
    from lagging
),

stretches as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_life,
        replica_id,
        stretch,
        min(place) as first_place,
        min(told_at) as started_at,
        min_by(is_first and not coalesce(array_contains(stated_before, replica_id), false), place)
            as is_start_unknown,
        max_by(next_told_at, place) as ended_at,
        max_by(
            struct(next_evidence as evidence, coalesce(next_evidence_count, 0) as evidence_count),
            place
        ) as closing,
        min_by(struct(evidence, evidence_count), place) as opening,
        bool_and(are_replicas_known) as are_replicas_known
    from numbered
    group by all
),

deleted as (
    select
        stretches.cluster_id,
        stretches.cluster_incarnation,
        stretches.topic_name,
        stretches.partition_id,
        stretches.topic_life,
        stretches.replica_id,
        stretches.first_place,
        min(topic_events.logged_at) as deleted_at
    from stretches
    inner join topic_events
        on
            stretches.cluster_id = topic_events.cluster_id
            and stretches.topic_name = topic_events.topic_name
            and (
                topic_events.partition_id is null
                or stretches.partition_id = topic_events.partition_id
            )
            and topic_events.logged_at >= stretches.started_at - interval 1 minute
            and (
                topic_events.event_type = 'topic_deleted'
                or topic_events.state_after in ('NonExistentPartition', 'NotExists')
            )
    where stretches.ended_at is null
    group by all
),

final as (
    select
        stretches.* except (stretch, ended_at, opening, closing),
        coalesce(stretches.ended_at, deleted.deleted_at) as ended_at,
        slice(
            concat(stretches.opening.evidence, coalesce(stretches.closing.evidence, array())), 1, 10
        ) as evidence,
        stretches.opening.evidence_count + stretches.closing.evidence_count as evidence_count
    from stretches
    left join deleted
        using (
            cluster_id, cluster_incarnation, topic_name, partition_id, topic_life,
            replica_id, first_place
        )
    -- Replicas that stop because their topic is being deleted are no outage.
    where
        deleted.deleted_at is null
        or deleted.deleted_at > stretches.started_at + interval 1 minute
)

select * from final
