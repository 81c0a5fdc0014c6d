with epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

claims as (
    select * from {{ ref('int_partitions__claims') }}
),

isr_changes as (
    select * from {{ ref('stg_logs__isr_changes') }}
),

told as (
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

-- A replica can come back in sync without a new epoch: the leader of the time says so, or a word of that epoch that names
-- the set anew.
final as (
    select
        epochs.cluster_id,
        epochs.cluster_incarnation,
        epochs.topic_name,
        epochs.partition_id,
        epochs.topic_life,
        epochs.leader_epoch,
        max_by(
            array_contains(told.isr, epochs.leader_id),
            struct(told.logged_at, told.byte_offset)
        ) as is_in_sync_told
    from epochs
    inner join told
        on
            epochs.cluster_id = told.cluster_id
            and epochs.topic_name = told.topic_name
            and epochs.partition_id = told.partition_id
            and epochs.previous_leader_id = told.leader_id
            and epochs.previous_leader_epoch
            = coalesce(told.leader_epoch, epochs.previous_leader_epoch)
            and epochs.previous_elected_at <= told.logged_at
            and epochs.elected_at >= told.logged_at
    where
        epochs.leader_id <> epochs.previous_leader_id
        and told.isr is not null
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
