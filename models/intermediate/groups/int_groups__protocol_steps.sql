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
        source_path,
        byte_offset,
        event_type,
        group_id,
        member_id,
        members,
        reason,
        -- A rebalance belongs to the generation that it produces.
        case
            when {{ has_role('ended_generation') }} then generation_id + 1
            when not {{ has_role(['member_join', 'member_departure', 'member_failure']) }}
                then generation_id
        end as generation_id,
        {{ has_role(['group_join', 'group_sync']) }} as is_client
    from group_events
    where
        group_id is not null
        and {{ has_role([
            'rebalance_start',
            'group_stabilisation',
            'group_assignment',
            'group_emptying',
            'group_unload',
            'group_join',
            'group_sync',
            'member_join',
            'member_departure',
            'member_failure',
        ]) }}
),

placed as (
    {{ placed('steps') }}
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
        ) as event_before
    from placed
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
