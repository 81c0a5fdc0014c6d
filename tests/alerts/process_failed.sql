{{ config(
    tags=["alert"], severity="error", enabled=var("since", none) is not none,
    meta={
        "description": "A process failed or did not start.",
        "ask": "chronicle evidence {key}"
    }
) }}

select
    cluster_id,
    failed_at as at,
    process_failure_key as key,
    process_name || ': ' || {{ in_words('failure_kind') }}
    || coalesce(' (' || detail || ')', '') as sentence
from {{ ref('fct_process_failures') }}
where
    has_ended_process
    and {{ question_filter(start='failed_at') }}
    and {{ outside_incidents('fct_process_failures', 'process_failure_key', 'error') }}
