{{ config(
    tags=["alert"], severity="error", enabled=var("since", none) is not none,
    meta={
        "description": "A transaction could not be ended.",
        "ask": "chronicle evidence {key}"
    }
) }}

select
    cluster_id,
    started_at as at,
    hanging_transaction_key as key,
    'transaction of '
    || coalesce(transactional_id, 'producer ' || cast(producer_id as string), '?') || ' in '
    || topic_name || '-' || cast(partition_id as string) || ' could not be ended' as sentence
from {{ ref('fct_hanging_transactions') }}
where
    {{ question_filter(start='started_at') }}
    and {{ outside_incidents('fct_hanging_transactions', 'hanging_transaction_key', 'error') }}
