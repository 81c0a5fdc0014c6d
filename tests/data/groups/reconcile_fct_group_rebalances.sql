-- Each generation that a coordinator began is one row, and so is each first attempt of a ZooKeeper
-- consumer.
with group_events as (
    select * from {{ ref('stg_logs__group_events') }}
),

consumer_events as (
    select * from {{ ref('stg_logs__old_consumer_events') }}
),

mart_rows as (
    select * from {{ ref('fct_group_rebalances') }}
),

begun as (
    select
        cluster_id,
        group_id,
        generation_id + if({{ has_role('ended_generation') }}, 1, 0) as generation_id
    from group_events
    where
        {{ has_role('rebalance_start') }}
        and group_id is not null
        and generation_id is not null
    group by all
    union all
    select
        cluster_id,
        member_id as group_id,
        cast(null as int) as generation_id
    from consumer_events
    where {{ has_role('old_consumer_rebalance_start') }} and attempt = 0
),

expected as (
    select
        cluster_id,
        count(*) as rebalances
    from begun
    group by cluster_id
),

-- Generation numbers repeat when a group is created again.
begun_rows as (
    select
        cluster_id,
        coalesce(member_id, group_id) as group_id,
        generation_id,
        if(member_id is not null, started_at, null) as started_at
    from mart_rows
    where
        started_at is not null
        and not array_contains(warnings, 'only members say when it began')
    group by all
),

found as (
    select
        cluster_id,
        count(*) as rebalances
    from begun_rows
    group by cluster_id
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        expected.rebalances as expected_rebalances,
        found.rebalances as found_rebalances
    from expected
    full outer join found on expected.cluster_id = found.cluster_id
    where coalesce(expected.rebalances, 0) <> coalesce(found.rebalances, 0)
)

select * from final
