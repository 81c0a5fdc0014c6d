with epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

isr_changes as (
    select * from {{ ref('stg_logs__isr_changes') }}
),

-- A replica can come back in sync without a new epoch: the leader of the time says so.
final as (
    select
        epochs.cluster_id,
        epochs.cluster_incarnation,
        epochs.topic_name,
        epochs.partition_id,
        epochs.topic_life,
        epochs.leader_epoch,
        max_by(
            array_contains(isr_changes.isr, epochs.leader_id),
            struct(isr_changes.logged_at, isr_changes.byte_offset)
        ) as is_in_sync_told
    from epochs
    inner join isr_changes
        on
            epochs.cluster_id = isr_changes.cluster_id
            and epochs.topic_name = isr_changes.topic_name
            and epochs.partition_id = isr_changes.partition_id
            and epochs.previous_leader_id = isr_changes.node_id
            and epochs.previous_elected_at <= isr_changes.logged_at
            and epochs.elected_at >= isr_changes.logged_at
    where
        epochs.leader_id <> epochs.previous_leader_id
        and isr_changes.isr is not null
        and not array_contains(epochs.previous_isr, epochs.leader_id)
    group by
        epochs.cluster_id,
        epochs.cluster_incarnation,
        epochs.topic_name,
        epochs.partition_id,
        epochs.topic_life,
        epochs.leader_epoch
)

select * from final
