{{ config(materialized='table', file_format='parquet', meta={'at': 'last_seen_at'}) }}

with clusters as (
    select * from {{ ref('dim_clusters') }}
),

final as (
    select
        cluster_id,
        max(last_seen_at) as last_seen_at
    from clusters
    group by cluster_id
)

select * from final
