{{ config(materialized='table', meta={'at': 'last_seen_at'}) }}

with minutes as (
    select * from {{ ref('int_nodes__minutes') }}
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        min(first_seen_at) as first_seen_at,
        max(last_record.logged_at) as last_seen_at,
        sort_array(collect_set(node_id) filter (where node_id >= 0)) as nodes
    from minutes
    group by cluster_id, cluster_incarnation
)

select * from final
