with steps as (
    select * from {{ ref('int_groups__protocol_steps') }}
),

-- The members' own lines witness what no coordinator's log shows.
grouped as (
    select
        cluster_id,
        cluster_incarnation,
        group_id,
        group_life,
        generation_id,
        bool_or({{ has_role('group_epoch') }}) as is_epoch,
        min(logged_at) filter (where {{ has_role('rebalance_start') }}) as started_at,
        max(logged_at) filter (where {{ has_role('rebalance_start') }}) as last_started_at,
        count(distinct node_id, logged_at) filter (where {{ has_role('rebalance_start') }})
            as starts,
        min(logged_at) filter (where {{ has_role('group_stabilisation') }}) as stabilised_at,
        min(logged_at) filter (where {{ has_role('group_assignment') }}) as assigned_at,
        min(logged_at) filter (where {{ has_role('group_emptying') }}) as emptied_at,
        max(logged_at) filter (where {{ has_role('group_unload') }}) as unloaded_at,
        min(logged_at) filter (where {{ has_role('group_join') }}) as joined_at,
        min(logged_at) filter (where is_client) as told_by_members_at,
        max(logged_at) filter (where {{ has_role('group_sync') }}) as synced_at,
        max_by(
            node_id, struct(not {{ has_role('ended_generation') }}, logged_at, node_id)
        ) filter (where not is_client and not {{ has_role('group_unload') }}) as coordinator_id,
        count(distinct node_id) filter (
            where not is_client and not {{ has_role('group_unload') }}
        ) as coordinators,
        min_by(
            struct(reason, event_before),
            if(
                {{ has_role('rebalance_start') }},
                struct(logged_at, node_id, source_path, byte_offset),
                null
            )
        ) as cause,
        max(members) filter (where not is_client) as members,
        count(distinct member_id) filter (where is_client) as members_told,
        {{ evidence('not ' ~ has_role('group_unload')) }} as evidence,
        count(*) filter (where not {{ has_role('group_unload') }}) as evidence_count
    from steps
    where generation_id is not null
    group by cluster_id, cluster_incarnation, group_id, group_life, generation_id
),

final as (
    select
        *,
        coalesce(started_at, joined_at, stabilised_at, assigned_at, told_by_members_at, emptied_at)
            as noticed_at,
        lead(coalesce(cause.reason, ''))
            over (
                partition by cluster_id, cluster_incarnation, group_id, group_life
                order by generation_id
            ) as next_reason,
        lead(coalesce(started_at, stabilised_at, assigned_at, joined_at))
            over (
                partition by cluster_id, cluster_incarnation, group_id, group_life
                order by generation_id
            ) as next_at
    from grouped
    where evidence_count > 0
)

select * from final
