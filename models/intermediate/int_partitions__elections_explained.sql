with epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

causes as (
    select * from {{ ref('stg_logs__election_causes') }}
),

membership_events as (
    select * from {{ ref('stg_logs__membership_events') }}
),

-- By cluster and second, so that an election looks only at what happened around it.
preferred as (
    select
        cluster_id,
        unix_seconds(logged_at) as told_second,
        min(logged_at) as told_at
    from causes
    where
        event_type in ('preferred_election_started')
        or (event_type = 'election_started' and coalesce(election_type, 'PREFERRED') = 'PREFERRED')
    group by cluster_id, unix_seconds(logged_at)
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

preferring as (
    select distinct
        epochs.cluster_id,
        epochs.cluster_incarnation,
        epochs.topic_name,
        epochs.partition_id,
        epochs.topic_life,
        epochs.leader_epoch
    from epochs
    inner join preferred
        on
            epochs.cluster_id = preferred.cluster_id
            and unix_seconds(epochs.elected_at) - preferred.told_second between 0 and 5
),

uncleanly as (
    select distinct
        epochs.cluster_id,
        epochs.cluster_incarnation,
        epochs.topic_name,
        epochs.partition_id,
        epochs.topic_life,
        epochs.leader_epoch
    from epochs
    inner join unclean
        on
            epochs.cluster_id = unclean.cluster_id
            and epochs.topic_name = unclean.topic_name
            and epochs.partition_id = unclean.partition_id
            and epochs.elected_at >= unclean.logged_at - interval 2 seconds
            and epochs.elected_at <= unclean.logged_at + interval 2 seconds
),

leaving as (
    select distinct
        epochs.cluster_id,
        epochs.cluster_incarnation,
        epochs.topic_name,
        epochs.partition_id,
        epochs.topic_life,
        epochs.leader_epoch
    from epochs
    inner join shutdowns
        on
            epochs.cluster_id = shutdowns.cluster_id
            and epochs.previous_leader_id = shutdowns.broker_id
            and epochs.elected_at >= shutdowns.logged_at
            and epochs.elected_at <= shutdowns.logged_at + interval 30 seconds
),

final as (
    select
        epochs.*,
        preferring.leader_epoch is not null as is_preferred_told,
        uncleanly.leader_epoch is not null as is_unclean_told,
        leaving.leader_epoch is not null as is_leaving_told
    from epochs
    left join preferring
        using (cluster_id, cluster_incarnation, topic_name, partition_id, topic_life, leader_epoch)
    left join uncleanly
        using (cluster_id, cluster_incarnation, topic_name, partition_id, topic_life, leader_epoch)
    left join leaving
        using (cluster_id, cluster_incarnation, topic_name, partition_id, topic_life, leader_epoch)
)

select * from final
