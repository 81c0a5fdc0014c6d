select
    cluster_id,
    node_id,
    epoch_kind,
    topic_name,
    partition_id,
    opened_at,
    ended_at,
    duration_ms,
    found_epoch,
    expected_epoch,
    missing_epochs,
    epoch_gap_key
from {{ ref('fct_epoch_gaps') }}
where
    gap_kind = 'stale_node'
    and {{ question_filter(
        node='node_id',
        topic='topic_name',
        partition='partition_id',
        start='opened_at',
        end='ended_at'
    ) }}
order by duration_ms desc nulls first, opened_at asc, epoch_gap_key asc
