with epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

with_gaps as (
    select
        cluster_id,
        cluster_incarnation,
        'leader' as epoch_kind,
        'skipped' as gap_kind,
        topic_name,
        partition_id,
        topic_incarnation,
        cast(null as int) as node_id,
        previous_leader_epoch + 1 as expected_epoch,
        leader_epoch as found_epoch,
        leader_epoch - previous_leader_epoch - 1 as missing_epochs,
        lag(elected_at) over (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by leader_epoch
        ) as opened_at,
        elected_at as closed_at,
        evidence,
        evidence_count
    from epochs
),

final as (
    select * from with_gaps where missing_epochs > 0
)

select * from final
