{{ config(materialized='table', file_format='parquet') }}

with told as (
    select * from {{ ref('int_partitions__epochs_emptied') }}
),

described as (
    select * from {{ ref('int_partitions__described') }}
),

followed as (
    select
        *,
        lag(leader_epoch) over (life) as previous_leader_epoch,
        lag(leader_id) over (life) as previous_leader_id,
        lag(isr) over (life) as previous_isr,
        lag(elected_at) over (life) as previous_elected_at,
        lag(last_replicas, 1) over (life) as previous_replicas,
        lag(replica_lists > 1) over (life) as was_moving,
        lead(leader_epoch) over (life) as next_leader_epoch,
        lead(elected_at) over (life) as held_until
    from told
    window life as (
        partition by cluster_id, cluster_incarnation, topic_name, partition_id, topic_life
        order by leader_epoch
    )
),

-- A describe names no epoch: it bears out the one that held when it was taken, by its leader. The first is enough.
confirmed as (
    select
        followed.cluster_id,
        followed.cluster_incarnation,
        followed.topic_name,
        followed.partition_id,
        followed.topic_life,
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
        followed.* except (evidence, evidence_count, witnesses, last_replicas, replica_lists),
        array_sort(array_compact(
            array_append(followed.witnesses, if(confirmed.line is null, null, 'describe'))
        )) as witnesses,
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
        using (cluster_id, cluster_incarnation, topic_name, partition_id, topic_life, leader_epoch)
)

select * from final
