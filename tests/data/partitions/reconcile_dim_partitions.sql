-- Each partition that had a leader epoch is a row.
with source_rows as (
    select * from {{ ref('int_partitions__epochs') }}
),

mart_rows as (
    select * from {{ ref('dim_partitions') }}
),

expected as (
    select
        cluster_id,
        count(distinct cluster_incarnation, topic_name, topic_life, partition_id) as partitions
    from source_rows
    group by cluster_id
),

found as (
    select
        cluster_id,
        count(*) as partitions
    from mart_rows
    where last_leader_id is not null
    group by cluster_id
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        expected.partitions as expected_partitions,
        found.partitions as found_partitions
    from expected
    full outer join found on expected.cluster_id = found.cluster_id
    where
        coalesce(expected.partitions, 0) <> coalesce(found.partitions, 0)
)

select * from final
