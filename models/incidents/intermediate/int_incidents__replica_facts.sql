with isr_changes as (
    select * from {{ ref('fct_isr_changes') }}
),

truncations as (
    select * from {{ ref('fct_truncations') }}
),

disconnects as (
    select * from {{ ref('fct_fetcher_disconnects_hourly') }}
),

under_replicated as (
    select * from {{ ref('fct_under_replicated_windows') }}
),

leaderless as (
    select * from {{ ref('fct_leaderless_windows') }}
),

elections as (
    select * from {{ ref('fct_leader_elections') }}
),

write_refusals as (
    select * from {{ ref('fct_write_refusals_hourly') }}
),

hanging_transactions as (
    select * from {{ ref('fct_hanging_transactions') }}
),

remote_copy_stalls as (
    select * from {{ ref('fct_remote_copy_stalls') }}
),

process_facts as (
    select * from {{ ref('int_incidents__process_facts') }}
),

shrinks as (
    select
        isr_changes.*,
        replica_id
    from isr_changes
        lateral view explode(removed) replicas as replica_id
    where change_kind = 'shrunk'
),

stretches as (
    select
        *,
        lag(ended_at) over (
            partition by cluster_id, topic_key, partition_id, replica_id
            order by started_at, under_replicated_window_key
        ) as in_sync_since_at
    from under_replicated
),

-- Out of sync until it is in the set again. Any broker may have been the first to log the change; the leader made it.
followed as (
    select
        shrinks.*,
        coalesce(elections.leader_id, shrinks.node_id) as leader_id,
        stretches.in_sync_since_at,
        stretches.ended_at as returned_at
    from shrinks
    inner join stretches
        on
            shrinks.cluster_id = stretches.cluster_id
            and shrinks.topic_name = stretches.topic_name
            and shrinks.partition_id = stretches.partition_id
            and shrinks.replica_id = stretches.replica_id
            and shrinks.changed_at = stretches.started_at
    left join elections
        on
            shrinks.cluster_id = elections.cluster_id
            and shrinks.topic_key = elections.topic_key
            and shrinks.partition_id = elections.partition_id
            and shrinks.leader_epoch = elections.leader_epoch
            and elections.leader_id >= 0
),

-- When a node was down, stood still, or had no session.
away as (
    select
        cluster_id,
        explode(node_ids) as node_id,
        started_at as left_at,
        ended_at as returned_at
    from process_facts
    where event_kind in ('process_death', 'controlled_stop', 'process_stall', 'session_expired')
),

-- One row per change with which a leader dropped several followers at once, and is alone, though none of them was away: it is the leader that
-- they do not reach, or that did not look at them.
left_alone as (
    select
        followed.cluster_id,
        followed.isr_change_key,
        max(followed.returned_at) as returned_at,
        count(followed.returned_at) = count(*) as are_all_back
    from followed
    left join away
        on
            followed.cluster_id = away.cluster_id
            and followed.replica_id = away.node_id
            and away.left_at <= followed.changed_at + interval 5 seconds
            and coalesce(away.returned_at >= followed.changed_at - interval 60 seconds, true)
    where size(followed.isr_after) = 1 and followed.isr_after[0] = followed.leader_id
    group by followed.cluster_id, followed.isr_change_key
    having count(distinct followed.replica_id) > 1 and count(away.node_id) = 0
),

leaders_alone as (
    select
        isr_changes.*,
        isr_changes.isr_after[0] as leader_id,
        if(left_alone.are_all_back, left_alone.returned_at, null) as returned_at
    from isr_changes
    inner join left_alone using (cluster_id, isr_change_key)
),

dropped as (
    select followed.*
    from followed
    left anti join left_alone using (cluster_id, isr_change_key)
),

-- Replicas that only a describe shows out of sync. If the partition has no leader, the leaderless window is the event instead.
described as (
    select under_replicated.*
    from under_replicated
    left anti join leaderless
        on
            under_replicated.cluster_id = leaderless.cluster_id
            and under_replicated.topic_key = leaderless.topic_key
            and under_replicated.partition_id = leaderless.partition_id
            and under_replicated.started_at >= leaderless.started_at
            and coalesce(under_replicated.started_at <= leaderless.ended_at, true)
    where under_replicated.known_by = 'describe'
),

-- Per leader and replica that it dropped: replicas that it drops within 10 s of each other are one stretch.
spaced as (
    select
        *,
        coalesce(
            unix_millis(changed_at) - unix_millis(lag(changed_at) over (dropped)) > 10000, true
        ) as is_first
    from followed
    where leader_id <> replica_id
    window dropped as (
        partition by cluster_id, cluster_incarnation, leader_id, replica_id
        order by changed_at, isr_change_key
    )
),

numbered as (
    select
        *,
        count_if(is_first) over (
            partition by cluster_id, cluster_incarnation, leader_id, replica_id
            order by changed_at, isr_change_key
            rows between unbounded preceding and current row
        ) as stretch_number
    from spaced
),

drops as (
    select
        cluster_id,
        cluster_incarnation,
        leader_id,
        replica_id,
        min(changed_at) as dropped_at,
        if(count(returned_at) = count(*), max(returned_at), null) as returned_at,
        min_by(
            struct(isr_change_key, evidence, evidence_count), struct(changed_at, isr_change_key)
        ) as first_change,
        array_distinct(flatten(collect_list(warnings))) as warnings
    from numbered
    group by cluster_id, cluster_incarnation, leader_id, replica_id, stretch_number
),

-- Two leaders that drop each other's replicas, and go on without each other for more than the moment in which a process that
-- stood still is behind everywhere.
apart as (
    select
        earlier.cluster_id,
        earlier.cluster_incarnation,
        earlier.leader_id,
        earlier.replica_id,
        earlier.dropped_at,
        later.dropped_at as last_dropped_at,
        if(
            earlier.returned_at is null or later.returned_at is null,
            null,
            greatest(earlier.returned_at, later.returned_at)
        ) as returned_at,
        earlier.first_change.isr_change_key,
        slice(concat(earlier.first_change.evidence, later.first_change.evidence), 1, 10)
            as evidence,
        earlier.first_change.evidence_count + later.first_change.evidence_count as evidence_count,
        array_union(earlier.warnings, later.warnings) as warnings
    from drops as earlier
    inner join drops as later
        on
            earlier.cluster_id = later.cluster_id
            and earlier.cluster_incarnation = later.cluster_incarnation
            and earlier.leader_id = later.replica_id
            and earlier.replica_id = later.leader_id
            and struct(earlier.dropped_at, earlier.leader_id)
            < struct(later.dropped_at, later.leader_id)
            and later.dropped_at <= earlier.dropped_at + interval 30 seconds
            and coalesce(earlier.returned_at >= later.dropped_at + interval 5 seconds, true)
            and coalesce(later.returned_at >= later.dropped_at + interval 5 seconds, true)
),

-- They do not reach each other, if both were there all the time.
cuts as (
    select apart.*
    from apart
    left anti join away
        on
            apart.cluster_id = away.cluster_id
            and away.node_id in (apart.leader_id, apart.replica_id)
            and away.left_at <= apart.last_dropped_at + interval 5 seconds
            and coalesce(away.returned_at >= apart.dropped_at - interval 5 seconds, true)
),

final as (
    select
        {{
            incident_fact(
                'fct_isr_changes', 'isr_change_key', "'isr_shrunk'", 'changed_at',
                'returned_at', nodes='array(replica_id)', other='leader_id', held='in_sync_since_at',
                topic='topic_name', partition='partition_id', burst='replica_id'
            )
        }}
    from dropped
    union all
    select
        {{
            incident_fact(
                'fct_under_replicated_windows', 'under_replicated_window_key', "'isr_shrunk'", 'started_at',
                'ended_at', nodes='array(replica_id)', topic='topic_name', partition='partition_id',
                burst='replica_id'
            )
        }}
    from described
    union all
    select
        {{
            incident_fact(
                'fct_isr_changes', 'isr_change_key', "'isr_lost'", 'changed_at',
                'returned_at', nodes='array(leader_id)', topic='topic_name', partition='partition_id',
                burst='leader_id'
            )
        }}
    from leaders_alone
    union all
    select
        {{
            incident_fact(
                'fct_isr_changes', 'isr_change_key', "'network_cut'", 'dropped_at', 'returned_at',
                nodes='array(leader_id, replica_id)',
                duration='unix_millis(returned_at) - unix_millis(dropped_at)',
                burst="concat(least(leader_id, replica_id), '-', greatest(leader_id, replica_id))"
            )
        }}
    from cuts
    union all
    select
        {{
            incident_fact(
                'fct_truncations', 'truncation_key', "'records_truncated'", 'truncated_at', 'truncated_at',
                nodes='array(node_id)', topic='topic_name', partition='partition_id',
                amount='records_truncated', burst='node_id'
            )
        }}
    from truncations
    where records_truncated > 0 and node_id is not null
    union all
    select
        {{
            incident_fact(
                'fct_fetcher_disconnects_hourly', 'fetcher_disconnects_hourly_key', "'fetch_disconnects'",
                'first_at', 'last_at', nodes='array(node_id)', other='source_node_id',
                amount='disconnects', burst="concat(node_id, '<', source_node_id)"
            )
        }}
    from disconnects
    where node_id is not null
    union all
    select
        {{
            incident_fact(
                'fct_write_refusals_hourly', 'write_refusals_hourly_key', "'writes_refused'",
                'first_at', 'last_at', nodes='array_compact(array(node_id))', owner='process_name',
                topic='topic_name', partition='partition_id', amount='refusals',
                detail="concat_ws(', ', concat(in_sync_replicas, ' in sync'), concat(min_insync_replicas, ' required'))",
                burst='process_name'
            )
        }}
    from write_refusals
    union all
    select
        {{
            incident_fact(
                'fct_hanging_transactions', 'hanging_transaction_key', "'transaction_hanging'",
                'started_at', 'last_seen_at', nodes='array_compact(array(coordinator_id))',
                topic='topic_name', partition='partition_id', duration='duration_ms',
                detail="concat_ws(': ', coalesce(transactional_id, concat('producer ', producer_id)), nullif(array_join(errors, ', '), ''))",
                burst="concat_ws(':', transactional_id, producer_id)"
            )
        }}
    from hanging_transactions
    where started_at is not null
    union all
    -- One copy that fails is tried again half a minute later.
    select
        {{
            incident_fact(
                'fct_remote_copy_stalls', 'remote_copy_stall_key', "'remote_copy_stalled'",
                'started_at', 'ended_at', nodes='array_compact(array(node_id))',
                topic='topic_name', partition='partition_id', amount='failures',
                detail="concat_ws(': ', exception, exception_message)", burst="coalesce(node_id, -1)"
            )
        }}
    from remote_copy_stalls
    where failures > 1
)

select * from final
