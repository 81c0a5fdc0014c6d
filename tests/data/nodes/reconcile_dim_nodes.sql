-- Each node that wrote an event is one row.
with source_rows as (
    select * from {{ ref('stg_logs__node_events') }}
),

mart_rows as (
    select * from {{ ref('dim_nodes') }}
),

expected as (
    select
        cluster_id,
        count(distinct node_id) as nodes
    from source_rows
    group by cluster_id
),

found as (
    select
        cluster_id,
        count(*) as nodes
    from mart_rows
    group by cluster_id
),

final as (
    select
        coalesce(expected.cluster_id, found.cluster_id) as cluster_id,
        expected.nodes as expected_nodes,
        found.nodes as found_nodes
    from expected
    full outer join found on expected.cluster_id = found.cluster_id
    where
        coalesce(expected.nodes, 0) <> coalesce(found.nodes, 0)
)

select * from final
