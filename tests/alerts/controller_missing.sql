{{ config(
    tags=["alert"], severity="error", enabled=var("since", none) is not none,
    meta={
        "description": "A cluster had no active controller, or its metadata quorum no leader, for longer than quorum_lost_ms; raised when that time had passed.",
        "ask": "chronicle evidence {key}"
    }
) }}

with lasting as (
    select
        cluster_id,
        duration_ms,
        last_sign_at,
        controllerless_window_key,
        started_at + interval '{{ var("quorum_lost_ms") }} milliseconds' as lasting_at,
        ended_at is null and known_by = 'describe' as is_described_open
    from {{ ref('fct_controllerless_windows') }}
)

select
    cluster_id,
    lasting_at as at,
    controllerless_window_key as key,
    'the cluster had no active controller '
    || coalesce('for ' || cast(duration_ms as string) || ' ms', 'until the logs end') as sentence
from lasting
where
    (
        duration_ms >= {{ var("quorum_lost_ms") }}
        or (duration_ms is null and (last_sign_at >= lasting_at or is_described_open))
    )
    and lasting_at <= now()
    and {{ question_filter(start='lasting_at') }}
    and {{ outside_incidents('fct_controllerless_windows', 'controllerless_window_key', 'error') }}
