with ownerships as (
    select * from {{ ref('int_consumers__ownerships') }}
),

rebalances as (
    select * from {{ ref('int_consumers__rebalances') }}
),

lives as (
    select * from {{ ref('int_topics__lives') }}
),

-- An owner without a known end may still own the partition, so the time after it is not a gap.
ordered as (
    select
        *,
        max(
            struct(coalesce(released_at, timestamp '9999-01-01 00:00:00') as released_at, member_id)
        )
            over (
                partition by cluster_id, cluster_incarnation, group_id, topic_name, partition_id
                order by owned_at, member_id
                rows between unbounded preceding and current row
            ) as last_release,
        lead(struct(owned_at, member_id, owned_line)) over (
            partition by cluster_id, cluster_incarnation, group_id, topic_name, partition_id
            order by owned_at, member_id
        ) as next_ownership
    from ownerships
),

unowned as (
    select *
    from ordered
    where
        released_at = last_release.released_at
        and member_id = last_release.member_id
        and coalesce(
            unix_millis(next_ownership.owned_at) - unix_millis(released_at)
            > {{ var('ownership_gap_after_ms') }},
            true
        )
),

-- A consumer may fail to take its share shortly before the others release what they held in its
-- place.
failures as (
    select
        unowned.*,
        bool_or(rebalances.is_failed) as has_failure,
        bool_or(
            rebalances.reason_kind = 'session_expired'
            and rebalances.member_id = unowned.member_id
            and rebalances.rebalance_number = unowned.released_in
        ) as has_expiry
    from unowned
    left join rebalances
        on
            unowned.cluster_id = rebalances.cluster_id
            and unowned.cluster_incarnation = rebalances.cluster_incarnation
            and unowned.group_id = rebalances.group_id
            and coalesce(rebalances.failed_at, rebalances.started_at)
            between unowned.released_at - interval 1 minute
            and unowned.released_at + interval 1 minute
    group by all
),

-- One row per stretch of time in which no consumer of a group owned a partition that one had
-- owned.
gaps as (
    select
        cluster_id,
        cluster_incarnation,
        group_id,
        topic_name,
        partition_id,
        member_id as last_owner,
        next_ownership.member_id as next_owner,
        released_at as started_at,
        coalesce(others_at < next_ownership.owned_at, others_at is not null)
            as is_owned_by_another,
        next_ownership.owned_at as ended_at,
        case
            when {{ has_role('old_consumer_stop', 'released_by') }} then 'consumer_stopped'
            when has_failure then 'rebalance_failed'
            when has_expiry then 'session_expired'
            else 'rebalance'
        end as cause_kind,
        filter(
            array(owned_line, released_line, next_ownership.owned_line),
            line -> line is not null
        ) as evidence
    from failures
),

-- A rebalance is for all consumers of a group. If others divide the partitions twice and the last owner logs nothing of the first time, its log
-- may lack that it owned the partition again.
divided as (
    select
        gaps.*,
        collect_list(
            if(rebalances.member_id <> gaps.last_owner, rebalances.started_at, null)
        ) as others_at,
        coalesce(
            max(if(rebalances.member_id = gaps.last_owner, rebalances.started_at, null)),
            gaps.started_at
        ) as last_owner_at,
        max(if(rebalances.member_id = gaps.next_owner, rebalances.started_at, null)) as taken_at
    from gaps
    left join rebalances
        on
            gaps.cause_kind <> 'consumer_stopped'
            and gaps.last_owner <> gaps.next_owner
            and gaps.cluster_id = rebalances.cluster_id
            and gaps.cluster_incarnation = rebalances.cluster_incarnation
            and gaps.group_id = rebalances.group_id
            and rebalances.started_at between gaps.started_at - interval 1 minute and gaps.ended_at
    group by all
),

judged as (
    select
        *,
        coalesce(
            exists(
                others_at,
                other -> other > last_owner_at + interval 1 second
                and other < taken_at - interval 1 second
            ),
            false
        ) as is_last_owner_absent
    from divided
),

placed as (
    {{ with_topic_incarnation('judged', at='started_at') }}
),

final as (
    select
        {{
            row_key([
                'cluster_id', 'cluster_incarnation', 'group_id', 'topic_name', 'partition_id', 'started_at'
            ])
        }} as consumer_ownership_gap_key,
        {{ cluster_key() }} as cluster_key,
        {{ topic_key() }} as topic_key,
        {{ partition_key() }} as partition_key,
        {{ group_key() }} as group_key,
        cluster_id,
        cluster_incarnation,
        group_id,
        topic_name,
        topic_incarnation,
        partition_id,
        last_owner,
        next_owner,
        started_at,
        ended_at,
        cast(started_at as date) as started_date,
        unix_millis(ended_at) - unix_millis(started_at) as duration_ms,
        cause_kind,
        evidence,
        cast(size(evidence) as bigint) as evidence_count,
        {{
            warnings({
                'no later owner in the logs': 'ended_at is null',
                'the same consumer owned it before and after: one whose log is missing may have meanwhile':
                    'last_owner = next_owner',
                'longer than a rebalance takes that does not fail: the log of an owner may be missing':
                    "cause_kind = 'rebalance' and ended_at > started_at + interval 10 minutes",
                'a consumer found another owner meanwhile: the log of an owner is missing':
                    'is_owned_by_another',
                'the last owner logged nothing of a rebalance of the others: it may have owned it again':
                    'is_last_owner_absent',
                'group derived from the consumer id': 'true'
            })
        }} as warnings
    from placed
)

select * from final
