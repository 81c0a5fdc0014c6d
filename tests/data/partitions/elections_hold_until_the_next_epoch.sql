-- An election holds until the next epoch of its partition is elected, which is not before it; the last one to the end of the cluster's
-- incarnation, if there is one after it.
with elections as (
    select * from {{ ref('fct_leader_elections') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

followed as (
    select
        leader_election_key,
        cluster_id,
        cluster_incarnation,
        elected_at,
        held_until,
        lead(elected_at) over (
            partition by
                cluster_id, cluster_incarnation, topic_name, topic_incarnation, partition_id
            order by leader_epoch
        ) as next_elected_at
    from elections
),

final as (
    select
        followed.leader_election_key,
        followed.elected_at,
        followed.held_until,
        followed.next_elected_at
    from followed
    left join incarnations
        on
            followed.cluster_id = incarnations.cluster_id
            and followed.cluster_incarnation = incarnations.cluster_incarnation
    where
        followed.held_until < followed.elected_at
        or followed.held_until <> followed.next_elected_at
        or (followed.held_until is null and followed.next_elected_at is not null)
        or (
            followed.held_until is not null
            and followed.next_elected_at is null
            and not followed.held_until <=> incarnations.valid_to
        )
)

select * from final
