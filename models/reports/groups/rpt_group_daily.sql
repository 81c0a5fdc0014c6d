with known_groups as (
    select * from {{ ref('dim_groups') }}
),

rebalances as (
    select * from {{ ref('fct_group_rebalances') }}
),

lag_statuses as (
    select * from {{ ref('fct_group_lag_status') }}
),

coordinators as (
    select * from {{ ref('fct_group_coordinators') }}
),

-- A day without a record of the cluster is unknown, not a day without rebalances.
covered_days as (
    select distinct
        cluster_id,
        event_date as report_date,
        cast(0 as bigint) as nothing
    from {{ ref('fct_parse_coverage_daily') }}
),

group_days as (
    select
        *,
        explode(sequence(to_date(first_seen_at), to_date(last_seen_at))) as report_date
    from known_groups
),

rebalanced as (
    select
        group_key,
        rebalance_date as report_date,
        count(*) as rebalances,
        count_if(is_failed) as rebalances_failed,
        count_if(is_stuck) as rebalances_stuck,
        sum(duration_ms) as rebalance_ms
    from rebalances
    group by group_key, rebalance_date
),

judged as (
    select
        group_key,
        window_date as report_date,
        max_by(
            status, array_position(array('OK', 'WARN', 'ERR', 'STALL', 'STOP', 'REWIND'), status)
        ) as worst_lag_status,
        max(greatest(first_lag, last_lag)) as largest_lag
    from lag_statuses
    where status is not null
    group by group_key, window_date
),

-- The days of each coordinator: a join of all days with all coordinators would grow with the square of the history.
coordinator_days as (
    select
        coordinators.group_key,
        coordinators.valid_from,
        coordinators.valid_to,
        coordinators.coordinator_id,
        explode(
            sequence(
                to_date(coordinators.valid_from),
                greatest(
                    to_date(coordinators.valid_from),
                    to_date(least(coordinators.valid_to, known_groups.last_seen_at))
                )
            )
        ) as report_date
    from coordinators
    inner join known_groups using (group_key)
    where coordinators.coordinator_id >= 0
),

-- The last one of the day.
coordinated as (
    select
        group_key,
        report_date,
        max(struct(valid_from, coordinator_id)).coordinator_id as coordinator_id
    from coordinator_days
    where coalesce(report_date < valid_to, true)
    group by group_key, report_date
),

final as (
    select
        {{ row_key(['group_key', 'report_date']) }} as group_daily_key,
        group_days.cluster_key,
        {{ node_key('coordinated.coordinator_id') }} as node_key,
        group_key,
        cluster_id,
        group_days.cluster_incarnation,
        group_days.group_id,
        group_days.group_kind,
        report_date,
        if(covered_days.nothing is null, 'unknown', 'known') as evidence_state,
        coalesce(rebalanced.rebalances, covered_days.nothing) as rebalances,
        coalesce(rebalanced.rebalances_failed, covered_days.nothing) as rebalances_failed,
        coalesce(rebalanced.rebalances_stuck, covered_days.nothing) as rebalances_stuck,
        rebalanced.rebalance_ms,
        judged.worst_lag_status,
        judged.largest_lag,
        coordinated.coordinator_id
    from group_days
    left join covered_days using (cluster_id, report_date)
    left join rebalanced using (group_key, report_date)
    left join judged using (group_key, report_date)
    left join coordinated using (group_key, report_date)
)

select * from final
