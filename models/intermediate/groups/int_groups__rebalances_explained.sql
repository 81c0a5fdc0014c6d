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
        cluster_id,
        cluster_incarnation,
        group_id,
        group_incarnation,
        max(generation_printed) filter (where {{ has_role('group_state_load') }})
            as generation_stored,
        max(logged_at) filter (where generation_id is not null) as last_known_at,
        bool_or(not is_client) as has_coordinator
    from steps
    group by cluster_id, cluster_incarnation, group_id, group_incarnation
),

-- Without any record of a coordinator, members that ask to join and log nothing more show a rebalance whose generation nobody says.
of_rebalances as (
    select steps.*
    from steps
    inner join reached
        on
            steps.cluster_id = reached.cluster_id
            and steps.cluster_incarnation = reached.cluster_incarnation
            and steps.group_id = reached.group_id
            and steps.group_incarnation = reached.group_incarnation
    where
        steps.generation_id is not null
        or (
            steps.is_pending
            and not reached.has_coordinator
            and steps.logged_at > coalesce(reached.last_known_at, timestamp '1970-01-01 00:00:00')
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
        paired.* except (coordinator_started_at, asked_at),
        coalesce(paired.coordinator_started_at, paired.asked_at) as started_at,
        paired.coordinator_started_at is null and paired.asked_at is not null
            as is_started_by_members,
        coalesce(reached.generation_stored >= paired.generation_id, false) as is_stored,
        lower(paired.cause.reason) as stated_reason,
        coalesce(
            paired.coordinator_started_at,
            paired.asked_at,
            paired.joined_at,
            paired.stabilised_at,
            paired.assigned_at,
            paired.reported_by_members_at,
            paired.emptied_at
        )
            as noticed_at,
        lead(coalesce(paired.cause.reason, ''))
            over (
                partition by
                    paired.cluster_id,
                    paired.cluster_incarnation,
                    paired.group_id,
                    paired.group_incarnation
                order by paired.generation_id nulls last
            ) as next_reason,
        lead(
            coalesce(
                paired.coordinator_started_at,
                paired.stabilised_at,
                paired.assigned_at,
                paired.asked_at,
                paired.joined_at
            )
        )
            over (
                partition by
                    paired.cluster_id,
                    paired.cluster_incarnation,
                    paired.group_id,
                    paired.group_incarnation
                order by paired.generation_id nulls last
            ) as next_at
    from paired
    left join reached
        on
            paired.cluster_id = reached.cluster_id
            and paired.cluster_incarnation = reached.cluster_incarnation
            and paired.group_id = reached.group_id
            and paired.group_incarnation = reached.group_incarnation
),

-- Who coordinates a group after a node gave it up: another node loads it before the same one does again. If none does, its log is missing.
handed_over as (
    select
        rebalances.cluster_id,
        rebalances.cluster_incarnation,
        rebalances.group_id,
        rebalances.group_incarnation,
        rebalances.generation_id,
        not coalesce(
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
    inner join steps
        on
            rebalances.cluster_id = steps.cluster_id
            and rebalances.cluster_incarnation = steps.cluster_incarnation
            and rebalances.group_id = steps.group_id
            and rebalances.last_step_at <= steps.logged_at
            and not steps.is_client
    where
        not rebalances.is_epoch
        and coalesce(rebalances.next_at >= rebalances.last_step.closing.closed_at, true)
        and {{ has_role('group_unload', 'rebalances.last_step.closing.event_type') }}
    group by
        rebalances.cluster_id,
        rebalances.cluster_incarnation,
        rebalances.group_id,
        rebalances.group_incarnation,
        rebalances.generation_id
),

-- A coordinator stores an assignment in the moment in which it receives it: if its append to the partition of the group fails then, it is not stored.
not_stored as (
    select
        rebalances.cluster_id,
        rebalances.cluster_incarnation,
        rebalances.group_id,
        rebalances.group_incarnation,
        rebalances.generation_id,
        min(append_failures.logged_at) as not_stored_at
    from rebalances
    inner join groups
        on
            rebalances.cluster_id = groups.cluster_id
            and rebalances.cluster_incarnation = groups.cluster_incarnation
            and rebalances.group_id = groups.group_id
    inner join append_failures
        on
            rebalances.cluster_id = append_failures.cluster_id
            and rebalances.coordinator_id = append_failures.node_id
            and groups.offsets_partition_id = append_failures.partition_id
            and rebalances.assigned_at <= append_failures.logged_at
            and rebalances.assigned_at + interval 100 milliseconds >= append_failures.logged_at
    where not rebalances.is_epoch
    group by
        rebalances.cluster_id,
        rebalances.cluster_incarnation,
        rebalances.group_id,
        rebalances.group_incarnation,
        rebalances.generation_id
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
        lower(rebalances.next_reason) like '%error when storing group assignment%'
        or if(not_stored.not_stored_at is not null, true, null) as is_not_stored,
        not_stored.not_stored_at,
        runs.last_seen_at as coordinator_last_seen_at,
        runs.fell_silent_at as coordinator_gone_at,
        runs.run_number,
        last_logged.groups_last_logged_at,
        coalesce(handed_over.is_successor_missing, false) as is_successor_missing
    from rebalances
    cross join wordings
    left join not_stored
        on
            rebalances.cluster_id = not_stored.cluster_id
            and rebalances.cluster_incarnation = not_stored.cluster_incarnation
            and rebalances.group_id = not_stored.group_id
            and rebalances.group_incarnation = not_stored.group_incarnation
            and rebalances.generation_id = not_stored.generation_id
    left join handed_over
        on
            rebalances.cluster_id = handed_over.cluster_id
            and rebalances.cluster_incarnation = handed_over.cluster_incarnation
            and rebalances.group_id = handed_over.group_id
            and rebalances.group_incarnation = handed_over.group_incarnation
            and rebalances.generation_id = handed_over.generation_id
    left join runs
        on
            rebalances.cluster_id = runs.cluster_id
            and rebalances.last_step.node_id = runs.node_id
            and rebalances.last_step_at >= runs.first_seen_at
            and rebalances.last_step_at <= runs.last_seen_at
    left join last_logged
        on
            rebalances.cluster_id = last_logged.cluster_id
            and rebalances.last_step.node_id = last_logged.node_id
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
