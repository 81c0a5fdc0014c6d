{{ config(
    tags=["alert"], severity="error", enabled=var("since", none) is not none,
    meta={
        "description": "A log directory failed.",
        "ask": "chronicle evidence {key}"
    }
) }}

select
    cluster_id,
    failed_at as at,
    log_dir_failure_key as key,
    'log directory ' || coalesce(log_dir, '?') || ' of node '
    || coalesce(cast(node_id as string), '?') || ' failed' as sentence
from {{ ref('fct_log_dir_failures') }}
where
    {{ question_filter(start='failed_at') }}
    and {{ outside_incidents('fct_log_dir_failures', 'log_dir_failure_key', 'error') }}
