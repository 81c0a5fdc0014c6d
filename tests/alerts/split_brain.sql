{{ config(
    tags=["alert"], severity="error", enabled=var("since", none) is not none,
    meta={
        "description": "Two nodes were controller at the same time.",
        "ask": "chronicle evidence {key}"
    }
) }}

select
    cluster_id,
    elected_at as at,
    controller_tenure_key as key,
    'node ' || cast(controller_id as string) || ' still acted as controller of epoch '
    || cast(controller_epoch as string) || ' for ' || coalesce(cast(overlap_ms as string), '?')
    || ' ms beside node ' || coalesce(cast(overlapping_controller_id as string), '?')
    || ', states written: ' || coalesce(cast(late_writes as string), '?') as sentence
from {{ ref('fct_controller_tenures') }}
where
    is_split_brain
    and {{ question_filter(start='elected_at') }}
    and {{ outside_incidents('fct_controller_tenures', 'controller_tenure_key', 'error') }}
