-- Each run of a node is one row.
with source_rows as (
    select * from {{ ref('int_nodes__runs') }}
),

mart_rows as (
    select * from {{ ref('dim_node_runs') }}
),

expected as (
    select
        cluster_id,
        count(*) as runs
    from source_rows
    group by cluster_id
),

found as (
    select
        cluster_id,
        count(*) as runs
    from mart_rows
    group by cluster_id
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        expected.runs as expected_runs,
        found.runs as found_runs
    from expected
    full outer join found on expected.cluster_id = found.cluster_id
    where
        coalesce(expected.runs, 0) <> coalesce(found.runs, 0)
)

select * from final
