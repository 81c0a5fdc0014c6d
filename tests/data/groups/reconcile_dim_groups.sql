-- Each group that any record, row or sample names is one row.
with source_rows as (
    select * from {{ ref('int_groups__sightings') }}
),

mart_rows as (
    select * from {{ ref('dim_groups') }}
),

expected as (
    select
        cluster_id,
        count(distinct cluster_incarnation, group_id) as groups
    from source_rows
    where group_id is not null
    group by cluster_id
),

found as (
    select
        cluster_id,
        count(*) as groups
    from mart_rows
    group by cluster_id
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        expected.groups as expected_groups,
        found.groups as found_groups
    from expected
    full outer join found on expected.cluster_id = found.cluster_id
    where
        coalesce(expected.groups, 0) <> coalesce(found.groups, 0)
)

select * from final
