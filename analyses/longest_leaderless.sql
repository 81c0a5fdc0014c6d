select
    cluster_id,
    topic_name,
    partition_id,
    started_at,
    ended_at,
    duration_ms,
    last_leader_id,
    isr,
    known_by,
    leaderless_window_key
from {{ ref('fct_leaderless_windows') }}
where {{ question_filter(
    topic='topic_name',
    partition='partition_id',
    start='started_at',
    end='ended_at'
) }}
order by duration_ms desc nulls first, started_at asc, leaderless_window_key asc
