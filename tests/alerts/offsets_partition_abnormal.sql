{{ config(
    tags=["alert"], severity="warn", enabled=var("since", none) is not none,
    meta={
        "description": "A partition of the offsets topic grew abnormally compared with its siblings; raised at the first of consecutive abnormal hours.",
        "ask": "chronicle ask offsets-growth --cluster {cluster_id}"
    }
) }}

with hours as (
    select
        cluster_id,
        node_id,
        partition_id,
        hour_at,
        is_abnormal,
        abnormal_reason,
        offsets_topic_growth_hourly_key,
        lag(is_abnormal) over (
            partition by cluster_id, node_id, partition_id order by hour_at
        ) as was_abnormal
    from {{ ref('fct_offsets_topic_growth_hourly') }}
)

select
    cluster_id,
    hour_at as at,
    offsets_topic_growth_hourly_key as key,
    '__consumer_offsets-' || cast(partition_id as string) || ' on node ' || cast(node_id as string)
    || ' grows abnormally: ' || coalesce(abnormal_reason, 'reason unknown') as sentence
from hours
where
    is_abnormal
    and not coalesce(was_abnormal, false)
    and {{ question_filter(start='hour_at') }}
    and {{
        outside_incidents(
            'fct_offsets_topic_growth_hourly', 'offsets_topic_growth_hourly_key', 'warn'
        )
    }}
