with rebalances as (
    select * from {{ ref('int_groups__rebalances_explained') }}
),

-- A node that gives up a group prints the generation before the one that it prepares, or the one whose assignment it awaits. If it prints a later one,
-- the logs lack the end of the rebalance.
passed as (
    select
        * except (is_stored),
        is_stored
        or coalesce(
            last_step.closing.generation_printed
            >= generation_id + if(stabilised_at is not null or is_epoch, 1, 0),
            false
        ) as is_passed,
        -- A group that was created again had ended before.
        group_incarnation < max(group_incarnation) over (
            partition by cluster_id, cluster_incarnation, group_id
        ) as is_created_again
    from rebalances
),

closed as (
    select
        *,
        case
            when
                last_step.closing.closed_at <= coalesce(next_at, last_step.closing.closed_at)
                and not is_passed
                then last_step.closing
        end as closing,
        -- From 0.9 to 0.10.0 a group without members is removed at once, with the generation that the rebalance ends.
        coalesce(
            {{ has_role('group_removal', 'last_step.closing.event_type') }}
            and last_step.closing.generation_printed = generation_id - 1,
            false
        ) as is_removed_empty
    from passed
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
                    if(closing is not null and is_removed_empty, closing.closed_at, null),
                    if(has_assignments, null, stabilised_at)
                )
        end as completed_at,
        -- The process that coordinated it may have ended before it could say so, and its next run gives the group up once more.
        least(
            closing.closed_at,
            case
                when
                    coordinator_gone_at >= last_step_at
                    and coordinator_gone_at <= coalesce(next_at, coordinator_gone_at)
                    and not is_passed
                    and (next_at is null or closing is not null)
                    then coordinator_gone_at
            end
        ) as given_up_at,
        coalesce(
            unix_millis(coordinator_last_seen_at) - unix_millis(last_started_at)
            > {{ var('rebalance_stuck_after_ms') }},
            false
        ) as has_coordinator_gone_on
    from closed
),

judged as (
    select
        *,
        case
            when
                completed_at is not null
                and assigned_at is null
                and (emptied_at is not null or (synced_at is null and is_removed_empty))
                then 'emptied'
            when completed_at is not null then 'completed'
            when
                is_not_stored
                or (stabilised_at is not null and next_at is not null and closing is null)
                or (coordinators = 0 and refused_at is not null)
                then 'failed'
            when is_epoch and next_at is not null then 'superseded'
            when given_up_at is not null then 'moved'
            when next_at is not null or is_passed or is_created_again then 'unknown'
            when joined_at is not null and started_at is null then 'unknown'
            when has_coordinator_gone_on and not is_epoch then 'stuck'
            else 'open'
        end as outcome
    from ended
),

timed as (
    select
        * except (evidence, evidence_count),
        case
            when completed_at is not null then completed_at
            when outcome = 'moved' then given_up_at
            when outcome = 'failed' and coordinators = 0 then refused_at
            when outcome in ('failed', 'superseded') then coalesce(next_at, not_stored_at)
        end as ended_at,
        if(
            outcome = 'moved' and given_up_at = closing.closed_at,
            slice(
                concat(
                    evidence,
                    array(
                        named_struct(
                            'node_id', last_step.node_id,
                            'source_path', closing.source_path,
                            'byte_offset', closing.byte_offset
                        )
                    )
                ),
                1,
                10
            ),
            evidence
        ) as evidence,
        evidence_count + if(outcome = 'moved' and given_up_at = closing.closed_at, 1, 0)
            as evidence_count
    from judged
),

final as (
    select
        *,
        -- A coordinator that begins the same generation again does so because the try before it had ended.
        outcome = 'stuck'
        or coalesce(
            not is_epoch
            and outcome <> 'failed'
            and (
                unix_millis(ended_at) - unix_millis(coalesce(last_started_at, started_at))
                > {{ var('rebalance_stuck_after_ms') }}
                or unix_millis(
                    if(first_closing.closed_at <= last_started_at, first_closing.closed_at, null)
                )
                - unix_millis(started_at)
                > {{ var('rebalance_stuck_after_ms') }}
            ),
            false
        ) as is_stuck,
        outcome = 'stuck'
        and coalesce(
            unix_millis(groups_last_logged_at) - unix_millis(last_started_at)
            <= {{ var('rebalance_stuck_after_ms') }},
            true
        ) as is_stuck_doubtful,
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
    from timed
)

select * from final
