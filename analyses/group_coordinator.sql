select
    cluster_id,
    group_id,
    coordinator_id,
    known_by,
    started_at,
    ended_at,
    duration_ms,
    group_coordinator_key
from {{ ref('fct_group_coordinators') }}
where
    {{ question_filter(
        node='coordinator_id', group='group_id', start='started_at', end='ended_at'
    ) }}
order by cluster_id, started_at, group_coordinator_key
