with isr_changes as (
    select * from {{ ref('fct_isr_changes') }}
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

-- Whether the node of the replica was away about the time of the change.
checked as (
    select
        followed.*,
        count(away.node_id) > 0 as is_away
    from followed
    left join away
        on
            followed.cluster_id = away.cluster_id
            and followed.replica_id = away.node_id
            and away.left_at <= followed.changed_at + interval 5 seconds
            and coalesce(away.returned_at >= followed.changed_at - interval 60 seconds, true)
    group by all
),

-- A leader that drops several followers at once, and is alone, though none of them was away: it is the leader that they do
-- not reach, or that did not look at them.
judged as (
    select
        *,
        coalesce(
            size(isr_after) = 1
            and get(isr_after, 0) = leader_id
            and size(collect_set(replica_id) over (of_change)) > 1
            and not bool_or(is_away) over (of_change),
            false
        ) as is_left_alone,
        if(
            count(returned_at) over (of_change) = count(*) over (of_change),
            max(returned_at) over (of_change),
            null
        ) as all_returned_at,
        row_number() over (
            partition by cluster_id, isr_change_key order by replica_id, in_sync_since_at
        ) as replica_rank
    from checked
    window of_change as (partition by cluster_id, isr_change_key)
),

-- That is one event of the leader; otherwise each replica that was dropped is one of its node.
lost as (
    select
        *,
        if(is_left_alone, leader_id, replica_id) as lost_node_id,
        if(is_left_alone, null, leader_id) as dropped_by_id,
        if(is_left_alone, null, in_sync_since_at) as held_since_at,
        if(is_left_alone, all_returned_at, returned_at) as back_at
    from judged
    where not is_left_alone or replica_rank = 1
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

pairs as (
    select
        cluster_id,
        cluster_incarnation,
        collect_list(
            struct(
                leader_id, replica_id, dropped_at, returned_at, first_change, warnings
            )
        ) as drops
    from drops
    group by
        cluster_id,
        cluster_incarnation,
        least(leader_id, replica_id),
        greatest(leader_id, replica_id)
),

-- Two leaders that drop each other's replicas, and go on without each other for more than the moment in which a process that
-- stood still is behind everywhere.
apart as (
    select
        cluster_id,
        cluster_incarnation,
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
    from pairs
        lateral view explode(drops) first_drops as earlier
        lateral view explode(drops) second_drops as later
    where
        earlier.leader_id = later.replica_id
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
                'fct_isr_changes', 'isr_change_key', "if(is_left_alone, 'isr_lost', 'isr_shrunk')", 'changed_at',
                'back_at', nodes='array(lost_node_id)', other='dropped_by_id', held='held_since_at',
                topic='topic_name', partition='partition_id', burst='lost_node_id'
            )
        }}
    from lost
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
                'fct_isr_changes', 'isr_change_key', "'network_cut'", 'dropped_at', 'returned_at',
                nodes='array(leader_id, replica_id)',
                duration='unix_millis(returned_at) - unix_millis(dropped_at)',
                burst="concat(least(leader_id, replica_id), '-', greatest(leader_id, replica_id))"
            )
        }}
    from cuts
)

select * from final
