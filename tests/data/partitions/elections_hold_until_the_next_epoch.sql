-- An election holds until the next epoch of its partition is elected, which is not before it.
with elections as (
    select * from {{ ref('fct_leader_elections') }}
),

followed as (
    select
        leader_election_key,
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
        leader_election_key,
        elected_at,
        held_until,
        next_elected_at
    from followed
    where
        held_until < elected_at
        or held_until <> next_elected_at
        or (held_until is null and next_elected_at is not null)
        or (held_until is not null and next_elected_at is null)
)

select * from final
