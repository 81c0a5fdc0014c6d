select
    cluster_id,
    epoch_kind,
    gap_kind,
    topic_name,
    partition_id,
    node_id,
    expected_epoch,
    found_epoch,
    missing_epochs,
    opened_at,
    ended_at,
    epoch_gap_key
from {{ ref('fct_epoch_gaps') }}
where
    gap_kind <> 'stale_node'
    and {{ question_filter(
        topic='topic_name',
        partition='partition_id',
        start='opened_at',
        end='ended_at'
    ) }}
order by opened_at, epoch_gap_key
