-- In a gap nobody takes the partition, and each gap begins when its last owner released it.
with ownerships as (
    select * from {{ ref('int_consumers__ownerships') }}
),

gaps as (
    select * from {{ ref('fct_consumer_ownership_gaps') }}
),

taken_inside as (
    select gaps.consumer_ownership_gap_key
    from gaps
    inner join ownerships
        on
            gaps.cluster_id = ownerships.cluster_id
            and gaps.group_id = ownerships.group_id
            and gaps.topic_name = ownerships.topic_name
            and gaps.partition_id = ownerships.partition_id
            and gaps.started_at < ownerships.owned_at
            and coalesce(gaps.ended_at > ownerships.owned_at, true)
),

never_given_up as (
    select gaps.consumer_ownership_gap_key
    from gaps
    left anti join ownerships
        on
            gaps.cluster_id = ownerships.cluster_id
            and gaps.topic_name = ownerships.topic_name
            and gaps.partition_id = ownerships.partition_id
            and gaps.last_owner = ownerships.member_id
            and gaps.started_at = ownerships.released_at
),

final as (
    select * from taken_inside
    union all
    select * from never_given_up
)

select * from final
