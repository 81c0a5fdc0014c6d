with steps as (
    select * from {{ ref('int_groups__protocol_steps') }}
),

runs as (
    select * from {{ ref('int_nodes__runs') }}
),

reasons as (
    select * from {{ ref('rebalance_reasons') }}
),

append_failures as (
    select * from {{ ref('stg_logs__offsets_append_failures') }}
),

groups as (
    select * from {{ ref('int_groups__identified') }}
),

-- A coordinator that loads a group prints the last generation that was stored: its rebalance is over, whatever the logs lack.
reached as (
    select
        *,
        max(if({{ has_role('group_state_load') }}, generation_printed, null)) over (of_group)
            as generation_stored,
        max(if(generation_id is null, null, logged_at)) over (of_group) as last_known_at,
        bool_or(not is_client) over (of_group) as has_coordinator
    from steps
    window of_group as (
        partition by cluster_id, cluster_incarnation, group_id, group_incarnation
    )
),

-- Without any record of a coordinator, members that ask to join and log nothing more show a rebalance whose generation nobody says.
of_rebalances as (
    select *
    from reached
    where
        generation_id is not null
        or (
            is_pending
            and not has_coordinator
            and logged_at > coalesce(last_known_at, timestamp '1970-01-01 00:00:00')
        )
),

-- The last step that any node took in a rebalance: what happened to its group there afterwards is how it ended, if nothing else says so.
-- Members' own records show what no coordinator's log shows.
grouped as (
    select
        cluster_id,
        cluster_incarnation,
        group_id,
        group_incarnation,
        generation_id,
        coalesce(max(generation_stored) >= generation_id, false) as is_stored,
        bool_or({{ has_role('group_epoch') }}) as is_epoch,
        min(logged_at) filter (where {{ has_role('rebalance_start') }}) as coordinator_started_at,
        min(logged_at) filter (where {{ has_role('group_join_start') }}) as asked_at,
        max(logged_at) filter (where {{ has_role('rebalance_start') }}) as last_started_at,
        max(logged_at) filter (where not is_client) as last_step_at,
        max_by(
            struct(node_id, closing),
            if(not is_client, struct(logged_at, source_path, byte_offset), null)
        ) as last_step,
        min_by(
            closing,
            if(
                {{ has_role('rebalance_start') }},
                struct(logged_at, source_path, byte_offset),
                null
            )
        ) as first_closing,
        cast(size(
            collect_set(struct(node_id, logged_at))
            filter (where {{ has_role('rebalance_start') }} and node_id is not null)
        ) as bigint) as starts,
        min(logged_at) filter (where {{ has_role('group_stabilisation') }}) as stabilised_at,
        max(logged_at) filter (where {{ has_role('group_stabilisation') }}) as last_stabilised_at,
        min(logged_at) filter (where {{ has_role('group_assignment') }}) as assigned_at,
        max(logged_at) filter (where {{ has_role('group_assignment') }}) as last_assigned_at,
        min(logged_at) filter (where {{ has_role('group_emptying') }}) as emptied_at,
        max(logged_at) filter (where {{ has_role('group_emptying') }}) as last_emptied_at,
        min(logged_at) filter (where {{ has_role('group_join') }}) as joined_at,
        max(logged_at) filter (where {{ has_role('group_join_failure') }}) as refused_at,
        min(logged_at) filter (where is_client) as reported_by_members_at,
        -- Until 2.6.0 a client logs that it has joined, without its member id, when it has its assignment.
        max(
            if(
                {{ has_role('group_sync') }}
                or ({{ has_role('group_join') }} and member_id is null),
                logged_at,
                null
            )
        ) as synced_at,
        max_by(
            node_id, struct(not {{ has_role('ended_generation') }}, logged_at, node_id)
        ) filter (where not is_client) as coordinator_id,
        cast(size(collect_set(node_id) filter (where not is_client)) as bigint) as coordinators,
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
        {{ evidence() }} as evidence,
        count(*) as evidence_count
    from of_rebalances
    group by cluster_id, cluster_incarnation, group_id, group_incarnation, generation_id
),

-- A coordinator that has lost its state gives a generation once more. Where the logs lack the start of the first, its end is not that of the second.
paired as (
    select
        * except (
            stabilised_at,
            last_stabilised_at,
            assigned_at,
            last_assigned_at,
            emptied_at,
            last_emptied_at
        ),
        if(coordinator_started_at > stabilised_at, last_stabilised_at, stabilised_at)
            as stabilised_at,
        if(coordinator_started_at > assigned_at, last_assigned_at, assigned_at) as assigned_at,
        if(coordinator_started_at > emptied_at, last_emptied_at, emptied_at) as emptied_at,
        coalesce(coordinator_started_at > least(stabilised_at, assigned_at, emptied_at), false)
            as has_ended_before
    from grouped
),

-- Whether a coordinator's log of groups goes on is not what its other logs show.
last_logged as (
    select
        cluster_id,
        node_id,
        max(logged_at) as groups_last_logged_at
    from steps
    where not is_client
    group by cluster_id, node_id
),

-- One row per group, life and generation (or epoch, KIP-848): when its rebalance began, how it
-- ended, and who logged it.
rebalances as (
    select
        * except (coordinator_started_at, asked_at),
        coalesce(coordinator_started_at, asked_at) as started_at,
        coordinator_started_at is null and asked_at is not null
            as is_started_by_members,
        lower(cause.reason) as stated_reason,
        coalesce(
            coordinator_started_at,
            asked_at,
            joined_at,
            stabilised_at,
            assigned_at,
            reported_by_members_at,
            emptied_at
        )
            as noticed_at,
        lead(coalesce(cause.reason, ''))
            over (
                partition by
                    cluster_id,
                    cluster_incarnation,
                    group_id,
                    group_incarnation
                order by generation_id nulls last
            ) as next_reason,
        lead(
            coalesce(
                coordinator_started_at,
                stabilised_at,
                assigned_at,
                asked_at,
                joined_at
            )
        )
            over (
                partition by
                    cluster_id,
                    cluster_incarnation,
                    group_id,
                    group_incarnation
                order by generation_id nulls last
            ) as next_at
    from paired
),

-- Who coordinates a group after a node gave it up: another node loads it before the same one does again. If none does, its log is missing.
handed_over as (
    select
        rebalances.*,
        count(steps.cluster_id) > 0
        and not coalesce(
            min(steps.logged_at) filter (where steps.node_id <> rebalances.last_step.node_id)
            < coalesce(
                min(steps.logged_at) filter (
                    where
                    steps.node_id = rebalances.last_step.node_id
                    and steps.logged_at > rebalances.last_step.closing.closed_at
                    and {{ has_role('group_state_load', 'steps.event_type') }}
                ),
                timestamp '9999-01-01 00:00:00'
            ),
            false
        ) as is_successor_missing
    from rebalances
    left join steps
        on
            not rebalances.is_epoch
            and coalesce(rebalances.next_at >= rebalances.last_step.closing.closed_at, true)
            and {{ has_role('group_unload', 'rebalances.last_step.closing.event_type') }}
            and rebalances.cluster_id = steps.cluster_id
            and rebalances.cluster_incarnation = steps.cluster_incarnation
            and rebalances.group_id = steps.group_id
            and rebalances.last_step_at <= steps.logged_at
            and not steps.is_client
    group by all
),

-- A coordinator stores an assignment in the moment in which it receives it: if its append to the partition of the group fails then, it is not stored.
not_stored as (
    select
        handed_over.*,
        min(append_failures.logged_at) as not_stored_at
    from handed_over
    left join groups
        on
            handed_over.cluster_id = groups.cluster_id
            and handed_over.cluster_incarnation = groups.cluster_incarnation
            and handed_over.group_id = groups.group_id
    left join append_failures
        on
            not handed_over.is_epoch
            and handed_over.cluster_id = append_failures.cluster_id
            and handed_over.coordinator_id = append_failures.node_id
            and groups.offsets_partition_id = append_failures.partition_id
            and handed_over.assigned_at <= append_failures.logged_at
            and handed_over.assigned_at + interval 100 milliseconds >= append_failures.logged_at
    group by all
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
        not_stored.* except (stated_reason),
        count(not_stored.assigned_at) over (
            partition by
                not_stored.cluster_id, not_stored.cluster_incarnation, not_stored.group_id
        ) > 0 as has_assignments,
        get(
            filter(
                wordings.wordings,
                known -> startswith(not_stored.stated_reason, known.begins_with)
                and contains(not_stored.stated_reason, known.has_text)
            ),
            0
        ).reason_kind as stated_reason_kind,
        lower(not_stored.next_reason) like '%error when storing group assignment%'
        or if(not_stored_at is not null, true, null) as is_not_stored,
        runs.last_seen_at as coordinator_last_seen_at,
        runs.fell_silent_at as coordinator_gone_at,
        runs.run_number,
        last_logged.groups_last_logged_at
    from not_stored
    cross join wordings
    left join runs
        on
            not_stored.cluster_id = runs.cluster_id
            and not_stored.last_step.node_id = runs.node_id
            and not_stored.last_step_at >= runs.first_seen_at
            and not_stored.last_step_at <= runs.last_seen_at
    left join last_logged
        on
            not_stored.cluster_id = last_logged.cluster_id
            and not_stored.last_step.node_id = last_logged.node_id
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
