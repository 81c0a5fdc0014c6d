{{ config(
    tags=["alert"], severity="warn", enabled=var("since", none) is not none,
    meta={
        "description": "No file of a cluster has brought anything new for arrivals_warn_hours; raised when that time had passed. Whether any logs arrive at all: `chronicle dbt source freshness`.",
        "ask": "chronicle ask days-unknown --cluster {cluster_id}"
    }
) }}

with clusters as (
    select
        cluster_id,
        max(last_ingested_at) as last_ingested_at,
        max(last_ingested_at) + interval '{{ var("arrivals_warn_hours") }} hours' as ceased_at
    from {{ ref('fct_sources') }}
    group by cluster_id
)

select
    cluster_id,
    ceased_at as at,
    cluster_id as key,
    'nothing new of cluster ' || cluster_id
    || ' has arrived for {{ var("arrivals_warn_hours") }} hours' as sentence
from clusters
where ceased_at <= now() and {{ question_filter(start='ceased_at') }}
