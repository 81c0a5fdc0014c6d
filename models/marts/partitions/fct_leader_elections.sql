-- Lines up to a minute away explain an election.
{{ config(meta={'at': 'elected_at', 'ahead': {'minutes': 1}}) }}

with explained as (
    select * from {{ ref('int_partitions__elections_explained') }}
    where {{ since('elected_at') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

-- Behind a missing epoch nobody knows who led before.
followed as (
    select
        * except (previous_leader_id),
        if(previous_leader_epoch = leader_epoch - 1, previous_leader_id, null) as previous_leader_id
    from explained
),

judged as (
    select
        *,
        leader_id = -1 as is_leaderless,
        -- A new leader that was not in sync before. From 1.1 to 3.9 ZooKeeper mode has no line of its own for it. While a
        -- partition recovers from an unclean election, KRaft and brokers mark every change of it.
        leader_id >= 0
        and not coalesce(is_eligible_logged, false)
        and (
            coalesce(is_unclean_recorded, false)
            or (
                not coalesce(was_in_sync, false)
                -- A move may end with a set of new replicas alone.
                and not coalesce(is_reassignment_logged and previous_leader_id >= 0, false)
                and (
                    is_unclean_logged
                    or (
                        was_in_sync is not null
                        and leader_id <> coalesce(previous_leader_id, -1)
                        and array_contains(isr, leader_id)
                        and size(isr) = 1
                    )
                )
            )
        ) as is_unclean
    from followed
),

kinds as (
    select
        *,
        case
            when previous_leader_epoch is null and (leader_epoch = 0 or is_creation) then 'initial'
            when is_unclean then 'unclean'
            when leader_id = -1 and is_shutdown_requested and previous_leader_id is not null
                then 'controlled_shutdown'
            -- There was no leader to lose.
            when leader_id = -1 and previous_leader_id = -1 then 'isr_only'
            when leader_id = -1 then 'leader_lost'
            -- The loss is the epoch without a leader, which this one ends.
            when previous_leader_id = -1 then 'leader_regained'
            when is_reassignment_logged then 'reassignment'
            when leader_id = previous_leader_id then 'isr_only'
            when is_shutdown_requested and previous_leader_id is not null then 'controlled_shutdown'
            when is_preferred_logged and coalesce(known_replicas[0] = leader_id, true)
                then 'preferred'
            when
                size(isr) > 0
                and previous_leader_id is not null
                and not array_contains(isr, previous_leader_id)
                then 'leader_lost'
            when known_replicas[0] = leader_id and array_contains(isr, previous_leader_id)
                then 'preferred'
            else 'unknown'
        end as election_kind
    from judged
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'topic_name', 'partition_id', 'topic_incarnation', 'leader_epoch'
            ])
        }} as leader_election_key,
        {{ cluster_key() }} as cluster_key,
        {{ node_key('leader_id') }} as node_key,
        {{ topic_key() }} as topic_key,
        {{ partition_key() }} as partition_key,
        cluster_id,
        cluster_incarnation,
        topic_name,
        topic_incarnation,
        partition_id,
        leader_epoch,
        leader_id,
        previous_leader_id,
        isr,
        controller_id,
        controller_epoch,
        elected_at,
        -- With all storage formatted anew, whoever led before leads no longer.
        least(held_until, nullif(incarnations.valid_to, timestamp '9999-01-01 00:00:00'))
            as held_until,
        cast(elected_at as date) as elected_date,
        start_offset,
        election_kind,
        is_unclean,
        is_leaderless,
        reported_by,
        evidence,
        evidence_count,
        {{
            warnings({
                'no record names the leader': 'leader_id is null',
                'records name different leaders': 'leaders_named > 1',
                'derived: the leader was the only in-sync replica when it lost leadership': 'best_rank = 6',
                'the next election names it: it was earlier than elected_at': 'best_rank = 7',
                'derived: without a leader nobody is in sync': 'is_isr_emptied',
                'an earlier epoch is missing': 'previous_leader_epoch < leader_epoch - 1',
                'the next epoch is missing: it may have ended before held_until': 'next_leader_epoch > leader_epoch + 1',
                'first in the logs: the election may be earlier than elected_at': 'is_first_in_logs',
                'neither its leader nor a controller reports it in time: it may be earlier than elected_at':
                    'is_dated_late and best_rank < 7 and not is_first_in_logs',
                'neither the next leader nor a controller reports the next election in time: it may have ended before held_until':
                    'coalesce(is_next_dated_late, false)',
                'no record has the next epoch: held_until is the first known time at which its leader lost its leaderships': 'is_next_derived',
                'nothing shows that the previous leader was lost: it may have asked to shut down':
                    "election_kind = 'leader_lost' and previous_leader_id >= 0 and best_rank > 1 and not is_loss_logged",
                'concluded from the in-sync set before it: no record says that it was unclean':
                    'is_unclean and not is_unclean_logged and not is_unclean_recorded',
                'a version of the state before it is missing: the in-sync set may be a later one': 'is_version_missing',
                'derived: nobody is in sync if the cluster keeps eligible leader replicas, and no record says whether it does': 'is_isr_doubtful',
                'the next incarnation of the cluster may have begun before it: its first controllers are not in the logs': 'coalesce(held_until, elected_at) > incarnations.doubtful_from'
            })
        }} as warnings
    from kinds
    left join incarnations using (cluster_id, cluster_incarnation)
)

select * from final
