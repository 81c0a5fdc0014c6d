with epochs as (
    select * from {{ ref('int_partitions__epochs') }}
),

causes as (
    select * from {{ ref('stg_logs__election_causes') }}
),

states as (
    select * from {{ ref('int_partitions__isr_states') }}
),

ended_sessions as (
    select * from {{ ref('int_sessions__ended') }}
    where node_id is not null
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
        min_by(is_version_missing, state_number) as is_version_missing,
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
        epochs.*,
        coalesce(before.is_version_missing, false) as is_version_missing,
        case
            when not coalesce(epochs.previous_leader_epoch = epochs.leader_epoch - 1, false)
                then null
            when epochs.previous_leader_id = -1 then epochs.previous_isr
            when
                before.known_epoch >= epochs.leader_epoch - 1
                and before.changed_at <= epochs.elected_at + interval 30 seconds
                then before.known_members
        end as isr_before
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
),

named as (
    select *
    from causes
    where {{ has_role(['eligible_election', 'unclean_election']) }}
),

-- One row for each record in which a KRaft controller names an election, and each election that it can be of: that of its epoch,
-- or, where it names no epoch, those of its leader.
-- The controller logs it before the new leader does, which may still be starting.
meant as (
    select
        epochs.cluster_id,
        epochs.cluster_incarnation,
        epochs.topic_name,
        epochs.partition_id,
        epochs.topic_incarnation,
        epochs.leader_epoch,
        named.event_type,
        rank() over (
            partition by named.cluster_id, named.source_id, named.byte_offset
            order by abs(unix_millis(epochs.elected_at) - unix_millis(named.logged_at))
        ) as nearness
    from epochs
    inner join named
        on
            epochs.cluster_id = named.cluster_id
            and epochs.topic_id = named.topic_id
            and epochs.partition_id = named.partition_id
            and named.logged_at >= epochs.elected_at - interval 10 seconds
            and named.logged_at <= epochs.elected_at + interval 30 seconds
            and (
                (
                    epochs.leader_epoch = named.leader_epoch
                    and coalesce(epochs.leader_id = named.leader_id, true)
                )
                or (
                    named.leader_epoch is null
                    and epochs.leader_id = named.leader_id
                    and named.logged_at <= epochs.elected_at + interval 2 seconds
                )
            )
),

-- One row per election that a KRaft controller names: of a replica that was not in sync, or that was not but eligible, because it
-- has every acknowledged record (KIP-966). A record is of the nearest election that it can be of.
recorded as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        leader_epoch,
        max({{ has_role('eligible_election') }}) as is_eligible_logged,
        max({{ has_role('unclean_election') }}) as is_unclean_recorded
    from meant
    where nearness = 1
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

-- The controller's record of a request, and the broker's own, of which either may be missing.
shutdowns as (
    select
        cluster_id,
        broker_id,
        logged_at
    from causes
    where {{ has_role(['shutdown_request', 'own_leaders_handover']) }}
),

final as (
    select
        based.* except (isr_before),
        exists(
            select 1
            from preferred
            where
                preferred.cluster_id = based.cluster_id
                and preferred.elected_second = unix_seconds(based.elected_at)
        ) as is_preferred_logged,
        exists(
            select 1
            from causes
            where
                causes.cluster_id = based.cluster_id
                and causes.topic_name = based.topic_name
                and causes.partition_id = based.partition_id
                and {{ has_role('unclean_election', 'causes.event_type') }}
                -- Controllers print it again after each start.
                and causes.leader_epoch is null
                and coalesce(causes.topic_id = based.topic_id, true)
                and causes.logged_at >= based.elected_at - interval 2 seconds
                and causes.logged_at <= based.elected_at + interval 2 seconds
        ) as is_unclean_logged,
        exists(
            select 1
            from shutdowns
            where
                shutdowns.cluster_id = based.cluster_id
                and shutdowns.broker_id = based.previous_leader_id
                and shutdowns.logged_at <= based.elected_at
                -- A broker that led again since had come back.
                and shutdowns.logged_at >= based.previous_elected_at - interval 2 seconds
                and shutdowns.logged_at >= based.elected_at - interval 30 seconds
        ) as is_shutdown_requested,
        exists(
            select 1
            from ended_sessions
            where
                ended_sessions.cluster_id = based.cluster_id
                and ended_sessions.node_id = based.previous_leader_id
                and ended_sessions.expired_at >= based.elected_at - interval 30 seconds
                and ended_sessions.expired_at <= based.elected_at + interval 10 seconds
        ) as is_loss_logged,
        -- The controller logs the move just before it writes; if it does not, the list of replicas changes.
        coalesce(based.was_moving or based.replicas <> based.previous_replicas, false)
        or exists (
            select 1
            from causes
            where
                causes.cluster_id = based.cluster_id
                and causes.topic_name = based.topic_name
                and causes.partition_id = based.partition_id
                and {{ has_role('reassignment', 'causes.event_type') }}
                and causes.logged_at >= based.elected_at - interval 2 seconds
                and causes.logged_at <= based.elected_at + interval 1 second
        ) as is_reassignment_logged,
        -- With eligible leader replicas (KIP-966) who is in no set may have every record; ZooKeeper's controllers have epochs, and
        -- empty a set only if they may elect any replica.
        if(
            based.leader_id >= 0
            and (
                size(based.isr_before) > 0
                or (size(based.isr_before) = 0 and based.controller_epoch is not null)
            ),
            array_contains(based.isr_before, based.leader_id),
            null
        ) as was_in_sync,
        coalesce(recorded.is_unclean_recorded, false) as is_unclean_recorded,
        coalesce(recorded.is_eligible_logged, false) as is_eligible_logged
    from based
    left join recorded
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
