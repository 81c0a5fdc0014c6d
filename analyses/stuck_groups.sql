select
    cluster_id,
    group_id,
    generation_id,
    coordinator_id,
    started_at,
    ended_at,
    duration_ms,
    outcome,
    reason_kind,
    reason,
    is_stuck,
    group_rebalance_key
from {{ ref('fct_group_rebalances') }}
where
    (is_stuck or is_failed or outcome = 'open')
    and {{ question_filter(
        group='group_id',
        start='coalesce(started_at, ended_at)',
        end='ended_at'
    ) }}
order by started_at asc nulls first, group_rebalance_key asc
