with rebalances as (
    select * from {{ ref('int_groups__rebalance_steps') }}
),

runs as (
    select * from {{ ref('int_nodes__runs') }}
),

reasons as (
    select * from {{ ref('rebalance_reasons') }}
),

patterns as (
    select array_sort(collect_list(struct(priority, reason_pattern, reason_kind))) as patterns
    from reasons
),

explained as (
    select
        rebalances.*,
        count(rebalances.assigned_at) over (
            partition by
                rebalances.cluster_id, rebalances.cluster_incarnation, rebalances.group_id
        ) > 0 as has_assignments,
        get(
            filter(
                patterns.patterns, known -> lower(rebalances.cause.reason) like known.reason_pattern
            ),
            0
        ).reason_kind as told_kind,
        lower(rebalances.next_reason) like '%error when storing group assignment%' as is_not_stored,
        runs.last_seen_at as coordinator_last_seen_at,
        runs.run_number
    from rebalances
    cross join patterns
    left join runs
        on
            rebalances.cluster_id = runs.cluster_id
            and rebalances.coordinator_id = runs.node_id
            and rebalances.last_started_at >= runs.first_seen_at
            and rebalances.last_started_at <= runs.last_seen_at
),

-- Runs may touch in the record that ends one and begins the next.
final as (
    {{
        latest_per(
            'explained',
            ['cluster_id', 'cluster_incarnation', 'group_id', 'group_life', 'generation_id'],
            'run_number desc nulls last'
        )
    }}
)

select * from final
