select
    cluster_id,
    started_at,
    ended_at,
    severity,
    root_cause_kind,
    summary,
    nodes,
    partitions_affected,
    leaderless_ms,
    groups_affected,
    groups,
    incident_key
from {{ ref('fct_incidents') }}
where
    not is_maintenance
    and {{ question_filter(start='started_at', end='ended_at') }}
order by started_at, cluster_id, incident_key
