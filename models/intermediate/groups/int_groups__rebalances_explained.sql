with steps as (
    select * from {{ ref('int_groups__protocol_steps') }}
),

runs as (
    select * from {{ ref('int_nodes__runs') }}
),

reasons as (
    select * from {{ ref('rebalance_reasons') }}
),

-- Members' own records show what no coordinator's log shows.
grouped as (
    select
        cluster_id,
        cluster_incarnation,
        group_id,
        group_incarnation,
        generation_id,
        bool_or({{ has_role('group_epoch') }}) as is_epoch,
        min(logged_at) filter (where {{ has_role('rebalance_start') }}) as started_at,
        max(logged_at) filter (where {{ has_role('rebalance_start') }}) as last_started_at,
        cast(size(
            collect_set(struct(node_id, logged_at))
            filter (where {{ has_role('rebalance_start') }} and node_id is not null)
        ) as bigint) as starts,
        min(logged_at) filter (where {{ has_role('group_stabilisation') }}) as stabilised_at,
        min(logged_at) filter (where {{ has_role('group_assignment') }}) as assigned_at,
        min(logged_at) filter (where {{ has_role('group_emptying') }}) as emptied_at,
        max(logged_at) filter (where {{ has_role('group_unload') }}) as unloaded_at,
        min(logged_at) filter (where {{ has_role('group_join') }}) as joined_at,
        min(logged_at) filter (where is_client) as reported_by_members_at,
        max(logged_at) filter (where {{ has_role('group_sync') }}) as synced_at,
        max_by(
            node_id, struct(not {{ has_role('ended_generation') }}, logged_at, node_id)
        ) filter (where not is_client and not {{ has_role('group_unload') }}) as coordinator_id,
        cast(size(
            collect_set(node_id) filter (where not is_client and not {{ has_role('group_unload') }})
        ) as bigint) as coordinators,
        min_by(
            struct(reason, event_before),
            if(
                {{ has_role('rebalance_start') }},
                struct(logged_at, node_id, source_path, byte_offset),
                null
            )
        ) as cause,
        max(members) filter (where not is_client) as members,
        cast(size(collect_set(member_id) filter (where is_client)) as bigint) as members_reporting,
        {{ evidence('not ' ~ has_role('group_unload')) }} as evidence,
        count(*) filter (where not {{ has_role('group_unload') }}) as evidence_count
    from steps
    where generation_id is not null
    group by cluster_id, cluster_incarnation, group_id, group_incarnation, generation_id
),

-- One row per group, life and generation (or epoch, KIP-848): when its rebalance began, how it
-- ended, and who logged it.
rebalances as (
    select
        *,
        lower(cause.reason) as stated_reason,
        coalesce(
            started_at, joined_at, stabilised_at, assigned_at, reported_by_members_at, emptied_at
        )
            as noticed_at,
        lead(coalesce(cause.reason, ''))
            over (
                partition by cluster_id, cluster_incarnation, group_id, group_incarnation
                order by generation_id
            ) as next_reason,
        lead(coalesce(started_at, stabilised_at, assigned_at, joined_at))
            over (
                partition by cluster_id, cluster_incarnation, group_id, group_incarnation
                order by generation_id
            ) as next_at
    from grouped
    where evidence_count > 0
),

-- A `like` pattern that varies from row to row is compiled for each row.
wordings as (
    select
        sort_array(collect_list(struct(
            priority,
            coalesce(begins_with, '') as begins_with,
            coalesce(has_text, '') as has_text,
            reason_kind
        ))) as wordings
    from reasons
),

explained as (
    select
        rebalances.* except (stated_reason),
        count(rebalances.assigned_at) over (
            partition by
                rebalances.cluster_id, rebalances.cluster_incarnation, rebalances.group_id
        ) > 0 as has_assignments,
        get(
            filter(
                wordings.wordings,
                known -> startswith(rebalances.stated_reason, known.begins_with)
                and contains(rebalances.stated_reason, known.has_text)
            ),
            0
        ).reason_kind as stated_reason_kind,
        lower(rebalances.next_reason) like '%error when storing group assignment%' as is_not_stored,
        runs.last_seen_at as coordinator_last_seen_at,
        runs.run_number
    from rebalances
    cross join wordings
    left join runs
        on
            rebalances.cluster_id = runs.cluster_id
            and rebalances.coordinator_id = runs.node_id
            and rebalances.last_started_at >= runs.first_seen_at
            and rebalances.last_started_at <= runs.last_seen_at
),

-- Two runs may share the record that ends one and begins the other.
final as (
    {{
        latest_per(
            'explained',
            ['cluster_id', 'cluster_incarnation', 'group_id', 'group_incarnation', 'generation_id'],
            'run_number desc nulls last'
        )
    }}
)

select * from final
