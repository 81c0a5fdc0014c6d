with sampled as (
    select
        cluster_id,
        node_id,
        resource,
        mounted_on,
        count(*) as samples,
        count(*) filter (where is_exhausted) as exhausted_samples,
        max(value) as most,
        min(limit_value) as limit_value,
        max(sampled_at) as last_at
    from {{ ref('fct_resource_samples') }}
    where {{ question_filter(node='node_id', start='sampled_at') }}
    group by cluster_id, node_id, resource, mounted_on
)

select
    cluster_id,
    node_id,
    resource,
    mounted_on,
    samples,
    exhausted_samples,
    most,
    limit_value,
    round(cast(most as double) / nullif(cast(limit_value as double), 0), 4) as used_ratio,
    last_at
from sampled
order by
    exhausted_samples desc,
    used_ratio desc nulls last,
    cluster_id asc,
    node_id asc,
    resource asc,
    mounted_on asc
