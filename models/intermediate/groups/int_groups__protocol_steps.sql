with group_events as (
    select * from {{ ref('stg_logs__group_events') }}
),

incarnations as (
    select * from {{ ref('int_clusters__incarnations') }}
),

steps as (
    select
        cluster_id,
        node_id,
        logged_at,
        source_id,
        source_path,
        byte_offset,
        event_type,
        group_id,
        member_id,
        client_id,
        members,
        reason,
        generation_id as generation_printed,
        {{ has_role([
            'group_join_start', 'group_join', 'group_sync', 'group_join_failure', 'group_leave'
        ]) }} as is_client,
        {{ has_role(['group_unload', 'group_removal']) }} as is_closing
    from group_events
    where
        group_id is not null
        and {{ has_role([
            'rebalance_start',
            'group_stabilisation',
            'group_assignment',
            'group_emptying',
            'group_unload',
            'group_removal',
            'group_state_load',
            'group_join_start',
            'group_join',
            'group_sync',
            'group_join_failure',
            'group_leave',
            'member_join',
            'member_departure',
            'member_failure',
        ]) }}
),

placed as (
    {{ placed('steps') }}
),

-- A client asks to join, joins, and gets its assignment; its lines about one rebalance follow each other.
neighboured as (
    select
        *,
        lead(
            struct(
                event_type,
                if({{ has_role('group_join') }}, generation_printed, null) as generation_joined
            )
        ) over (
            partition by
                cluster_id, cluster_incarnation, group_id, is_client,
                if(is_client, source_id, null), if(is_client, client_id, null)
            order by logged_at, source_id, byte_offset
        ) as next_line,
        lag(if({{ has_role('group_join') }}, generation_printed, null)) over (
            partition by
                cluster_id, cluster_incarnation, group_id, is_client,
                if(is_client, source_id, null), if(is_client, client_id, null)
            order by logged_at, source_id, byte_offset
        ) as generation_joined_before
    from placed
),

-- A rebalance belongs to the generation that it produces. A client that asks to join does not know it yet, one that fails to get its
-- assignment has just joined it.
generated as (
    select
        * except (next_line, generation_joined_before),
        case
            when {{ has_role('ended_generation') }} then generation_printed + 1
            when {{ has_role('group_join_start') }} then next_line.generation_joined
            when {{ has_role('group_join_failure') }} then generation_joined_before
            when
                not is_closing
                and not {{ has_role([
                    'member_join', 'member_departure', 'member_failure', 'group_state_load', 'group_leave'
                ]) }}
                then generation_printed
        end as generation_id,
        {{ has_role('group_join_start') }} and next_line is null as is_pending
    from neighboured
),

compared as (
    select
        *,
        last_value(
            case
                when not is_client and generation_id is not null
                    then struct(event_type, generation_id)
            end,
            true
        ) over (
            partition by cluster_id, cluster_incarnation, group_id
            order by logged_at, node_id, source_path, byte_offset
            rows between unbounded preceding and 1 preceding
        ) as previous_step,
        last_value(case when not is_client then event_type end, true) over (
            partition by cluster_id, cluster_incarnation, group_id, node_id
            order by logged_at, source_path, byte_offset
            rows between unbounded preceding and 1 preceding
        ) as event_before,
        -- The next line in which the same node gives up the group or removes it.
        lead(
            case
                when is_closing
                    then struct(
                        logged_at as closed_at,
                        event_type,
                        generation_printed,
                        source_path,
                        byte_offset
                    )
            end
        ) ignore nulls over (
            partition by cluster_id, cluster_incarnation, group_id, node_id
            order by logged_at, source_path, byte_offset
        ) as closing
    from generated
),

-- Generations restart when a group was removed and created again; they do not when its first rebalance is merely retried.
final as (
    select
        *,
        cast(
            1 + sum(
                if(
                    {{ has_role('rebalance_start') }}
                    and generation_id = 1
                    and previous_step.generation_id >= 1
                    and previous_step <> struct(event_type, generation_id),
                    1,
                    0
                )
            ) over (
                partition by cluster_id, cluster_incarnation, group_id
                order by logged_at, node_id, source_path, byte_offset
                rows between unbounded preceding and current row
            ) as int
        ) as group_incarnation
    from compared
)

select * from final
