{{ config(materialized='table', file_format='parquet', meta={'at': 'hour_at'}) }}

select
    cluster_id,
    cluster_incarnation,
    node_id,
    partition_id,
    hour_at,
    segment_bytes,
    growth_24h
from {{ ref('int_offsets__hours') }}
where growth_24h > {{ var('growth_abnormal_segments') }} * segment_bytes and {{ since('hour_at') }}
