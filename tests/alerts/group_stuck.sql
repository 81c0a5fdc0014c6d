{{ config(
    tags=["alert"], severity="warn", enabled=var("since", none) is not none,
    meta={
        "description": "A group is stuck in a rebalance for longer than rebalance_stuck_after_ms.",
        "ask": "chronicle evidence {key}"
    }
) }}

select
    cluster_id,
    started_at as at,
    group_rebalance_key as key,
    'group ' || group_id || ' is stuck in a rebalance' as sentence
from {{ ref('fct_group_rebalances') }}
where
    is_stuck
    and {{ question_filter(start='started_at') }}
    and {{ outside_incidents('fct_group_rebalances', 'group_rebalance_key', 'warn') }}
