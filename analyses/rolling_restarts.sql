select
    cluster_id,
    started_at,
    ended_at,
    root_cause_kind,
    nodes,
    partitions_affected,
    leaderless_ms,
    under_min_isr_ms,
    groups_affected,
    groups,
    summary,
    incident_key
from {{ ref('fct_incidents') }}
where
    is_maintenance
    and {{ question_filter(start='started_at', end='ended_at') }}
order by started_at, incident_key
