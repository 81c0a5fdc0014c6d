select
    cluster_id,
    session_kind,
    cause_kind,
    count(*) as expiries,
    count(*) filter (where was_controller) as of_controllers,
    sum(unavailable_ms) as away_ms,
    max(unavailable_ms) as longest_ms,
    min(expired_at) as first_at,
    max(expired_at) as last_at
from {{ ref('fct_session_expiries') }}
where {{ question_filter(node='node_id', start='expired_at', end='reconnected_at') }}
group by cluster_id, session_kind, cause_kind
order by expiries desc, cluster_id asc, session_kind asc, cause_kind asc
