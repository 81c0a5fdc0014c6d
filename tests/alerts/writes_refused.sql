{{ config(
    tags=["alert"], severity="error", enabled=var("since", none) is not none,
    meta={
        "description": "A broker refused writes because too few replicas were in sync.",
        "ask": "chronicle evidence {key}"
    }
) }}

select
    cluster_id,
    first_at as at,
    write_refusals_hourly_key as key,
    topic_name || '-' || cast(partition_id as string) || ': ' || cast(refusals as string)
    || ' writes refused within an hour, ' || coalesce(cast(in_sync_replicas as string), '?')
    || ' in sync of ' || coalesce(cast(min_insync_replicas as string), '?')
    || ' required' as sentence
from {{ ref('fct_write_refusals_hourly') }}
where
    node_id is not null
    and {{ question_filter(start='first_at') }}
    and {{ outside_incidents('fct_write_refusals_hourly', 'write_refusals_hourly_key', 'error') }}
