with events as (
    select * from {{ ref('int_consumers__rebalance_attempts') }}
),

grouped as (
    select
        cluster_id,
        cluster_incarnation,
        {{ group_of_member('member_id') }} as group_id,
        member_id,
        rebalance_number,
        min(logged_at) filter (where {{ has_role('old_consumer_rebalance_start') }}) as started_at,
        max(logged_at) filter (where {{ has_role('old_consumer_rebalance_end') }}) as ended_at,
        max(logged_at) filter (
            where {{ has_role('old_consumer_rebalance_failure') }} or is_given_up
        ) as failed_at,
        max(attempt) filter (where {{ has_role('old_consumer_rebalance_start') }}) as retries,
        count(*) filter (where {{ has_role('old_consumer_wait') }}) as partitions_awaited,
        count(distinct topic_name, partition_id) filter (
            where {{ has_role('old_consumer_ownership') }}
        ) as partitions_owned,
        max(if(is_given_up, exception_message, null)) as given_up_because,
        bool_or(is_given_up) as is_given_up,
        min(session_expired_at) filter (
            where {{ has_role('old_consumer_rebalance_start') }}
        ) as session_expired_at,
        {{ evidence('is_of_rebalance') }} as evidence,
        count_if(is_of_rebalance) as evidence_count
    from events
    where rebalance_number > 0
    group by cluster_id, cluster_incarnation, member_id, rebalance_number
),

compared as (
    select
        *,
        lag(started_at) over (
            partition by cluster_id, cluster_incarnation, member_id order by rebalance_number
        ) as previous_started_at,
        -- The consumer logs each failed attempt before it tries again or gives up.
        coalesce(is_given_up, false) or coalesce(failed_at >= ended_at, false) as is_failed
    from grouped
),

final as (
    select
        *,
        case when not is_failed then ended_at end as completed_at,
        case
            when session_expired_at > coalesce(previous_started_at, timestamp '1970-01-01 00:00:00')
                then 'session_expired'
            else 'unknown'
        end as reason_kind
    from compared
)

select * from final
