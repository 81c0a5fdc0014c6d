{{ config(
    tags=["alert"], severity="error", enabled=var("since", none) is not none,
    meta={
        "description": "A partition had no leader for longer than alert_leaderless_ms; raised when that time had passed.",
        "ask": "chronicle evidence {key}"
    }
) }}

with lasting as (
    select
        cluster_id,
        topic_name,
        partition_id,
        duration_ms,
        leaderless_window_key,
        started_at + interval '{{ var("alert_leaderless_ms") }} milliseconds' as lasting_at
    from {{ ref('fct_leaderless_windows') }}
    where duration_ms is null or duration_ms >= {{ var("alert_leaderless_ms") }}
)

select
    cluster_id,
    lasting_at as at,
    leaderless_window_key as key,
    topic_name || '-' || cast(partition_id as string) || ' had no leader '
    || coalesce('for ' || cast(duration_ms as string) || ' ms', 'until the logs end') as sentence
from lasting
where
    lasting_at <= now()
    and {{ question_filter(start='lasting_at') }}
    and {{ outside_incidents('fct_leaderless_windows', 'leaderless_window_key', 'error') }}
