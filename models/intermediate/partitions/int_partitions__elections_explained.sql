with eligible_elections as (
    select *
    from {{ ref('stg_logs__election_causes') }}
    where {{ has_role('eligible_election') }}
),

epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

causes as (
    select * from {{ ref('stg_logs__election_causes') }}
),

states as (
    select * from {{ ref('int_partitions__isr_states') }}
),

-- The last state before the first of each leader epoch.
before as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        leader_epoch,
        min_by(changed_at, state_number) as changed_at,
        min_by(previous_leader_epoch, state_number) as known_epoch,
        -- What a leader without versions logs may have been refused.
        min_by(
            array_union(previous_members, coalesce(previous_version_members, array())), state_number
        ) as known_members
    from states
    where leader_epoch is not null
    group by
        cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation, leader_epoch
),

-- Without a leader the set does not change; it may be empty, and then nobody was in sync for certain.
based as (
    select
        epochs.cluster_id,
        epochs.cluster_incarnation,
        epochs.topic_name,
        epochs.partition_id,
        epochs.topic_incarnation,
        epochs.leader_epoch,
        epochs.leader_id,
        if(
            epochs.previous_leader_id = -1,
            epochs.previous_isr,
            if(
                before.known_epoch >= epochs.leader_epoch - 1
                and before.changed_at <= epochs.elected_at + interval 30 seconds,
                before.known_members,
                null
            )
        ) as isr_before
    from epochs
    left join before
        using (
            cluster_id,
            cluster_incarnation,
            topic_name,
            partition_id,
            topic_incarnation,
            leader_epoch
        )
    where epochs.leader_id >= 0 and epochs.previous_leader_epoch = epochs.leader_epoch - 1
),

in_sync as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        leader_epoch,
        array_contains(isr_before, leader_id) as was_in_sync
    from based
    where size(isr_before) > 0
),

-- One row per election of a replica that was not in sync but eligible: it has every acknowledged
-- record (KIP-966).
-- The controller logs it before the new leader does, which may still be starting.
eligible as (
    select
        epochs.cluster_id,
        epochs.cluster_incarnation,
        epochs.topic_name,
        epochs.partition_id,
        epochs.topic_incarnation,
        epochs.leader_epoch,
        count(*) > 0 as is_eligible_logged
    from epochs
    inner join eligible_elections
        on
            epochs.cluster_id = eligible_elections.cluster_id
            and epochs.topic_id = eligible_elections.topic_id
            and epochs.partition_id = eligible_elections.partition_id
            and epochs.leader_id = eligible_elections.leader_id
            and eligible_elections.logged_at >= epochs.elected_at - interval 10 seconds
            and eligible_elections.logged_at <= epochs.elected_at + interval 2 seconds
    group by all
),

-- The seconds in which an election can be its consequence.
preferred as (
    select distinct
        cluster_id,
        explode(sequence(unix_seconds(logged_at), unix_seconds(logged_at) + 5)) as elected_second
    from causes
    where
        {{ has_role('preferred_election_start') }}
        or ({{ has_role('election_start') }} and coalesce(election_type, 'PREFERRED') = 'PREFERRED')
),

-- A KRaft controller logs that it elects this leader unclean before the leader does.
unclean as (
    select
        epochs.cluster_id,
        epochs.cluster_incarnation,
        epochs.topic_name,
        epochs.partition_id,
        epochs.topic_incarnation,
        epochs.leader_epoch,
        count(*) > 0 as is_unclean_recorded
    from epochs
    inner join causes
        on
            epochs.cluster_id = causes.cluster_id
            and epochs.topic_id = causes.topic_id
            and epochs.partition_id = causes.partition_id
            and {{ has_role('unclean_election', 'causes.event_type') }}
            and causes.logged_at >= epochs.elected_at - interval 10 seconds
            and causes.logged_at <= epochs.elected_at + interval 30 seconds
            and (
                epochs.leader_epoch = causes.leader_epoch
                or (
                    epochs.leader_id = causes.leader_id
                    and causes.logged_at <= epochs.elected_at + interval 2 seconds
                )
            )
    group by all
),

shutdowns as (
    select
        cluster_id,
        broker_id,
        logged_at
    from causes
    where {{ has_role('shutdown_request') }}
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
        ) as is_preferred_logged,
        exists(
            select 1
            from causes
            where
                causes.cluster_id = epochs.cluster_id
                and causes.topic_name = epochs.topic_name
                and causes.partition_id = epochs.partition_id
                and {{ has_role('unclean_election', 'causes.event_type') }}
                -- Controllers print it again after each start.
                and causes.leader_epoch is null
                and coalesce(causes.topic_id = epochs.topic_id, true)
                and causes.logged_at >= epochs.elected_at - interval 2 seconds
                and causes.logged_at <= epochs.elected_at + interval 2 seconds
        ) as is_unclean_logged,
        exists(
            select 1
            from shutdowns
            where
                shutdowns.cluster_id = epochs.cluster_id
                and shutdowns.broker_id = epochs.previous_leader_id
                and shutdowns.logged_at <= epochs.elected_at
                -- A broker that led again since had come back.
                and shutdowns.logged_at >= epochs.previous_elected_at - interval 2 seconds
                and shutdowns.logged_at >= epochs.elected_at - interval 30 seconds
        ) as is_shutdown_requested,
        -- The controller logs the move just before it writes; if it does not, the list of replicas changes.
        coalesce(epochs.was_moving or epochs.replicas <> epochs.previous_replicas, false)
        or exists (
            select 1
            from causes
            where
                causes.cluster_id = epochs.cluster_id
                and causes.topic_name = epochs.topic_name
                and causes.partition_id = epochs.partition_id
                and {{ has_role('reassignment', 'causes.event_type') }}
                and causes.logged_at >= epochs.elected_at - interval 2 seconds
                and causes.logged_at <= epochs.elected_at + interval 1 second
        ) as is_reassignment_logged,
        in_sync.was_in_sync,
        coalesce(unclean.is_unclean_recorded, false) as is_unclean_recorded,
        coalesce(eligible.is_eligible_logged, false) as is_eligible_logged
    from epochs
    left join in_sync
        using (
            cluster_id,
            cluster_incarnation,
            topic_name,
            partition_id,
            topic_incarnation,
            leader_epoch
        )
    left join unclean
        using (
            cluster_id,
            cluster_incarnation,
            topic_name,
            partition_id,
            topic_incarnation,
            leader_epoch
        )
    left join eligible
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
