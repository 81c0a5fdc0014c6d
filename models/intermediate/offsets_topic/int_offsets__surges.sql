{{ config(materialized='table', meta={'at': 'hour_at'}) }}
{%- set floor = var('growth_abnormal_segments') ~ ' * segment_bytes' %}

select
    cluster_id,
    cluster_incarnation,
    node_id,
    partition_id,
    hour_at,
    cast({{ floor }} as bigint) as floor_bytes,
    growth_24h
from {{ ref('int_offsets__hours') }}
where growth_24h > {{ floor }} and {{ since('hour_at') }}
