{{ config(
    tags=["alert"], severity="warn", enabled=var("since", none) is not none,
    meta={
        "description": "Open files, sockets, memory maps, threads or a disk reached alert_resource_ratio of their limit, or ran out.",
        "ask": "chronicle evidence {key}"
    }
) }}

select
    cluster_id,
    sampled_at as at,
    resource_sample_key as key,
    replace(resource, '_', ' ') || ' of node ' || coalesce(cast(node_id as string), '?')
    || coalesce(' (' || mounted_on || ')', '')
    || case when is_exhausted then ' ran out' else ': ' || cast(value as string) end
    || coalesce(', limit ' || cast(limit_value as string), '') as sentence
from {{ ref('fct_resource_samples') }}
where
    (
        is_exhausted
        or cast(value as double) / nullif(limit_value, 0) >= {{ var("alert_resource_ratio") }}
    )
    and {{ question_filter(start='sampled_at') }}
    and {{ outside_incidents('fct_resource_samples', 'resource_sample_key', 'warn') }}
