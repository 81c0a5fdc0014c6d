{{ config(materialized='table', meta={'at': 'last_seen_at'}) }}

with clusters as (
    select * from {{ ref('dim_clusters') }}
),

final as (
    select
        cluster_id,
        cluster_incarnation,
        first_seen_at,
        last_seen_at
    from clusters
)

select * from final
