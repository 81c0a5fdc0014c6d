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
        bool_or(event_type in ('group_epoch_bumped', 'group_assignment_computed')) as is_epoch,
        min(logged_at) filter (
            where event_type in ('group_rebalance_started', 'group_epoch_bumped')
        ) as started_at,
        max(logged_at) filter (
            where event_type in ('group_rebalance_started', 'group_epoch_bumped')
        ) as last_started_at,
        count(distinct node_id, logged_at) filter (
            where event_type in ('group_rebalance_started', 'group_epoch_bumped')
        ) as starts,
        min(logged_at) filter (where event_type = 'group_stabilised') as stabilised_at,
        min(logged_at) filter (
            where event_type in ('group_assignment_received', 'group_assignment_computed')
        ) as assigned_at,
        min(logged_at) filter (where event_type = 'group_emptied') as emptied_at,
        max(logged_at) filter (where event_type = 'group_unloaded') as unloaded_at,
        min(logged_at) filter (where event_type = 'group_joined') as joined_at,
        min(logged_at) filter (where is_client) as told_by_members_at,
        max(logged_at) filter (
            where event_type in ('group_synced', 'connect_rebalanced')
        ) as synced_at,
        max_by(
            node_id, struct(event_type <> 'group_rebalance_started', logged_at, node_id)
        ) filter (where not is_client and event_type <> 'group_unloaded') as coordinator_id,
        count(distinct node_id) filter (
            where not is_client and event_type <> 'group_unloaded'
        ) as coordinators,
        min_by(
            struct(reason, event_before),
            if(
                event_type in ('group_rebalance_started', 'group_epoch_bumped'),
                struct(logged_at, node_id, source_path, byte_offset),
                null
            )
        ) as cause,
        max(members) filter (where not is_client) as members,
        count(distinct member_id) filter (where is_client) as members_told,
        {{ evidence("event_type <> 'group_unloaded'") }} as evidence,
        count(*) filter (where event_type <> 'group_unloaded') as evidence_count
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
