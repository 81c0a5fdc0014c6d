with epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

claims as (
    select * from {{ ref('int_partitions__claims') }}
),

isr_changes as (
    select * from {{ ref('stg_logs__isr_changes') }}
),

reported as (
    select
        cluster_id,
        topic_name,
        partition_id,
        cast(null as int) as leader_epoch,
        node_id as leader_id,
        isr,
        logged_at,
        byte_offset
    from isr_changes
    union all
    select
        cluster_id,
        topic_name,
        partition_id,
        leader_epoch,
        leader_id,
        isr,
        logged_at,
        byte_offset
    from claims
),

-- A replica can come back in sync without a new epoch: the leader of that epoch logs it, or a later
-- record of the epoch lists the set again.
final as (
    select
        epochs.cluster_id,
        epochs.cluster_incarnation,
        epochs.topic_name,
        epochs.partition_id,
        epochs.topic_incarnation,
        epochs.leader_epoch,
        max_by(
            array_contains(reported.isr, epochs.leader_id),
            struct(reported.logged_at, reported.byte_offset)
        ) as is_in_sync_logged
    from epochs
    inner join reported
        on
            epochs.cluster_id = reported.cluster_id
            and epochs.topic_name = reported.topic_name
            and epochs.partition_id = reported.partition_id
            and epochs.previous_leader_id = reported.leader_id
            and epochs.previous_leader_epoch
            = coalesce(reported.leader_epoch, epochs.previous_leader_epoch)
            and epochs.previous_elected_at <= reported.logged_at
            and epochs.elected_at >= reported.logged_at
    where
        epochs.leader_id <> epochs.previous_leader_id
        and reported.isr is not null
        and not array_contains(epochs.previous_isr, epochs.leader_id)
    group by
        epochs.cluster_id,
        epochs.cluster_incarnation,
        epochs.topic_name,
        epochs.partition_id,
        epochs.topic_incarnation,
        epochs.leader_epoch
)

select * from final
