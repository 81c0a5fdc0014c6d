with claims as (
    select * from {{ ref('int_partitions__claims') }}
),

taken as (
    select * from {{ ref('int_brokers__leadership_losses') }}
),

terms as (
    select * from {{ ref('int_controllers__terms') }}
    where epoch_kind = 'controller'
),

deletions as (
    select
        cluster_id,
        topic_id,
        min(logged_at) as deleted_at
    from {{ ref('stg_logs__topic_events') }}
    where {{ has_role('topic_deletion') }} and topic_id is not null
    group by cluster_id, topic_id
),

-- The state of each partition as its last line has it.
reported as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        leader_epoch,
        max_by(leader_id, struct(logged_at, source_path, byte_offset))
        filter (where leader_id is not null) as leader_id,
        max_by(isr, struct(logged_at, source_path, byte_offset))
        filter (where isr is not null) as isr,
        max_by(replicas, struct(logged_at, source_path, byte_offset))
        filter (where replicas is not null) as replicas,
        max(topic_id) as topic_id,
        min(logged_at) as first_said_at,
        max(logged_at) as last_said_at
    from claims
    group by
        cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation, leader_epoch
),

followed as (
    select
        *,
        lead(leader_epoch) over (life) as next_leader_epoch,
        lead(leader_id) over (life) as next_leader_id,
        lead(first_said_at) over (life) as next_said_at,
        last_value(nullif(leader_id, -1), true) over (so_far) as last_leader_id,
        last_value(topic_id, true) over (so_far) as known_topic_id,
        last_value(replicas, true) over (so_far) as known_replicas
    from reported
    window
        life as (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by leader_epoch
        ),
        so_far as (
            partition by
                cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
            order by leader_epoch
            rows between unbounded preceding and current row
        )
),

-- An epoch without a leader is logged late, or never: brokers without a replica do not log it, and those with one are down
-- or frozen. It begins when the previous leader loses its leadership. If all replicas in sync go one after the other, each leads for a
-- moment, and it begins when the last of them goes. A second replica may have come into the set unseen: then it leads for a moment.
leaderless as (
    select
        *,
        coalesce(next_leader_id = -1 and next_leader_epoch > leader_epoch + 1, false)
            as is_passed_on
    from followed
    where
        next_leader_id = -1 and next_leader_epoch <= leader_epoch + greatest(1, size(isr))
        or size(isr) = 1
        and isr[0] = leader_id
        and coalesce(next_leader_epoch, leader_epoch + 2) = leader_epoch + 2
),

awaited as (
    select
        *,
        explode(
            case
                when not is_passed_on then array(last_leader_id)
                when size(isr) = 1 then array_union(isr, coalesce(known_replicas, array()))
                else isr
            end
        ) as broker_id
    from leaderless
),

-- One row per epoch without a leader and broker that lost its leaderships before it. A topic that is gone has no epochs.
gone as (
    select
        awaited.cluster_id,
        awaited.cluster_incarnation,
        awaited.topic_name,
        awaited.partition_id,
        awaited.topic_incarnation,
        if(awaited.is_passed_on, awaited.next_leader_epoch, awaited.leader_epoch + 1)
            as leader_epoch,
        awaited.known_topic_id as topic_id,
        awaited.isr as last_isr,
        awaited.is_passed_on,
        awaited.broker_id,
        min(
            struct(taken.lost_at, taken.source_path, taken.byte_offset, taken.node_id)
        ) as first_line,
        max(
            struct(taken.lost_at, taken.source_path, taken.byte_offset, taken.node_id)
        ) as last_line
    from awaited
    inner join taken
        on
            awaited.cluster_id = taken.cluster_id
            and awaited.cluster_incarnation = taken.cluster_incarnation
            and awaited.broker_id = taken.broker_id
            and awaited.first_said_at < taken.lost_at
            and coalesce(
                awaited.next_said_at > taken.lost_at,
                -- Records about the previous state may be logged late.
                awaited.last_said_at - interval 2 seconds <= taken.lost_at
            )
    left join deletions
        on
            awaited.cluster_id = deletions.cluster_id
            and awaited.known_topic_id = deletions.topic_id
    where deletions.deleted_at is null or deletions.deleted_at > taken.lost_at
    group by all
),

-- One row per epoch without a leader that is derived. Of several replicas in sync that go together nobody knows which left last.
lost as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        leader_epoch,
        topic_id,
        if(size(last_isr) = 1 and not is_passed_on, last_isr, null) as isr,
        if(
            is_passed_on,
            -- The only replica that is known to have been in sync led first.
            max(if(last_isr = array(broker_id), first_line, last_line)),
            min(first_line)
        ) as line
    from gone
    group by
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        leader_epoch,
        topic_id,
        last_isr,
        is_passed_on
    having not is_passed_on or count_if(array_contains(last_isr, broker_id)) = size(last_isr)
),

derived as (
    select
        * except (line),
        line.lost_at as logged_at,
        line.node_id,
        line.source_path,
        line.byte_offset
    from lost
),

reported_and_derived as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        topic_id,
        leader_epoch,
        leader_id,
        partition_epoch,
        isr,
        replicas,
        controller_id,
        controller_epoch,
        start_offset,
        state_before,
        event_type,
        claim_kind,
        reported_by,
        node_id,
        logged_at,
        source_path,
        byte_offset
    from claims
    union all
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        topic_id,
        leader_epoch,
        -1 as leader_id,
        cast(null as int) as partition_epoch,
        isr,
        cast(null as array<int>) as replicas,
        cast(null as int) as controller_id,
        cast(null as int) as controller_epoch,
        cast(null as bigint) as start_offset,
        cast(null as string) as state_before,
        'leader_loss_derived' as event_type,
        'derived' as claim_kind,
        cast(null as string) as reported_by,
        node_id,
        logged_at,
        source_path,
        byte_offset
    from derived
),

-- One row per record that mentions a leader epoch, and per derived epoch.
-- A znode may be read long after the election, when its in-sync set has changed: it ranks below the
-- records of the nodes involved. At the start of its term a controller sends the state of all partitions, however old it is.
ranked as (
    select
        reported_and_derived.*,
        coalesce(
            reported_and_derived.claim_kind in ('request', 'metadata')
            and reported_and_derived.reported_by = 'controller_log'
            and reported_and_derived.logged_at < terms.known_since_at + interval 1 minute,
            false
        ) as is_opening,
        case
            when
                reported_and_derived.claim_kind = 'controller'
                or reported_and_derived.reported_by = 'metadata_dump'
                then 1
            when reported_and_derived.claim_kind = 'leader' then 2
            when reported_and_derived.claim_kind = 'follower' then 3
            when reported_and_derived.claim_kind = 'request' then 4
            when reported_and_derived.claim_kind = 'derived' then 6
            when reported_and_derived.claim_kind = 'successor' then 7
            else 5
        end as claim_rank
    from reported_and_derived
    left join terms using (cluster_id, cluster_incarnation, controller_epoch)
),

-- If records name different leaders, the latest controller's counts: an older one may still send
-- orders after its term is over. The set is that of the lowest version: later ones have changed it.
grouped as (
    select
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_incarnation,
        leader_epoch,
        max_by(
            leader_id,
            struct(coalesce(controller_epoch, -1), -claim_rank, logged_at, source_path, byte_offset)
        ) filter (where leader_id is not null) as leader_id,
        min(logged_at) as elected_at,
        -- The controller and the new leader log an election when it is made. Who skips a state had it before.
        min(logged_at) filter (
            where
            not is_opening
            and (
                claim_kind in ('controller', 'derived')
                or (
                    reported_by in ('controller_log', 'metadata_dump')
                    and claim_kind <> 'successor'
                )
                or (
                    node_id = leader_id
                    and claim_kind <> 'successor'
                    and not {{ has_role('leadership_skip') }}
                )
            )
        ) as witnessed_at,
        min(partition_epoch) as partition_epoch,
        min_by(
            isr,
            struct(
                partition_epoch is null,
                partition_epoch,
                claim_rank,
                logged_at,
                source_path,
                byte_offset
            )
        ) filter (where isr is not null) as isr,
        count_if(isr is not null and claim_kind <> 'derived') = 0 as is_isr_derived,
        collect_set(struct(leader_id, controller_epoch)) as orders,
        min_by(controller_id, struct(controller_epoch, logged_at, source_path, byte_offset))
        filter (where controller_id is not null and controller_epoch is not null) as controller_id,
        min_by(start_offset, struct(logged_at, source_path, byte_offset))
        filter (where claim_kind = 'leader') as start_offset,
        min_by(replicas, struct(claim_rank, logged_at, source_path, byte_offset))
        filter (where replicas is not null) as replicas,
        max_by(replicas, struct(logged_at, -claim_rank, source_path, byte_offset))
        filter (where replicas is not null) as last_replicas,
        size(collect_set(replicas)) as replica_lists,
        max(topic_id) as topic_id,
        max(
            case
                when
                    state_before in ('NewPartition', 'New') or {{ has_role('partition_creation') }}
                    then 1
                else 0
            end
        )
        = 1 as is_creation,
        cast(size(collect_set(leader_id)) as bigint) as leaders_named,
        min(claim_rank) as best_rank,
        sort_array(collect_set(reported_by)) as reported_by,
        {{ evidence() }} as evidence,
        count(*) as evidence_count
    from ranked
    group by
        cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation, leader_epoch
),

-- Later controllers send the same state again: the first that names this leader has elected it.
elected as (
    select
        * except (orders, elected_at, witnessed_at),
        coalesce(witnessed_at > elected_at + interval 5 seconds, true) as is_dated_late,
        -- The record of the next epoch may be printed again long after it.
        if(
            best_rank = 7,
            least(elected_at, lead(elected_at) over (
                partition by
                    cluster_id, cluster_incarnation, topic_name, partition_id, topic_incarnation
                order by leader_epoch
            )),
            elected_at
        ) as elected_at,
        array_min(transform(
            filter(orders, named -> named.leader_id = leader_id), named -> named.controller_epoch
        )) as controller_epoch
    from grouped
),

final as (
    select
        elected.* except (controller_id),
        coalesce(
            terms.controller_id, if(elected.controller_epoch is null, null, elected.controller_id)
        ) as controller_id
    from elected
    left join terms using (cluster_id, cluster_incarnation, controller_epoch)
)

select * from final
