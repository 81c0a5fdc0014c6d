-- A leadership that a node lost is an election whose previous leader it is, and a replica that left an in-sync set is one that the change removed.
with elections as (
    select * from {{ ref('fct_leader_elections') }}
),

isr_changes as (
    select * from {{ ref('fct_isr_changes') }}
),

mart_rows as (
    select * from {{ ref('rpt_node_daily') }}
    where evidence_state = 'known'
),

happened as (
    select
        cluster_id,
        previous_leader_id as node_id,
        elected_date as event_date,
        election_kind as measure
    from elections
    where election_kind in ('leader_lost', 'controlled_shutdown', 'preferred', 'reassignment')
    union all
    select
        cluster_id,
        leader_id as node_id,
        elected_date as event_date,
        election_kind as measure
    from elections
    where election_kind in ('unclean', 'initial')
    union all
    select
        cluster_id,
        explode(removed) as node_id,
        changed_date as event_date,
        'left' as measure
    from isr_changes
    union all
    select
        cluster_id,
        explode(added) as node_id,
        changed_date as event_date,
        'joined' as measure
    from isr_changes
),

expected as (
    select
        cluster_id,
        node_id,
        event_date,
        measure,
        count(*) as value
    from happened
    group by cluster_id, node_id, event_date, measure
),

found as (
    select
        cluster_id,
        node_id,
        event_date,
        stack(
            8,
            'leader_lost', leaderships_lost_to_failure,
            'controlled_shutdown', leaderships_lost_to_shutdown,
            'preferred', leaderships_lost_to_preferred,
            'reassignment', leaderships_lost_to_reassignment,
            'unclean', leaderships_won_unclean,
            'initial', leaderships_won_initial,
            'left', isr_left,
            'joined', isr_joined
        ) as (measure, value)
    from mart_rows
),

final as (
    select
        found.cluster_id,
        found.node_id,
        found.event_date,
        found.measure,
        expected.value as expected_value,
        found.value as found_value
    from found
    left join expected
        on
            found.cluster_id = expected.cluster_id
            and found.node_id = expected.node_id
            and found.event_date = expected.event_date
            and found.measure = expected.measure
    where coalesce(expected.value, 0) <> found.value
)

select * from final
