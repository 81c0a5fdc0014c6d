{{ config(materialized='table', meta={'at': 'elected_at'}) }}

with reported as (
    select * from {{ ref('int_partitions__epochs_reported') }}
),

eligible_replicas as (
    select * from {{ ref('int_clusters__eligible_replicas') }}
),

topic_partitions as (
    select * from {{ ref('stg_captures__topic_partitions') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

causes as (
    select * from {{ ref('stg_logs__election_causes') }}
),

runs as (
    select * from {{ ref('int_nodes__runs') }}
    where is_kraft and kafka_version is not null
),

feature_levels as (
    select * from {{ ref('stg_logs__feature_levels') }}
),

-- Clusters of a release that may keep eligible leader replicas (4.0), whose logs show no level of any feature.
undecided as (
    select runs.cluster_id
    from runs
    left anti join feature_levels on runs.cluster_id = feature_levels.cluster_id
    where try_cast(split(runs.kafka_version, '[.]')[0] as int) >= 4
    group by runs.cluster_id
),

-- One row per partition of which a broker logged that it created the log.
log_creations as (
    select
        cluster_id,
        topic_name,
        partition_id,
        collect_set(logged_at) as created_at
    from causes
    where {{ has_role('log_creation') }}
    group by cluster_id, topic_name, partition_id
),

-- One row per topic, partition and leader epoch.
-- If a cluster keeps eligible leader replicas, the last replica in sync also leaves the set when it
-- goes; otherwise it stays in it.
emptied as (
    select
        reported.* except (isr),
        if(eligible_replicas.cluster_id is null, reported.isr, cast(array() as array<int>)) as isr,
        eligible_replicas.cluster_id is not null and not coalesce(size(reported.isr) = 0, false)
            as is_isr_emptied,
        coalesce(
            undecided.cluster_id is not null and reported.is_isr_derived and size(reported.isr) > 0,
            false
        ) as is_isr_doubtful,
        -- The other records of a first epoch are printed again after each start.
        coalesce(
            exists(
                log_creations.created_at,
                moment -> abs(unix_millis(moment) - unix_millis(reported.elected_at)) <= 60000
            ),
            false
        ) as is_creation_logged
    from reported
    left join eligible_replicas
        on
            reported.leader_id = -1
            and reported.cluster_id = eligible_replicas.cluster_id
            and reported.cluster_incarnation = eligible_replicas.cluster_incarnation
            and reported.elected_at >= eligible_replicas.enabled_from
            and reported.elected_at < eligible_replicas.enabled_until
    left join undecided
        on reported.leader_id = -1 and reported.cluster_id = undecided.cluster_id
    left join log_creations
        on
            reported.leader_epoch = 0
            and reported.cluster_id = log_creations.cluster_id
            and reported.topic_name = log_creations.topic_name
            and reported.partition_id = log_creations.partition_id
),

-- A describe without a time cannot be matched to an epoch.
dated as (
    select *
    from topic_partitions
    where captured_at is not null and topic_name is not null and leader_id is not null
),

-- One row per partition and describe.
described as (
    {{ placed('dated', at='captured_at') }}
),

followed as (
    select
        *,
        lag(leader_epoch) over (life) as previous_leader_epoch,
        lag(leader_id) over (life) as previous_leader_id,
        lag(isr) over (life) as previous_isr,
        lag(elected_at) over (life) as previous_elected_at,
        lag(last_replicas, 1) over (life) as previous_replicas,
        coalesce(replicas, last_value(last_replicas, true) over (earlier)) as known_replicas,
        lag(replica_lists > 1) over (life) as was_moving,
        lead(leader_epoch) over (life) as next_leader_epoch,
        lead(elected_at) over (life) as held_until,
        lead(is_dated_late) over (life) as is_next_dated_late,
        lead(best_rank) over (life) = 6 as is_next_derived
    from emptied
    window
        life as (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by leader_epoch
        ),
        earlier as (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by leader_epoch
            rows between unbounded preceding and 1 preceding
        )
),

-- A describe names no epoch: it confirms the one that held when it was taken, by its leader. The
-- first describe is enough.
confirmed as (
    select
        followed.cluster_id,
        followed.cluster_incarnation,
        followed.topic_name,
        followed.partition_id,
        followed.topic_incarnation,
        followed.leader_epoch,
        min(struct(
            described.captured_at, described.node_id, described.source_path, described.byte_offset
        )) as line
    from followed
    inner join described
        on
            followed.cluster_id = described.cluster_id
            and followed.cluster_incarnation = described.cluster_incarnation
            and followed.topic_name = described.topic_name
            and followed.partition_id = described.partition_id
            and followed.leader_id = described.leader_id
            and followed.elected_at <= described.captured_at
            and coalesce(followed.held_until, timestamp '9999-01-01 00:00:00')
            > described.captured_at
    group by all
),

final as (
    select
        followed.* except (
            evidence,
            evidence_count,
            reported_by,
            last_replicas,
            replica_lists,
            is_isr_derived,
            is_creation_logged
        ),
        followed.previous_leader_epoch is null and not followed.is_creation_logged
            as is_first_in_logs,
        sort_array(array_compact(
            array_append(followed.reported_by, if(confirmed.line is null, null, 'describe'))
        )) as reported_by,
        slice(
            if(
                confirmed.line is null,
                followed.evidence,
                array_append(
                    slice(followed.evidence, 1, 9),
                    named_struct(
                        'node_id', confirmed.line.node_id,
                        'source_path', confirmed.line.source_path,
                        'byte_offset', confirmed.line.byte_offset
                    )
                )
            ),
            1,
            10
        ) as evidence,
        followed.evidence_count + if(confirmed.line is null, 0, 1) as evidence_count
    from followed
    left join confirmed
        using (
            cluster_id,
            cluster_incarnation,
            topic_name,
            partition_id,
            topic_incarnation,
            leader_epoch
        )
)

select * from final
