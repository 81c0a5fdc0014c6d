{{ config(
    tags=["alert"], severity="error", enabled=var("since", none) is not none,
    meta={
        "description": "A node began to work with leader or controller epochs that were out of date; one alert for all its partitions within a minute.",
        "ask": "chronicle ask stale-nodes --cluster {cluster_id} --since {at}"
    }
) }}

with stretches as (
    select
        cluster_id,
        node_id,
        opened_at,
        epoch_gap_key,
        lag(opened_at) over (
            partition by cluster_id, node_id order by opened_at, epoch_gap_key
        ) as opened_before_at
    from {{ ref('fct_epoch_gaps') }}
    where gap_kind = 'stale_node'
)

select
    cluster_id,
    opened_at as at,
    epoch_gap_key as key,
    'node ' || cast(node_id as string) || ' uses a stale epoch' as sentence
from stretches
where
    (opened_before_at is null or opened_at >= opened_before_at + interval '60 seconds')
    and {{ question_filter(start='opened_at') }}
    and {{ outside_incidents('fct_epoch_gaps', 'epoch_gap_key', 'error') }}
