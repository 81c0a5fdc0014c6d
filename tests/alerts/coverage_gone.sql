{{ config(
    tags=["alert"], severity="error", enabled=var("since", none) is not none,
    meta={
        "description": "A node wrote nothing for alert_silent_ms although it had not been shut down; raised when that time had passed.",
        "ask": "chronicle ask how-nodes-ended --cluster {cluster_id}"
    }
) }}

with lives as (
    select
        cluster_id,
        node_id,
        end_kind,
        last_seen_at,
        node_run_key,
        row_number() over (
            partition by cluster_id, node_id order by last_seen_at desc, run_number desc
        ) as rank
    from {{ ref('dim_node_runs') }}
),

silent as (
    select
        cluster_id,
        node_id,
        last_seen_at,
        node_run_key,
        last_seen_at + interval '{{ var("alert_silent_ms") }} milliseconds' as silent_at
    from lives
    where rank = 1 and end_kind <> 'clean'
)

select
    cluster_id,
    silent_at as at,
    node_run_key as key,
    'no records from node ' || cast(node_id as string)
    || ' for {{ var("alert_silent_ms") }} ms, and it was not shut down' as sentence
from silent
where
    silent_at <= now()
    and {{ question_filter(start='silent_at') }}
    and {{ outside_incidents('dim_node_runs', 'node_run_key', 'error') }}
