with epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

causes as (
    select * from {{ ref('stg_logs__election_causes') }}
),

membership_events as (
    select * from {{ ref('stg_logs__membership_events') }}
),

isr_changes as (
    select * from {{ ref('stg_logs__isr_changes') }}
),

-- A replica can come back in sync without a new epoch: the leader of the time says so.
in_sync as (
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
        and not array_contains(epochs.previous_isr, epochs.leader_id)
    group by
        epochs.cluster_id,
        epochs.cluster_incarnation,
        epochs.topic_name,
        epochs.partition_id,
        epochs.topic_life,
        epochs.leader_epoch
),

-- The seconds in which an election can be its consequence.
preferred as (
    select distinct
        cluster_id,
        explode(sequence(unix_seconds(logged_at), unix_seconds(logged_at) + 5)) as elected_second
    from causes
    where
        event_type in ('preferred_election_started')
        or (event_type = 'election_started' and coalesce(election_type, 'PREFERRED') = 'PREFERRED')
),

unclean as (
    select
        cluster_id,
        topic_name,
        partition_id,
        logged_at
    from causes
    where
        event_type in (
            'unclean_leader_elected', 'unclean_partition_changed', 'partition_recovering_noticed'
        )
),

shutdowns as (
    select
        cluster_id,
        broker_id,
        logged_at
    from membership_events
    where event_type in ('broker_shutdown_requested', 'broker_shutdown_asked')
),

final as (
    select
        epochs.*,
        exists(
            select 1
            from preferred
            where
                preferred.cluster_id = epochs.cluster_id
                and preferred.elected_second = unix_seconds(epochs.elected_at)
        ) as is_preferred_told,
        exists(
            select 1
            from unclean
            where
                unclean.cluster_id = epochs.cluster_id
                and unclean.topic_name = epochs.topic_name
                and unclean.partition_id = epochs.partition_id
                and unclean.logged_at >= epochs.elected_at - interval 2 seconds
                and unclean.logged_at <= epochs.elected_at + interval 2 seconds
        ) as is_unclean_told,
        exists(
            select 1
            from shutdowns
            where
                shutdowns.cluster_id = epochs.cluster_id
                and shutdowns.broker_id = epochs.previous_leader_id
                and shutdowns.logged_at <= epochs.elected_at
                and shutdowns.logged_at >= epochs.elected_at - interval 30 seconds
        ) as is_leaving_told,
        coalesce(in_sync.is_in_sync_told, false) as is_in_sync_told
    from epochs
    left join in_sync
        using (cluster_id, cluster_incarnation, topic_name, partition_id, topic_life, leader_epoch)
)

select * from final
