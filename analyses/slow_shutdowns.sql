select
    cluster_id,
    node_id,
    stopping_at,
    stopped_at,
    shutdown_ms,
    kafka_version_before,
    node_restart_key
from {{ ref('fct_node_restarts') }}
where
    shutdown_ms > 300000
    and {{ question_filter(node='node_id', start='stopping_at', end='stopped_at') }}
order by shutdown_ms desc, node_restart_key asc
