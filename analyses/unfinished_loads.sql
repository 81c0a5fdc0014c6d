select
    cluster_id,
    node_id,
    partition_id,
    started_at,
    ended_at,
    duration_ms,
    outcome,
    is_unfinished,
    records_loaded,
    bytes_loaded,
    error,
    coordinator_load_key
from {{ ref('fct_coordinator_loads') }}
where
    (is_unfinished or error is not null or duration_ms >= 1000)
    and {{ question_filter(
        node='node_id',
        partition='partition_id',
        start='started_at',
        end='ended_at'
    ) }}
order by is_unfinished desc, duration_ms desc nulls first, started_at asc, coordinator_load_key asc
