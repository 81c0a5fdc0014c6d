-- Each epoch of a partition is one election, and no other is.
with source_rows as (
    select * from {{ ref('int_partitions__epochs') }}
),

mart_rows as (
    select * from {{ ref('fct_leader_elections') }}
),

distinct_keys as (
    select distinct
        cluster_id,
        cluster_incarnation,
        topic_name,
        partition_id,
        topic_life,
        leader_epoch
    from source_rows
),

expected as (
    select
        cluster_id,
        count(*) as elections
    from distinct_keys
    group by cluster_id
),

found as (
    select
        cluster_id,
        count(*) as elections
    from mart_rows
    group by cluster_id
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        expected.elections as expected_elections,
        found.elections as found_elections
    from expected
    full outer join found on expected.cluster_id = found.cluster_id
    where
        coalesce(expected.elections, 0) <> coalesce(found.elections, 0)
)

select * from final
