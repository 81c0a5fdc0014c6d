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

deletions as (
    select
        cluster_id,
        topic_name,
        collect_set(struct(logged_at, partition_id)) as deletions
    from topic_events
    where
        event_type = 'topic_deleted' or state_after in ('NonExistentPartition', 'NotExists')
    group by cluster_id, topic_name
),

ended as (
    select
        stretches.* except (stretch, ended_at, opening, closing),
        case
            when stretches.ended_at is null
                then array_min(
                    filter(
                        deletions.deletions,
                        deletion -> deletion.logged_at >= started_at - interval 1 minute
                        and coalesce(deletion.partition_id, partition_id) = partition_id
                    )
                ).logged_at
        end as deleted_at,
        stretches.ended_at as back_at,
        slice(
            concat(stretches.opening.evidence, coalesce(stretches.closing.evidence, array())), 1, 10
        ) as evidence,
        stretches.opening.evidence_count + stretches.closing.evidence_count as evidence_count
    from stretches
    left join deletions using (cluster_id, topic_name)
),

-- Replicas that stop because their topic is being deleted are no outage.
final as (
    select
        * except (deleted_at, back_at),
        coalesce(back_at, deleted_at) as ended_at
    from ended
    where deleted_at is null or deleted_at > started_at + interval 1 minute
)

select * from final
