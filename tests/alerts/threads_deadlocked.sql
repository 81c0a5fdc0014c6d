{{ config(
    tags=["alert"], severity="error", enabled=var("since", none) is not none,
    meta={
        "description": "A thread dump shows deadlocked threads.",
        "ask": "chronicle evidence {key}"
    }
) }}

select
    cluster_id,
    found_at as at,
    thread_deadlock_key as key,
    'node ' || cast(node_id as string) || ': deadlock of ' || array_join(threads, ', ') as sentence
from {{ ref('fct_thread_deadlocks') }}
where
    {{ question_filter(start='found_at') }}
    and {{ outside_incidents('fct_thread_deadlocks', 'thread_deadlock_key', 'error') }}
