-- The days of a group hold all of its rebalances and failures.
with rebalances as (
    select * from {{ ref('fct_group_rebalances') }}
),

days as (
    select * from {{ ref('rpt_group_daily') }}
),

expected as (
    select
        cluster_id,
        count(*) as rebalances,
        count_if(is_failed) as failed
    from rebalances
    group by cluster_id
),

found as (
    select
        cluster_id,
        sum(rebalances) as rebalances,
        sum(rebalances_failed) as failed
    from days
    group by cluster_id
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        expected.rebalances as expected_rebalances,
        found.rebalances as found_rebalances
    from expected
    full outer join found on expected.cluster_id = found.cluster_id
    where
        coalesce(expected.rebalances, 0) <> coalesce(found.rebalances, 0)
        or coalesce(expected.failed, 0) <> coalesce(found.failed, 0)
)

select * from final
