with rebalances as (
    select * from {{ ref('int_groups__rebalances_explained') }}
),

ended as (
    select
        *,
        -- If no record of the group shows an assignment, the log lacks assignments, not the group.
        case
            when not coalesce(is_not_stored, false)
                then coalesce(
                    assigned_at,
                    emptied_at,
                    synced_at,
                    if(has_assignments, null, stabilised_at)
                )
        end as completed_at,
        coalesce(
            unix_millis(coordinator_last_seen_at) - unix_millis(last_started_at)
            > {{ var('rebalance_stuck_after_ms') }},
            false
        ) as has_coordinator_gone_on
    from rebalances
),

judged as (
    select
        *,
        case
            when completed_at is not null and assigned_at is null and emptied_at is not null
                then 'emptied'
            when completed_at is not null then 'completed'
            when is_not_stored or (stabilised_at is not null and next_at is not null) then 'failed'
            when is_epoch and next_at is not null then 'superseded'
            when unloaded_at >= last_started_at then 'moved'
            when next_at is not null then 'unknown'
            when joined_at is not null and started_at is null then 'unknown'
            when has_coordinator_gone_on and not is_epoch then 'stuck'
            else 'open'
        end as outcome
    from ended
),

final as (
    select
        *,
        outcome = 'stuck'
        or coalesce(
            not is_epoch
            and unix_millis(completed_at) - unix_millis(started_at)
            > {{ var('rebalance_stuck_after_ms') }},
            false
        ) as is_stuck,
        case
            when
                generation_id = 1
                and coalesce(stated_reason_kind, 'member_joined') = 'member_joined'
                then 'group_new'
            when stated_reason_kind is not null then stated_reason_kind
            when cause.reason is not null then 'unknown'
            when {{ has_role('member_failure', 'cause.event_before') }} then 'member_expired'
            when {{ has_role('member_join', 'cause.event_before') }} then 'member_joined'
            when {{ has_role('member_departure', 'cause.event_before') }} then 'member_left'
            else 'unknown'
        end as reason_kind
    from judged
)

select * from final
