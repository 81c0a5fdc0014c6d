-- Each incarnation is one row.
with source_rows as (
    select * from {{ ref('int_clusters__incarnations') }}
),

mart_rows as (
    select * from {{ ref('dim_clusters') }}
),

expected as (
    select
        cluster_id,
        count(*) as incarnations
    from source_rows
    group by cluster_id
),

found as (
    select
        cluster_id,
        count(*) as incarnations
    from mart_rows
    group by cluster_id
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        expected.incarnations as expected_incarnations,
        found.incarnations as found_incarnations
    from expected
    full outer join found on expected.cluster_id = found.cluster_id
    where
        coalesce(expected.incarnations, 0) <> coalesce(found.incarnations, 0)
)

select * from final
